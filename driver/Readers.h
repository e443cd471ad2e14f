//===- Readers.h - stage files of LLVM IR read back ------------------------------===//
//
// ir/StageReader.h reads those of MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/StageReader.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace tk {

/// Verified LLVM IR for NVPTX; null after a diagnostic.
std::unique_ptr<llvm::Module> readLlvm(mlir::MLIRContext &context, llvm::LLVMContext &llvmContext,
                                       llvm::StringRef path, llvm::StringRef text);

} // namespace tk
