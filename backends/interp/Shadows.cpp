//===- Shadows.cpp - what the shadows of buffers tell ------------------------------===//
//
// The common case (nothing wrong) is one branch-free pass over the shadow of a row; only when it
// sees something does a second pass look for the element, ask whether the two accesses are ordered,
// and write the text.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Memory.h"
#include <algorithm>
#include <cstring>

using namespace tk::interp;

static bool isForeign(uint32_t shadow, uint32_t me) {
  return shadow != 0 && shadow != me;
}

/// Of those a shadow names, one whose access is not ordered before what this instance does; 0 when
/// there is none.
static uint32_t unordered(const Frame &frame, const uint32_t *shadow, int64_t e) {
  if (!shadow || !isForeign(shadow[e], frame.event))
    return 0;
  return frame.races ? frame.races->firstUnordered(shadow[e], frame.instance) : shadow[e];
}

/// "program (3, 0, 0)" of such a name. Without releases a shadow of several names the first.
static std::string accessorText(const Frame &frame, uint32_t shadow) {
  const uint32_t first = shadow & ~kSeveral;
  return first == frame.event ? "another" : programOf(frame, first);
}

/// Adds this instance to those that a shadow names.
static void mark(const Frame &frame, uint32_t *shadow, int64_t stride, int64_t count) {
  const uint32_t me = frame.event;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t old = shadow[i * stride];
    if (old == 0 || old == me)
      shadow[i * stride] = me;
    else
      shadow[i * stride] = frame.races ? frame.races->withReader(old, frame.instance)
                                       : old | kSeveral;
  }
}

/// Whether somebody else has been at one of the elements.
static bool isTouched(const uint32_t *shadow, uint32_t me, int64_t stride, int64_t count) {
  uint32_t suspect = 0;
  if (!shadow)
    return false;
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i)
      suspect |= uint32_t(shadow[i] != 0) & uint32_t(shadow[i] != me);
  else
    for (int64_t i = 0; i < count; ++i)
      suspect |= isForeign(shadow[i * stride], me);
  return suspect;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

static void addFinding(const Inst &inst, Frame &frame, FindingKind kind, const ArgState &arg,
                       int64_t e, uint32_t other) {
  if (Finding *finding = frame.findings->add(kind, inst.op))
    finding->args = {programOf(frame), coordinatesOf(arg, e), arg.name,
                     other ? accessorText(frame, other) : ""};
}

/// Element `e` may be wrong to read in one way or another; says which.
static void reportRead(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e) {
  const BufferState &buffer = *arg.buffer;
  if (uint32_t other = unordered(frame, buffer.writer, e))
    return addFinding(inst, frame, FindingKind::RaceReadWritten, arg, e, other);
  if (uint32_t other = unordered(frame, buffer.changer, e))
    return addFinding(inst, frame, FindingKind::RaceReadAtomic, arg, e, other);
  if (arg.checkInit && buffer.written && !buffer.written[e])
    addFinding(inst, frame, FindingKind::ReadUnwritten, arg, e, 0);
}

/// Whether one of the elements has been written by nobody.
static bool isUnwritten(const uint8_t *written, int64_t stride, int64_t count) {
  if (!written)
    return false;
  if (stride == 1)
    return std::memchr(written, 0, size_t(count)) != nullptr;
  bool suspect = false;
  for (int64_t i = 0; i < count; ++i)
    suspect |= !written[i * stride];
  return suspect;
}

static uint32_t *from(uint32_t *shadow, int64_t first) {
  return shadow ? shadow + first : nullptr;
}

void tk::interp::noteRead(const Inst &inst, Frame &frame, ArgState &arg, int64_t first,
                          int64_t stride, int64_t count) {
  const BufferState &buffer = *arg.buffer;
  if (arg.access == Access::Out && arg.checkAccess)
    addFinding(inst, frame, FindingKind::ReadOut, arg, first, 0);
  const uint8_t *written = arg.checkInit && buffer.written ? buffer.written + first : nullptr;
  if (isUnwritten(written, stride, count) ||
      isTouched(from(buffer.writer, first), frame.event, stride, count) ||
      isTouched(from(buffer.changer, first), frame.event, stride, count))
    for (int64_t i = 0; i < count; ++i)
      reportRead(inst, frame, arg, first + i * stride);
  if (buffer.reader)
    mark(frame, buffer.reader + first, stride, count);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

static void reportWrite(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e,
                        const uint8_t *value) {
  const BufferState &buffer = *arg.buffer;
  FindingKind kind = FindingKind::RaceWriteWrite;
  uint32_t other = unordered(frame, buffer.writer, e);
  if (!other) {
    kind = FindingKind::RaceWriteRead;
    other = unordered(frame, buffer.reader, e);
  }
  if (!other) {
    kind = FindingKind::RaceWriteAtomic;
    other = unordered(frame, buffer.changer, e);
  }
  if (!other)
    other = unordered(frame, buffer.observer, e);
  if (!other)
    return;
  if (Finding *finding = frame.findings->add(kind, inst.op))
    finding->args = {programOf(frame), valueText(buffer.dtype, value), coordinatesOf(arg, e),
                     arg.name, accessorText(frame, other)};
}

static void reportIn(const Inst &inst, Frame &frame, const ArgState &arg, int64_t e,
                     const uint8_t *value) {
  if (Finding *finding = frame.findings->add(FindingKind::WriteIn, inst.op))
    finding->args = {programOf(frame), valueText(arg.buffer->dtype, value), coordinatesOf(arg, e),
                     arg.name};
}

/// After a plain write, ordered after all that went before, it alone counts.
static void markWritten(const Frame &frame, BufferState &buffer, int64_t first, int64_t stride,
                        int64_t count) {
  if (stride == 1)
    std::fill_n(buffer.writer + first, count, frame.event);
  else
    for (int64_t i = 0; i < count; ++i)
      buffer.writer[first + i * stride] = frame.event;
  if (!frame.races)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t e = first + i * stride;
    for (uint32_t *shadow : {buffer.reader, buffer.changer, buffer.observer})
      if (shadow)
        shadow[e] = 0;
    if (buffer.changer)
      frame.races->drop(reinterpret_cast<uint64_t>(buffer.data) +
                        uint64_t(e) * buffer.elementBytes);
  }
}

void tk::interp::noteWrite(const Inst &inst, Frame &frame, ArgState &arg, int64_t first,
                           int64_t stride, int64_t count, const uint8_t *values) {
  BufferState &buffer = *arg.buffer;
  if (arg.access == Access::In && arg.checkAccess)
    reportIn(inst, frame, arg, first, values);
  if (buffer.writer) {
    const uint32_t me = frame.event;
    bool suspect = false;
    for (uint32_t *shadow : {buffer.writer, buffer.reader, buffer.changer, buffer.observer})
      suspect |= isTouched(from(shadow, first), me, stride, count);
    if (suspect)
      for (int64_t i = 0; i < count; ++i)
        reportWrite(inst, frame, arg, first + i * stride, values + i * buffer.elementBytes);
    markWritten(frame, buffer, first, stride, count);
  }
  if (buffer.written) {
    if (stride == 1)
      std::memset(buffer.written + first, 1, size_t(count));
    else
      for (int64_t i = 0; i < count; ++i)
        buffer.written[first + i * stride] = 1;
  }
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

void tk::interp::noteAtomic(const Inst &inst, Frame &frame, ArgState &arg, int64_t e, bool reads,
                            bool changes) {
  BufferState &buffer = *arg.buffer;
  if (reads && arg.access == Access::Out && arg.checkAccess)
    addFinding(inst, frame, FindingKind::ReadOut, arg, e, 0);
  if (changes && arg.access == Access::In && arg.checkAccess)
    reportIn(inst, frame, arg, e, buffer.data + size_t(e) * buffer.elementBytes);
  uint32_t other = unordered(frame, buffer.writer, e);
  FindingKind kind = FindingKind::RaceAtomicWritten;
  if (!other && changes) {
    other = unordered(frame, buffer.reader, e);
    kind = FindingKind::RaceAtomicRead;
  }
  if (other)
    addFinding(inst, frame, kind, arg, e, other);
  if (reads && arg.checkInit && buffer.written && !buffer.written[e])
    addFinding(inst, frame, FindingKind::ReadUnwritten, arg, e, 0);
  if (changes && buffer.written)
    buffer.written[e] = 1;
  if (uint32_t *shadow = changes ? buffer.changer : buffer.observer)
    mark(frame, shadow + e, 1, 1);
}
