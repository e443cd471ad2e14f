//===- Render.h - diagnostics for people and for tools -----------------------===//
//
// `DiagnosticBuffer` is the one handler of a context: it keeps what is reported as plain data (no
// MLIR object outlives its context), drops repetitions, counts, and applies -W. `renderText` and
// `renderJson` print what was kept:
//
//   k.tk:4:7: error: TK2103: `@` needs equal inner sizes, found 32 and 64
//       4 |   c = a @ b
//         |       ^~~~~
//   k.tk:1:10: note: `b` is declared here
//   help: transpose `b`
//
// A diagnostic may carry a fix: edits that together mend the program. What they put in stands
// under the caret, at its column. One line of JSON a diagnostic: docs/diagnostics.md has the
// schema. Columns count bytes from 1; the end is one past.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Regex;
}

namespace tk {

/// A range of a file; `line` is 0 when the place is not known.
struct DiagPlace {
  std::string file;
  unsigned line = 0, column = 0, endLine = 0, endColumn = 0;

  bool operator==(const DiagPlace &) const = default;
};

struct DiagNote {
  DiagPlace place;
  std::string message;

  bool operator==(const DiagNote &) const = default;
};

/// Part of a fix: `text` stands for what is at `place`, which may be empty.
struct DiagEdit {
  DiagPlace place;
  std::string text;

  bool operator==(const DiagEdit &) const = default;
};

/// One reported diagnostic, independent of MLIR.
struct DiagRecord {
  mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error;
  int code = 0;        // 0: reported without an entry of Diagnostics.def
  std::string message; // without "TKnnnn: "
  DiagPlace place;
  std::vector<DiagNote> notes;
  std::vector<std::string> help;
  std::vector<DiagEdit> fix; // edits that belong together

  bool operator==(const DiagRecord &) const = default;
};

/// What is shown and what counts as an error.
struct DiagPolicy {
  bool warningsAreErrors = false;
  std::vector<int> hiddenWarnings; // codes
  std::vector<int> errorWarnings;  // codes that count as errors
  std::vector<int> plainWarnings;  // codes that stay warnings under -Werror
  bool showRemarks = false;
  std::string remarkFilter; // regular expression over "TKnnnn: message"; empty: all
};

/// The place of a location: the first file position in it; for a call, the callee's.
DiagPlace placeOf(mlir::Location loc);

class DiagnosticBuffer {
public:
  DiagnosticBuffer(mlir::MLIRContext &context, DiagPolicy policy);
  ~DiagnosticBuffer();
  DiagnosticBuffer(const DiagnosticBuffer &) = delete;
  DiagnosticBuffer &operator=(const DiagnosticBuffer &) = delete;

  llvm::ArrayRef<DiagRecord> getRecords() const { return records; }
  unsigned getNumErrors() const { return numErrors; }
  unsigned getNumWarnings() const { return numWarnings; }

private:
  void add(mlir::Diagnostic &diag);
  /// False when the record is not to be shown; may turn a warning into an error.
  bool admit(DiagRecord &record) const;

  mlir::MLIRContext &context;
  DiagPolicy policy;
  std::unique_ptr<llvm::Regex> remarkRegex;
  mlir::DiagnosticEngine::HandlerID handler;
  std::vector<DiagRecord> records;
  unsigned numErrors = 0, numWarnings = 0;
};

/// The texts that carets are drawn into, by path as locations name them. A path that nobody gave is
/// read from disk once.
class SourceTexts {
public:
  void add(llvm::StringRef path, llvm::StringRef text) { texts[path] = text.str(); }
  /// Without the line break; none when there is no such line.
  std::optional<llvm::StringRef> getLine(llvm::StringRef path, unsigned line);

private:
  llvm::StringMap<std::string> texts;
};

/// `colors` asks for terminal colours.
void renderText(llvm::ArrayRef<DiagRecord> records, SourceTexts &sources, llvm::raw_ostream &os,
                bool colors);
void renderJson(llvm::ArrayRef<DiagRecord> records, llvm::raw_ostream &os);

} // namespace tk
