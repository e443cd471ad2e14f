//===- KernelDescription.h - the contract of a kernel as JSON ---------------------------===//
//
// What docs/metadata.md says of a kernel whatever it runs on, and the variant that the interpreter
// runs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/tk/TkDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace tk {

/// The entry of `kernels` without what the finished image adds.
llvm::json::Object describeKernel(KernelOp kernel, llvm::json::Array variants);

/// A variant's `config` by value and its `config_id`.
llvm::json::Object describeConfiguration(KernelOp kernel);

/// The kernels of a module of stage `tk`, each with the one variant that runs on the CPU.
std::string describeInterpreted(mlir::ModuleOp module);

} // namespace tk
