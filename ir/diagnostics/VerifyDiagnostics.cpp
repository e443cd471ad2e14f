//===- VerifyDiagnostics.cpp - expected diagnostics in a file's comments --------===//

#include "ir/diagnostics/VerifyDiagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;
using mlir::DiagnosticSeverity;

namespace {

struct Expectation {
  std::string kind; // "error", "warning", "remark", "note", "help", "fix"
  unsigned line = 0;
  std::string text;
  unsigned writtenOn = 0;
  bool met = false;
};

struct Found {
  std::string kind;
  unsigned line;
  std::string text;
  bool required;
};

class Verifier {
public:
  Verifier(llvm::StringRef path, llvm::raw_ostream &os) : path(path), os(os) {}

  void readExpectations(llvm::StringRef text);
  void check(const DiagRecord &record);
  bool finish();

private:
  void readLine(llvm::StringRef line, unsigned number);
  bool meet(const Found &found);
  Found describe(llvm::StringRef kind, const DiagPlace &place, llvm::StringRef text) const;
  bool expectsNoteOf(const DiagRecord &record) const;
  void fail(unsigned line, const llvm::Twine &message) {
    os << path << ':' << line << ": " << message << '\n';
    good = false;
  }

  llvm::StringRef path;
  llvm::raw_ostream &os;
  std::vector<Expectation> expectations;
  bool good = true;
};

} // namespace

static llvm::StringRef kindOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Error:
    return "error";
  }
  return "error";
}

void Verifier::readExpectations(llvm::StringRef text) {
  unsigned number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    readLine(line, ++number);
    text = rest;
  }
}

void Verifier::readLine(llvm::StringRef line, unsigned number) {
  size_t comment = std::min({line.find('#'), line.find("//"), line.find(';')});
  if (comment == llvm::StringRef::npos)
    return;
  line = line.drop_front(comment);
  for (size_t at = line.find("expected-"); at != llvm::StringRef::npos;
       at = line.find("expected-")) {
    line = line.drop_front(at + strlen("expected-"));
    llvm::StringRef kind = line.take_while(llvm::isAlpha);
    if (!llvm::is_contained({"error", "warning", "remark", "note", "help", "fix"}, kind))
      continue;
    llvm::StringRef rest = line.drop_front(kind.size()).ltrim();
    int offset = 0;
    bool unknown = rest.consume_front("@unknown");
    if (!unknown && rest.consume_front("@")) {
      rest.consume_front("+");
      if (rest.consumeInteger(10, offset))
        return fail(number, "`@` needs +N, -N or unknown");
    }
    rest = rest.ltrim();
    size_t end = rest.find("}}");
    if (!rest.consume_front("{{") || end == llvm::StringRef::npos)
      return fail(number, "expected-" + kind + " needs {{text}}");
    unsigned target = unknown ? 0 : unsigned(int(number) + offset);
    expectations.push_back({kind.str(), target, rest.take_front(end - 2).str(), number});
    line = rest.drop_front(end);
  }
}

Found Verifier::describe(llvm::StringRef kind, const DiagPlace &place,
                         llvm::StringRef text) const {
  return {kind.str(), place.file == path ? place.line : 0, text.str(), true};
}

bool Verifier::meet(const Found &found) {
  for (Expectation &expected : expectations) {
    if (expected.met || expected.kind != found.kind || expected.line != found.line ||
        !llvm::StringRef(found.text).contains(expected.text))
      continue;
    expected.met = true;
    return true;
  }
  return false;
}

bool Verifier::expectsNoteOf(const DiagRecord &record) const {
  return llvm::any_of(record.notes, [&](const DiagNote &note) {
    return llvm::any_of(expectations, [&](const Expectation &expected) {
      return expected.kind == "note" && llvm::StringRef(note.message).contains(expected.text);
    });
  });
}

void Verifier::check(const DiagRecord &record) {
  llvm::StringRef kind = kindOf(record.severity);
  std::string text = record.code ? "TK" + std::to_string(record.code) + ": " + record.message
                                 : record.message;
  Found found = describe(kind, record.place, text);
  bool met = meet(found);
  if (!met && record.severity != DiagnosticSeverity::Note)
    fail(found.line, "unexpected " + kind + ": " + text);
  bool needNotes = expectsNoteOf(record);
  for (const DiagNote &note : record.notes) {
    Found foundNote = describe("note", note.place.line ? note.place : record.place, note.message);
    if (!meet(foundNote) && needNotes)
      fail(foundNote.line, "unexpected note: " + note.message);
  }
  for (const std::string &advice : record.help)
    meet(describe("help", record.place, advice));
  for (const DiagEdit &edit : record.fix)
    meet(describe("fix", edit.place, edit.text));
}

bool Verifier::finish() {
  for (const Expectation &expected : expectations)
    if (!expected.met)
      fail(expected.writtenOn, "expected " + expected.kind + " was not reported" +
                                   (expected.line == expected.writtenOn
                                        ? std::string()
                                        : " on line " + std::to_string(expected.line)) +
                                   ": " + expected.text);
  return good;
}

bool tk::verifyDiagnostics(llvm::ArrayRef<DiagRecord> records, llvm::StringRef path,
                           llvm::StringRef text, llvm::raw_ostream &os) {
  Verifier verifier(path, os);
  verifier.readExpectations(text);
  for (const DiagRecord &record : records)
    verifier.check(record);
  return verifier.finish();
}
