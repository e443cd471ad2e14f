//===- StageReader.cpp - stage files read back -----------------------------------===//

#include "ir/StageReader.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tk;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Diagnostics that MLIR itself reports
//===----------------------------------------------------------------------===//

UncodedDiagnostics::UncodedDiagnostics(mlir::MLIRContext &context, const DiagSpec &spec)
    : context(context), spec(spec) {
  handler = context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
    bool coded = diagnosticCode(diag.str()) != 0;
    if (coded || diag.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::failure(); // the next handler takes it
    kept.push_back(std::move(diag));
    return mlir::success();
  });
}

UncodedDiagnostics::~UncodedDiagnostics() {
  context.getDiagEngine().eraseHandler(handler);
  for (mlir::Diagnostic &diag : kept) {
    std::string text = llvm::formatv(spec.text.data(), diag.str()).str();
    mlir::InFlightDiagnostic coded =
        context.getDiagEngine().emit(diag.getLocation(), spec.severity);
    coded << "TK" << spec.code << ": " << text;
    for (mlir::Diagnostic &note : diag.getNotes())
      coded.attachNote(note.getLocation()) << note.str();
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

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
