//===- Folders.h - the same output wherever the sources lie ----------------------------===//
//
// What is written names files without their folders: the same source gives the same bytes anywhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace tk {

/// In line tables.
void dropFolders(llvm::Module &module);

/// In the places of operations.
void dropFolders(mlir::ModuleOp module);

} // namespace tk
