//===- BoundsSum.cpp - error bounds of sums, scans and sorted elements ----------------===//

#include "backends/interp/BoundRules.h"
#include "backends/interp/Bounds.h"

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

namespace {
/// A sum of numbers with bounds, in any order: n numbers are rounded n - 1 times, each time to half
/// a unit of at most their magnitudes' sum, and two engines both do.
struct SumBound {
  double total = 0, propagated = 0, granule = kInfinity;
  uint32_t terms = 0;
  bool isFinite = true;

  void add(double value, double bound) {
    isFinite &= std::isfinite(value);
    total += std::fabs(value) + bound;
    propagated += bound;
    if (std::isfinite(value))
      granule = std::min(granule, granuleOf(value));
    ++terms;
  }
  double of(const FloatFormat &format, double result) const {
    double bound = 0;
    if (total > format.max) // a partial sum may be infinite, and what is added to it does not bring it back
      bound = kInfinity;
    else if (propagated != 0 || !isExactSum(format.halfUlp, granule, total, format.max))
      bound = (propagated + 2 * (terms - 1.0) * format.halfUlp * total) * kBoundSlack;
    return finishBound(result, bound, isFinite);
  }
};
} // namespace

template <class T> static void sumBound(const Inst &inst, Frame &frame) {
  const ReducePlan &plan = frame.program->reductions[inst.aux];
  const ReducePlan::Operand &operand = plan.operands.front();
  const T *value = frame.at<T>(operand.value), *sums = frame.at<T>(operand.result);
  const double *ea = frame.boundsAt(operand.value);
  double *bounds = frame.boundsAt(operand.result);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  for (uint32_t o = 0; o < plan.outer; ++o)
    for (uint32_t k = 0; k < plan.inner; ++k) {
      SumBound sum;
      for (uint32_t s = 0; s < plan.side; ++s) {
        size_t at = (size_t(o) * plan.side + s) * plan.inner + k;
        sum.add(double(Numeric<T>::load(value[at])), ea[at]);
      }
      size_t at = size_t(o) * plan.inner + k;
      bounds[at] = sum.of(format, double(Numeric<T>::load(sums[at])));
    }
}

InstFn tk::interp::selectBoundSum(DType type) {
#define TK_CALL(T) (sumBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

/// Element i of a scan is a sum of the i + 1 elements up to it.
template <class T> static void scanSumBound(const Inst &inst, Frame &frame) {
  const ReducePlan &plan = frame.program->reductions[inst.aux];
  const ReducePlan::Operand &operand = plan.operands.front();
  const T *value = frame.at<T>(operand.value), *sums = frame.at<T>(operand.result);
  const double *ea = frame.boundsAt(operand.value);
  double *bounds = frame.boundsAt(operand.result);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  for (uint32_t o = 0; o < plan.outer; ++o)
    for (uint32_t k = 0; k < plan.inner; ++k) {
      SumBound sum;
      for (uint32_t s = 0; s < plan.side; ++s) {
        uint32_t step = plan.isReverse ? plan.side - 1 - s : s;
        size_t at = (size_t(o) * plan.side + step) * plan.inner + k;
        sum.add(double(Numeric<T>::load(value[at])), ea[at]);
        bounds[at] = sum.of(format, double(Numeric<T>::load(sums[at])));
      }
    }
}

InstFn tk::interp::selectBoundScanSum(DType type) {
#define TK_CALL(T) (scanSumBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Sorted elements
//===----------------------------------------------------------------------===//

/// The t-th of numbers that may lie anywhere within their bounds lies between the t-th of the lower
/// ends and the t-th of the upper ends.
template <class T> static void sortBound(const Inst &inst, Frame &frame) {
  const SortPlan &plan = frame.program->compute.sorts[inst.aux];
  const size_t inner = plan.from.inner, side = plan.from.side, taken = plan.taken;
  double *low = frame.at<double>(plan.scratch), *high = low + side;
  auto isBelow = [](double a, double b) { return a < b || (a == a && b != b); };
  for (size_t line = 0; line < size_t(plan.from.outer) * inner; ++line) {
    const size_t from = line / inner * side * inner + line % inner;
    const size_t to = line / inner * taken * inner + line % inner;
    for (size_t s = 0; s < side; ++s) {
      const double x = double(Numeric<T>::load(frame.at<T>(plan.value)[from + s * inner]));
      const double bound = frame.boundsAt(plan.value)[from + s * inner];
      low[s] = bound == 0 ? x : x - bound;
      high[s] = bound == 0 ? x : x + bound;
    }
    std::sort(low, low + side, isBelow);
    std::sort(high, high + side, isBelow);
    for (size_t t = 0; t < taken; ++t) {
      const size_t rank = plan.isDescending ? side - 1 - t : t;
      const double x = double(Numeric<T>::load(frame.at<T>(plan.sorted)[to + t * inner]));
      const bool isSame = low[rank] == high[rank] || (x != x && low[rank] != low[rank]);
      const double bound = isSame ? 0 : std::max(high[rank] - x, x - low[rank]);
      frame.boundsAt(plan.sorted)[to + t * inner] = bound == bound ? bound : kInfinity;
    }
  }
}

InstFn tk::interp::selectBoundSort(DType type) {
#define TK_CALL(T) (sortBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}
