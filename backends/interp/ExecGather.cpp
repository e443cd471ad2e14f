//===- ExecGather.cpp - places with tiles of indices -------------------------------===//
//
// All tiles of indices of a place have one shape: together they are one axis of the box, whose
// element i lies `offsets[i]` elements from where the other axes begin, or does not exist.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Place.h"
#include <limits>

using namespace tk::interp;

constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();

namespace {
/// A box with the axis of the picked elements in it, and how many elements of the tile stand behind
/// one of them.
struct PickedBox {
  PlaceBox box;
  unsigned axis = 0;
  int64_t behind = 1;
  bool isComplete = true; // each picked element exists
};
} // namespace

template <class Index>
static bool addOffsets(const Frame &frame, const PlacePlan &plan, const ViewRef &view, size_t axis,
                       int64_t *offsets) {
  const Index *index = frame.at<Index>(plan.indices[axis]);
  const int64_t extent = view.extents[axis];
  const uint64_t stride = uint64_t(view.strides[axis]);
  bool isComplete = true;
  for (uint32_t i = 0; i < plan.picked; ++i) {
    const int64_t at = index[i];
    const bool exists = at >= 0 && at < extent && offsets[i] != kNowhere;
    offsets[i] = exists ? int64_t(uint64_t(offsets[i]) + uint64_t(at) * stride) : kNowhere;
    isComplete &= exists;
  }
  return isComplete;
}

static PickedBox pickedBoxOf(const Inst &inst, Frame &frame, const PlacePlan &plan,
                             const ViewRef &view) {
  PickedBox result;
  PlaceBox &box = result.box;
  box.element = int64_t(view.origin);
  int64_t *offsets = frame.at<int64_t>(plan.offsets);
  std::fill_n(offsets, plan.picked, int64_t(0));
  bool hasPicked = false;
  for (size_t i = 0; i < plan.widths.size(); ++i) {
    if (plan.widths[i] >= 0) {
      addToBox(box, inst, frame, view, i, plan, *frame.at<int64_t>(plan.indices[i]), plan.widths[i]);
      if (hasPicked && plan.widths[i] > 0)
        result.behind *= plan.widths[i];
      continue;
    }
    if (!hasPicked) {
      result.axis = box.rank;
      box.axes[box.rank++] = {plan.picked, 0, plan.picked, 0};
    }
    hasPicked = true;
    result.isComplete &= plan.indexTypes[i] == DType::i32
                             ? addOffsets<int32_t>(frame, plan, view, i, offsets)
                             : addOffsets<int64_t>(frame, plan, view, i, offsets);
  }
  return result;
}

/// Sums wrap: strides of a view made from a pointer may be any number.
static int64_t moved(int64_t element, int64_t offset) {
  return int64_t(uint64_t(element) + uint64_t(offset));
}

/// Rows of elements that exist. A row along the picked axis itself is cut into runs of neighbours.
template <class Fn>
static void forEachPickedRow(const Frame &frame, const PlacePlan &plan, const PickedBox &picked,
                             Fn fn) {
  const int64_t *offsets = frame.at<int64_t>(plan.offsets);
  const bool isInnermost = picked.axis + 1 == picked.box.rank;
  forEachRow(picked.box, [&](const PlaceRow &row) {
    if (!isInnermost) {
      int64_t offset = offsets[row.tile / picked.behind % plan.picked];
      if (offset != kNowhere)
        fn(PlaceRow{moved(row.element, offset), row.stride, row.count, row.tile});
      return;
    }
    for (int64_t i = 0; i < row.count;) {
      int64_t end = i + 1;
      while (end < row.count && offsets[i] != kNowhere && offsets[end] == moved(offsets[i], end - i))
        ++end;
      if (offsets[i] != kNowhere)
        fn(PlaceRow{moved(row.element, offsets[i]), 1, end - i, row.tile + i});
      i = end;
    }
  });
}

template <class T> static void readPicked(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, sizeof(T));
  const PickedBox picked = pickedBoxOf(inst, frame, plan, view);
  PlaceReader<T> reader(inst, frame, plan, view);
  reader.fillWhereNeeded(picked.box.isFull && picked.isComplete);
  forEachPickedRow(frame, plan, picked, [&](const PlaceRow &row) { reader.read(row); });
}

template <class T> static void writePicked(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, sizeof(T));
  const PickedBox picked = pickedBoxOf(inst, frame, plan, view);
  PlaceWriter<T> writer(inst, frame, plan, view);
  forEachPickedRow(frame, plan, picked, [&](const PlaceRow &row) { writer.write(row); });
  if (plan.picked > 1)
    forEachPickedRow(frame, plan, picked, [&](const PlaceRow &row) { writer.check(row); });
}

static void locatePicked(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, plan.elementBytes);
  const PickedBox picked = pickedBoxOf(inst, frame, plan, view);
  uint64_t *pointer = frame.at<uint64_t>(plan.value);
  uint8_t *exists = frame.at<uint8_t>(plan.exists);
  std::fill_n(pointer, plan.elements, view.address);
  std::fill_n(exists, plan.elements, uint8_t(0));
  forEachPickedRow(frame, plan, picked, [&](const PlaceRow &row) {
    for (int64_t i = 0; i < row.count; ++i) {
      uint64_t element = uint64_t(row.element) + uint64_t(i) * uint64_t(row.stride);
      pointer[row.tile + i] = view.address + (element - view.origin) * plan.elementBytes;
      exists[row.tile + i] = 1;
    }
  });
}

InstFn tk::interp::selectGatherRead(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return readPicked<uint8_t>;
  case 2:
    return readPicked<uint16_t>;
  case 4:
    return readPicked<uint32_t>;
  default:
    return readPicked<uint64_t>;
  }
}

InstFn tk::interp::selectGatherWrite(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return writePicked<uint8_t>;
  case 2:
    return writePicked<uint16_t>;
  case 4:
    return writePicked<uint32_t>;
  default:
    return writePicked<uint64_t>;
  }
}

InstFn tk::interp::selectGatherLocate() {
  return locatePicked;
}
