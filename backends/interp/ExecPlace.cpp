//===- ExecPlace.cpp - tk.read and tk.write ---------------------------------------===//
//
// The part of a place that lies within the extents is a box, known after one comparison an axis.
// Its innermost rows move by memcpy; what is outside is filled before. With a mask each run of set
// elements is a row.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>
#include <cstring>

using namespace tk::interp;

namespace {
constexpr unsigned kMaxRank = 16;

/// An axis of the tile: elements low..high of `width` are within the extent.
struct Axis {
  int64_t width, low, high, stride;
};

struct Box {
  Axis axes[kMaxRank];
  unsigned rank = 0;
  int64_t element = 0; // of the buffer, where all axes are at 0; may lie outside it
  bool isEmpty = false;
  bool isFull = true;
};

/// A run of elements: where it begins in the buffer and in the tile.
struct Row {
  int64_t element, stride, count, tile;
};
} // namespace

static void reportIndex(const Inst &inst, Frame &frame, const ArgState &arg, size_t axis,
                        int64_t index) {
  if (!arg.checkBounds)
    return;
  if (Finding *finding = frame.findings->add(FindingKind::IndexOutside, inst.op))
    finding->args = {programOf(frame), std::to_string(index), std::to_string(axis), arg.name,
                     std::to_string(arg.extents[axis])};
}

/// Axis arithmetic wraps: an element that is reached lies within the buffer, whatever the start.
static Box boxOf(const Inst &inst, Frame &frame, const PlacePlan &plan, const ArgState &arg) {
  Box box;
  uint64_t element = uint64_t(arg.origin);
  for (size_t i = 0; i < plan.widths.size(); ++i) {
    const int64_t start = *frame.at<int64_t>(plan.indices[i]);
    const int64_t width = plan.widths[i], extent = arg.extents[i];
    element += uint64_t(start) * uint64_t(arg.strides[i]);
    if (width == 0) {
      if (start < 0 || start >= extent) {
        reportIndex(inst, frame, arg, i, start);
        box.isEmpty = true;
        box.isFull = false;
      }
      continue;
    }
    int64_t low = start >= 0 ? 0 : start <= -width ? width : -start;
    uint64_t left = start >= extent ? 0 : uint64_t(extent) - uint64_t(start);
    int64_t high = std::max(low, int64_t(std::min<uint64_t>(uint64_t(width), left)));
    box.axes[box.rank++] = {width, low, high, arg.strides[i]};
    box.isEmpty |= low >= high;
    box.isFull &= low == 0 && high == width;
  }
  box.element = int64_t(element);
  return box;
}

/// Calls `fn` for each innermost row of the box.
template <class Fn> static void forEachRow(const Box &box, Fn fn) {
  if (box.isEmpty)
    return;
  if (box.rank == 0)
    return fn(Row{box.element, 1, 1, 0});
  const unsigned last = box.rank - 1;
  const Axis &inner = box.axes[last];
  int64_t at[kMaxRank];
  for (unsigned i = 0; i < last; ++i)
    at[i] = box.axes[i].low;
  while (true) {
    int64_t tile = 0;
    uint64_t element = uint64_t(box.element);
    for (unsigned i = 0; i < last; ++i) {
      tile = tile * box.axes[i].width + at[i];
      element += uint64_t(at[i]) * uint64_t(box.axes[i].stride);
    }
    tile = tile * inner.width + inner.low;
    element += uint64_t(inner.low) * uint64_t(inner.stride);
    fn(Row{int64_t(element), inner.stride, inner.high - inner.low, tile});
    unsigned axis = last;
    while (axis-- > 0) {
      if (++at[axis] < box.axes[axis].high)
        break;
      at[axis] = box.axes[axis].low;
    }
    if (axis == ~0u)
      return;
  }
}

/// Splits a row into its runs of set mask bytes.
template <class Fn> static void forEachRun(Row row, const uint8_t *mask, Fn fn) {
  const uint8_t *bytes = mask + row.tile;
  for (int64_t i = 0; i < row.count;) {
    if (!bytes[i]) {
      ++i;
      continue;
    }
    const void *zero = std::memchr(bytes + i, 0, size_t(row.count - i));
    int64_t end = zero ? static_cast<const uint8_t *>(zero) - bytes : row.count;
    fn(Row{row.element + i * row.stride, row.stride, end - i, row.tile + i});
    i = end;
  }
}

template <class T> static void gather(T *to, const T *from, int64_t stride, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, size_t(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i * stride];
}

template <class T> static void scatter(T *to, const T *from, int64_t stride, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, size_t(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i * stride] = from[i];
}

template <class T> static void readRows(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->places[inst.aux];
  ArgState &arg = frame.args[plan.arg];
  const BufferState &buffer = *arg.buffer;
  const Box box = boxOf(inst, frame, plan, arg);
  T *value = frame.at<T>(plan.value);
  const bool hasMask = plan.mask != kNoSlot;
  const bool hasBounds = frame.boundArena && isFloat(plan.dtype);
  if (!box.isFull || hasMask) {
    std::fill_n(value, plan.elements, plan.fill != kNoSlot ? *frame.at<T>(plan.fill) : T(0));
    if (hasBounds)
      std::fill_n(frame.boundsAt(plan.value), plan.elements,
                  plan.fill != kNoSlot ? *frame.boundsAt(plan.fill) : 0.0);
  }
  const T *data = reinterpret_cast<const T *>(buffer.data);
  auto readRow = [&](Row row) {
    if (arg.notesReads)
      noteRead(inst, frame, arg, row.element, row.stride, row.count);
    gather(value + row.tile, data + row.element, row.stride, row.count);
    if (hasBounds)
      gather(frame.boundsAt(plan.value) + row.tile, buffer.bounds + row.element, row.stride,
             row.count);
  };
  forEachRow(box, [&](Row row) {
    if (hasMask)
      forEachRun(row, frame.at<uint8_t>(plan.mask), readRow);
    else
      readRow(row);
  });
}

template <class T> static void writeRows(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->places[inst.aux];
  ArgState &arg = frame.args[plan.arg];
  const BufferState &buffer = *arg.buffer;
  const Box box = boxOf(inst, frame, plan, arg);
  const T *value = frame.at<T>(plan.value);
  const bool hasBounds = frame.boundArena && isFloat(plan.dtype);
  T *data = reinterpret_cast<T *>(buffer.data);
  auto writeRow = [&](Row row) {
    if (arg.notesWrites)
      noteWrite(inst, frame, arg, row.element, row.stride, row.count,
                reinterpret_cast<const uint8_t *>(value + row.tile));
    if (!frame.findings->pending.empty() &&
        holdsNan(plan.dtype, value + row.tile, size_t(row.count)))
      frame.findings->promotePending();
    scatter(data + row.element, value + row.tile, row.stride, row.count);
    if (hasBounds)
      scatter(buffer.bounds + row.element, frame.boundsAt(plan.value) + row.tile, row.stride,
              row.count);
  };
  forEachRow(box, [&](Row row) {
    if (plan.mask != kNoSlot)
      forEachRun(row, frame.at<uint8_t>(plan.mask), writeRow);
    else
      writeRow(row);
  });
}

InstFn tk::interp::selectRead(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return readRows<uint8_t>;
  case 2:
    return readRows<uint16_t>;
  case 4:
    return readRows<uint32_t>;
  default:
    return readRows<uint64_t>;
  }
}

InstFn tk::interp::selectWrite(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return writeRows<uint8_t>;
  case 2:
    return writeRows<uint16_t>;
  case 4:
    return writeRows<uint32_t>;
  default:
    return writeRows<uint64_t>;
  }
}
