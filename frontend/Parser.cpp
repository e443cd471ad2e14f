//===- Parser.cpp - tokens, reports and recovery of the parser ---------------===//

#include "frontend/Foreign.h"
#include "frontend/ParserImpl.h"
#include "frontend/Types.h"
#include "llvm/Support/ConvertUTF.h"

using namespace tk;

/// How much of a name a message shows.
static constexpr size_t kMaxShownLength = 40;

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Refuses what the lexer must not see: too many bytes, NUL, broken UTF-8.
static llvm::LogicalResult checkText(mlir::MLIRContext &context, const SourceFile &source) {
  llvm::StringRef text = source.getText();
  auto at = [&](size_t offset, size_t size) {
    uint32_t begin = uint32_t(source.getBase() + offset);
    return source.getLocation(context, {begin, uint32_t(begin + size)});
  };
  if (text.size() > SourceFile::kMaxBytes)
    return emit<diag::FileTooLarge>(at(0, 0), text.size(), SourceFile::kMaxBytes);
  if (size_t nul = text.find('\0'); nul != llvm::StringRef::npos)
    return emit<diag::NulByte>(at(nul, 1));
  const auto *place = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  if (llvm::isLegalUTF8String(&place, reinterpret_cast<const llvm::UTF8 *>(text.end())))
    return llvm::success();
  size_t offset = reinterpret_cast<const char *>(place) - text.begin();
  std::string byte = llvm::formatv("{0:x}", unsigned(*place)).str();
  return emit<diag::InvalidUtf8>(at(offset, 1), byte);
}

llvm::FailureOr<std::unique_ptr<ast::File>> tk::parseFile(mlir::MLIRContext &context,
                                                          const SourceFile &source) {
  if (failed(checkText(context, source)))
    return llvm::failure();
  auto file = std::make_unique<ast::File>(source);
  Parser parser(context, source, *file);
  parser.parseDeclarations();
  if (parser.hadErrors())
    return llvm::failure();
  return file;
}

llvm::FailureOr<ParsedExpr> tk::parseExpression(mlir::MLIRContext &context,
                                                const SourceFile &source) {
  if (failed(checkText(context, source)))
    return llvm::failure();
  ParsedExpr result{std::make_unique<ast::File>(source)};
  Parser parser(context, source, *result.owner);
  result.expr = parser.parseWholeExpression();
  if (parser.hadErrors())
    return llvm::failure();
  return result;
}

Parser::Parser(mlir::MLIRContext &context, const SourceFile &source, ast::File &file)
    : source(source), file(file), errors(context, source), lexer(source, errors),
      current(lexer.next()), previousBegin(source.getBase()), previousEnd(source.getBase()) {}

ast::Expr *Parser::parseWholeExpression() {
  NewlineScope blank(newlineBlank, true);
  ast::Expr *expr = parseExpr();
  if (expr && !is(Tok::Eof)) {
    SyntaxReport failure = report<diag::ExpectedStatementEnd>(here(), found());
    adviseWord(failure);
  }
  return expr;
}

Parser::Nested::Nested(Parser &parser, unsigned levels)
    : parser(parser), levels(levels), ok((parser.depth += levels) <= kMaxNesting) {
  if (ok)
    return;
  parser.report<diag::NestingTooDeep>(parser.here(), kMaxNesting);
  parser.errors.stop();
  parser.next.reset();
  parser.current = parser.lexer.next();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// The tokens behind which a line break ends a statement.
static bool endsStatement(Tok kind) {
  switch (kind) {
  case Tok::Name:
  case Tok::Int:
  case Tok::Float:
  case Tok::String:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::RParen:
  case Tok::RBracket:
  case Tok::RBrace:
  case Tok::KwReturn:
  case Tok::KwBreak:
  case Tok::KwContinue:
    return true;
  default:
    return false;
  }
}

/// Keywords that begin a statement and stand nowhere else.
static bool startsStatement(Tok kind) {
  switch (kind) {
  case Tok::KwLet:
  case Tok::KwVar:
  case Tok::KwFor:
  case Tok::KwWhile:
  case Tok::KwReturn:
  case Tok::KwBreak:
  case Tok::KwContinue:
    return true;
  default:
    return false;
  }
}

Tok Parser::kind() const {
  bool mayEnd = !newlineBlank && !endTaken && endsStatement(previousKind);
  if (mayEnd && current.kind != Tok::KwElse && (current.newlineBefore || current.kind == Tok::Eof))
    return Tok::End;
  return current.kind;
}

const Token &Parser::ahead() {
  if (!next)
    next = lexer.next();
  return *next;
}

void Parser::advance() {
  if (current.kind == Tok::SlashSlash)
    lastSlashSlash = begin();
  previousKind = current.kind;
  previousBegin = current.range.begin;
  previousEnd = current.range.end;
  endTaken = false;
  current = next ? *next : lexer.next();
  next.reset();
}

bool Parser::accept(Tok wanted) {
  if (kind() != wanted)
    return false;
  if (wanted == Tok::End)
    endTaken = true;
  else
    advance();
  return true;
}

/// At a keyword that stands first on a line and can only begin a declaration. `fn` and `const` may
/// be slips inside a body and count only without indentation.
bool Parser::atDeclaration() {
  if (!current.newlineBefore)
    return false;
  switch (current.kind) {
  case Tok::KwKernel:
  case Tok::KwStruct:
  case Tok::KwImport:
    return true;
  case Tok::KwConst:
    return indentOfLine(begin()) == 0;
  case Tok::KwFn:
    return indentOfLine(begin()) == 0 && ahead().kind == Tok::Name;
  default:
    return false;
  }
}

unsigned Parser::indentOfLine(uint32_t offset) const {
  llvm::StringRef line = source.getLine(source.getLineColumn(offset).line);
  return unsigned(line.size() - line.ltrim(" \t").size());
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string Parser::found() const {
  switch (kind()) {
  case Tok::Eof:
  case Tok::End:
    return spelling(current.kind == Tok::Eof ? Tok::Eof : Tok::End).str();
  case Tok::String:
    return "a string";
  default:
    break;
  }
  std::string shown = text().take_front(kMaxShownLength).str();
  return "`" + shown + (text().size() > kMaxShownLength ? "...`" : "`");
}

/// Where to report something missing: at the token found, or behind the one before it when the
/// line or the file ends.
SourceRange Parser::placeOfFault() const {
  if (is(Tok::End) || is(Tok::Eof))
    return {previousEnd, previousEnd};
  return here();
}

/// Adds what to write for a word of another language at the token found, or just before it.
void Parser::adviseWord(SyntaxReport &failure) {
  SourceRange before{previousBegin, previousEnd};
  if (const Foreign *lead = foreignLead(previousText())) {
    bool declares = is(Tok::Name) && lead->advice.empty() && lead->spelling != "!";
    if (declares) {
      // `int x`: what follows says whether it changes.
      std::string type = lead->spelling == "var" ? "" : (": " + lead->spelling).str();
      std::string variable = ("var " + text() + type).str();
      failure.help("write `" + variable + " = ...`, or `let` when it never changes");
      failure.fix({before.begin, here().end}, variable);
      return;
    }
    if (!lead->advice.empty() || lead->spelling == "!") {
      failure.help(adviceOf(*lead));
      if (!lead->spelling.empty() && is(Tok::Name))
        failure.fix({before.begin, begin()}, lead->spelling);
      return;
    }
  }
  const Foreign *word = is(Tok::Name) ? foreignWord(text()) : nullptr;
  if (!word)
    return;
  // `i as f32`, which binds as tightly as a member does.
  if (text() == "as" && ahead().kind == Tok::Name) {
    llvm::StringRef type = source.getText(ahead().range);
    const Foreign *foreign = foreignName(type);
    std::optional<Dtype> dtype = dtypeByName(foreign ? foreign->spelling : type);
    if (dtype) {
      std::string suffix = (".to(" + dtypeName(*dtype) + ")").str();
      failure.help("values convert by `x" + suffix + "`");
      failure.fix({previousEnd, ahead().range.end}, suffix);
      return;
    }
  }
  failure.help(adviceOf(*word));
  if (!word->spelling.empty())
    failure.fix(here(), word->spelling);
}

SyntaxReport Parser::expected(llvm::StringRef what) {
  SyntaxReport failure = report<diag::ExpectedToken>(placeOfFault(), what, found());
  adviseWord(failure);
  return failure;
}

bool Parser::expect(Tok wanted, llvm::StringRef what) {
  if (accept(wanted))
    return true;
  expected(what);
  return false;
}

/// The bracket that closes `opening`.
bool Parser::expectClose(Tok close, SourceRange opening, llvm::StringRef advice) {
  if (accept(close))
    return true;
  if (is(Tok::Semi)) {
    report<diag::MisplacedSemicolon>(here()).help("separate with `,`");
    return false;
  }
  SyntaxReport failure =
      report<diag::UnclosedBracket>(placeOfFault(), spelling(close), found());
  failure.note(opening, "`" + source.getText(opening) + "` is opened here");
  bool isWord = is(Tok::Name) && foreignWord(text());
  if (isWord || advice.empty())
    adviseWord(failure);
  else
    failure.help(advice);
  return false;
}

/// At `//` or `/*` where no operator can stand: reports it and skips what was meant as a comment.
bool Parser::skipSlashComment() {
  size_t place = begin() - source.getBase();
  bool isBlock = is(Tok::Slash) && source.getText().substr(place).starts_with("/*");
  if (!isBlock && !is(Tok::SlashSlash))
    return false;
  {
    SyntaxReport failure = report<diag::SlashComment>(here(), isBlock ? "/*" : "//");
    failure.help("comments begin with `#`; `//` divides integers");
    if (!isBlock)
      failure.fix(here(), "#");
  }
  llvm::StringRef all = source.getText();
  size_t end = isBlock ? all.find("*/", place + 2) : all.find('\n', place);
  if (isBlock && end != llvm::StringRef::npos)
    end += 2;
  lexer.skipTo(source.getBase() + uint32_t(std::min(end, all.size())));
  // The token before the comment still is the one before what follows it.
  bool newline = current.newlineBefore;
  next.reset();
  current = lexer.next();
  current.newlineBefore |= newline;
  return true;
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

/// The brackets opened between `outer` and the last error.
Parser::OpenBrackets Parser::openSince(OpenBrackets outer) const {
  auto minus = [](unsigned a, unsigned b) { return a > b ? a - b : 0; };
  return {minus(openAtError.round, outer.round), minus(openAtError.curly, outer.curly)};
}

/// Skips one token and counts brackets.
void Parser::skipOne(OpenBrackets &inside) {
  switch (current.kind) {
  case Tok::LParen:
  case Tok::LBracket:
    ++inside.round;
    break;
  case Tok::RParen:
  case Tok::RBracket:
    inside.round -= inside.round != 0;
    break;
  case Tok::LBrace:
    ++inside.curly;
    break;
  case Tok::RBrace:
    inside.curly -= inside.curly != 0;
    break;
  default:
    break;
  }
  advance();
}

/// Skips to the end of the statement: `;`, the end of its line, the `}` of the block, or a keyword
/// that begins a statement or declaration on a new line.
void Parser::recoverInBlock(OpenBrackets outer) {
  OpenBrackets inside = openSince(outer);
  while (current.kind != Tok::Eof && !atDeclaration()) {
    if (inside.curly == 0) {
      if (current.kind == Tok::RBrace || (current.newlineBefore && startsStatement(current.kind)))
        return;
      bool isElse = colonBlocks != 0 && current.kind == Tok::KwElse && current.newlineBefore;
      if (inside.round == 0 && (is(Tok::Semi) || is(Tok::End) || isElse))
        return;
    }
    skipOne(inside);
  }
}

/// Skips the rest of a broken header. True at the `{` of its block.
bool Parser::skipToBlock(OpenBrackets outer) {
  OpenBrackets inside = openSince(outer);
  while (current.kind != Tok::Eof && !atDeclaration()) {
    if (inside.curly == 0) {
      // A `{` that ends its line opens a block, whatever bracket was left open before it.
      if (current.kind == Tok::LBrace && (inside.round == 0 || ahead().newlineBefore)) {
        openAtError = outer;
        return true;
      }
      bool newLine = inside.round == 0 && endsStatement(previousKind) && current.kind != Tok::At;
      if (current.kind == Tok::RBrace ||
          (current.newlineBefore && (newLine || startsStatement(current.kind))))
        return false;
    }
    skipOne(inside);
  }
  return false;
}

/// Skips to the `,` or `)` of a parameter list, or to where the list must have ended.
void Parser::recoverInParams(OpenBrackets outer) {
  OpenBrackets inside = openSince(outer);
  while (current.kind != Tok::Eof && !atDeclaration()) {
    bool isBlock = current.kind == Tok::LBrace && ahead().newlineBefore;
    bool isStatement = current.newlineBefore && startsStatement(current.kind);
    if (isBlock || isStatement)
      return;
    if (inside.round == 0 && inside.curly == 0 &&
        (is(Tok::Comma) || is(Tok::RParen) || is(Tok::RBracket)))
      return;
    skipOne(inside);
  }
}

void Parser::recoverInFile() {
  while (current.kind != Tok::Eof && !atDeclaration())
    advance();
}
