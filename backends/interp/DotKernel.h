//===- DotKernel.h - blocked products of matrices of doubles --------------------------===//
//
// Both operands of a product are decoded once into panels of doubles: kDotRows rows of the left
// one, or kDotColumns columns of the right one, side by side for each k, padded with zeros. A block
// of the result then reads two panels from begin to end and keeps its sums in registers, each sum
// in order of k.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Program.h"
#include <algorithm>

namespace tk::interp {

constexpr size_t kDotRows = 4, kDotColumns = 4;

/// What the panels hold of an element x with error bound e.
enum class DotPart : uint8_t {
  Value,     // x, times its scale, rounded as the input rule says
  Magnitude, // |x|
  Largest    // |x| + e
};

/// Where the scratch memory of a product begins and is divided.
struct DotPanels {
  double *a, *b; // panels
  double *line;  // one row or column being decoded
  double *facts; // kDotFacts numbers a row of a, then a column of b; of error bounds
};
constexpr size_t kDotFacts = 3;

size_t dotScratchBytes(const DotPlan &plan);
DotPanels dotPanels(const DotPlan &plan, const Frame &frame);
void packDotOperands(const DotPlan &plan, uint32_t batch, DotPart part, const Frame &frame,
                     const DotPanels &panels);

/// sums[i][j] += the product of row i and column j of two panels of length k.
void multiplyPanels(const double *a, const double *b, size_t k, double (&sums)[kDotRows][kDotColumns]);
/// The same with each step rounded once.
void multiplyPanelsFused(const double *a, const double *b, size_t k,
                         double (&sums)[kDotRows][kDotColumns]);

/// Calls `fn(m, n, a, b)` with the first row and column and the panels of every block.
template <class Fn> void forEachDotBlock(const DotPlan &plan, const DotPanels &panels, Fn fn) {
  for (size_t n = 0; n < plan.n; n += kDotColumns)
    for (size_t m = 0; m < plan.m; m += kDotRows)
      fn(m, n, panels.a + m * plan.k, panels.b + n * plan.k);
}

/// Calls `fn(element of [m, n], i, j)` for the elements of a block that are not padding.
template <class Fn> void forEachInBlock(const DotPlan &plan, size_t m, size_t n, Fn fn) {
  const size_t rows = std::min(kDotRows, plan.m - m), columns = std::min(kDotColumns, plan.n - n);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      fn((m + i) * plan.n + n + j, i, j);
}

} // namespace tk::interp
