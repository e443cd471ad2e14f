//===- StripMemory.h - the order of memory in loops over pieces ---------------===//
//
// A loop over pieces stands where its last root stood: loads and stores before it move there, and
// the loads and stores of one piece come before those of the next. This says when nobody can tell.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/analysis/StripPlan.h"

namespace tk {

/// What an operation, regions included, may do to the memory of an alias class.
struct Touch {
  bool reads = false, writes = false;
};
Touch touchOf(mlir::Operation *op, int64_t aliasClass);

/// The alias class that a load or store of tiles touches; none of other operations.
std::optional<int64_t> classOfAccess(mlir::Operation *op);

/// Whether pieces of one number touch the same memory in `a` and `b`, and those of different numbers
/// never do.
bool areSideBySide(const Cut &a, const Cut &b);

/// Whether the accesses of the loop's roots and slices may happen in the loop's order. `changing` says
/// of a load that the kernel writes what it reads.
bool keepsMemoryOrder(const StripLoop &loop, llvm::function_ref<bool(mlir::Operation *)> changing);

} // namespace tk
