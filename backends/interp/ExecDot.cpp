//===- ExecDot.cpp - tk.dot and tk.dot_scaled --------------------------------------===//
//
// Products of f32 and of all narrower types are exact in double. They are summed there in order
// of k and rounded once together with the accumulator, so the result is the exact one rounded, but
// where the sum itself needs more than 53 bits. f64 is a chain of fused steps in order of k that
// begins with the accumulator. Sums of i8 are exact in double (2^20 products of less than 2^16
// each) and wrap when they are added to the accumulator.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/DotKernel.h"
#include "backends/interp/Exec.h"
#include "backends/interp/Memory.h"

using namespace tk::interp;

template <class T> static T addToAccumulator(T accumulator, double sum) {
  if constexpr (std::is_same_v<T, uint32_t>)
    return accumulator + uint32_t(int64_t(sum));
  else
    return fromDouble<T>(double(Numeric<T>::load(accumulator)) + sum);
}

template <class T>
static void multiplyBatch(const DotPlan &plan, const DotPanels &panels, const T *accumulator,
                          T *result) {
  forEachDotBlock(plan, panels, [&](size_t m, size_t n, const double *a, const double *b) {
    double sums[kDotRows][kDotColumns];
    multiplyPanels(a, b, plan.k, sums);
    forEachInBlock(plan, m, n, [&](size_t at, size_t i, size_t j) {
      result[at] = addToAccumulator(accumulator[at], sums[i][j]);
    });
  });
}

template <>
void multiplyBatch<double>(const DotPlan &plan, const DotPanels &panels, const double *accumulator,
                           double *result) {
  forEachDotBlock(plan, panels, [&](size_t m, size_t n, const double *a, const double *b) {
    double sums[kDotRows][kDotColumns] = {};
    forEachInBlock(plan, m, n,
                   [&](size_t at, size_t i, size_t j) { sums[i][j] = accumulator[at]; });
    multiplyPanelsFused(a, b, plan.k, sums);
    forEachInBlock(plan, m, n, [&](size_t at, size_t i, size_t j) { result[at] = sums[i][j]; });
  });
}

template <class T> static void dot(const Inst &inst, Frame &frame) {
  const DotPlan &plan = frame.program->compute.dots[inst.aux];
  const DotPanels panels = dotPanels(plan, frame);
  const size_t area = size_t(plan.m) * plan.n;
  for (uint32_t batch = 0; batch < plan.batches; ++batch) {
    packDotOperands(plan, batch, DotPart::Value, frame, panels);
    multiplyBatch<T>(plan, panels, frame.at<T>(plan.acc) + batch * area,
                     frame.at<T>(plan.result) + batch * area);
  }
}

InstFn tk::interp::selectDot(DType accumulator) {
  switch (accumulator) {
  case DType::f16:
    return dot<F16>;
  case DType::f32:
    return dot<float>;
  case DType::f64:
    return dot<double>;
  case DType::i32:
    return dot<uint32_t>;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// The first NaN
//===----------------------------------------------------------------------===//

static double panelAt(const double *panels, size_t line, size_t width, size_t k, size_t length) {
  return panels[(line / width * length + k) * width + line % width];
}

/// What made a NaN of row m and column n; empty when one of their elements is NaN already.
static std::string nanReason(const DotPlan &plan, const DotPanels &panels, size_t m, size_t n) {
  std::string reason = "a sum of infinities";
  bool isSum = true;
  for (size_t k = 0; k < plan.k; ++k) {
    const double a = panelAt(panels.a, m, kDotRows, k, plan.k);
    const double b = panelAt(panels.b, n, kDotColumns, k, plan.k);
    if (a != a || b != b)
      return "";
    if (isSum && a * b != a * b) {
      reason = valueText(DType::f64, &a) + ", " + valueText(DType::f64, &b);
      isSum = false;
    }
  }
  return reason;
}

template <class T, bool AtOnce> static void dotNanCheck(const Inst &inst, Frame &frame) {
  const DotPlan &plan = frame.program->compute.dots[inst.aux];
  const size_t area = size_t(plan.m) * plan.n;
  if (!holdsNan(plan.accType, frame.arena + plan.result, plan.batches * area))
    return;
  const DotPanels panels = dotPanels(plan, frame);
  for (uint32_t batch = 0; batch < plan.batches; ++batch) {
    packDotOperands(plan, batch, DotPart::Value, frame, panels);
    for (size_t i = 0; i < area; ++i) {
      const size_t at = batch * area + i;
      auto isNan = [&](uint32_t slot) {
        const auto value = Numeric<T>::load(frame.at<T>(slot)[at]);
        return value != value;
      };
      if (!isNan(plan.result) || isNan(plan.acc))
        continue;
      std::string reason = nanReason(plan, panels, i / plan.n, i % plan.n);
      if (reason.empty())
        continue;
      reportNan(inst, frame, at, reason, AtOnce);
      if (!AtOnce || frame.findings->isOver())
        return;
    }
  }
}

InstFn tk::interp::selectDotNanCheck(DType accumulator, bool atOnce) {
  switch (accumulator) {
  case DType::f16:
    return atOnce ? dotNanCheck<F16, true> : dotNanCheck<F16, false>;
  case DType::f32:
    return atOnce ? dotNanCheck<float, true> : dotNanCheck<float, false>;
  default:
    return atOnce ? dotNanCheck<double, true> : dotNanCheck<double, false>;
  }
}
