//===- LineTables.cpp - which line of a source an instruction belongs to -----------===//
//
// An operation of an inlined function has the line in that function; of the library, whose text is part of the
// compiler and which no profiler finds, the line of the call.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Nvptx.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tk;

/// What the name of a file of the library begins with.
static constexpr StringRef kLibrary = "std:";

/// The place in a file of the user that stands for `loc`.
static Location shownLocation(Location loc) {
  auto call = dyn_cast<CallSiteLoc>(loc);
  if (!call)
    return loc;
  Location callee = shownLocation(call.getCallee());
  auto place = dyn_cast<FileLineColRange>(callee);
  bool isLibrary = place && place.getFilename().getValue().starts_with(kLibrary);
  return isLibrary ? shownLocation(call.getCaller()) : callee;
}

namespace {
struct ShowLines : PassWrapper<ShowLines, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShowLines)
  StringRef getArgument() const final { return "tk-show-lines"; }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) { op->setLoc(shownLocation(op->getLoc())); });
  }
};
} // namespace

void nvptx::addLineTables(OpPassManager &manager) {
  manager.addPass(std::make_unique<ShowLines>());
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  // Not `LineTablesOnly`: that makes PTX for debugging, which ptxas refuses to optimize.
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  manager.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
}
