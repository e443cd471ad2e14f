//===- Diagnostics.h - the one list of diagnostics and the one way to report --===//
//
// Every message tkc can print is a line of Diagnostics.def: a name, a code that is never
// reused, a severity and a text with {0} {1} ... for its arguments. Report it with
//
//   emit<diag::UnknownName>(loc, name);                      // one line
//   emit<diag::ShapeMismatch>(loc, a, b).attachNote(other) << "`x` is declared here";
//   withHelp(emit<diag::IntDivision>(loc, a, b), "write `//` for the truncated quotient");
//
// A note "help: ..." is advice; a note "fix: TEXT" is an edit that puts TEXT for what stands at
// the note's place. The edits of one diagnostic belong together.
//
// It goes through the MLIRContext's engine, from the lexer to the backends, so one handler
// (Render.h) prints everything, in order, as text with a caret or as JSON lines.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"
#include <string>
#include <string_view>

namespace tk {

/// One entry of Diagnostics.def.
struct DiagSpec {
  std::string_view name;
  int code;
  mlir::DiagnosticSeverity severity;
  std::string_view text;
  int numArgs;
};

/// The highest {n} of a text, plus one.
consteval int countArgs(std::string_view text) {
  int count = 0;
  for (size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '{' && text[i + 1] >= '0' && text[i + 1] <= '9')
      count = text[i + 1] - '0' + 1 > count ? text[i + 1] - '0' + 1 : count;
  return count;
}

namespace diag {
#define DIAG(NAME, CODE, SEVERITY, TEXT)                                                           \
  inline constexpr DiagSpec NAME = {#NAME, CODE, mlir::DiagnosticSeverity::SEVERITY, TEXT,         \
                                    countArgs(TEXT)};
#include "ir/diagnostics/Diagnostics.def"
#undef DIAG
} // namespace diag

/// All entries in the order of the list.
llvm::ArrayRef<const DiagSpec *> allDiagnostics();

/// How the command line and the pages call an entry: "shape-mismatch".
std::string diagnosticName(const DiagSpec &spec);

/// The code of a rendered message ("TK2103: ..."), or 0.
int diagnosticCode(llvm::StringRef message);

/// Reports `Spec` at `loc`. The result converts to failure() and takes notes.
template <const DiagSpec &Spec, class... Args>
mlir::InFlightDiagnostic emit(mlir::Location loc, Args &&...args) {
  static_assert(sizeof...(Args) == size_t(Spec.numArgs), "wrong number of arguments");
  // MLIR knows notes only below other messages: a note of its own goes as a remark, and Render.cpp
  // gives it the severity of the list.
  constexpr mlir::DiagnosticSeverity severity =
      Spec.severity == mlir::DiagnosticSeverity::Note ? mlir::DiagnosticSeverity::Remark : Spec.severity;
  mlir::InFlightDiagnostic diag = loc.getContext()->getDiagEngine().emit(loc, severity);
  std::string text = llvm::formatv(Spec.text.data(), std::forward<Args>(args)...).str();
  diag << "TK" << Spec.code << ": " << text;
  return diag;
}

/// Adds advice, printed as `help: ...` under the message.
inline mlir::InFlightDiagnostic &&withHelp(mlir::InFlightDiagnostic &&diag,
                                           const llvm::Twine &advice) {
  diag.attachNote() << "help: " << advice;
  return std::move(diag);
}

} // namespace tk
