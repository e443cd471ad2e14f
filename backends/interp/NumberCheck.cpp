//===- NumberCheck.cpp - divisions by zero, wide shifts, the first NaN ----------===//
//
// These checks are instructions of their own, next to the one they watch; without the check they
// are not in the program. Results stay what the language says they are.
//
// A NaN counts from the operation whose operands have none. Elements of a tile that lie past an
// edge often become NaN and are never stored, so unless the user asked (`atOnce`) a NaN is only
// noted, and reported when the instance stores one.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

template <class T, bool Signed> static void divideCheck(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b);
  const size_t n = frame.count(inst);
  bool suspect = false;
  for (size_t i = 0; i < n; ++i)
    suspect |= b[i] == 0 || (Signed && b[i] == T(-1));
  if (!suspect)
    return;
  for (size_t i = 0; i < n; ++i) {
    bool isZero = b[i] == 0;
    bool isOverflow = Signed && b[i] == T(-1) && a[i] == std::numeric_limits<T>::min();
    if (!isZero && !isOverflow)
      continue;
    FindingKind kind = isZero ? FindingKind::DivideByZero : FindingKind::DivideOverflow;
    if (Finding *finding = frame.findings->add(kind, inst.op))
      finding->args = {programOf(frame), std::to_string(a[i]), laneOf(frame, inst, i)};
    if (frame.findings->isOver())
      return;
  }
}

InstFn tk::interp::selectDivideCheck(DType type, bool isUnsigned) {
  switch (type) {
  case DType::i1:
    return divideCheck<uint8_t, false>;
  case DType::i8:
    return isUnsigned ? divideCheck<uint8_t, false> : divideCheck<int8_t, true>;
  case DType::i16:
    return isUnsigned ? divideCheck<uint16_t, false> : divideCheck<int16_t, true>;
  case DType::i32:
    return isUnsigned ? divideCheck<uint32_t, false> : divideCheck<int32_t, true>;
  case DType::i64:
    return isUnsigned ? divideCheck<uint64_t, false> : divideCheck<int64_t, true>;
  default:
    return nullptr;
  }
}

template <class U> static void shiftCheck(const Inst &inst, Frame &frame) {
  const U *count = frame.at<U>(inst.b);
  const size_t n = frame.count(inst);
  const uint64_t width = inst.aux;
  uint64_t largest = 0;
  for (size_t i = 0; i < n; ++i)
    largest = std::max(largest, uint64_t(count[i]));
  if (largest < width)
    return;
  for (size_t i = 0; i < n; ++i) {
    if (count[i] < width)
      continue;
    if (Finding *finding = frame.findings->add(FindingKind::ShiftTooWide, inst.op))
      finding->args = {programOf(frame), std::to_string(uint64_t(count[i])), std::to_string(width),
                       laneOf(frame, inst, i)};
    if (frame.findings->isOver())
      return;
  }
}

InstFn tk::interp::selectShiftCheck(DType type) {
  switch (byteSize(type)) {
  case 1:
    return shiftCheck<uint8_t>;
  case 2:
    return shiftCheck<uint16_t>;
  case 4:
    return shiftCheck<uint32_t>;
  default:
    return shiftCheck<uint64_t>;
  }
}

//===----------------------------------------------------------------------===//
// NaN
//===----------------------------------------------------------------------===//

namespace {
/// NaN as a question about bits: the magnitude is above infinity's.
template <class U, U Infinity> struct NanBits {
  using Bits = U;
  static bool test(U bits) { return U(bits & U(~U(0) >> 1)) > Infinity; }
};
using NanF16 = NanBits<uint16_t, 0x7c00>;
using NanBF16 = NanBits<uint16_t, 0x7f80>;
using NanF32 = NanBits<uint32_t, 0x7f800000>;
using NanF64 = NanBits<uint64_t, 0x7ff0000000000000>;
} // namespace

template <class Format> static bool anyNan(const typename Format::Bits *bits, size_t count) {
  bool any = false;
  for (size_t i = 0; i < count; ++i)
    any |= Format::test(bits[i]);
  return any;
}

template <class Format> static bool nanAt(const Frame &frame, uint32_t slot, size_t i) {
  return slot != kNoSlot && Format::test(frame.at<typename Format::Bits>(slot)[i]);
}

void tk::interp::reportNan(const Inst &inst, Frame &frame, size_t lane, const std::string &operands,
                           bool atOnce) {
  std::array<std::string, 6> args = {programOf(frame), laneOf(frame, inst, lane), operands};
  if (atOnce) {
    if (Finding *finding = frame.findings->add(FindingKind::NanAppears, inst.op))
      finding->args = args;
    return;
  }
  for (Finding &finding : frame.findings->pending)
    if (finding.op == inst.op)
      return;
  frame.findings->pending.push_back({FindingKind::NanAppears, inst.op, 0, args});
}

static std::string operandsText(const Inst &inst, const Frame &frame, DType type, size_t lane) {
  std::string operands;
  for (uint32_t slot : {inst.a, inst.b, inst.c})
    if (slot != kNoSlot)
      operands += (operands.empty() ? "" : ", ") +
                  valueText(type, frame.arena + slot + lane * byteSize(type));
  return operands;
}

template <class Format, DType Type, bool AtOnce>
static void nanCheck(const Inst &inst, Frame &frame) {
  using Bits = typename Format::Bits;
  const Bits *result = frame.at<Bits>(inst.dst);
  const size_t n = frame.count(inst);
  if (!anyNan<Format>(result, n))
    return;
  for (size_t i = 0; i < n; ++i) {
    if (!Format::test(result[i]) || nanAt<Format>(frame, inst.a, i) ||
        nanAt<Format>(frame, inst.b, i) || nanAt<Format>(frame, inst.c, i))
      continue;
    reportNan(inst, frame, i, operandsText(inst, frame, Type, i), AtOnce);
    if (!AtOnce || frame.findings->isOver())
      return;
  }
}

InstFn tk::interp::selectNanCheck(DType type, bool atOnce) {
  switch (type) {
  case DType::f16:
    return atOnce ? nanCheck<NanF16, DType::f16, true> : nanCheck<NanF16, DType::f16, false>;
  case DType::bf16:
    return atOnce ? nanCheck<NanBF16, DType::bf16, true> : nanCheck<NanBF16, DType::bf16, false>;
  case DType::f32:
    return atOnce ? nanCheck<NanF32, DType::f32, true> : nanCheck<NanF32, DType::f32, false>;
  default:
    return atOnce ? nanCheck<NanF64, DType::f64, true> : nanCheck<NanF64, DType::f64, false>;
  }
}

bool tk::interp::holdsNan(DType type, const void *elements, size_t count) {
  switch (type) {
  case DType::f16:
    return anyNan<NanF16>(static_cast<const uint16_t *>(elements), count);
  case DType::bf16:
    return anyNan<NanBF16>(static_cast<const uint16_t *>(elements), count);
  case DType::f32:
    return anyNan<NanF32>(static_cast<const uint32_t *>(elements), count);
  case DType::f64:
    return anyNan<NanF64>(static_cast<const uint64_t *>(elements), count);
  default:
    for (size_t i = 0; isFloat(type) && i < count; ++i)
      if (isNan(type, static_cast<const uint8_t *>(elements) + i)) // one byte each
        return true;
    return false;
  }
}
