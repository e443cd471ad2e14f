//===- Format.h - source text in the one style ---------------------------------===//
//
// `tkc fmt`. The text is made of the tokens of the source, in their order and as they are spelt;
// the formatter chooses what stands between them: blanks, line breaks, indentation. The syntax tree
// says what a token is for (is this `-` a prefix? does this `{` open a block?) and where statements
// begin; comments, of which the tree knows nothing, hang on the tokens. So nothing of a program can
// get lost, and only these tokens disappear: `;` at the end of a line, and a `,` before the bracket
// that closes on its line.
//
// The style: 100 columns, four spaces a level. What fits on one line stands on one: a statement, a
// signature, an attribute. Else the author's line breaks within it stay, and lines that still are
// too long are broken at the outermost place: behind commas first, then behind the operators that
// bind loosest. Continuation lines stand four columns to the right of the line that opened their
// bracket, eight in a header, whose block would look like them. A block that its author wrote on one
// line stays there while it fits. Of blank lines one is kept. Comments behind code stand two
// columns behind it, aligned over lines that follow one another.
//
// Formatting formatted text changes nothing: every line break that the formatter made is the
// author's the next time, at the same places with the same indentation.
//
// FormatTokens finds out about tokens, FormatLines breaks one statement into lines, Format walks
// the tree.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace tk {

/// The source in the one style. Fails when it has errors, which are reported.
llvm::FailureOr<std::string> formatSource(mlir::MLIRContext &context, const SourceFile &source);

} // namespace tk
