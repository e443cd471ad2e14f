//===- ParserStmt.cpp - blocks and statements --------------------------------===//

#include "frontend/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tk;
using namespace tk::ast;

llvm::StringRef tk::describe(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name:
    return "a name";
  case ExprKind::IntLit:
  case ExprKind::FloatLit:
    return "a number";
  case ExprKind::BoolLit:
    return "a truth value";
  case ExprKind::StringLit:
    return "a string";
  case ExprKind::CompareChain:
    return "a comparison";
  case ExprKind::Unary:
  case ExprKind::Binary:
  case ExprKind::Logical:
    return "an operation";
  case ExprKind::IfExpr:
    return "an `if` expression";
  case ExprKind::FnExpr:
    return "a closure";
  case ExprKind::Call:
    return "a call";
  case ExprKind::Subscript:
    return "a subscript";
  case ExprKind::Member:
  case ExprKind::TupleIndex:
    return "a member";
  case ExprKind::Tuple:
    return "a tuple";
  case ExprKind::List:
    return "a list";
  case ExprKind::Record:
    return "a record";
  }
  llvm_unreachable("an ExprKind outside its enumeration");
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static constexpr const char *kElseAdvice = "`else` stands behind the `}` of its `if`";

/// The `{` of a block. When it is missing, goes on behind the next one of the line, or right here
/// when the lines below are indented as a block is. Behind a `:`, as Python has it, the block ends
/// by its indentation.
Parser::BlockStart Parser::openBlock(uint32_t anchor, SourceRange &opening) {
  NewlineScope header(newlineBlank, true);
  opening = here();
  if (accept(Tok::LBrace))
    return BlockStart::Brace;
  {
    NewlineScope lines(newlineBlank, false);
    SyntaxReport failure = expected("`{`");
    if (is(Tok::Assign))
      failure.help("`==` compares");
    if (is(Tok::Colon))
      failure.help("a block stands in braces: `{ ... }`");
  }
  if (is(Tok::Colon) && ahead().kind != Tok::LBrace) {
    advance();
    return BlockStart::Colon;
  }
  if (skipToBlock(open)) {
    opening = here();
    advance();
    return BlockStart::Brace;
  }
  bool isIndented = current.newlineBefore && indentOfLine(begin()) > indentOfLine(anchor);
  return isIndented ? BlockStart::Brace : BlockStart::None;
}

/// Null at the end of the file or at a declaration, which stand for a missing `}` (reported).
bool Parser::closeBlock(uint32_t anchor, SourceRange opening) {
  accept(Tok::End);
  if (!is(Tok::RBrace)) {
    SourceRange brace = suspectBrace.value_or(opening);
    report<diag::UnclosedBrace>(placeOfFault(), found())
        .note(brace,
              suspectBrace ? "by its indentation, this `{` lacks its `}`" : "`{` is opened here");
    return false;
  }
  if (isFirstOnLine() && !suspectBrace && indentOfLine(begin()) < indentOfLine(anchor))
    suspectBrace = opening;
  advance();
  return true;
}

/// `anchor` is where the statement or declaration of the block begins. Null when the block has no
/// beginning or no end; a statement with an error in it is only left out.
Block *Parser::parseBlock(uint32_t anchor) {
  Nested level(*this);
  SourceRange opening;
  BlockStart begun = level ? openBlock(anchor, opening) : BlockStart::None;
  if (begun == BlockStart::None)
    return nullptr;
  NewlineScope lines(newlineBlank, false);
  Restore<unsigned> colons(colonBlocks, colonBlocks + (begun == BlockStart::Colon));
  llvm::SmallVector<Stmt *> stmts;
  auto isOutside = [&] {
    return begun == BlockStart::Colon && isFirstOnLine() &&
           indentOfLine(begin()) <= indentOfLine(anchor);
  };
  while (!is(Tok::RBrace) && !is(Tok::Eof) && !atDeclaration() && !isOutside()) {
    if (accept(Tok::End) || skipSlashComment())
      continue;
    if (is(Tok::Semi)) {
      report<diag::MisplacedSemicolon>(here()).help("remove it");
      advance();
      continue;
    }
    OpenBrackets outer = open;
    uint32_t place = begin();
    if (Stmt *stmt = parseStatement()) {
      stmts.push_back(stmt);
      continue;
    }
    recoverInBlock(outer);
    if (!isFirstOnLine())
      accept(Tok::Semi);
    if (begin() == place && !is(Tok::RBrace) && !atDeclaration())
      advance();
  }
  bool hasOwnBrace = is(Tok::RBrace) && indentOfLine(begin()) >= indentOfLine(anchor);
  if ((begun == BlockStart::Brace || hasOwnBrace) && !closeBlock(anchor, opening))
    return nullptr;
  auto *block = file.make<Block>(from(opening.begin));
  block->stmts = file.copy<Stmt *>(stmts);
  return block;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Stmt *Parser::parseStatement() {
  switch (kind()) {
  case Tok::At:
    return parseAttributed();
  case Tok::KwIf:
    return parseIf();
  case Tok::KwFor:
    return parseFor({}, begin());
  case Tok::KwWhile:
    return parseWhile({}, begin());
  case Tok::KwKernel:
  case Tok::KwStruct:
  case Tok::KwConst:
  case Tok::KwImport:
  case Tok::KwElse:
    return failStatement();
  case Tok::KwFn:
    if (ahead().kind == Tok::Name)
      return failStatement();
    break;
  default:
    break;
  }
  Stmt *stmt = parseSimple();
  return stmt && endStatement() ? stmt : nullptr;
}

Stmt *Parser::failStatement() {
  llvm::StringRef advice = is(Tok::KwElse)    ? kElseAdvice
                           : is(Tok::KwConst) ? "inside a block, `let` names a value"
                           : is(Tok::KwFn)
                               ? "a function stands outside of blocks; a closure has no name"
                               : "a declaration stands outside of blocks";
  report<diag::ExpectedStatement>(here(), found()).help(advice);
  advance();
  return nullptr;
}

Stmt *Parser::parseAttributed() {
  uint32_t start = begin();
  llvm::SmallVector<Attribute> attributes;
  while (is(Tok::At)) {
    Attribute attribute;
    if (!parseAttribute(attribute))
      return nullptr;
    attributes.push_back(attribute);
    accept(Tok::End);
  }
  if (is(Tok::KwFor))
    return parseFor(attributes, start);
  if (is(Tok::KwWhile))
    return parseWhile(attributes, start);
  report<diag::MisplacedAttribute>(attributes.front().range, attributes.front().name.text, found())
      .help("inside a block, attributes stand before `for` and `while`");
  if (is(Tok::RBrace) || is(Tok::Eof) || atDeclaration())
    return nullptr;
  return parseStatement();
}

/// Behind a simple statement.
bool Parser::endStatement() {
  if (accept(Tok::End) || accept(Tok::Semi) || is(Tok::RBrace))
    return true;
  if (colonBlocks != 0 && is(Tok::KwElse) && isFirstOnLine())
    return true;
  if (is(Tok::RParen) || is(Tok::RBracket)) {
    report<diag::UnmatchedClosing>(here(), text());
    return false;
  }
  bool afterSlashes = lastSlashSlash && source.getLineColumn(*lastSlashSlash).line ==
                                            source.getLineColumn(begin()).line;
  SyntaxReport failure = report<diag::ExpectedStatementEnd>(here(), found());
  llvm::StringRef advice = llvm::StringSwitch<llvm::StringRef>(text())
                               .Case("?", "write `if a { b } else { c }`")
                               .Case("if", "write `if a { b } else { c }`")
                               .Case("else", kElseAdvice)
                               .Case(":", "a name is declared by `let x: f32 = ...`, or `var`")
                               .Default("");
  if (afterSlashes)
    failure.help("comments begin with `#`; `//` divides integers")
        .fix({*lastSlashSlash, *lastSlashSlash + 2}, "#");
  else if (!advice.empty())
    failure.help(advice);
  else
    adviseWord(failure);
  return false;
}

Stmt *Parser::parseSimple() {
  switch (kind()) {
  case Tok::KwLet:
  case Tok::KwVar:
    return parseLet();
  case Tok::KwReturn:
    return parseReturn();
  case Tok::KwBreak: {
    auto *stmt = file.make<Break>(here());
    advance();
    return stmt;
  }
  case Tok::KwContinue: {
    auto *stmt = file.make<Continue>(here());
    advance();
    return stmt;
  }
  default:
    return parseCallOrAssign();
  }
}

/// `advice` is for a pattern that is none.
bool Parser::parsePattern(Pattern &pattern, llvm::StringRef advice) {
  uint32_t start = begin();
  SourceRange opening = here();
  llvm::SmallVector<Ident, 4> names(1);
  if (!accept(Tok::LParen)) {
    if (!parseName(names[0], "a name to bind"))
      return false;
  } else {
    Restore<unsigned> inside(open.round, open.round + 1);
    NewlineScope blank(newlineBlank, true);
    pattern.isTuple = true;
    while (parseName(names.back(), "a name to bind") && accept(Tok::Comma))
      names.emplace_back();
    if (!names.back() || !expectClose(Tok::RParen, opening, advice))
      return false;
    if (names.size() == 1)
      report<diag::PatternTooShort>(from(start), names.size()).help("remove the parentheses");
  }
  pattern.range = from(start);
  pattern.names = file.copy<Ident>(names);
  return true;
}

Stmt *Parser::parseLet() {
  uint32_t start = begin();
  auto *stmt = file.make<Let>(here());
  stmt->isVar = is(Tok::KwVar);
  advance();
  if (!parsePattern(stmt->pattern))
    return nullptr;
  if (accept(Tok::Colon) && !(stmt->type = parseType()))
    return nullptr;
  if (is(Tok::End) || is(Tok::Semi) || is(Tok::RBrace)) {
    report<diag::MissingInitialiser>(from(start), stmt->isVar ? "var" : "let",
                                     source.getText(stmt->pattern.range));
    return nullptr;
  }
  if (!expect(Tok::Assign, "`=`") || !(stmt->init = parseExpr()))
    return nullptr;
  stmt->range = from(start);
  return stmt;
}

Stmt *Parser::parseReturn() {
  uint32_t start = begin();
  advance();
  llvm::SmallVector<Expr *> values;
  if (!is(Tok::End) && !is(Tok::Semi) && !is(Tok::RBrace)) {
    do {
      Expr *value = parseExpr();
      if (!value)
        return nullptr;
      values.push_back(value);
    } while (accept(Tok::Comma));
  }
  auto *stmt = file.make<Return>(from(start));
  stmt->values = file.copy<Expr *>(values);
  return stmt;
}

//===----------------------------------------------------------------------===//
// Calls and assignments
//===----------------------------------------------------------------------===//

static std::optional<BinaryOp> compoundOp(Tok kind) {
  switch (kind) {
  case Tok::StarAssign:
    return BinaryOp::Mul;
  case Tok::SlashAssign:
    return BinaryOp::Div;
  case Tok::SlashSlashAssign:
    return BinaryOp::IntDiv;
  case Tok::PercentAssign:
    return BinaryOp::Rem;
  case Tok::AtAssign:
    return BinaryOp::MatMul;
  case Tok::PlusAssign:
    return BinaryOp::Add;
  case Tok::MinusAssign:
    return BinaryOp::Sub;
  case Tok::LessLessAssign:
    return BinaryOp::Shl;
  case Tok::GreaterGreaterAssign:
    return BinaryOp::Shr;
  case Tok::AmpAssign:
    return BinaryOp::BitAnd;
  case Tok::CaretAssign:
    return BinaryOp::BitXor;
  case Tok::PipeAssign:
    return BinaryOp::BitOr;
  default:
    return std::nullopt;
  }
}

static bool isPlace(const Expr &expr) {
  return llvm::isa<Name, Subscript, Member, TupleIndex>(expr);
}

/// Behind the target of an assignment.
Stmt *Parser::parseAssign(Expr *target, uint32_t start) {
  if (!isPlace(*target)) {
    SyntaxReport failure = report<diag::NotAPlace>(target->range, describe(*target));
    if (llvm::isa<Tuple>(target))
      failure.help("assign one by one; `let (a, b) = ...` binds new names");
  }
  auto *stmt = file.make<Assign>(here());
  stmt->target = target;
  stmt->op = compoundOp(kind());
  stmt->opRange = here();
  advance();
  stmt->value = parseExpr();
  if (!stmt->value)
    return nullptr;
  stmt->range = from(start);
  return stmt;
}

Stmt *Parser::parseCallOrAssign() {
  uint32_t start = begin();
  Expr *expr = parseExpr();
  if (!expr)
    return nullptr;
  if (is(Tok::Assign) || compoundOp(kind()))
    return parseAssign(expr, start);
  auto *stmt = file.make<ExprStmt>(from(start));
  stmt->call = llvm::dyn_cast<Call>(expr);
  if (stmt->call)
    return stmt;
  const auto *name = llvm::dyn_cast<Name>(expr);
  if (name && name->text == "elif") {
    report<diag::ExpectedStatement>(expr->range, "`elif`")
        .help("write `else if`")
        .fix(expr->range, "else if");
    return nullptr;
  }
  // With more on the line, that is what endStatement reports. The node without a call never gets
  // out: there was an error.
  if (!is(Tok::End) && !is(Tok::Semi) && !is(Tok::RBrace))
    return stmt;
  SyntaxReport failure = report<diag::UnusedExpression>(expr->range, describe(*expr));
  if (llvm::isa<CompareChain>(expr))
    failure.help("`=` assigns");
  else if (name && name->text == "pass")
    failure.help("an empty block is `{ }`");
  return stmt;
}

//===----------------------------------------------------------------------===//
// If and loops
//===----------------------------------------------------------------------===//

/// Python's `elif`, behind a branch: reported, and read as `else if`.
bool Parser::acceptElif() {
  if (current.kind != Tok::Name || text() != "elif" || ahead().kind == Tok::Assign)
    return false;
  report<diag::ExpectedStatement>(here(), "`elif`").help("write `else if`").fix(here(), "else if");
  return true;
}

Stmt *Parser::parseIf() {
  uint32_t start = begin();
  llvm::SmallVector<IfArm> arms;
  Block *elseBody = nullptr;
  bool more = true;
  while (more) {
    // A chain of `else if` is flat here and nested after lowering: it counts as nesting.
    Nested level(*this, unsigned(arms.size()));
    advance(); // `if`
    NewlineScope header(newlineBlank, true);
    IfArm arm;
    arm.condition = level ? parseExpr() : nullptr;
    if (!arm.condition && !skipToBlock(open))
      return nullptr;
    if (!(arm.body = parseBlock(start)))
      return nullptr;
    arms.push_back(arm);
    more = false;
    if (acceptElif()) {
      more = true;
    } else if (accept(Tok::KwElse)) {
      more = is(Tok::KwIf);
      if (!more && !(elseBody = parseBlock(start)))
        return nullptr;
    }
  }
  auto *stmt = file.make<If>(from(start));
  stmt->arms = file.copy<IfArm>(arms);
  stmt->elseBody = elseBody;
  return stmt;
}

Stmt *Parser::parseFor(llvm::ArrayRef<Attribute> attributes, uint32_t start) {
  uint32_t anchor = begin();
  advance();
  NewlineScope header(newlineBlank, true);
  auto *stmt = file.make<For>(here());
  stmt->attributes = file.copy(attributes);
  llvm::StringRef advice = "write `for i in range(n) { ... }`";
  bool ok = parsePattern(stmt->pattern, advice);
  if (ok && !atWord("in")) {
    expected("`in`").help(advice);
    ok = false;
  }
  if (ok) {
    advance(); // `in`
    stmt->iterable = parseExpr();
  }
  if (!stmt->iterable && !skipToBlock(open))
    return nullptr;
  if (!(stmt->body = parseBlock(anchor)))
    return nullptr;
  stmt->range = from(start);
  return stmt;
}

Stmt *Parser::parseWhile(llvm::ArrayRef<Attribute> attributes, uint32_t start) {
  uint32_t anchor = begin();
  advance();
  NewlineScope header(newlineBlank, true);
  auto *stmt = file.make<While>(here());
  stmt->attributes = file.copy(attributes);
  stmt->condition = parseExpr();
  if (!stmt->condition && !skipToBlock(open))
    return nullptr;
  if (!(stmt->body = parseBlock(anchor)))
    return nullptr;
  stmt->range = from(start);
  return stmt;
}
