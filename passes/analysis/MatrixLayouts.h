//===- MatrixLayouts.h - fragments of matrix instructions as layouts -------------===//
//
// A product of a block is dealt to warps in the shape warpsBatch x warpsM x warpsN; a warp's part is a
// grid of the instruction's tiles, one grid for each of its batch elements. In the layouts the lowest
// registers are those of one instruction, then come the instructions along the side that the operand
// shares with the result, then those along K, then the batch. Sides below a power of two are padded.
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
  int32_t warpsBatch = 1;
  llvm::SmallVector<int32_t, 2> batch = {}; // the sides before the last two
  // Of 16 columns, two instructions have the even and the odd ones. So `ldmatrix`, which moves pairs of
  // bytes, can read a right operand of bytes whose columns lie side by side; and a thread has four
  // neighbours of the result, as the left operand of another product of bytes needs them.
  bool pairsColumns = false;

  const MatrixInstruction &instruction() const { return matrixInstruction(kind); }
};

LinearLayout accumulatorLayout(const MatrixTiling &tiling);
LinearLayout leftOperandLayout(const MatrixTiling &tiling);  // of [.., m, k]
LinearLayout rightOperandLayout(const MatrixTiling &tiling); // of [.., k, n]

/// The batch elements of which a warp has registers, each with the grid of a product of rank 2.
int32_t batchesOfWarp(const MatrixTiling &tiling);

/// The same right operand of bytes, with `pairsColumns`, as lanes address it for a transposing `ldmatrix` of four
/// matrices: those of k mod 4 in {0, 1} and in {2, 3}, then of k + 16.
LinearLayout pairAddressLayout(const LinearLayout &operand);

/// The same operand as lanes address it for `ldmatrix`: register i of the result names the place, in
/// lane l, of row l % 8 of matrix l / 8 of the i-th load. A matrix is 8 rows along `rowAxis` of 16
/// bytes. `matrices` (1, 2 or 4) is how many one instruction loads.
LinearLayout matrixAddressLayout(const LinearLayout &operand, unsigned rowAxis, int32_t pack,
                                 int32_t matrices);

/// The warps of a block over a product; with `rowsInWarp`, no row is spread over warps.
MatrixTiling tileProduct(MatrixKind kind, int64_t m, int64_t n, int64_t k, int64_t warps,
                         bool rowsInWarp, llvm::ArrayRef<int32_t> batch = {});

} // namespace tk
