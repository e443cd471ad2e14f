//===- Explain.cpp - `tkc explain`: the page of a message ------------------------------===//

#include "driver/Explain.h"
#include "driver/Options.h"
#include "driver/Session.h"

using namespace tk;
using llvm::StringRef;

static std::string codeName(const DiagSpec &spec) {
  return "TK" + std::to_string(spec.code);
}

/// The number in "TK2011", "tk2011" and "2011", or 0.
static int codeOf(StringRef word) {
  if (word.take_front(2).equals_insensitive("TK"))
    word = word.drop_front(2);
  int code = 0;
  return word.getAsInteger(10, code) ? 0 : code;
}

static const DiagSpec *findEntry(StringRef word) {
  for (const DiagSpec *spec : allDiagnostics())
    if (spec->code == codeOf(word) || diagnosticName(*spec) == word)
      return spec;
  return nullptr;
}

/// The codes on both sides of a number, or the name that is spelled most alike.
static std::string nearestEntries(StringRef word) {
  const DiagSpec *below = nullptr, *above = nullptr, *alike = nullptr;
  int code = codeOf(word);
  unsigned fewestEdits = unsigned(word.size()) / 3 + 1;
  for (const DiagSpec *spec : allDiagnostics()) {
    if (spec->code < code && (!below || spec->code > below->code))
      below = spec;
    if (spec->code > code && (!above || spec->code < above->code))
      above = spec;
    unsigned edits = word.edit_distance(diagnosticName(*spec), true, fewestEdits);
    if (edits < fewestEdits) {
      fewestEdits = edits;
      alike = spec;
    }
  }
  if (code && below && above)
    return "the nearest are " + codeName(*below) + " and " + codeName(*above);
  if (code && (below || above))
    return "the nearest is " + codeName(below ? *below : *above);
  if (alike)
    return "did you mean `" + diagnosticName(*alike) + "`, " + codeName(*alike) + "?";
  return "codes look like TK2011, names like shape-mismatch";
}

int tk::runExplain(StringRef word) {
  const DiagSpec *spec = findEntry(word);
  if (!spec)
    return printAlone(commandLineDiag<diag::UnknownCode>(nearestEntries(word), word), false, 2);
  for (const MessagePage &page : messagePages())
    if (page.name == codeName(*spec) + ".md") {
      llvm::outs() << page.text;
      return 0;
    }
  llvm::outs() << "# " << codeName(*spec) << ": " << StringRef(spec->text) << '\n';
  return 0;
}
