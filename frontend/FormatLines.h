//===- FormatLines.h - one statement after another, as lines -------------------------------===//
#pragma once

#include "frontend/FormatTokens.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace tk::format {

constexpr unsigned kMaxColumns = 100;
constexpr unsigned kIndent = 4;

/// How far continuation lines stand to the right.
enum class Continuation : unsigned { Normal = kIndent, Header = 2 * kIndent };

/// Collects the lines of a file. Tokens are written in their order, in runs that begin a line each.
class LineWriter {
public:
  /// Writes the statements of a multi-line block at an indentation.
  using WriteBlock = llvm::function_ref<void(const ast::Block &, unsigned indent)>;

  explicit LineWriter(const FormatTokens &tokens) : tokens(tokens) {}

  /// True when the tokens fit on a line and nothing in them needs a line of its own.
  bool isFlat(unsigned first, unsigned last, unsigned indent) const;
  /// Writes the tokens, broken where they must be.
  void write(unsigned first, unsigned last, unsigned indent, Continuation continuation,
             WriteBlock writeBlock);
  /// Writes the comments that stand before a token; write() does not repeat them.
  void writeComments(unsigned index, unsigned indent);
  /// Keeps blank lines away from the line that follows.
  void suppressBlank() { blankSuppressed = true; }

  /// The text of all lines.
  std::string finish();

private:
  struct Line {
    unsigned indent = 0;
    bool blankBefore = false;
    std::string code;
    llvm::StringRef comment;
    unsigned column = 0;       // of the comment in the source
    bool hangs = false;        // a comment below one that stands behind code, and goes on from it
    unsigned commentPlace = 0; // where the comment begins, from 0
  };
  /// What is being broken into lines.
  struct Run {
    unsigned first, last, indent;
    Continuation continuation;
  };

  bool isDropped(unsigned index, bool flat) const;
  bool mustBreak(unsigned index, const Run &run) const;
  unsigned indentOf(unsigned index, const Run &run) const;
  unsigned endOfLine(unsigned begin, unsigned indent, const Run &run) const;
  void emit(unsigned begin, unsigned end, unsigned indent, bool flat);
  void attachTrailing(unsigned index, bool isEnd);
  Line &addLine(unsigned indent, bool blankBefore);
  void placeComments();
  void placeGroup(size_t begin, size_t end);

  const FormatTokens &tokens;
  std::vector<Line> lines;
  llvm::DenseMap<unsigned, unsigned> indentOfOpening; // by `(`, `[` or `{`: that of its line
  unsigned commentsWritten = ~0u;                     // the token whose comments were written last
  bool blankSuppressed = true;
};

} // namespace tk::format
