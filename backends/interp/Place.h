//===- Place.h - the elements of a place, row by row ---------------------------===//
//
// The part of a place that lies within the extents is a box, known after one comparison an axis.
// Its innermost rows move by memcpy; what is outside is filled before. With a mask each run of set
// elements is a row. Tiles of indices are one more axis of the box, whose elements lie anywhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>
#include <cstring>

namespace tk::interp {

/// An axis of the tile: elements low..high of `width` are within the extent.
struct PlaceAxis {
  int64_t width, low, high, stride;
};

struct PlaceBox {
  PlaceAxis axes[kMaxPlaceRank];
  unsigned rank = 0;
  int64_t element = 0; // of the buffer, where all axes are at 0; may lie outside it
  bool isEmpty = false;
  bool isFull = true;
};

/// A run of elements: where it begins in the buffer and in the tile.
struct PlaceRow {
  int64_t element, stride, count, tile;
};

/// Whether a mask leaves no element.
inline bool masksAll(const Frame &frame, const PlacePlan &plan) {
  if (plan.mask == kNoSlot)
    return false;
  const uint8_t *mask = frame.at<uint8_t>(plan.mask);
  return std::none_of(mask, mask + plan.elements, [](uint8_t each) { return each != 0; });
}

/// Adds the index of one axis. Arithmetic wraps: an element that is reached lies within the buffer,
/// whatever the start.
inline void addToBox(PlaceBox &box, const Inst &inst, Frame &frame, const ViewRef &view, size_t axis,
                     const PlacePlan &plan, int64_t start, int64_t width) {
  const int64_t extent = view.extents[axis], stride = view.strides[axis];
  box.element = int64_t(uint64_t(box.element) + uint64_t(start) * uint64_t(stride));
  if (width == 0) {
    if (start < 0 || start >= extent) {
      if (!masksAll(frame, plan)) // what a mask leaves out is no access
        reportIndex(inst, frame, view.arg, axis, start, extent);
      box.isEmpty = true;
      box.isFull = false;
    }
    return;
  }
  int64_t low = start >= 0 ? 0 : start <= -width ? width : -start;
  uint64_t left = start >= extent ? 0 : uint64_t(extent) - uint64_t(start);
  int64_t high = std::max(low, int64_t(std::min<uint64_t>(uint64_t(width), left)));
  box.axes[box.rank++] = {width, low, high, stride};
  box.isEmpty |= low >= high;
  box.isFull &= low == 0 && high == width;
}

/// Calls `fn` for each innermost row of the box.
template <class Fn> void forEachRow(const PlaceBox &box, Fn fn) {
  if (box.isEmpty)
    return;
  if (box.rank == 0)
    return fn(PlaceRow{box.element, 1, 1, 0});
  const unsigned last = box.rank - 1;
  const PlaceAxis &inner = box.axes[last];
  int64_t at[kMaxPlaceRank];
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
    fn(PlaceRow{int64_t(element), inner.stride, inner.high - inner.low, tile});
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
template <class Fn> void forEachRun(PlaceRow row, const uint8_t *mask, Fn fn) {
  const uint8_t *bytes = mask + row.tile;
  for (int64_t i = 0; i < row.count;) {
    if (!bytes[i]) {
      ++i;
      continue;
    }
    const void *zero = std::memchr(bytes + i, 0, size_t(row.count - i));
    int64_t end = zero ? static_cast<const uint8_t *>(zero) - bytes : row.count;
    fn(PlaceRow{row.element + i * row.stride, row.stride, end - i, row.tile + i});
    i = end;
  }
}

/// Splits a row into what lies in one buffer: `within(arg, row)`, and elements that lie in none:
/// `outside(tile, address)`.
template <class Within, class Outside>
void forEachPiece(const Frame &frame, const PlacePlan &plan, const ViewRef &view,
                  const PlaceRow &row, Within within, Outside outside) {
  int64_t last = 0; // strides of such a view may be any number
  const bool hasLast = !__builtin_mul_overflow(row.count - 1, row.stride, &last) &&
                       !__builtin_add_overflow(last, row.element, &last);
  if (view.arg && hasLast && std::min(row.element, last) >= 0 &&
      std::max(row.element, last) < view.arg->buffer->elements)
    return within(*view.arg, row);
  for (int64_t i = 0; i < row.count; ++i) {
    const uint64_t element = uint64_t(row.element) + uint64_t(i) * uint64_t(row.stride);
    const uint64_t address = view.address + (element - view.origin) * plan.elementBytes;
    ArgState *arg = frame.memory->find(plan.view.aliasClass, address);
    const uint64_t offset =
        arg ? address - reinterpret_cast<uint64_t>(arg->buffer->data) : uint64_t(0);
    if (!arg || arg->buffer->elementBytes != plan.elementBytes || offset % plan.elementBytes)
      outside(row.tile + i, address);
    else
      within(*arg, PlaceRow{int64_t(offset / plan.elementBytes), 1, 1, row.tile + i});
  }
}

template <class T> void gatherRow(T *to, const T *from, int64_t stride, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, size_t(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i * stride];
}

template <class T> void scatterRow(T *to, const T *from, int64_t stride, int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, size_t(count) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i * stride] = from[i];
}

/// What a tk.read does with the rows of its place.
template <class T> class PlaceReader {
public:
  PlaceReader(const Inst &inst, Frame &frame, const PlacePlan &plan, const ViewRef &view)
      : inst(inst), frame(frame), plan(plan), view(view), value(frame.at<T>(plan.value)),
        hasBounds(frame.boundArena && isFloat(plan.dtype)) {}

  /// For elements that are not read; one of a view made from a pointer may turn out to be such.
  void fillWhereNeeded(bool isComplete) {
    if (isComplete && plan.mask == kNoSlot && !view.isChecked)
      return;
    std::fill_n(value, plan.elements, plan.fill != kNoSlot ? *frame.at<T>(plan.fill) : T(0));
    if (hasBounds)
      std::fill_n(frame.boundsAt(plan.value), plan.elements,
                  plan.fill != kNoSlot ? *frame.boundsAt(plan.fill) : 0.0);
  }
  void read(const PlaceRow &row) {
    if (plan.mask == kNoSlot)
      return readRun(row);
    forEachRun(row, frame.at<uint8_t>(plan.mask), [&](const PlaceRow &run) { readRun(run); });
  }

private:
  void readRun(const PlaceRow &row) {
    if (!view.isChecked)
      return readPiece(*view.arg, row);
    forEachPiece(
        frame, plan, view, row,
        [&](ArgState &arg, const PlaceRow &piece) { readPiece(arg, piece); },
        [&](int64_t lane, uint64_t address) {
          reportOutside(inst, frame, FindingKind::LoadOutside, kNoSlot, plan.view.aliasClass,
                        address, sizeof(T), size_t(lane));
        });
  }
  void readPiece(ArgState &arg, const PlaceRow &row) {
    const BufferState &buffer = *arg.buffer;
    if (arg.notesReads)
      noteRead(inst, frame, arg, row.element, row.stride, row.count);
    gatherRow(value + row.tile, reinterpret_cast<const T *>(buffer.data) + row.element, row.stride,
              row.count);
    if (hasBounds)
      gatherRow(frame.boundsAt(plan.value) + row.tile, buffer.bounds + row.element, row.stride,
                row.count);
  }

  const Inst &inst;
  Frame &frame;
  const PlacePlan &plan;
  const ViewRef &view;
  T *value;
  const bool hasBounds;
};

/// What a tk.write does with the rows of its place.
template <class T> class PlaceWriter {
public:
  PlaceWriter(const Inst &inst, Frame &frame, const PlacePlan &plan, const ViewRef &view)
      : inst(inst), frame(frame), plan(plan), view(view), value(frame.at<T>(plan.value)),
        hasBounds(frame.boundArena && isFloat(plan.dtype)) {}

  void write(const PlaceRow &row) {
    forEachMaskedRun(row, [&](const PlaceRow &run) { writeRun(run); });
  }
  /// After all rows: an element whose value is not in memory lost its place to another one.
  void check(const PlaceRow &row) {
    forEachMaskedRun(row, [&](const PlaceRow &run) {
      forEachPiece(
          frame, plan, view, run,
          [&](ArgState &arg, const PlaceRow &piece) { checkPiece(arg, piece); },
          [](int64_t, uint64_t) {});
    });
  }

private:
  template <class Fn> void forEachMaskedRun(const PlaceRow &row, Fn fn) {
    if (plan.mask == kNoSlot)
      return fn(row);
    forEachRun(row, frame.at<uint8_t>(plan.mask), fn);
  }
  void writeRun(const PlaceRow &row) {
    if (!view.isChecked)
      return writePiece(*view.arg, row);
    forEachPiece(
        frame, plan, view, row,
        [&](ArgState &arg, const PlaceRow &piece) { writePiece(arg, piece); },
        [&](int64_t lane, uint64_t address) {
          reportOutside(inst, frame, FindingKind::StoreOutside, kNoSlot, plan.view.aliasClass,
                        address, sizeof(T), size_t(lane));
        });
  }
  void writePiece(ArgState &arg, const PlaceRow &row) {
    const BufferState &buffer = *arg.buffer;
    const T *from = value + row.tile;
    T *to = reinterpret_cast<T *>(buffer.data) + row.element;
    if (arg.notesWrites)
      noteWrite(inst, frame, arg, row.element, row.stride, row.count,
                reinterpret_cast<const uint8_t *>(from));
    if (!frame.findings->pending.empty() && holdsNan(plan.dtype, from, size_t(row.count)))
      frame.findings->promotePending();
    if (frame.watchesChanges)
      for (int64_t i = 0; i < row.count; ++i)
        frame.changes += to[i * row.stride] != from[i];
    scatterRow(to, from, row.stride, row.count);
    if (hasBounds)
      scatterRow(buffer.bounds + row.element, frame.boundsAt(plan.value) + row.tile, row.stride,
                 row.count);
  }
  void checkPiece(ArgState &arg, const PlaceRow &row) {
    const T *memory = reinterpret_cast<const T *>(arg.buffer->data) + row.element;
    for (int64_t i = 0; i < row.count && arg.checkRaces; ++i)
      if (memory[i * row.stride] != value[row.tile + i])
        reportDuplicate(inst, frame, arg, row.element + i * row.stride, plan.dtype,
                        value + row.tile + i, size_t(row.tile + i));
  }

  const Inst &inst;
  Frame &frame;
  const PlacePlan &plan;
  const ViewRef &view;
  const T *value;
  const bool hasBounds;
};

} // namespace tk::interp
