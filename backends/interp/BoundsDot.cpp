//===- BoundsDot.cpp - error bounds of matrix products --------------------------------===//
//
// With S = |acc| + sum |a b| and u half a unit of the accumulator's type, an engine may be off by
//
//   c (K + 1) u S + r sum |a b|,
//
// and two engines by twice that, plus what the bounds of the operands propagate. c and r follow
// from how matrix units work (docs/language.md has the table):
//  * A unit adds L products and the accumulator at once, each cut toward zero to F bits below the
//    largest, and cuts the result: an error of (L + 1) 2^-F + 2u each time, K / L times. The
//    coarsest with an f32 accumulator that keeps its digits has L = 8 and F = 24 (A100) for 16-bit
//    types and L = 4, F = 24 for tf32: below 1.4 K u and 1.8 K u. So c = 2. A chain of fused steps
//    has K u.
//  * f32 operands cut in pieces cost the products of several passes (c = 2 a pass) and what the
//    pieces leave out (r): two pieces of tf32, 3 * 2^-22; two of bf16, 3 * 2^-16; three of bf16,
//    4 * 2^-24. Operands that fit the first piece leave nothing out.
//  * Units for fp8 may keep 13 bits: F = 13, L = 16 or more, until `promote` products have been
//    added and the partial sum is added in f32.
//  * An element times its scale is exact in the type that the matrix unit gets, where it is within the
//    range of bf16: below 2^-133 it may be cut, beyond the largest number anything may come of it. Elements
//    of f16 and bf16 times scales of e4m3 have up to 15 digits, which are cut in pieces of tf32.
//  * An f16 accumulator is rounded to nearest once for L products: c = 1 with u = 2^-11.
//
// Sums whose terms are all multiples of a power of two that leaves every partial sum within the
// digits of the unit are exact in every order and on every unit.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/BoundRules.h"
#include "backends/interp/Bounds.h"
#include "backends/interp/DotKernel.h"

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

/// The range of bf16, which an element times its scale should not leave.
static constexpr double kLeastScaled = 0x1p-133, kLargestScaled = 0x1.fep127;

namespace {
/// What one engine may do wrong.
struct DotError {
  double perSum = 0;        // times S
  double perProduct = 0;    // times sum |a b|
  double perPiece = 0;      // times sum |a b|, unless the operands fit `pieceBits`
  unsigned pieceBits = 53;
  double exactHalfUlp = 0;  // of the digits every unit keeps
  bool isScaled = false;
  FloatFormat format;       // of the accumulator
};

/// Facts about a row of a or a column of b.
struct LineFacts {
  double granule;   // power of two that divides all its elements; NaN: some are no numbers
  double magnitude; // sum of magnitudes
  double fits;      // 1: every element has at most `pieceBits` digits
};
} // namespace

static bool isFp8(const DotPlan &plan) {
  return plan.a.dtype != DType::f16 && plan.a.dtype != DType::bf16 && byteSize(plan.a.dtype) == 1 &&
         !plan.a.block && !plan.b.block;
}

static void allowPieces(DotInputRule input, DotError &error, double &passes) {
  switch (input) {
  case DotInputRule::Exact: // however the target gets the accuracy of f32
  case DotInputRule::Tf32x3:
    passes = 3;
    error.perPiece = 3 * 0x1p-22;
    error.pieceBits = 11;
    return;
  case DotInputRule::Tf32:
    passes = 1;
    return;
  case DotInputRule::Bf16x3:
    passes = 3;
    error.perPiece = 3 * 0x1p-16;
    error.pieceBits = 8;
    return;
  case DotInputRule::Bf16x6:
    passes = 6;
    error.perPiece = 4 * 0x1p-24;
    error.pieceBits = 8;
    return;
  }
}

static bool isWideScaled(const DotPlan::Operand &operand) {
  return operand.block && operand.scaleType != DType::e8m0 && byteSize(operand.dtype) == 2;
}

static DotError errorOf(const DotPlan &plan) {
  DotError error;
  error.format = formatOf(plan.accType);
  const double u = error.format.halfUlp, k = plan.k;
  error.exactHalfUlp = u;
  double passes = 1;
  if (plan.a.dtype == DType::f32)
    allowPieces(plan.input, error, passes);
  else if (isWideScaled(plan.a) || isWideScaled(plan.b))
    allowPieces(DotInputRule::Exact, error, passes);
  error.isScaled = plan.a.block || plan.b.block;
  error.perSum = (plan.accType == DType::f16 ? 1 : 2) * passes * (k + 1) * u;
  if (!isFp8(plan))
    return error;
  const double run = plan.promote > 0 ? std::min(k, double(plan.promote)) : k;
  (plan.promote > 0 ? error.perProduct : error.perSum) += 0x1p-12 * (run + 1);
  error.exactHalfUlp = std::max(u, 0x1p-13);
  return error;
}

//===----------------------------------------------------------------------===//
// Facts about rows and columns
//===----------------------------------------------------------------------===//

/// `panel` holds magnitudes, `width` lines side by side.
static LineFacts factsOf(const double *panel, size_t width, size_t k, unsigned pieceBits) {
  LineFacts facts = {kInfinity, 0, 1};
  for (size_t s = 0; s < k; ++s) {
    const double x = panel[s * width];
    facts.magnitude += x;
    if (x == 0)
      continue;
    if (!std::isfinite(x))
      return {std::numeric_limits<double>::quiet_NaN(), x, 0};
    const double granule = granuleOf(x);
    facts.granule = std::min(facts.granule, granule);
    if (x >= std::ldexp(granule, int(pieceBits)))
      facts.fits = 0;
  }
  return facts;
}

static void noteFacts(const double *panels, size_t lines, size_t width, size_t k,
                      unsigned pieceBits, double *to) {
  for (size_t line = 0; line < lines; ++line, to += kDotFacts) {
    const double *panel = panels + line / width * width * k + line % width;
    LineFacts facts = factsOf(panel, width, k, pieceBits);
    to[0] = facts.granule;
    to[1] = facts.magnitude;
    to[2] = facts.fits;
  }
}

static LineFacts factsAt(const double *facts, size_t line) {
  return {facts[line * kDotFacts], facts[line * kDotFacts + 1], facts[line * kDotFacts + 2]};
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

/// `products` is sum |a b|, `largest` the same with the operands at the far ends of their bounds.
static double elementBound(const DotError &error, const DotPlan &plan, LineFacts row,
                           LineFacts column, Bounded accumulator, double products,
                           double largest) {
  const double propagated = std::max(largest - products, 0.0) + accumulator.bound;
  const double total = largest + accumulator.largest();
  const double granule = std::min(row.granule * column.granule,
                                  accumulator.value == 0 ? kInfinity : granuleOf(accumulator.value));
  const bool fits = row.fits != 0 && column.fits != 0;
  if (error.isScaled && std::max(row.magnitude, column.magnitude) > kLargestScaled)
    return kInfinity;
  const bool isCut = error.isScaled && std::min(row.granule, column.granule) < kLeastScaled;
  const bool isExact = propagated == 0 && !isCut && (error.perPiece == 0 || fits) &&
                       granule >= error.format.minSubnormal &&
                       isExactSum(error.exactHalfUlp, granule, total, error.format.max);
  if (isExact || total == 0)
    return 0;
  double engine = error.perSum * total + error.perProduct * largest +
                  (plan.k + 1.0) * error.format.minSubnormal;
  if (error.perPiece != 0 && !fits) // pieces of tiny operands are cut at 2^-133
    engine += error.perPiece * largest + 0x1p-133 * (row.magnitude + column.magnitude);
  if (isCut)
    engine += kLeastScaled * (row.magnitude + column.magnitude);
  if ((total + engine) * (1 + error.format.halfUlp) > error.format.max)
    return kInfinity;
  return (propagated + 2 * engine) * kBoundSlack;
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// sum |a b| with what the panels hold, into `sums`.
static void sumMagnitudes(const DotPlan &plan, const DotPanels &panels, double *to) {
  forEachDotBlock(plan, panels, [&](size_t m, size_t n, const double *a, const double *b) {
    double sums[kDotRows][kDotColumns];
    multiplyPanels(a, b, plan.k, sums);
    forEachInBlock(plan, m, n, [&](size_t at, size_t i, size_t j) { to[at] = sums[i][j]; });
  });
}

template <class T>
static void boundBatch(const DotPlan &plan, const DotPanels &panels, uint32_t batch,
                       Frame &frame) {
  const DotError error = errorOf(plan);
  const size_t area = size_t(plan.m) * plan.n, first = batch * area;
  const T *accumulator = frame.at<T>(plan.acc) + first, *result = frame.at<T>(plan.result) + first;
  const double *accumulatorBounds = frame.boundsAt(plan.acc) + first;
  double *bounds = frame.boundsAt(plan.result) + first;
  packDotOperands(plan, batch, DotPart::Largest, frame, panels);
  sumMagnitudes(plan, panels, bounds);
  packDotOperands(plan, batch, DotPart::Magnitude, frame, panels);
  double *rows = panels.facts, *columns = panels.facts + size_t(plan.m) * kDotFacts;
  noteFacts(panels.a, plan.m, kDotRows, plan.k, error.pieceBits, rows);
  noteFacts(panels.b, plan.n, kDotColumns, plan.k, error.pieceBits, columns);
  forEachDotBlock(plan, panels, [&](size_t m, size_t n, const double *a, const double *b) {
    double sums[kDotRows][kDotColumns];
    multiplyPanels(a, b, plan.k, sums);
    forEachInBlock(plan, m, n, [&](size_t at, size_t i, size_t j) {
      const LineFacts row = factsAt(rows, m + i), column = factsAt(columns, n + j);
      const Bounded start = {double(Numeric<T>::load(accumulator[at])), accumulatorBounds[at]};
      const bool finite = row.granule == row.granule && column.granule == column.granule &&
                          std::isfinite(start.value);
      const double bound =
          finite ? elementBound(error, plan, row, column, start, sums[i][j], bounds[at]) : 0;
      bounds[at] = finishBound(double(Numeric<T>::load(result[at])), bound, finite);
    });
  });
}

template <class T> static void dotBound(const Inst &inst, Frame &frame) {
  const DotPlan &plan = frame.program->compute.dots[inst.aux];
  const DotPanels panels = dotPanels(plan, frame);
  for (uint32_t batch = 0; batch < plan.batches; ++batch)
    boundBatch<T>(plan, panels, batch, frame);
}

InstFn tk::interp::selectBoundDot(DType accumulator) {
#define TK_CALL(T) (dotBound<T>)
  TK_FOR_FLOAT(accumulator, TK_CALL)
#undef TK_CALL
}
