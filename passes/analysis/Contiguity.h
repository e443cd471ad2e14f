//===- Contiguity.h - how the values of a tile run along its axes -------------===//
//
// For an integer or boolean tile, along each axis: the length of runs of consecutive values, the
// length of runs of equal values, and the power of two that divides the first value of each run.
// Runs begin at multiples of their length, and all lengths are powers of two that divide the side,
// so a vector of that length never crosses the tile's edge.
//
// With them, the widest vector of an access: the offsets of a vector are consecutive, its first
// address is aligned, and its mask is constant.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/Scalars.h"

namespace tk {

/// Along one axis.
struct AxisRuns {
  int64_t contiguity = 1; // consecutive values
  int64_t constancy = 1;  // equal values
  int64_t divisor = 1;    // divides the first value of each run of consecutive values
};

using TileRuns = llvm::SmallVector<AxisRuns, 4>;

class ContiguityAnalysis {
public:
  explicit ContiguityAnalysis(ScalarAnalysis &scalars) : scalars(scalars) {}

  TileRuns runs(mlir::Value tile);

  /// Elements that one thread may access at once along `axis`: at most `maxBytes` wide.
  int64_t widestVector(mlir::Value base, mlir::Value offset, mlir::Value mask, unsigned axis,
                       int64_t maxBytes);

private:
  TileRuns compute(mlir::Value tile);

  ScalarAnalysis &scalars;
  llvm::DenseMap<mlir::Value, TileRuns> known;
};

} // namespace tk
