//===- ExecMove.cpp - elements that change their places in a tile -----------------===//
//
// permute, cat, flip, slice, insert, pick and put are copies by strides; gather looks its strides
// up; bitcast between widths cuts elements in pieces or joins them, lowest bits first.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/ExecBySize.h"
#include "backends/interp/Memory.h"
#include <algorithm>

using namespace tk::interp;

//===----------------------------------------------------------------------===//
// Copies by strides
//===----------------------------------------------------------------------===//

template <class T>
static void moveAxis(const MovePlan &plan, size_t axis, const T *from, T *to) {
  const int64_t fromStride = plan.fromStrides[axis], toStride = plan.toStrides[axis];
  const uint32_t side = plan.sides[axis];
  if (axis + 1 < plan.sides.size()) {
    for (uint32_t i = 0; i < side; ++i)
      moveAxis(plan, axis + 1, from + i * fromStride, to + i * toStride);
    return;
  }
  if (fromStride == 1 && toStride == 1) {
    std::copy_n(from, side, to);
    return;
  }
  for (uint32_t i = 0; i < side; ++i)
    to[i * toStride] = from[i * fromStride];
}

template <class T>
static void moveAll(const MovePlan &plan, const T *from, T *to, int64_t fromMore, int64_t toMore) {
  moveAxis(plan, 0, from + plan.fromOffset + fromMore, to + plan.toOffset + toMore);
}

template <class T> static void move(const Inst &inst, Frame &frame) {
  moveAll(frame.program->compute.moves[inst.aux], frame.at<T>(inst.a), frame.at<T>(inst.dst), 0, 0);
}
InstFn tk::interp::selectMove(unsigned elementBytes) {
  return bySize(elementBytes, [](auto *type) -> InstFn {
    return move<std::remove_pointer_t<decltype(type)>>;
  });
}

static void boundMoveStrided(const Inst &inst, Frame &frame) {
  moveAll(frame.program->compute.moves[inst.aux], frame.boundsAt(inst.a), frame.boundsAt(inst.dst),
          0, 0);
}
InstFn tk::interp::selectMoveBounds() {
  return boundMoveStrided;
}

//===----------------------------------------------------------------------===//
// One layer, at an index known at run time
//===----------------------------------------------------------------------===//

static bool isInside(const MovePlan &plan, int64_t index) {
  return index >= 0 && index < plan.layers;
}

static void reportIndex(const Inst &inst, Frame &frame, int64_t index, const std::string &lane,
                        uint32_t axis, int64_t side, const char *consequence) {
  if (Finding *finding = frame.findings->add(FindingKind::TileIndexOutside, inst.op))
    finding->args = {programOf(frame),     std::to_string(index), lane,
                     std::to_string(axis), std::to_string(side),  consequence};
}

static size_t elementsOf(const MovePlan &plan) {
  size_t count = 1;
  for (uint32_t side : plan.sides)
    count *= side;
  return count;
}

template <class T>
static void pickLayer(const MovePlan &plan, int64_t index, const T *from, T *to) {
  if (isInside(plan, index))
    moveAll(plan, from, to, index * plan.layerStride, 0);
  else
    std::fill_n(to, elementsOf(plan), T(0));
}

template <class T> static void pick(const Inst &inst, Frame &frame) {
  const MovePlan &plan = frame.program->compute.moves[inst.aux];
  const int64_t index = *frame.at<int64_t>(inst.b);
  pickLayer(plan, index, frame.at<T>(inst.a), frame.at<T>(inst.dst));
  if (!isInside(plan, index) && plan.reports)
    reportIndex(inst, frame, index, "", plan.axis, plan.layers, "the result is zero");
}
InstFn tk::interp::selectPick(unsigned elementBytes) {
  return bySize(elementBytes, [](auto *type) -> InstFn {
    return pick<std::remove_pointer_t<decltype(type)>>;
  });
}

static void pickBounds(const Inst &inst, Frame &frame) {
  const MovePlan &plan = frame.program->compute.moves[inst.aux];
  pickLayer(plan, *frame.at<int64_t>(inst.b), frame.boundsAt(inst.a), frame.boundsAt(inst.dst));
}
InstFn tk::interp::selectPickBounds() {
  return pickBounds;
}

template <class T> static void put(const Inst &inst, Frame &frame) {
  const MovePlan &plan = frame.program->compute.moves[inst.aux];
  const int64_t index = *frame.at<int64_t>(inst.b);
  if (isInside(plan, index))
    moveAll(plan, frame.at<T>(inst.a), frame.at<T>(inst.dst), 0, index * plan.layerStride);
  else if (plan.reports)
    reportIndex(inst, frame, index, "", plan.axis, plan.layers, "nothing is replaced");
}
InstFn tk::interp::selectPut(unsigned elementBytes) {
  return bySize(elementBytes, [](auto *type) -> InstFn {
    return put<std::remove_pointer_t<decltype(type)>>;
  });
}

static void putBounds(const Inst &inst, Frame &frame) {
  const MovePlan &plan = frame.program->compute.moves[inst.aux];
  const int64_t index = *frame.at<int64_t>(inst.b);
  if (isInside(plan, index))
    moveAll(plan, frame.boundsAt(inst.a), frame.boundsAt(inst.dst), 0, index * plan.layerStride);
}
InstFn tk::interp::selectPutBounds() {
  return putBounds;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// Calls `fn(result, source)` for every element of the result, with -1 for an index outside.
template <class I, class Fn>
static void forEachGathered(const GatherPlan &plan, const I *indices, Fn fn) {
  const size_t inner = plan.from.inner;
  size_t at = 0;
  for (uint32_t o = 0; o < plan.from.outer; ++o)
    for (uint32_t p = 0; p < plan.picked; ++p)
      for (size_t i = 0; i < inner; ++i, ++at) {
        const int64_t index = indices[at];
        const bool inside = index >= 0 && index < int64_t(plan.from.side);
        fn(at, inside ? int64_t((size_t(o) * plan.from.side + size_t(index)) * inner + i) : -1);
      }
}

template <class T, class I> static void gather(const Inst &inst, Frame &frame) {
  const GatherPlan &plan = frame.program->compute.gathers[inst.aux];
  const T *from = frame.at<T>(inst.a);
  const I *indices = frame.at<I>(inst.b);
  T *to = frame.at<T>(inst.dst);
  bool anyOutside = false;
  forEachGathered(plan, indices, [&](size_t result, int64_t source) {
    anyOutside |= source < 0;
    to[result] = source < 0 ? T(0) : from[source];
  });
  if (!anyOutside || !plan.reports)
    return;
  forEachGathered(plan, indices, [&](size_t result, int64_t source) {
    if (source < 0 && !frame.findings->isOver())
      reportIndex(inst, frame, int64_t(indices[result]), laneOf(frame, inst, result), plan.axis,
                  plan.from.side, "the element is zero");
  });
}

InstFn tk::interp::selectGather(unsigned elementBytes, DType index) {
  return bySize(elementBytes, [&](auto *type) -> InstFn {
    using T = std::remove_pointer_t<decltype(type)>;
    return index == DType::i32 ? gather<T, int32_t> : gather<T, int64_t>;
  });
}

template <class I> static void gatherBounds(const Inst &inst, Frame &frame) {
  const GatherPlan &plan = frame.program->compute.gathers[inst.aux];
  const double *from = frame.boundsAt(inst.a);
  double *to = frame.boundsAt(inst.dst);
  forEachGathered(plan, frame.at<I>(inst.b), [&](size_t result, int64_t source) {
    to[result] = source < 0 ? 0 : from[source];
  });
}
InstFn tk::interp::selectGatherBounds(DType index) {
  return index == DType::i32 ? gatherBounds<int32_t> : gatherBounds<int64_t>;
}

//===----------------------------------------------------------------------===//
// Bits under another type
//===----------------------------------------------------------------------===//

/// Calls `fn(wide, narrow, shift)` for every narrow element.
template <class Fn> static void forEachPiece(const BitcastPlan &plan, Fn fn) {
  const size_t inner = plan.wide.inner, ratio = plan.ratio;
  for (uint32_t o = 0; o < plan.wide.outer; ++o)
    for (uint32_t w = 0; w < plan.wide.side; ++w)
      for (size_t piece = 0; piece < ratio; ++piece) {
        const size_t wide = (size_t(o) * plan.wide.side + w) * inner;
        const size_t narrow = ((size_t(o) * plan.wide.side + w) * ratio + piece) * inner;
        for (size_t i = 0; i < inner; ++i)
          fn(wide + i, narrow + i, unsigned(piece * plan.narrowBits));
      }
}

/// Elements of 4 bits lie in the low bits of a byte, the upper ones are zero.
template <class W, class N> static void splitBits(const Inst &inst, Frame &frame) {
  const BitcastPlan &plan = frame.program->compute.bitcasts[inst.aux];
  const W *from = frame.at<W>(inst.a);
  N *to = frame.at<N>(inst.dst);
  const N mask = N(~uint64_t(0) >> (64 - plan.narrowBits));
  forEachPiece(plan, [&](size_t wide, size_t narrow, unsigned shift) {
    to[narrow] = N(from[wide] >> shift) & mask;
  });
}

template <class W, class N> static void joinBits(const Inst &inst, Frame &frame) {
  const BitcastPlan &plan = frame.program->compute.bitcasts[inst.aux];
  const N *from = frame.at<N>(inst.a);
  W *to = frame.at<W>(inst.dst);
  const N mask = N(~uint64_t(0) >> (64 - plan.narrowBits));
  std::fill_n(to, size_t(plan.wide.outer) * plan.wide.side * plan.wide.inner, W(0));
  forEachPiece(plan, [&](size_t wide, size_t narrow, unsigned shift) {
    to[wide] = W(to[wide] | W(uint64_t(N(from[narrow] & mask)) << shift));
  });
}

InstFn tk::interp::selectBitcast(unsigned fromBytes, unsigned toBytes, bool joins) {
  return bySize(fromBytes, [&](auto *from) {
    return bySize(toBytes, [&](auto *to) -> InstFn {
      using From = std::remove_pointer_t<decltype(from)>;
      using To = std::remove_pointer_t<decltype(to)>;
      return joins ? joinBits<To, From> : splitBits<From, To>;
    });
  });
}
