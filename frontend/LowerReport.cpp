//===- LowerReport.cpp - notes, help and the calls that led to a fault ------===//

#include "frontend/LowerReport.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;

Report &Report::note(SourceRange range, const Twine &text) {
  if (reporter && range.size() != 0)
    diag.attachNote(reporter->locate(range)) << text;
  return *this;
}

Report &Report::note(Location place, const Twine &text) {
  if (reporter)
    diag.attachNote(place) << text;
  return *this;
}

Report &Report::help(const Twine &text) {
  if (reporter)
    diag.attachNote() << "help: " << text;
  return *this;
}

Report &Report::fix(SourceRange range, const Twine &replacement) {
  if (reporter && !reporter->isInLibrary(range))
    diag.attachNote(reporter->locate(range)) << "fix: " << replacement;
  return *this;
}

Report &Report::suggest(SourceRange range, StringRef name) {
  return name.empty() ? *this : help("did you mean `" + name + "`?").fix(range, name);
}

/// Whether something binds less tightly than what follows a `.`: an operator outside of brackets.
static bool needsParentheses(StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    bool part = llvm::isAlnum(c) || c == '_' || c == '.' || c == ')' || c == ']';
    if (depth == 0 && !part)
      return true;
  }
  return false;
}

std::string tk::withSuffix(StringRef expr, const Twine &suffix) {
  return (needsParentheses(expr) ? "(" + expr + ")" + suffix : expr + suffix).str();
}

Report &Report::fixSuffix(SourceRange expr, const Twine &suffix) {
  if (!reporter || expr.size() == 0)
    return *this;
  if (!needsParentheses(reporter->textAt(expr)))
    return fix({expr.end, expr.end}, suffix);
  fix({expr.begin, expr.begin}, "(");
  return fix({expr.end, expr.end}, ")" + suffix);
}

SourceRange Reporter::callFromOutside(SourceRange range) const {
  for (const auto &[call, name] : llvm::reverse(calls))
    if (!isInLibrary(call))
      return call;
  return range;
}

Report::~Report() {
  if (!reporter)
    return;
  // The innermost calls say most; a recursion would print a page.
  constexpr size_t kMaxCalls = 4;
  size_t shown = 0;
  for (const auto &[range, name] : llvm::reverse(reporter->calls)) {
    if (++shown > kMaxCalls)
      break;
    note(range, "in this call of `" + name + "`");
  }
}
