//===- Readers.cpp - stage files read back -----------------------------------------===//

#include "driver/Readers.h"
#include "driver/PassRunner.h"
#include "ir/diagnostics/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

using namespace tk;
using llvm::StringRef;

/// The end of the string that begins at `start`, one past its quote.
static size_t skipString(StringRef text, size_t start) {
  for (size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"' || text[i] == '\n')
      return i + 1;
  }
  return text.size();
}

mlir::LogicalResult tk::checkNesting(mlir::MLIRContext &context, StringRef path, StringRef text,
                                     StringRef comment) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = skipString(text, i);
      continue;
    }
    if (text.substr(i).starts_with(comment)) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    bool arrow = text[i] == '>' && i > 0 && (text[i - 1] == '-' || text[i - 1] == '=');
    if (StringRef("([{<").contains(text[i]))
      ++depth;
    else if (StringRef(")]}>").contains(text[i]) && !arrow && depth > 0)
      --depth;
    if (depth > kMaxStageNesting) {
      unsigned line = unsigned(text.take_front(i).count('\n')) + 1;
      unsigned column = unsigned(i - text.take_front(i).rfind('\n'));
      return emit<diag::StageNesting>(mlir::FileLineColLoc::get(&context, path, line, column),
                                      kMaxStageNesting);
    }
    ++i;
  }
  return mlir::success();
}

/// The module's phase checked for being one, and for holding.
static mlir::LogicalResult checkPhase(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>("tk.phase");
  if (!name)
    return withHelp(emit<diag::PhaseMissing>(module.getLoc()),
                    "only files that `tkc --emit` wrote can be read back");
  std::optional<Phase> phase = parsePhase(name.getValue());
  if (!phase)
    return emit<diag::PhaseUnknown>(module.getLoc(), name.getValue());
  return verifyPhase(module, *phase, "reading");
}

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
tk::readMlir(mlir::MLIRContext &context, StringRef path, StringRef text) {
  if (mlir::failed(checkNesting(context, path, text, "//")))
    return mlir::failure();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    UncodedDiagnostics coded(context, diag::InvalidStage);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), path);
  }
  if (!module || mlir::failed(checkPhase(*module)))
    return mlir::failure();
  return module;
}

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
