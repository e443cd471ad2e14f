//===- Specialize.h - what a fact of @variants makes of a kernel ---------------===//
//
// Not a pass: SplitVariants calls it for a copy of the kernel. With the fact
// `a.stride(1) == 1 && !bias && K % 64 == 0`
//
//   tk.kernel @k(...) {contract = {args = [{name = "a", strides = ["a.s0", "a.s1"], ...}, ...]}} {
//     %there = tk.present %bias
// becomes
//   tk.kernel @k(...) {contract = {args = [{name = "a", strides = ["a.s0", 1], ...}, ...]}} {
//     %there = arith.constant false
// with the conditions `a.s1 == 1 || a.e1 <= 1` and `!bias` specialized, and `divides(64, K)` a fact.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

struct Specialization {
  /// Conditions that the kernel's text rests on now: the loader has to check them.
  llvm::SmallVector<mlir::Attribute> conditions;
  /// Multiples and bounds: the kernel's text rests on none of them yet.
  llvm::SmallVector<mlir::Attribute> facts;
};

/// Writes into the kernel, its contract and its body, what `fact` says of its parameters. Conditions of which nothing can
/// be made are in neither list.
Specialization specialize(KernelOp kernel, mlir::Attribute fact);

} // namespace tk
