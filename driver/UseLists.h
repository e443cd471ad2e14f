//===- UseLists.h - one order of uses, however a module came to be --------------===//
//
// Passes visit the uses of a value in the order of its use list, and that order depends on how the
// module was built: a pass leaves another one than the parser. At every stage that can be written
// and read back the lists are put into program order, so that going on from a stage file gives the
// same bytes as going straight on. (LLVM's modules: backends/nvptx/UseLists.cpp.)
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tk {

void orderUseLists(mlir::ModuleOp module);

} // namespace tk
