//===- MatrixLayouts.h - fragments of matrix instructions as layouts -------------===//
//
// A product of a block is dealt to warps in the shape warpsM x warpsN; a warp's part is a grid of
// the instruction's tiles. In the layouts the lowest registers are those of one instruction, then
// come the instructions along the side that the operand shares with the result, then those along K.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/layout/LinearLayout.h"
#include "ir/target/Matrix.h"

namespace tk {

struct MatrixTiling {
  MatrixKind kind;
  int32_t m, n, k;        // of the block's product
  int32_t warpsM, warpsN; // powers of two

  const MatrixInstruction &instruction() const { return matrixInstruction(kind); }
};

LinearLayout accumulatorLayout(const MatrixTiling &tiling);
LinearLayout leftOperandLayout(const MatrixTiling &tiling);  // of [m, k]
LinearLayout rightOperandLayout(const MatrixTiling &tiling); // of [k, n]

/// The same operand as lanes address it for `ldmatrix`: register i of the result names the place, in
/// lane l, of row l % 8 of matrix l / 8 of the i-th load. A matrix is 8 rows along `rowAxis` of 16
/// bytes. `matrices` (1, 2 or 4) is how many one instruction loads.
LinearLayout matrixAddressLayout(const LinearLayout &operand, unsigned rowAxis, int32_t pack,
                                 int32_t matrices);

/// The warps of a block over a product; with `rowsInWarp`, no row is spread over warps.
MatrixTiling tileProduct(MatrixKind kind, int64_t m, int64_t n, int64_t k, int64_t warps,
                         bool rowsInWarp);

} // namespace tk
