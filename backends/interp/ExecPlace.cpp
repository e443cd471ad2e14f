//===- ExecPlace.cpp - tk.read, tk.write and tk.locate ----------------------------===//

#include "backends/interp/Place.h"

using namespace tk::interp;

static PlaceBox boxOf(const Inst &inst, Frame &frame, const PlacePlan &plan, const ViewRef &view) {
  PlaceBox box;
  box.element = int64_t(view.origin);
  box.isEmpty = view.isEmpty;
  box.isFull = !view.isEmpty;
  for (size_t i = 0; i < plan.widths.size(); ++i)
    addToBox(box, inst, frame, view, i, plan, *frame.at<int64_t>(plan.indices[i]), plan.widths[i]);
  return box;
}

template <class T> static void readRows(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, sizeof(T));
  const PlaceBox box = boxOf(inst, frame, plan, view);
  PlaceReader<T> reader(inst, frame, plan, view);
  reader.fillWhereNeeded(box.isFull);
  forEachRow(box, [&](const PlaceRow &row) { reader.read(row); });
}

template <class T> static void writeRows(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, sizeof(T));
  const PlaceBox box = boxOf(inst, frame, plan, view);
  PlaceWriter<T> writer(inst, frame, plan, view);
  forEachRow(box, [&](const PlaceRow &row) { writer.write(row); });
  // Only strides that somebody chose can give two elements one address.
  if (view.isChecked && plan.elements > 1)
    forEachRow(box, [&](const PlaceRow &row) { writer.check(row); });
}

/// Elements that do not exist get the address of the view's first one.
static void locateRows(const Inst &inst, Frame &frame) {
  const PlacePlan &plan = frame.program->memory.places[inst.aux];
  const ViewRef view = viewOf(frame, plan.view, plan.elementBytes);
  const PlaceBox box = boxOf(inst, frame, plan, view);
  uint64_t *pointer = frame.at<uint64_t>(plan.value);
  uint8_t *exists = frame.at<uint8_t>(plan.exists);
  if (!box.isFull) {
    std::fill_n(pointer, plan.elements, view.address);
    std::fill_n(exists, plan.elements, uint8_t(0));
  }
  forEachRow(box, [&](const PlaceRow &row) {
    for (int64_t i = 0; i < row.count; ++i) {
      uint64_t element = uint64_t(row.element) + uint64_t(i) * uint64_t(row.stride);
      pointer[row.tile + i] = view.address + (element - view.origin) * plan.elementBytes;
      exists[row.tile + i] = 1;
    }
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

InstFn tk::interp::selectLocate() {
  return locateRows;
}
