//===- FormatTokens.cpp - tokens, their comments, and where lines may break -------------===//

#include "frontend/FormatMarks.h"
#include "frontend/FormatTokens.h"
#include "llvm/ADT/STLExtras.h"

using namespace tk;
using namespace tk::format;

bool format::isOpening(Tok kind) {
  return kind == Tok::LParen || kind == Tok::LBracket || kind == Tok::LBrace;
}

bool format::isClosing(Tok kind) {
  return kind == Tok::RParen || kind == Tok::RBracket || kind == Tok::RBrace;
}

FormatTokens::FormatTokens(mlir::MLIRContext &context, const ast::File &file) {
  readTokens(context, file.getSource());
  matchBrackets();
  markTokens(file, *this);
  rankBreaks();
}

unsigned FormatTokens::at(uint32_t offset) const {
  return unsigned(llvm::lower_bound(begins, offset) - begins.begin());
}

unsigned FormatTokens::endingAt(uint32_t offset) const {
  return at(offset) - 1; // tokens do not overlap: it is the last that begins before
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The comments and line breaks between two tokens. The tokens were lexed before: a gap has nothing
/// else but blanks.
void FormatTokens::readGap(llvm::StringRef gap, uint32_t offset, const SourceFile &source) {
  FormatToken token;
  token.firstComment = unsigned(comments.size());
  unsigned newlines = tokens.empty() ? 1 : 0; // since the last token or comment
  for (size_t i = 0; i < gap.size(); ++i) {
    if (gap[i] == '\n')
      ++newlines;
    if (gap[i] != '#')
      continue;
    llvm::StringRef text = gap.substr(i).take_until([](char c) { return c == '\n'; });
    unsigned column = source.getLineColumn(uint32_t(offset + i)).column;
    bool trails = newlines == 0;
    comments.push_back({text.rtrim(), column, newlines > 1});
    if (trails) {
      tokens.back().hasTrailing = true;
      tokens.back().trailing = token.firstComment++;
    }
    i += text.size() - 1;
    newlines = 0;
    token.newline = true;
  }
  token.numComments = unsigned(comments.size()) - token.firstComment;
  token.newline |= newlines > 0;
  token.blankBefore = newlines > 1;
  tokens.push_back(token);
}

void FormatTokens::readTokens(mlir::MLIRContext &context, const SourceFile &source) {
  SyntaxErrors errors(context, source);
  Lexer lexer(source, errors);
  uint32_t end = 0;
  while (true) {
    Token token = lexer.next();
    readGap(source.getText({end, token.range.begin}), end, source);
    tokens.back().kind = token.kind;
    tokens.back().text = source.getText(token.range);
    begins.push_back(token.range.begin);
    end = token.range.end;
    if (token.kind == Tok::Eof)
      return;
  }
}

void FormatTokens::matchBrackets() {
  llvm::SmallVector<unsigned> open;
  for (auto [i, token] : llvm::enumerate(tokens)) {
    if (isClosing(token.kind)) {
      token.match = open.pop_back_val();
      tokens[token.match].match = unsigned(i);
    }
    if (!open.empty())
      token.opener = open.back();
    if (isOpening(token.kind))
      open.push_back(unsigned(i));
  }
}

//===----------------------------------------------------------------------===//
// Blanks
//===----------------------------------------------------------------------===//

bool FormatTokens::hasSpace(unsigned index) const {
  const FormatToken &before = tokens[index - 1], &token = tokens[index];
  if (isOpening(before.kind))
    return before.kind == Tok::LBrace && !before.record;
  if (isClosing(token.kind))
    return token.kind == Tok::RBrace && !tokens[token.match].record;
  bool slice = token.opener != FormatToken::kNone && tokens[token.opener].subscript;
  switch (token.kind) {
  case Tok::Comma:
  case Tok::Semi:
  case Tok::Question:
    return false;
  case Tok::Dot: // the member 0 of the number 1 is `1 .0`
    return before.kind == Tok::Int && tokens[index + 1].kind == Tok::Int;
  case Tok::Colon:
    return slice && before.kind == Tok::Comma;
  default:
    break;
  }
  if (before.kind == Tok::Dot || before.prefix || token.tight || before.tight)
    return false;
  return before.kind != Tok::Colon || !slice;
}

//===----------------------------------------------------------------------===//
// Line breaks
//===----------------------------------------------------------------------===//

/// How loosely a binary operator binds: 1 most loosely; 0 for what is none.
static unsigned precedenceOf(Tok kind) {
  switch (kind) {
  case Tok::PipePipe:
    return 1;
  case Tok::AmpAmp:
    return 2;
  case Tok::Less:
  case Tok::Greater:
  case Tok::LessEqual:
  case Tok::GreaterEqual:
  case Tok::EqualEqual:
  case Tok::BangEqual:
    return 3;
  case Tok::Pipe:
    return 4;
  case Tok::Caret:
    return 5;
  case Tok::Amp:
    return 6;
  case Tok::LessLess:
  case Tok::GreaterGreater:
    return 7;
  case Tok::Plus:
  case Tok::Minus:
    return 8;
  case Tok::Star:
  case Tok::Slash:
  case Tok::SlashSlash:
  case Tok::Percent:
  case Tok::At:
    return 9;
  default:
    return 0;
  }
}

/// Ranks of one depth lie together, those of outer depths lower.
static constexpr unsigned kRanksOfDepth = 32;
/// Behind `(`: rather than anywhere deeper.
static constexpr unsigned kRankBehindOpening = 16;
/// Behind `=`: only where no other place is left. Left of it: before that.
static constexpr unsigned kRankBehindAssign = 1u << 20;

unsigned FormatTokens::rankOf(unsigned index, unsigned depth) const {
  const FormatToken &before = tokens[index - 1], &token = tokens[index];
  unsigned base = depth * kRanksOfDepth;
  if (token.late)
    base += kRankBehindAssign / 2;
  if (isClosing(token.kind))
    return FormatToken::kNone;
  if (before.kind == Tok::Comma || before.kind == Tok::Semi || token.kind == Tok::KwElse)
    return base;
  if (isOpening(before.kind) && !before.record)
    return base + kRankBehindOpening;
  if (before.kind == Tok::Assign && !before.tight)
    return kRankBehindAssign + base;
  unsigned precedence = before.prefix ? 0 : precedenceOf(before.kind);
  return precedence ? base + precedence : FormatToken::kNone;
}

void FormatTokens::rankBreaks() {
  unsigned depth = 0;
  for (unsigned i = 1; i < tokens.size(); ++i) {
    depth += isOpening(tokens[i - 1].kind);
    depth -= isClosing(tokens[i].kind);
    tokens[i].rank = rankOf(i, depth);
  }
}
