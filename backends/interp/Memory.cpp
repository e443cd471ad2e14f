//===- Memory.cpp - shadows of buffers and what they tell -----------------------===//
//
// The common case (nothing wrong) is one branch-free pass over the shadow of a row; only when it
// sees something does a second pass look for the element and write the text.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Memory.h"
#include <algorithm>
#include <charconv>
#include <cstring>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string bracketed(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

std::string tk::interp::coordinatesOf(const ArgState &arg, int64_t element) {
  int64_t rest = element - arg.origin;
  std::vector<size_t> axes(arg.extents.size());
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = i;
  std::sort(axes.begin(), axes.end(), [&](size_t x, size_t y) {
    return arg.strides[x] != arg.strides[y] ? arg.strides[x] > arg.strides[y] : x < y;
  });
  std::vector<int64_t> coordinates(axes.size(), 0);
  for (size_t axis : axes) {
    if (arg.strides[axis] <= 0 || rest < 0) // no unique answer: the distance in elements
      return bracketed({element - arg.origin});
    coordinates[axis] = rest / arg.strides[axis];
    rest %= arg.strides[axis];
  }
  for (size_t i = 0; i < axes.size(); ++i)
    if (coordinates[i] >= arg.extents[i])
      return bracketed({element - arg.origin});
  return bracketed(coordinates);
}

std::string tk::interp::programOf(const Frame &frame, uint32_t instance) {
  uint64_t linear = instance - 1;
  std::string text = "(";
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t side = uint64_t(std::max<int64_t>(frame.grid[axis], 1));
    text += (axis ? ", " : "") + std::to_string(linear % side);
    linear /= side;
  }
  return text + ")";
}

std::string tk::interp::programOf(const Frame &frame) {
  return programOf(frame, frame.instance);
}

std::string tk::interp::laneOf(const Frame &frame, const Inst &inst, size_t lane) {
  const std::vector<int64_t> &shape = frame.program->ops[inst.op].shape;
  if (shape.empty())
    return "";
  std::vector<int64_t> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = int64_t(lane) % shape[i];
    lane /= size_t(shape[i]);
  }
  return " at " + bracketed(coordinates);
}

template <class T> static std::string numberText(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string tk::interp::valueText(DType type, const void *element) {
  if (type == DType::f64)
    return numberText(elementToDouble(type, element));
  if (isFloat(type))
    return numberText(float(elementToDouble(type, element)));
  if (type == DType::u64)
    return numberText(uint64_t(elementToInteger(type, element)));
  return numberText(elementToInteger(type, element));
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

static bool isForeign(uint32_t shadow, uint32_t me) {
  return shadow != 0 && shadow != me;
}

/// Element `e` is wrong to read in one way or another; says which.
static void reportRead(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e) {
  const BufferState &buffer = *arg.buffer;
  if (buffer.writer && isForeign(buffer.writer[e], frame.instance)) {
    if (Finding *finding = frame.findings->add(FindingKind::RaceReadWritten, inst.op))
      finding->args = {programOf(frame), coordinatesOf(arg, e), arg.name,
                       programOf(frame, buffer.writer[e])};
    return;
  }
  if (buffer.written && !buffer.written[e])
    if (Finding *finding = frame.findings->add(FindingKind::ReadUnwritten, inst.op))
      finding->args = {programOf(frame), coordinatesOf(arg, e), arg.name};
}

static void reportOut(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e) {
  if (Finding *finding = frame.findings->add(FindingKind::ReadOut, inst.op))
    finding->args = {programOf(frame), coordinatesOf(arg, e), arg.name};
}

/// Marks the elements as read by this instance.
static void markRead(uint32_t *reader, uint32_t me, int64_t stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t old = reader[i * stride];
    reader[i * stride] = old == 0 || old == me ? me : old | kSeveral;
  }
}

void tk::interp::noteRead(const Inst &inst, Frame &frame, ArgState &arg, int64_t first,
                          int64_t stride, int64_t count) {
  const BufferState &buffer = *arg.buffer;
  if (arg.access == Access::Out && arg.checkAccess)
    reportOut(inst, frame, arg, first);
  bool suspect = false;
  if (buffer.written) {
    const uint8_t *written = buffer.written + first;
    if (stride == 1)
      suspect = std::memchr(written, 0, size_t(count)) != nullptr;
    else
      for (int64_t i = 0; i < count; ++i)
        suspect |= !written[i * stride];
  }
  if (buffer.writer) {
    const uint32_t *writer = buffer.writer + first;
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i)
        suspect |= isForeign(writer[i], frame.instance);
    else
      for (int64_t i = 0; i < count; ++i)
        suspect |= isForeign(writer[i * stride], frame.instance);
  }
  if (suspect)
    for (int64_t i = 0; i < count; ++i)
      reportRead(inst, frame, arg, first + i * stride);
  if (buffer.reader)
    markRead(buffer.reader + first, frame.instance, stride, count);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

static void reportWrite(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e,
                        const uint8_t *value) {
  const BufferState &buffer = *arg.buffer;
  const uint32_t me = frame.instance;
  if (buffer.writer && isForeign(buffer.writer[e], me)) {
    if (Finding *finding = frame.findings->add(FindingKind::RaceWriteWrite, inst.op))
      finding->args = {programOf(frame), valueText(buffer.dtype, value), coordinatesOf(arg, e),
                       arg.name, programOf(frame, buffer.writer[e])};
    return;
  }
  if (!buffer.reader || !isForeign(buffer.reader[e], me))
    return;
  uint32_t first = buffer.reader[e] & ~kSeveral;
  if (Finding *finding = frame.findings->add(FindingKind::RaceWriteRead, inst.op))
    finding->args = {programOf(frame), valueText(buffer.dtype, value), coordinatesOf(arg, e),
                     arg.name, first == me ? "another" : programOf(frame, first)};
}

static void reportIn(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e,
                     const uint8_t *value) {
  if (Finding *finding = frame.findings->add(FindingKind::WriteIn, inst.op))
    finding->args = {programOf(frame), valueText(arg.buffer->dtype, value), coordinatesOf(arg, e),
                     arg.name};
}

/// Whether another instance has written or read one of the elements.
static bool isTouched(uint32_t *writer, const uint32_t *reader, uint32_t me, int64_t stride,
                      int64_t count) {
  uint32_t suspect = 0;
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      suspect |= uint32_t(writer[i] != 0) & uint32_t(writer[i] != me);
  else
    for (int64_t i = 0; i < count; ++i)
      suspect |= isForeign(writer[i * stride], me);
  if (reader)
    for (int64_t i = 0; i < count; ++i)
      suspect |= isForeign(reader[i * stride], me);
  return suspect;
}

void tk::interp::noteWrite(const Inst &inst, Frame &frame, ArgState &arg, int64_t first,
                           int64_t stride, int64_t count, const uint8_t *values) {
  BufferState &buffer = *arg.buffer;
  const uint32_t me = frame.instance;
  if (arg.access == Access::In && arg.checkAccess)
    reportIn(inst, frame, arg, first, values);
  if (buffer.writer) {
    const uint32_t *reader = buffer.reader ? buffer.reader + first : nullptr;
    if (isTouched(buffer.writer + first, reader, me, stride, count))
      for (int64_t i = 0; i < count; ++i)
        reportWrite(inst, frame, arg, first + i * stride, values + i * buffer.elementBytes);
    if (stride == 1)
      std::fill_n(buffer.writer + first, count, me);
    else
      for (int64_t i = 0; i < count; ++i)
        buffer.writer[first + i * stride] = me;
  }
  if (buffer.written) {
    if (stride == 1)
      std::memset(buffer.written + first, 1, size_t(count));
    else
      for (int64_t i = 0; i < count; ++i)
        buffer.written[first + i * stride] = 1;
  }
}
