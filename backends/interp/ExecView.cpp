//===- ExecView.cpp - views that a kernel makes ------------------------------------===//
//
// A view that is not an argument's own lies in the arena as i64 words: the address of its element at
// index zero, its extents, its strides; of a view of rank 0, whether its element exists. A part of an argument stays within the argument's extents,
// so its elements need no look at the buffer; a view made from a pointer promises what it likes,
// and each of its rows is compared with the buffer that its first element lies in.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"
#include <algorithm>

using namespace tk::interp;

ViewRef tk::interp::madeViewOf(const Frame &frame, const ViewSource &source,
                               unsigned elementBytes) {
  const int64_t *words = frame.at<int64_t>(source.slot);
  ViewRef view;
  view.address = uint64_t(words[0]);
  view.extents = words + 1;
  view.strides = words + 1 + source.rank;
  view.isChecked = source.arg == kNoSlot;
  view.isEmpty = source.rank == 0 && words[1] == 0;
  ArgState *arg = view.isChecked ? frame.memory->find(source.aliasClass, view.address)
                                 : &frame.args[source.arg];
  if (!arg)
    return view;
  const int64_t offset = int64_t(view.address - reinterpret_cast<uint64_t>(arg->buffer->data));
  if (view.isChecked &&
      (arg->buffer->elementBytes != elementBytes || offset % int64_t(elementBytes) != 0))
    return view; // a pointer to something else; its elements are looked for one by one
  view.arg = arg;
  view.origin = uint64_t(offset / int64_t(elementBytes));
  return view;
}

static void makeView(const Inst &inst, Frame &frame) {
  const ViewPlan &plan = frame.program->memory.views[inst.aux];
  int64_t *words = frame.at<int64_t>(inst.dst);
  words[0] = *frame.at<int64_t>(plan.pointer);
  const size_t rank = plan.first.size();
  words[1] = 1; // rank 0: the element exists
  for (size_t i = 0; i < rank; ++i) {
    words[1 + i] = std::max<int64_t>(*frame.at<int64_t>(plan.first[i]), 0);
    words[1 + rank + i] = *frame.at<int64_t>(plan.second[i]);
  }
}

static void subview(const Inst &inst, Frame &frame) {
  const ViewPlan &plan = frame.program->memory.views[inst.aux];
  const ViewRef from = viewOf(frame, plan.from, plan.elementBytes);
  const size_t rank = plan.from.rank;
  const size_t kept = rank - size_t(std::count(plan.drops.begin(), plan.drops.end(), true));
  int64_t *words = frame.at<int64_t>(inst.dst);
  uint64_t address = from.address;
  bool isEmpty = from.isEmpty;
  for (size_t i = 0, to = 0; i < rank; ++i) {
    const int64_t extent = from.extents[i];
    const int64_t low = *frame.at<int64_t>(plan.first[i]);
    if (plan.drops[i]) {
      if (low < 0 || low >= extent) {
        reportIndex(inst, frame, from.arg, i, low, extent);
        isEmpty = true;
      }
      address += uint64_t(low) * uint64_t(from.strides[i]) * plan.elementBytes;
      continue;
    }
    const int64_t begin = std::clamp<int64_t>(low, 0, extent);
    const int64_t end = std::clamp<int64_t>(*frame.at<int64_t>(plan.second[i]), begin, extent);
    address += uint64_t(begin) * uint64_t(from.strides[i]) * plan.elementBytes;
    words[1 + to] = end - begin;
    words[1 + kept + to] = from.strides[i];
    ++to;
  }
  words[0] = int64_t(address);
  if (kept == 0)
    words[1] = !isEmpty;
  else if (isEmpty)
    std::fill_n(words + 1, kept, int64_t(0));
}

static void viewWord(const Inst &inst, Frame &frame) {
  *frame.at<int64_t>(inst.dst) = frame.at<int64_t>(inst.a)[inst.aux];
}

static void present(const Inst &inst, Frame &frame) {
  *frame.at<uint8_t>(inst.dst) = !frame.args[inst.a].isAbsent;
}

InstFn tk::interp::selectMakeView() {
  return makeView;
}
InstFn tk::interp::selectSubview() {
  return subview;
}
InstFn tk::interp::selectViewWord() {
  return viewWord;
}
InstFn tk::interp::selectPresent() {
  return present;
}
