//===- StripCuts.h - how operations are cut into pieces along an axis ---------===//
//
// A tile that is cut along an axis into P pieces has P-ths of its elements in each, in order. An
// operation can be cut when each piece of its results comes from one piece of each operand, the
// one with the same number, or from an operand that every piece uses whole.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

/// Stands for the axis of an operand that every piece uses whole: scalars, and tiles that are
/// repeated along the cut axis.
inline constexpr int kWhole = -1;

/// For each operand the axis along which it is cut; none when the operation cannot be cut so.
using OperandCuts = std::optional<llvm::SmallVector<int>>;

/// What the operands must be when the results are cut along `axis`.
OperandCuts operandCuts(mlir::Operation *op, int axis);

/// The same of an operation that pieces end in: a store of a tile cut along `axis`, or a reduction
/// over `axis` itself, of which each piece gives a partial result.
OperandCuts rootCuts(mlir::Operation *op, int axis);

/// Whether an operation whose results are cut along `axis` is a scan along it: a piece goes on from the
/// one before.
bool isCarriedScan(mlir::Operation *op, int axis);

/// The axis of a place's view whose slice makes axis `axis` of the tile; none when tiles of indices do.
std::optional<unsigned> slicedAxis(mlir::Value view, mlir::ValueRange indices,
                                   llvm::ArrayRef<int64_t> widths, int axis);

} // namespace tk
