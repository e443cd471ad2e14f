//===- MovableSlice.h - what has to move for an operation to move ahead -------------===//
#pragma once

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tk {

/// Adds the operations between `first` and `op`, both of one block, that `op` depends on, those first that
/// others need; false when `first` is among them, one with effects or regions, or one that `stays`.
inline bool collectMovable(mlir::Operation *op, mlir::Operation *first, llvm::SetVector<mlir::Operation *> &slice,
                           llvm::function_ref<bool(mlir::Operation *)> stays = [](mlir::Operation *) { return false; }) {
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation *source = operand.getDefiningOp();
    if (!source || source->getBlock() != first->getBlock() || source->isBeforeInBlock(first) || slice.contains(source))
      continue;
    if (source == first || source->getNumRegions() || !isMemoryEffectFree(source) || stays(source) ||
        !collectMovable(source, first, slice, stays))
      return false;
    slice.insert(source);
  }
  return true;
}

} // namespace tk
