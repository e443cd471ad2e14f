//===- Lexer.h - tokens of a .tk file ----------------------------------------===//
//
// A hand-written lexer that makes one token at a time. It knows nothing of statements: each token
// says whether a line break stands before it, and the parser decides where that ends a statement.
// A malformed token is reported once and still delivered under its kind, an unknown character as a
// name, so that nothing follows from it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/SourceFile.h"
#include "ir/diagnostics/Diagnostics.h"
#include <optional>

namespace tk {

enum class Tok : uint8_t {
#define SPECIAL(NAME, TEXT) NAME,
#define KEYWORD(NAME, TEXT) NAME,
#define PUNCT(NAME, TEXT) NAME,
#include "frontend/Tokens.def"
};

/// The spelling of a keyword or punctuation, else what messages call the token.
llvm::StringRef spelling(Tok kind);
bool isKeyword(Tok kind);
bool isKeywordText(llvm::StringRef text);

struct Token {
  Tok kind = Tok::Eof;
  bool newlineBefore = false; // a line break since the token before; true for the first
  SourceRange range;
};

/// A diagnostic being built, or nothing when it was suppressed.
class SyntaxReport {
public:
  SyntaxReport(mlir::MLIRContext &context, const SourceFile &source,
               std::optional<mlir::InFlightDiagnostic> diag)
      : context(context), source(source), diag(std::move(diag)) {}

  SyntaxReport &help(const llvm::Twine &advice);
  SyntaxReport &note(SourceRange range, const llvm::Twine &text);
  /// An edit that mends the program, together with the others of this report.
  SyntaxReport &fix(SourceRange range, const llvm::Twine &replacement);

private:
  mlir::MLIRContext &context;
  const SourceFile &source;
  std::optional<mlir::InFlightDiagnostic> diag;
};

/// Counts and thins out the errors of lexer and parser: one per place, and at most kMaxErrors.
class SyntaxErrors {
public:
  static constexpr unsigned kMaxErrors = 64;

  SyntaxErrors(mlir::MLIRContext &context, const SourceFile &source)
      : context(context), source(source) {}

  template <const DiagSpec &Spec, class... Args>
  SyntaxReport report(SourceRange range, Args &&...args) {
    if (!admit(range))
      return {context, source, std::nullopt};
    return {context, source,
            emit<Spec>(source.getLocation(context, range), std::forward<Args>(args)...)};
  }

  unsigned getCount() const { return count; }
  /// Drops the reports before `offset`: what is found there follows from an error reported.
  void muteUntil(uint32_t offset) { mutedUntil = offset; }
  /// No more is read: the lexer gives Eof from now on, further reports are dropped.
  void stop() { stopped = true; }
  bool isStopped() const { return stopped; }

private:
  bool admit(SourceRange range);

  mlir::MLIRContext &context;
  const SourceFile &source;
  unsigned count = 0;
  std::optional<uint32_t> lastPlace;
  uint32_t mutedUntil = 0;
  bool stopped = false;
};

class Lexer {
public:
  Lexer(const SourceFile &source, SyntaxErrors &errors);

  /// The next token; Eof again and again at the end.
  Token next();
  /// Goes on at `offset`, which lies at or behind the current place.
  void skipTo(uint32_t offset);

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool skipBlanks();
  Token lexWord(uint32_t begin);
  Token lexNumber(uint32_t begin);
  Token lexTupleIndex(uint32_t begin);
  Token lexString(uint32_t begin);
  Token lexPunct(uint32_t begin);
  Token lexUnknown(uint32_t begin);
  void checkEscape(size_t backslash);
  void badNumber(uint32_t begin, llvm::StringRef why, llvm::StringRef advice = {});
  Token make(Tok kind, uint32_t begin) const { return {kind, false, range(begin, at)}; }
  /// Of bytes of `text`, as ranges of the program have it.
  SourceRange range(size_t begin, size_t end) const {
    return {uint32_t(base + begin), uint32_t(base + end)};
  }

  llvm::StringRef text;
  uint32_t base;
  SyntaxErrors &errors;
  size_t at = 0;
  Tok previous = Tok::Eof;
};

/// The tokens of a good program, a blank or a line break before each: the same for programs that
/// differ in comments and blanks alone.
std::string withoutTrivia(mlir::MLIRContext &context, llvm::StringRef text);

/// The bytes a string literal stands for; `spelling` has its quotes. Escapes: \n \t \\ \".
std::string stringValue(llvm::StringRef spelling);

} // namespace tk
