//===- Readers.cpp - stage files read back -----------------------------------------===//

#include "driver/Readers.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

using namespace tk;
using llvm::StringRef;

std::unique_ptr<llvm::Module> tk::readLlvm(mlir::MLIRContext &context,
                                           llvm::LLVMContext &llvmContext, StringRef path,
                                           StringRef text) {
  mlir::Location loc = mlir::FileLineColLoc::get(&context, path, 1, 1);
  if (mlir::failed(checkNesting(context, path, text, ";")))
    return nullptr;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, llvmContext);
  if (!module) {
    if (problem.getLineNo() > 0)
      loc = mlir::FileLineColLoc::get(&context, path, unsigned(problem.getLineNo()),
                                      unsigned(problem.getColumnNo() + 1));
    emit<diag::InvalidStage>(loc, problem.getMessage());
    return nullptr;
  }
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (llvm::verifyModule(*module, &os)) {
    emit<diag::InvalidStage>(loc, StringRef(reason).rtrim());
    return nullptr;
  }
  if (!module->getTargetTriple().isNVPTX()) {
    emit<diag::InvalidStage>(loc, "its target is `" + module->getTargetTriple().str() +
                                      "`, not nvptx64-nvidia-cuda");
    return nullptr;
  }
  return module;
}
