//===- FuzzText.cpp - libFuzzer: any text through lexer, parser and front end --------===//
//
// Nothing but a diagnostic may come of any bytes: no crash, no hang, and a module only when the
// verifier accepts it. What the parser accepts stays the same tree when it is printed or formatted.
//
//===----------------------------------------------------------------------===//

#include "frontend/AstPrinter.h"
#include "frontend/Format.h"
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

/// The text is one of the same tree.
static void checkSame(MLIRContext &context, const ast::File &file, std::string text) {
  SourceFile source("again.tk", std::move(text));
  llvm::FailureOr<std::unique_ptr<ast::File>> copy = parseFile(context, source);
  if (failed(copy))
    abort();
  std::string tree, again;
  llvm::raw_string_ostream treeStream(tree), againStream(again);
  dumpAst(file, treeStream);
  dumpAst(**copy, againStream);
  if (tree != again)
    abort();
}

static std::string format(MLIRContext &context, std::string text) {
  llvm::FailureOr<std::string> result = formatSource(context, SourceFile("format.tk", std::move(text)));
  if (failed(result))
    abort();
  return std::move(*result);
}

/// Printed and formatted, a tree stays what it is; formatting what is formatted changes nothing.
static void checkTexts(MLIRContext &context, const ast::File &file, const std::string &source) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  printAst(file, stream);
  checkSame(context, file, printed);
  std::string formatted = format(context, source);
  checkSame(context, file, formatted);
  if (format(context, formatted) != formatted)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
  bool hasError = false;
  context.getDiagEngine().registerHandler([&](Diagnostic &diag) {
    hasError |= diag.getSeverity() == DiagnosticSeverity::Error;
  });
  std::string text(reinterpret_cast<const char *>(data), size);
  SourceFile source("fuzz.tk", text);
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, source);
  if (failed(file)) {
    if (!hasError)
      abort(); // refused without a word
    return 0;
  }
  checkTexts(context, **file, text);
  FailureOr<OwningOpRef<ModuleOp>> module = lowerToTk(context, source, **file, LowerOptions());
  if (failed(module) != hasError && failed(module))
    abort();
  if (succeeded(module) && failed(verifyPhase(**module, Phase::Emitted, "the front end")))
    abort();
  return 0;
}
