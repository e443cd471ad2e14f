//===- Specialize.h - what a fact of @variants makes of a kernel ---------------===//
#pragma once

#include "ir/tk/TkDialect.h"

namespace tk {

struct Specialization {
  llvm::SmallVector<mlir::Attribute> specialized; // conditions that the kernel's text rests on now
  llvm::SmallVector<mlir::Attribute> facts;       // multiples and bounds, for ScalarAnalysis
};

/// Writes what `fact`, a condition on the kernel's parameters, says into the kernel: its contract and its body.
Specialization specialize(KernelOp kernel, mlir::Attribute fact);

} // namespace tk
