//===- ExecDebug.cpp - print, assert, assume, hint, clock --------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Tiles of more elements show this many at both ends of each axis, as arrays do.
static constexpr int64_t kMaxPrinted = 1000, kEdge = 3;

/// "x[3, 4]", "null", or "x + 17 elements" for an address outside.
static std::string pointerText(const Frame &frame, int64_t aliasClass, uint64_t address) {
  if (address == 0)
    return "null";
  if (const ArgState *arg = frame.memory->find(aliasClass, address)) {
    uint64_t offset = address - reinterpret_cast<uint64_t>(arg->buffer->data);
    return arg->name + coordinatesOf(*arg, int64_t(offset / arg->buffer->elementBytes));
  }
  const ArgState *arg = frame.memory->nearest(aliasClass, address);
  if (!arg)
    return "outside";
  int64_t offset = int64_t(address - reinterpret_cast<uint64_t>(arg->buffer->data));
  int64_t elements = offset / int64_t(arg->buffer->elementBytes) - arg->origin;
  return arg->name + (elements < 0 ? " - " : " + ") + std::to_string(std::abs(elements));
}

static std::string elementText(const Frame &frame, const PrintedValue &value, bool isHex,
                               const uint8_t *element) {
  if (value.dtype == DType::ptr) {
    uint64_t address;
    std::memcpy(&address, element, 8);
    return pointerText(frame, value.aliasClass, address);
  }
  if (!isHex)
    return valueText(value.dtype, element);
  uint64_t bits = 0;
  std::memcpy(&bits, element, byteSize(value.dtype));
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", int(2 * byteSize(value.dtype)),
                static_cast<unsigned long long>(bits));
  return text;
}

static void printAxis(const Frame &frame, const PrintedValue &value, const PrintPlan &plan,
                      size_t axis, int64_t element, int64_t elements, std::string &to) {
  if (axis == value.shape.size()) {
    const uint8_t *data = frame.at<uint8_t>(value.slot);
    to += elementText(frame, value, plan.isHex, data + size_t(element) * byteSize(value.dtype));
    return;
  }
  const int64_t side = value.shape[axis];
  const bool isShort = elements > kMaxPrinted && side > 2 * kEdge;
  int64_t inner = 1;
  for (size_t i = axis + 1; i < value.shape.size(); ++i)
    inner *= value.shape[i];
  to += '[';
  for (int64_t i = 0; i < side; ++i) {
    to += i ? ", " : "";
    if (isShort && i == kEdge) {
      to += "...";
      i = side - kEdge - 1;
      continue;
    }
    printAxis(frame, value, plan, axis + 1, element + i * inner, elements, to);
  }
  to += ']';
}

static void print(const Inst &inst, Frame &frame) {
  const PrintPlan &plan = frame.program->memory.prints[inst.aux];
  std::string line = programOf(frame) + " " + plan.text;
  for (const PrintedValue &value : plan.values) {
    if (line.back() != ' ')
      line += ' ';
    int64_t elements = 1;
    for (int64_t side : value.shape)
      elements *= side;
    printAxis(frame, value, plan, 0, 0, elements, line);
  }
  if (frame.printed)
    *frame.printed += line + "\n";
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

/// The instance ends here, as the whole launch does on a device; others go on, so that all that
/// fail are counted.
static void assertion(const Inst &inst, Frame &frame) {
  const AssertPlan &plan = frame.program->memory.asserts[inst.aux];
  const uint8_t *condition = frame.at<uint8_t>(plan.condition);
  const uint8_t *mask = plan.mask != kNoSlot ? frame.at<uint8_t>(plan.mask) : nullptr;
  for (uint32_t i = 0; i < plan.elements; ++i) {
    if (condition[i] || (mask && !mask[i]))
      continue;
    if (Finding *finding = frame.findings->add(FindingKind::AssertFailed, inst.op))
      finding->args = {programOf(frame), plan.text, laneOf(frame, inst, i)};
    frame.pc = kPastTheEnd;
    return;
  }
}

static void assume(const Inst &inst, Frame &frame) {
  if (*frame.at<uint8_t>(inst.a))
    return;
  if (Finding *finding = frame.findings->add(FindingKind::AssumptionFalse, inst.op))
    finding->args = {programOf(frame)};
}

/// Of an address in memory of the interpreter's own its distance from where the buffer begins, which
/// lies on the largest alignment that anybody asks for.
static int64_t integerAt(const Frame &frame, const HintPlan &plan, int64_t i) {
  const int64_t value = elementToInteger(
      plan.dtype, frame.at<uint8_t>(plan.value) + size_t(i) * byteSize(plan.dtype));
  const ArgState *arg = plan.dtype == DType::ptr
                            ? frame.memory->find(plan.aliasClass, uint64_t(value))
                            : nullptr;
  return arg ? value - int64_t(arg->buffer->hintBase) : value;
}

/// What of the promises about one axis is not true of element `i`; "" when they hold.
static std::string brokenPromise(const Frame &frame, const HintPlan &plan, size_t axis, int64_t at,
                                 int64_t stride, int64_t i) {
  const int64_t value = integerAt(frame, plan, i);
  const bool runsOn = at % plan.contiguous[axis] != 0, stays = at % plan.constant[axis] != 0;
  auto of = [&](const char *what, int64_t number) {
    return std::string(what) + " " + std::to_string(number);
  };
  if (runsOn && uint64_t(value) - uint64_t(integerAt(frame, plan, i - stride)) != plan.step)
    return of("contiguous", plan.contiguous[axis]);
  if (stays && value != integerAt(frame, plan, i - stride))
    return of("constant", plan.constant[axis]);
  if (!runsOn && !stays && value % plan.multipleOf[axis] != 0)
    return of("multiple_of", plan.multipleOf[axis]);
  return "";
}

static void checkHint(const Inst &inst, Frame &frame) {
  const HintPlan &plan = frame.program->memory.hints[inst.aux];
  int64_t elements = 1;
  for (int64_t side : plan.shape)
    elements *= side;
  int64_t stride = elements;
  for (size_t axis = 0; axis < plan.shape.size(); ++axis) {
    stride /= plan.shape[axis];
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t at = i / stride % plan.shape[axis];
      std::string broken = brokenPromise(frame, plan, axis, at, stride, i);
      if (broken.empty())
        continue;
      if (Finding *finding = frame.findings->add(FindingKind::HintFalse, inst.op))
        finding->args = {programOf(frame), broken, std::to_string(axis),
                         std::to_string(integerAt(frame, plan, i)), laneOf(frame, inst, size_t(i))};
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

static void clockValue(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = int64_t(frame.ticks);
  ++frame.changes; // a loop that waits for the time does not wait for ever
}

static int64_t exactly(uint32_t op, int64_t a, int64_t b) {
  return op == 0 ? a + b : op == 1 ? a - b : a * b;
}

static void checkWrap(const Inst &inst, Frame &frame) {
  const int32_t *a = frame.at<int32_t>(inst.a), *b = frame.at<int32_t>(inst.b);
  const int32_t *result = frame.at<int32_t>(inst.dst);
  const size_t n = frame.count(inst);
  bool suspect = false;
  for (size_t i = 0; i < n; ++i)
    suspect |= exactly(inst.aux, a[i], b[i]) != result[i];
  if (!suspect)
    return;
  for (size_t i = 0; i < n; ++i) {
    if (exactly(inst.aux, a[i], b[i]) == result[i])
      continue;
    static constexpr const char *signs[] = {"+", "-", "*"};
    if (Finding *finding = frame.findings->add(FindingKind::AddressWraps, inst.op))
      finding->args = {programOf(frame), std::to_string(a[i]), signs[inst.aux],
                       std::to_string(b[i]), std::to_string(result[i]), laneOf(frame, inst, i)};
    return;
  }
}

InstFn tk::interp::selectPrint() {
  return print;
}
InstFn tk::interp::selectAssert() {
  return assertion;
}
InstFn tk::interp::selectAssume() {
  return assume;
}
InstFn tk::interp::selectHint() {
  return checkHint;
}
InstFn tk::interp::selectClock() {
  return clockValue;
}
InstFn tk::interp::selectWrapCheck() {
  return checkWrap;
}
