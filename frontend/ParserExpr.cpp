//===- ParserExpr.cpp - operators, if expressions, closures ------------------===//
//
// Operators are parsed by precedence, level by level for `|| && comparison`, whose chains are one
// flat node, and by one loop for the rest. Chains to the left grow without recursion; checkHeight
// bounds them for those who walk the tree.
//
//===----------------------------------------------------------------------===//

#include "frontend/ParserImpl.h"

using namespace tk;
using namespace tk::ast;

/// Notes the height of a new node. Null when it is too tall (reported).
ast::Expr *Parser::checkHeight(ast::Expr *expr, unsigned childHeight) {
  if (childHeight >= kMaxHeight) {
    report<diag::ExpressionTooTall>(expr->range, kMaxHeight)
        .help("split the expression with `let`");
    return nullptr;
  }
  expr->height = uint16_t(childHeight + 1);
  tallest = std::max<unsigned>(tallest, expr->height);
  return expr;
}

ast::Expr *Parser::parseExpr() {
  Nested level(*this);
  if (!level)
    return nullptr;
  if (is(Tok::KwIf))
    return parseIfExpr();
  if (is(Tok::KwFn))
    return parseFnExpr();
  return parseOr();
}

//===----------------------------------------------------------------------===//
// If expressions and closures
//===----------------------------------------------------------------------===//

/// `{ value }` of an if expression. Line breaks around the value are fine.
bool Parser::parseIfExprBranch(Expr *&value) {
  SourceRange opening = here();
  if (!expect(Tok::LBrace, "`{`"))
    return false;
  Restore<unsigned> inside(open.curly, open.curly + 1);
  NewlineScope lines(newlineBlank, false);
  value = parseExpr();
  if (!value)
    return false;
  accept(Tok::End);
  return expectClose(Tok::RBrace, opening);
}

Expr *Parser::parseIfExpr() {
  uint32_t start = begin();
  SourceRange keyword = here();
  llvm::SmallVector<IfExprArm> arms;
  llvm::SmallVector<Expr *> children;
  do {
    Nested level(*this, unsigned(arms.size()));
    advance(); // `if`
    IfExprArm arm;
    {
      NewlineScope header(newlineBlank, true);
      arm.condition = level ? parseOr() : nullptr;
      if (!arm.condition || !parseIfExprBranch(arm.value))
        return nullptr;
    }
    arms.push_back(arm);
    children.append({arm.condition, arm.value});
    if (!accept(Tok::KwElse)) {
      report<diag::MissingElse>(keyword).help("as a value, `if` needs `else { ... }`");
      return nullptr;
    }
  } while (is(Tok::KwIf));
  NewlineScope header(newlineBlank, true);
  Expr *elseValue = nullptr;
  if (!parseIfExprBranch(elseValue))
    return nullptr;
  children.push_back(elseValue);
  auto *expr = file.make<IfExpr>(from(start));
  expr->arms = file.copy<IfExprArm>(arms);
  expr->elseValue = elseValue;
  return finish(expr, children);
}

Expr *Parser::parseFnExpr() {
  uint32_t start = begin();
  advance(); // `fn`
  unsigned outerTallest = std::exchange(tallest, 0);
  llvm::SmallVector<FnParam> params;
  Block *body = nullptr;
  {
    NewlineScope header(newlineBlank, true);
    SourceRange opening = here();
    if (is(Tok::Name)) {
      expected("`(`").help("a closure has no name: `fn(a, b) { ... }`");
      return nullptr;
    }
    if (!expect(Tok::LParen, "`(`") || !parseFnParams(params) || !expectClose(Tok::RParen, opening))
      return nullptr;
    body = parseBlock(start);
    if (!body)
      return nullptr;
  }
  auto *expr = file.make<FnExpr>(from(start));
  expr->params = file.copy<FnParam>(params);
  expr->body = body;
  unsigned bodyHeight = std::exchange(tallest, outerTallest);
  return checkHeight(expr, bodyHeight);
}

//===----------------------------------------------------------------------===//
// Chains of one level
//===----------------------------------------------------------------------===//

Expr *Parser::parseOr() {
  return parseLogical(LogicalOp::Or);
}

Expr *Parser::parseLogical(LogicalOp op) {
  bool isOr = op == LogicalOp::Or;
  Tok token = isOr ? Tok::PipePipe : Tok::AmpAmp;
  uint32_t start = begin();
  llvm::SmallVector<Expr *, 2> operands;
  llvm::SmallVector<SourceRange, 2> opRanges;
  while (true) {
    Expr *operand = isOr ? parseLogical(LogicalOp::And) : parseComparison();
    if (!operand)
      return nullptr;
    operands.push_back(operand);
    if (!is(token))
      break;
    opRanges.push_back(here());
    advance();
  }
  if (operands.size() == 1)
    return operands.front();
  auto *expr = file.make<Logical>(from(start));
  expr->op = op;
  expr->operands = file.copy<Expr *>(operands);
  expr->opRanges = file.copy<SourceRange>(opRanges);
  // Lowering may nest the operands: the flat chain is bounded like a deep one.
  return checkHeight(expr, operands.size()) ? finish(expr, operands) : nullptr;
}

static std::optional<CompareOp> compareOp(Tok kind) {
  switch (kind) {
  case Tok::Less:
    return CompareOp::Lt;
  case Tok::Greater:
    return CompareOp::Gt;
  case Tok::LessEqual:
    return CompareOp::Le;
  case Tok::GreaterEqual:
    return CompareOp::Ge;
  case Tok::EqualEqual:
    return CompareOp::Eq;
  case Tok::BangEqual:
    return CompareOp::Ne;
  default:
    return std::nullopt;
  }
}

Expr *Parser::parseComparison() {
  uint32_t start = begin();
  llvm::SmallVector<Expr *, 2> operands;
  llvm::SmallVector<CompareOp, 2> ops;
  llvm::SmallVector<SourceRange, 2> opRanges;
  while (true) {
    Expr *operand = parseBinary(1);
    if (!operand)
      return nullptr;
    operands.push_back(operand);
    std::optional<CompareOp> op = compareOp(kind());
    if (!op)
      break;
    ops.push_back(*op);
    opRanges.push_back(here());
    advance();
  }
  if (ops.empty())
    return operands.front();
  auto *expr = file.make<CompareChain>(from(start));
  expr->operands = file.copy<Expr *>(operands);
  expr->ops = file.copy<CompareOp>(ops);
  expr->opRanges = file.copy<SourceRange>(opRanges);
  return checkHeight(expr, operands.size()) ? finish(expr, operands) : nullptr;
}

//===----------------------------------------------------------------------===//
// Binary operators
//===----------------------------------------------------------------------===//

namespace {
struct BinaryInfo {
  BinaryOp op;
  unsigned precedence; // higher binds tighter
};
} // namespace

static std::optional<BinaryInfo> binaryInfo(Tok kind) {
  switch (kind) {
  case Tok::Pipe:
    return BinaryInfo{BinaryOp::BitOr, 1};
  case Tok::Caret:
    return BinaryInfo{BinaryOp::BitXor, 2};
  case Tok::Amp:
    return BinaryInfo{BinaryOp::BitAnd, 3};
  case Tok::LessLess:
    return BinaryInfo{BinaryOp::Shl, 4};
  case Tok::GreaterGreater:
    return BinaryInfo{BinaryOp::Shr, 4};
  case Tok::Plus:
    return BinaryInfo{BinaryOp::Add, 5};
  case Tok::Minus:
    return BinaryInfo{BinaryOp::Sub, 5};
  case Tok::Star:
    return BinaryInfo{BinaryOp::Mul, 6};
  case Tok::Slash:
    return BinaryInfo{BinaryOp::Div, 6};
  case Tok::SlashSlash:
    return BinaryInfo{BinaryOp::IntDiv, 6};
  case Tok::Percent:
    return BinaryInfo{BinaryOp::Rem, 6};
  case Tok::At:
    return BinaryInfo{BinaryOp::MatMul, 6};
  default:
    return std::nullopt;
  }
}

/// Operators of at least `minPrecedence`, all of which associate to the left. Recursion goes up by
/// one level of precedence each time.
Expr *Parser::parseBinary(unsigned minPrecedence) {
  uint32_t start = begin();
  Expr *lhs = parseUnary();
  while (lhs) {
    std::optional<BinaryInfo> info = binaryInfo(kind());
    if (!info || info->precedence < minPrecedence)
      return lhs;
    Token op = current;
    advance();
    Expr *rhs = parseBinary(info->precedence + 1);
    if (!rhs)
      return nullptr;
    lhs = makeBinary(lhs, op, info->op, rhs, start);
  }
  return nullptr;
}

/// `x * a @ b` reads as x * (a @ b) to some and computes (x * a) @ b, at another cost and
/// rounding: it has to say which.
static bool isAmbiguousBeforeMatMul(const Expr &lhs) {
  const auto *binary = llvm::dyn_cast<Binary>(&lhs);
  if (!binary || binary->parenthesised)
    return false;
  return binary->op == BinaryOp::Mul || binary->op == BinaryOp::Div ||
         binary->op == BinaryOp::IntDiv || binary->op == BinaryOp::Rem;
}

Expr *Parser::makeBinary(Expr *lhs, Token op, BinaryOp binaryOp, Expr *rhs, uint32_t start) {
  if (binaryOp == BinaryOp::MatMul && isAmbiguousBeforeMatMul(*lhs)) {
    BinaryOp left = llvm::cast<Binary>(lhs)->op;
    report<diag::AmbiguousMatMul>(op.range, spelling(left))
        .help("write `(x " + spelling(left) + " a) @ b` or `x " + spelling(left) + " (a @ b)`");
  }
  auto *expr = file.make<Binary>(from(start));
  expr->op = binaryOp;
  expr->opRange = op.range;
  expr->lhs = lhs;
  expr->rhs = rhs;
  return finish(expr, {lhs, rhs});
}

/// Prefix operators, without recursion: the chain is collected, then wrapped from the inside.
Expr *Parser::parseUnary() {
  llvm::SmallVector<std::pair<UnaryOp, SourceRange>, 4> ops;
  while (true) {
    if (is(Tok::Minus))
      ops.push_back({UnaryOp::Neg, here()});
    else if (is(Tok::Bang))
      ops.push_back({UnaryOp::Not, here()});
    else if (is(Tok::Tilde))
      ops.push_back({UnaryOp::BitNot, here()});
    else
      break;
    if (ops.size() > kMaxNesting)
      break;
    advance();
  }
  Nested levels(*this, unsigned(ops.size()));
  Expr *expr = levels ? parsePostfix() : nullptr;
  while (expr && !ops.empty()) {
    auto [op, range] = ops.pop_back_val();
    auto *unary = file.make<Unary>(from(range.begin));
    unary->op = op;
    unary->opRange = range;
    unary->operand = expr;
    expr = finish(unary, {expr});
  }
  return expr;
}
