//===- ExecScan.cpp - prefixes along one axis ----------------------------------------===//
//
// One element of the axis after the other, over all other axes at once: the region's left side is
// what has been combined so far, its right side the next element (in a reverse scan the other way
// round, so that the lower index is always on the left). Regions with control flow run one by one.
//
// Along a tree, level by level: what the half where the scan begins gives is combined with each element
// of the other half.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include "backends/interp/ExecBySize.h"
#include <algorithm>
#include <cstring>
#include <type_traits>

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

namespace {
/// Lanes first..first + count - 1 of layer `step` along the axis; a lane is one element of the
/// other axes.
struct Layer {
  const ReducePlan &plan;
  uint32_t step;
  size_t first, count;

  /// Calls `fn(lane - first, element, length)` for runs of neighbouring elements.
  template <class Fn> void forEachRun(Fn fn) const {
    const size_t inner = plan.inner;
    for (size_t lane = first; lane < first + count;) {
      const size_t outer = lane / inner, within = lane % inner;
      const size_t length = std::min(inner - within, first + count - lane);
      fn(lane - first, (outer * plan.side + step) * inner + within, length);
      lane += length;
    }
  }
};
} // namespace

static void takeLayer(const Layer &layer, const ReducePlan::Operand &operand, uint32_t tile, uint32_t to,
                      bool bounds, Frame &frame) {
  const unsigned bytes = operand.elementBytes;
  layer.forEachRun([&](size_t lane, size_t element, size_t length) {
    std::memcpy(frame.arena + to + lane * bytes, frame.arena + tile + element * bytes,
                length * bytes);
    if (bounds)
      std::copy_n(frame.boundsAt(tile) + element, length, frame.boundsAt(to) + lane);
  });
}

static void giveLayer(const Layer &layer, const ReducePlan::Operand &operand, uint32_t from,
                      bool bounds, Frame &frame) {
  const unsigned bytes = operand.elementBytes;
  layer.forEachRun([&](size_t lane, size_t element, size_t length) {
    std::memcpy(frame.arena + operand.result + element * bytes, frame.arena + from + lane * bytes,
                length * bytes);
    if (bounds)
      std::copy_n(frame.boundsAt(from) + lane, length, frame.boundsAt(operand.result) + element);
  });
}

static bool hasBounds(const ReducePlan &plan, const ReducePlan::Operand &operand, const Frame &frame) {
  return frame.boundArena && isFloat(operand.dtype) && !plan.isFloatSum;
}

/// `work` holds what has been combined so far, for the lanes of the chunk.
static void scanChunk(const ReducePlan &plan, size_t first, size_t count, Frame &frame) {
  const Code &body = frame.program->bodies[plan.body];
  frame.lanes = uint32_t(count);
  auto carry = [&](const ReducePlan::Operand &operand, uint32_t to, uint32_t from) {
    std::memcpy(frame.arena + to, frame.arena + from, count * operand.elementBytes);
    if (hasBounds(plan, operand, frame))
      std::copy_n(frame.boundsAt(from), count, frame.boundsAt(to));
  };
  for (uint32_t i = 0; i < plan.side; ++i) {
    const Layer layer = {plan, plan.isReverse ? plan.side - 1 - i : i, first, count};
    for (const ReducePlan::Operand &operand : plan.operands) {
      takeLayer(layer, operand, operand.value,
                i == 0           ? operand.work
                : plan.isReverse ? operand.left
                                 : operand.right,
                hasBounds(plan, operand, frame), frame);
      if (i > 0)
        carry(operand, plan.isReverse ? operand.right : operand.left, operand.work);
    }
    if (i > 0)
      execute(body, frame);
    for (const ReducePlan::Operand &operand : plan.operands) {
      if (i > 0)
        carry(operand, operand.work, operand.combined);
      giveLayer(layer, operand, operand.work, hasBounds(plan, operand, frame), frame);
    }
  }
}

/// Calls `fn(element, last)` for each element of a level's second halves, with the element at which the
/// first half ends; both as places along the axis.
template <class Fn> static void forEachPair(const ReducePlan &plan, uint32_t half, Fn fn) {
  for (uint32_t start = 0; start + half < plan.side; start += 2 * half)
    for (uint32_t i = 0; i < half; ++i) {
      if (plan.isReverse)
        fn(start + i, start + half);
      else if (start + half + i < plan.side)
        fn(start + half + i, start + half - 1);
    }
}

/// As scanChunk; the tiles of results hold what each level leaves.
static void scanTree(const ReducePlan &plan, size_t first, size_t count, Frame &frame) {
  frame.lanes = uint32_t(count);
  for (uint32_t step = 0; step < plan.side; ++step)
    for (const ReducePlan::Operand &operand : plan.operands) {
      const bool bounds = hasBounds(plan, operand, frame);
      takeLayer({plan, step, first, count}, operand, operand.value, operand.work, bounds, frame);
      giveLayer({plan, step, first, count}, operand, operand.work, bounds, frame);
    }
  for (uint32_t half = 1; half < plan.side; half *= 2)
    forEachPair(plan, half, [&](uint32_t element, uint32_t last) {
      for (const ReducePlan::Operand &operand : plan.operands) {
        const bool bounds = hasBounds(plan, operand, frame);
        takeLayer({plan, std::min(element, last), first, count}, operand, operand.result, operand.left, bounds, frame);
        takeLayer({plan, std::max(element, last), first, count}, operand, operand.result, operand.right, bounds, frame);
      }
      execute(frame.program->bodies[plan.body], frame);
      for (const ReducePlan::Operand &operand : plan.operands)
        giveLayer({plan, element, first, count}, operand, operand.combined, hasBounds(plan, operand, frame), frame);
    });
}

static void scanByRegion(const ReducePlan &plan, Frame &frame) {
  const uint32_t savedLanes = frame.lanes;
  const size_t lanes = size_t(plan.outer) * plan.inner;
  const size_t chunk = plan.oneByOne ? 1 : lanes;
  for (size_t first = 0; first < lanes; first += chunk)
    (plan.isTree ? scanTree : scanChunk)(plan, first, chunk, frame);
  frame.lanes = savedLanes;
}

static void scan(const Inst &inst, Frame &frame) {
  scanByRegion(frame.program->reductions[inst.aux], frame);
}
InstFn tk::interp::selectScan() {
  return scan;
}

//===----------------------------------------------------------------------===//
// Plain sums
//===----------------------------------------------------------------------===//

template <class T> static T sumOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(a + b); // unsigned: wraps
  else
    return Numeric<T>::round(Numeric<T>::load(a) + Numeric<T>::load(b));
}

template <class T> static void addUp(const ReducePlan &plan, const T *from, T *to) {
  const size_t inner = plan.inner;
  const ptrdiff_t step = plan.isReverse ? -ptrdiff_t(inner) : ptrdiff_t(inner);
  const size_t begin = plan.isReverse ? (plan.side - 1) * inner : 0;
  for (uint32_t o = 0; o < plan.outer; ++o) {
    const T *x = from + size_t(o) * plan.side * inner + begin;
    T *sum = to + size_t(o) * plan.side * inner + begin;
    std::copy_n(x, inner, sum);
    for (uint32_t s = 1; s < plan.side; ++s) {
      const T *before = sum;
      x += step;
      sum += step;
      for (size_t i = 0; i < inner; ++i)
        sum[i] = sumOf(before[i], x[i]);
    }
  }
}

/// The region is run after all where it has a NaN to report.
template <class T> static void scanSum(const Inst &inst, Frame &frame) {
  const ReducePlan &plan = frame.program->reductions[inst.aux];
  const ReducePlan::Operand &operand = plan.operands.front();
  addUp(plan, frame.at<T>(operand.value), frame.at<T>(operand.result));
  const size_t count = size_t(plan.outer) * plan.side * plan.inner;
  if (plan.watchesNan && holdsNan(operand.dtype, frame.arena + operand.result, count))
    scanByRegion(plan, frame);
}

InstFn tk::interp::selectScanSum(DType type) {
  switch (type) {
  case DType::i8:
    return scanSum<uint8_t>;
  case DType::i16:
    return scanSum<uint16_t>;
  case DType::i32:
    return scanSum<uint32_t>;
  case DType::i64:
    return scanSum<uint64_t>;
  case DType::f16:
    return scanSum<F16>;
  case DType::bf16:
    return scanSum<BF16>;
  case DType::f32:
    return scanSum<float>;
  case DType::f64:
    return scanSum<double>;
  default:
    return nullptr; // i1 adds in one bit: the region knows how
  }
}
