//===- Parser.h - from text to syntax tree -----------------------------------===//
//
// The grammar is the one at the end of docs/language.md. Every error goes through the context's
// diagnostics; the parser goes on at the next statement or declaration, so that one run reports
// several. A tree is handed out only when there was none. No byte string makes it crash: input is
// checked for size and encoding first, nesting and the height of expressions are bounded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "llvm/Support/LogicalResult.h"
#include <memory>

namespace tk {

/// The deepest nesting of brackets, blocks, types, prefix operators and `else if`.
constexpr unsigned kMaxNesting = 256;

/// The greatest Expr::height; a chain `a + b + c ...` grows by one with each operator.
constexpr unsigned kMaxHeight = 1024;

/// Parses a whole file. `source` must outlive the result.
llvm::FailureOr<std::unique_ptr<ast::File>> parseFile(mlir::MLIRContext &context,
                                                      const SourceFile &source);

/// One expression that fills a text, as command-line options have it (`--assume`, `--expect`).
struct ParsedExpr {
  std::unique_ptr<ast::File> owner; // has no declarations
  ast::Expr *expr = nullptr;
};

llvm::FailureOr<ParsedExpr> parseExpression(mlir::MLIRContext &context, const SourceFile &source);

} // namespace tk
