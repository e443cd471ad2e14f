//===- FuzzText.cpp - libFuzzer: any text through lexer, parser and front end --------===//
//
// Nothing but a diagnostic may come of any bytes: no crash, no hang, and a module only when the
// verifier accepts it. What was accepted is printed as text and must be read back.
//
//===----------------------------------------------------------------------===//

#include "frontend/AstPrinter.h"
#include "frontend/Frontend.h"
#include "frontend/Parser.h"
#include "ir/Phases.h"
#include "ir/tk/TkDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdlib>

using namespace mlir;
using namespace tk;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
  bool hasError = false;
  context.getDiagEngine().registerHandler([&](Diagnostic &diag) {
    hasError |= diag.getSeverity() == DiagnosticSeverity::Error;
  });
  SourceFile source("fuzz.tk", std::string(reinterpret_cast<const char *>(data), size));
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, source);
  if (failed(file)) {
    if (!hasError)
      abort(); // refused without a word
    return 0;
  }
  FailureOr<OwningOpRef<ModuleOp>> module = lowerToTk(context, source, **file, LowerOptions());
  if (failed(module) != hasError && failed(module))
    abort();
  if (succeeded(module) && failed(verifyPhase(**module, Phase::Emitted, "the front end")))
    abort();
  return 0;
}
