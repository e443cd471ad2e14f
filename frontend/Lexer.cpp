//===- Lexer.cpp - tokens of a .tk file --------------------------------------===//
//
// The text was checked before: it has no NUL byte and is valid UTF-8. Beyond ASCII, characters
// occur in comments and strings only.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tk;

/// A longer number is a slip; APInt and APFloat take time quadratic in the length.
static constexpr size_t kMaxNumberLength = 256;

/// How much of a bad number a message shows.
static constexpr size_t kMaxShownLength = 40;

static constexpr llvm::StringLiteral kTokenTexts[] = {
#define SPECIAL(NAME, TEXT) TEXT,
#define KEYWORD(NAME, TEXT) TEXT,
#define PUNCT(NAME, TEXT) TEXT,
#include "frontend/Tokens.def"
};

llvm::StringRef tk::spelling(Tok kind) {
  return kTokenTexts[size_t(kind)];
}

bool tk::isKeyword(Tok kind) {
  switch (kind) {
#define KEYWORD(NAME, TEXT) case Tok::NAME:
#include "frontend/Tokens.def"
    return true;
  default:
    return false;
  }
}

bool tk::isKeywordText(llvm::StringRef text) {
  return llvm::StringSwitch<bool>(text)
#define KEYWORD(NAME, TEXT) .Case(TEXT, true)
#include "frontend/Tokens.def"
      .Default(false);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

SyntaxReport &SyntaxReport::help(const llvm::Twine &advice) {
  if (diag)
    diag->attachNote() << "help: " << advice;
  return *this;
}

SyntaxReport &SyntaxReport::note(SourceRange range, const llvm::Twine &text) {
  if (diag)
    diag->attachNote(source.getLocation(context, range)) << text;
  return *this;
}

SyntaxReport &SyntaxReport::fix(SourceRange range, const llvm::Twine &replacement) {
  return note(range, "fix: " + replacement);
}

bool SyntaxErrors::admit(SourceRange range) {
  if (stopped || lastPlace == range.begin || range.begin < mutedUntil)
    return false;
  lastPlace = range.begin;
  if (++count <= kMaxErrors)
    return true;
  stopped = true;
  emit<diag::TooManyErrors>(source.getLocation(context, range), kMaxErrors);
  return false;
}

//===----------------------------------------------------------------------===//
// The lexer
//===----------------------------------------------------------------------===//

static bool isNameStart(char c) {
  return llvm::isAlpha(c) || c == '_';
}
static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '_';
}

Lexer::Lexer(const SourceFile &source, SyntaxErrors &errors)
    : text(source.getText()), base(source.getBase()), errors(errors) {
  if (text.starts_with("\xEF\xBB\xBF")) // a byte order mark, which some Windows editors write
    at = 3;
}

void Lexer::skipTo(uint32_t offset) {
  at = offset - base;
  previous = Tok::Eof;
}

/// Skips blanks and comments; tells whether there was a line break.
bool Lexer::skipBlanks() {
  bool newline = at == 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n')
      newline = true;
    else if (c == '#')
      at = std::min(text.find('\n', at), text.size()) - 1;
    else if (c != ' ' && c != '\t' && c != '\r')
      break;
    ++at;
  }
  return newline;
}

Token Lexer::next() {
  bool newline = skipBlanks();
  if (errors.isStopped())
    at = text.size();
  uint32_t begin = uint32_t(at);
  char c = peek();
  Token token;
  if (at >= text.size())
    token = make(Tok::Eof, begin);
  else if (isNameStart(c))
    token = lexWord(begin);
  else if (llvm::isDigit(c))
    token = previous == Tok::Dot ? lexTupleIndex(begin) : lexNumber(begin);
  else if (c == '"')
    token = lexString(begin);
  else
    token = lexPunct(begin);
  token.newlineBefore = newline;
  previous = token.kind;
  return token;
}

std::string tk::withoutTrivia(mlir::MLIRContext &context, llvm::StringRef text) {
  SourceFile source("", text.str());
  SyntaxErrors errors(context, source);
  Lexer lexer(source, errors);
  std::string tokens;
  for (Token token = lexer.next(); token.kind != Tok::Eof; token = lexer.next()) {
    tokens += token.newlineBefore ? '\n' : ' ';
    tokens += text.slice(token.range.begin, token.range.end);
  }
  return tokens;
}

Token Lexer::lexWord(uint32_t begin) {
  while (isNameChar(peek()))
    ++at;
  Tok kind = llvm::StringSwitch<Tok>(text.slice(begin, at))
#define KEYWORD(NAME, TEXT) .Case(TEXT, Tok::NAME)
#include "frontend/Tokens.def"
                 .Default(Tok::Name);
  return make(kind, begin);
}

Token Lexer::lexPunct(uint32_t begin) {
  static constexpr struct {
    Tok kind;
    llvm::StringLiteral text;
  } kPunct[] = {
#define PUNCT(NAME, TEXT) {Tok::NAME, TEXT},
#include "frontend/Tokens.def"
  };
  llvm::StringRef rest = text.substr(begin);
  Tok kind = Tok::Eof;
  size_t length = 0;
  for (const auto &punct : kPunct) {
    if (punct.text.size() <= length || !rest.starts_with(punct.text))
      continue;
    kind = punct.kind;
    length = punct.text.size();
  }
  if (!length)
    return lexUnknown(begin);
  at += length;
  return make(kind, begin);
}

/// A character that begins no token stands for a name. What else its line has wrong is not
/// reported.
Token Lexer::lexUnknown(uint32_t begin) {
  char first = text[begin];
  bool isPlain = uint8_t(first) >= 0x20 && uint8_t(first) < 0x7F;
  ++at;
  while (at < text.size() && (uint8_t(text[at]) & 0xC0) == 0x80)
    ++at;
  std::string shown = text.slice(begin, at).str();
  if (!isPlain && uint8_t(first) < 0x80)
    shown = "\\x" + llvm::utohexstr(uint8_t(first), /*LowerCase=*/false, /*Width=*/2);
  SyntaxReport report = errors.report<diag::UnknownCharacter>(range(begin, at), shown);
  if (first == '\'')
    report.help("strings stand in `\"`");
  else if (first == '\\')
    report.help("a line goes on behind an operator and inside `(` and `[`");
  else if (uint8_t(first) >= 0x80)
    report.help("names are made of ASCII letters, digits and `_`");
  errors.muteUntil(uint32_t(std::min(text.find('\n', at), text.size())));
  return make(Tok::Name, begin);
}

//===----------------------------------------------------------------------===//
// Numbers and strings
//===----------------------------------------------------------------------===//

void Lexer::badNumber(uint32_t begin, llvm::StringRef why, llvm::StringRef advice) {
  llvm::StringRef shown = text.slice(begin, at);
  std::string cut = shown.take_front(kMaxShownLength).str();
  if (shown.size() > kMaxShownLength)
    cut += "...";
  SyntaxReport report = errors.report<diag::BadNumber>(range(begin, at), cut, why);
  if (!advice.empty())
    report.help(advice);
}

/// Digits after the `.` of a tuple index: `a.0.1` has no float in it.
Token Lexer::lexTupleIndex(uint32_t begin) {
  while (isNameChar(peek()))
    ++at;
  llvm::StringRef digits = text.slice(begin, at);
  unsigned value = 0;
  if (digits.getAsInteger(10, value) || value > 255 || (digits.size() > 1 && digits[0] == '0'))
    badNumber(begin, "an index into a tuple is a plain decimal below 256");
  return make(Tok::Int, begin);
}

/// Why `digits` (with underscores) is not a number of this radix; empty when it is one.
static llvm::StringRef checkDigits(llvm::StringRef digits, unsigned radix) {
  if (digits.empty())
    return "it has no digits";
  if (digits.starts_with("_") || digits.ends_with("_") || digits.contains("__"))
    return "`_` stands singly between digits";
  for (char c : digits)
    if (c != '_' && (!llvm::isHexDigit(c) || llvm::hexDigitValue(c) >= radix))
      return "it has a letter or digit of no meaning";
  return {};
}

static unsigned radixOf(llvm::StringRef prefix) {
  return llvm::StringSwitch<unsigned>(prefix)
      .Cases({"0x", "0X"}, 16)
      .Cases({"0b", "0B"}, 2)
      .Cases({"0o", "0O"}, 8)
      .Default(10);
}

Token Lexer::lexNumber(uint32_t begin) {
  auto skipNameChars = [&] {
    size_t from = at;
    while (isNameChar(peek()))
      ++at;
    return text.slice(from, at);
  };
  llvm::StringRef why;
  std::string advice;
  bool isFloat = false;
  if (unsigned radix = radixOf(text.substr(at, 2)); radix != 10) {
    at += 2;
    why = checkDigits(skipNameChars(), radix);
  } else {
    auto skipDigits = [&] {
      size_t from = at;
      while (llvm::isDigit(peek()) || peek() == '_')
        ++at;
      if (why.empty())
        why = checkDigits(text.slice(from, at), 10);
    };
    skipDigits();
    llvm::StringRef whole = text.slice(begin, at);
    if (peek() == '.' && llvm::isDigit(peek(1))) {
      isFloat = true;
      ++at;
      skipDigits();
    } else if (peek() == '.' && !isNameStart(peek(1)) && peek(1) != '.') {
      ++at;
      why = "digits follow the `.`";
      advice = ("write `" + whole + ".0`").str();
    }
    bool isSigned = peek(1) == '-' || peek(1) == '+';
    if ((peek() == 'e' || peek() == 'E') && llvm::isDigit(peek(isSigned ? 2 : 1))) {
      isFloat = true;
      at += isSigned ? 2 : 1;
      skipDigits();
    }
    if (!skipNameChars().empty() && why.empty())
      why = "letters follow the digits";
    if (!isFloat && why.empty() && whole.size() > 1 && whole[0] == '0') {
      why = "a decimal has no leading zero";
      advice = ("octal is written `0o" + whole.drop_front() + "`").str();
    }
  }
  if (why.empty() && at - begin > kMaxNumberLength)
    why = "it is longer than 256 characters";
  if (!why.empty())
    badNumber(begin, why, advice);
  return make(isFloat ? Tok::Float : Tok::Int, begin);
}

void Lexer::checkEscape(size_t backslash) {
  char c = backslash + 1 < text.size() ? text[backslash + 1] : '\0';
  if (llvm::StringRef("nt\\\"").contains(c) && c != '\0')
    return;
  size_t end = backslash + 2;
  while (end < text.size() && (uint8_t(text[end]) & 0xC0) == 0x80)
    ++end;
  errors.report<diag::UnknownEscape>(range(backslash, end), text.slice(backslash, end))
      .help("strings have `\\n`, `\\t`, `\\\\` and `\\\"`");
}

Token Lexer::lexString(uint32_t begin) {
  ++at;
  while (at < text.size() && text[at] != '"' && text[at] != '\n' && text[at] != '\r') {
    bool isEscape = text[at] == '\\' && peek(1) != '\n' && peek(1) != '\r' && peek(1) != '\0';
    if (isEscape)
      checkEscape(at);
    at += isEscape ? 2 : 1;
  }
  if (peek() == '"') {
    ++at;
    return make(Tok::String, begin);
  }
  errors.report<diag::UnterminatedString>(range(begin, at))
      .help("a string ends on the line where it begins; `\\n` is a line break");
  return make(Tok::String, begin);
}

std::string tk::stringValue(llvm::StringRef spelling) {
  llvm::StringRef body = spelling.drop_front();
  body.consume_back("\"");
  std::string value;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      value += body[i];
      continue;
    }
    char c = body[++i];
    value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return value;
}
