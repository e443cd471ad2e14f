//===- LowerReport.cpp - notes, help and the calls that led to a fault ------===//

#include "frontend/LowerReport.h"

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
