//===- ExecShape.cpp - tiles made and rearranged -------------------------------===//

#include "backends/interp/Exec.h"
#include <algorithm>
#include <cstring>

using namespace tk::interp;

static void arange(const Inst &inst, Frame &frame) {
  int32_t *result = frame.at<int32_t>(inst.dst);
  int32_t start = int32_t(inst.aux);
  for (uint32_t i = 0; i < inst.n; ++i)
    result[i] = start + int32_t(i);
}
InstFn tk::interp::selectArange() {
  return arange;
}

template <class T> static void splat(const Inst &inst, Frame &frame) {
  std::fill_n(frame.at<T>(inst.dst), frame.count(inst), *frame.at<T>(inst.a));
}
InstFn tk::interp::selectSplat(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return splat<uint8_t>;
  case 2:
    return splat<uint16_t>;
  case 4:
    return splat<uint32_t>;
  default:
    return splat<uint64_t>;
  }
}

static void copy(const Inst &inst, Frame &frame) {
  std::memcpy(frame.arena + inst.dst, frame.arena + inst.a, frame.count(inst) * inst.aux);
}
InstFn tk::interp::selectCopy() {
  return copy;
}

/// Axis `axis` of the plan and all after it; returns the end of what was written.
template <class T>
static T *broadcastAxis(const CopyPlan &plan, size_t axis, const T *from, T *to) {
  const uint32_t side = plan.sides[axis], stride = plan.strides[axis];
  if (axis + 1 < plan.sides.size()) {
    T *begin = to;
    for (uint32_t i = 0; i < side; ++i) {
      if (stride == 0 && i > 0) { // the same again: copy what has been made
        to = std::copy_n(begin, (to - begin) / i, to);
        continue;
      }
      to = broadcastAxis(plan, axis + 1, from + size_t(i) * stride, to);
    }
    return to;
  }
  if (stride == 0)
    std::fill_n(to, side, *from);
  else
    std::copy_n(from, side, to);
  return to + side;
}

template <class T> static void broadcast(const Inst &inst, Frame &frame) {
  const CopyPlan &plan = frame.program->copies[inst.aux];
  broadcastAxis(plan, 0, frame.at<T>(inst.a), frame.at<T>(inst.dst));
}
InstFn tk::interp::selectBroadcast(unsigned elementBytes) {
  switch (elementBytes) {
  case 1:
    return broadcast<uint8_t>;
  case 2:
    return broadcast<uint16_t>;
  case 4:
    return broadcast<uint32_t>;
  default:
    return broadcast<uint64_t>;
  }
}

/// Addresses wrap as unsigned numbers do; a load or store through one outside is reported there.
template <class T> static void pointerAdd(const Inst &inst, Frame &frame) {
  const uint64_t *__restrict pointer = frame.at<uint64_t>(inst.a);
  const T *__restrict offset = frame.at<T>(inst.b);
  uint64_t *__restrict result = frame.at<uint64_t>(inst.dst);
  const uint64_t bytes = inst.aux;
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = pointer[i] + uint64_t(int64_t(offset[i])) * bytes;
}
InstFn tk::interp::selectPointerAdd(DType offset) {
  return offset == DType::i32 ? pointerAdd<int32_t> : pointerAdd<int64_t>;
}
