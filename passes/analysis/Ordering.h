//===- Ordering.h - dependences between the threads of a block ------------------===//
//
// Walks a kernel in program order and keeps the accesses to shared buffers and to global memory
// since the last barrier. An access conflicts with an earlier one when they may touch the same
// bytes, at least one writes, and different threads may be involved. Loops are walked until nothing new
// is pending, so that the end of an iteration meets the start of the next.
//
// What an asynchronous copy writes is pending, whatever barriers pass, until a wait that leaves fewer
// groups under way than were committed since; then until a barrier. Rings are known by their slots: of
// two accesses, how far apart their slots lie follows from `tkg.ring_slot` and from the iterations in
// between.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tkg/TkgDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tk {

/// Calls `conflict(earlier, later)` at each unordered pair; when it returns true a barrier now
/// stands before `later`.
void walkDependences(
    KernelOp kernel,
    llvm::function_ref<bool(mlir::Operation *earlier, mlir::Operation *later)> conflict);

} // namespace tk
