//===- ExpectEval.cpp - operators and names of an expectation -------------------------------===//

#include "driver/Expect.h"
#include "frontend/Parser.h"
#include "ir/diagnostics/Diagnostics.h"
#include <cmath>

using namespace tk;
using llvm::cast;
using llvm::dyn_cast;

ExpectEvaluator::Result ExpectEvaluator::fail(const ast::Node *node, const std::string &why) {
  (void)tk::emit<diag::ExpectInvalid>(source.getLocation(context, node->range),
                                      source.getText(node->range), why);
  return std::nullopt;
}

ExpectEvaluator::Result ExpectEvaluator::elementwise(const ast::Node *node, const ExpectArray &a,
                                                     const ExpectArray &b,
                                                     double (*fn)(double, double)) {
  auto shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    return fail(node, "the shapes " + shapeText(a.shape) + " and " + shapeText(b.shape) +
                          " do not broadcast");
  ExpectArray x = broadcastTo(a, *shape), y = broadcastTo(b, *shape);
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = fn(x.data[i], y.data[i]);
  return x;
}

static double wholePower(double x, double y) {
  return x * std::exp2(y);
}

static double (*functionOf(ast::BinaryOp op))(double, double) {
  using ast::BinaryOp;
  switch (op) {
  case BinaryOp::Mul:
    return [](double x, double y) { return x * y; };
  case BinaryOp::Div:
    return [](double x, double y) { return x / y; };
  case BinaryOp::IntDiv: // truncates, and x // 0 = 0
    return [](double x, double y) { return y == 0 ? 0 : std::trunc(x / y); };
  case BinaryOp::Rem:
    return [](double x, double y) { return y == 0 ? x : std::fmod(x, y); };
  case BinaryOp::Add:
    return [](double x, double y) { return x + y; };
  case BinaryOp::Sub:
    return [](double x, double y) { return x - y; };
  case BinaryOp::Shl:
    return wholePower;
  case BinaryOp::Shr:
    return [](double x, double y) { return std::floor(wholePower(x, -y)); };
  case BinaryOp::BitAnd:
    return [](double x, double y) { return double(int64_t(x) & int64_t(y)); };
  case BinaryOp::BitXor:
    return [](double x, double y) { return double(int64_t(x) ^ int64_t(y)); };
  case BinaryOp::BitOr:
    return [](double x, double y) { return double(int64_t(x) | int64_t(y)); };
  case BinaryOp::MatMul:
    break;
  }
  return nullptr;
}

/// The last two axes multiply, those before broadcast.
ExpectEvaluator::Result ExpectEvaluator::matmul(const ast::Binary *expr, const ExpectArray &a,
                                                const ExpectArray &b) {
  const size_t ra = a.shape.size(), rb = b.shape.size();
  auto refuse = [&]() {
    return fail(expr, "the shapes " + shapeText(a.shape) + " and " + shapeText(b.shape) +
                          " do not multiply");
  };
  if (ra < 2 || rb < 2 || a.shape[ra - 1] != b.shape[rb - 2])
    return refuse();
  auto shape = broadcastShapes(llvm::ArrayRef(a.shape).drop_back(2),
                               llvm::ArrayRef(b.shape).drop_back(2));
  if (!shape)
    return refuse();
  const int64_t m = a.shape[ra - 2], k = a.shape[ra - 1], n = b.shape[rb - 1];
  auto spread = [&](const ExpectArray &array, int64_t rows, int64_t columns) {
    std::vector<int64_t> to = *shape;
    to.insert(to.end(), {rows, columns});
    return broadcastTo(array, to);
  };
  const ExpectArray x = spread(a, m, k), y = spread(b, k, n);
  shape->insert(shape->end(), {m, n});
  ExpectArray result = ExpectArray::filled(*shape);
  const int64_t matrices = m * n ? result.size() / (m * n) : 0;
  for (int64_t i = 0; i < matrices * m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      const double factor = x.data[size_t(i * k + p)];
      const double *row = &y.data[size_t((i / m * k + p) * n)];
      for (int64_t j = 0; j < n; ++j)
        result.data[size_t(i * n + j)] += factor * row[j];
    }
  return result;
}

ExpectEvaluator::Result ExpectEvaluator::binary(const ast::Binary *expr) {
  Result a = evaluate(expr->lhs), b = a ? evaluate(expr->rhs) : std::nullopt;
  if (!b)
    return std::nullopt;
  if (expr->op == ast::BinaryOp::MatMul)
    return matmul(expr, *a, *b);
  return elementwise(expr, *a, *b, functionOf(expr->op));
}

ExpectEvaluator::Result ExpectEvaluator::unary(const ast::Unary *expr) {
  Result value = evaluate(expr->operand);
  if (!value)
    return std::nullopt;
  for (double &x : value->data)
    x = expr->op == ast::UnaryOp::Neg ? -x : expr->op == ast::UnaryOp::Not ? x == 0 : -x - 1;
  return value;
}

static double (*functionOf(ast::CompareOp op))(double, double) {
  using ast::CompareOp;
  switch (op) {
  case CompareOp::Lt:
    return [](double x, double y) { return double(x < y); };
  case CompareOp::Gt:
    return [](double x, double y) { return double(x > y); };
  case CompareOp::Le:
    return [](double x, double y) { return double(x <= y); };
  case CompareOp::Ge:
    return [](double x, double y) { return double(x >= y); };
  case CompareOp::Eq:
    return [](double x, double y) { return double(x == y); };
  case CompareOp::Ne:
    return [](double x, double y) { return double(x != y); };
  }
  return nullptr;
}

static double both(double x, double y) {
  return x != 0 && y != 0;
}

static bool allTrue(const ExpectArray &array) {
  for (double x : array.data)
    if (x == 0 || x != x)
      return false;
  return true;
}

/// Whether `expr` is `whole`, or a side of its && and ||.
static bool isSideOf(const ast::Expr *whole, const ast::Expr *expr) {
  auto *logical = llvm::dyn_cast_or_null<ast::Logical>(whole);
  return whole == expr || (logical && llvm::any_of(logical->operands, [&](const ast::Expr *side) {
                             return isSideOf(side, expr);
                           }));
}

ExpectEvaluator::Result ExpectEvaluator::compare(const ast::CompareChain *expr) {
  std::vector<ExpectArray> values;
  for (const ast::Expr *operand : expr->operands) {
    Result value = evaluate(operand);
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  Result all = ExpectArray::number(1);
  for (size_t i = 0; all && i < expr->ops.size(); ++i) {
    Result one = elementwise(expr, values[i], values[i + 1], functionOf(expr->ops[i]));
    if (one && !allTrue(*one) && isSideOf(whole, expr))
      difference = falseText(spelling(expr->ops[i]), broadcastTo(values[i], one->shape),
                             broadcastTo(values[i + 1], one->shape), *one);
    all = one ? elementwise(expr, *all, *one, both) : std::nullopt;
  }
  return all;
}

ExpectEvaluator::Result ExpectEvaluator::logical(const ast::Logical *expr) {
  const bool isAnd = expr->op == ast::LogicalOp::And;
  bool value = isAnd;
  for (const ast::Expr *operand : expr->operands) {
    Result result = evaluate(operand);
    if (!result)
      return std::nullopt;
    value = allTrue(*result);
    if (value != isAnd)
      break;
  }
  return ExpectArray::number(value);
}

ExpectEvaluator::Result ExpectEvaluator::conditional(const ast::IfExpr *expr) {
  for (const ast::IfExprArm &arm : expr->arms) {
    Result condition = evaluate(arm.condition);
    if (!condition)
      return std::nullopt;
    if (allTrue(*condition))
      return evaluate(arm.value);
  }
  return evaluate(expr->elseValue);
}

ExpectEvaluator::Result ExpectEvaluator::name(const ast::Name *expr) {
  auto found = names.find(std::string_view(expr->text));
  if (found != names.end()) {
    if (unwritten.empty())
      unwritten = found->second.unwritten;
    return found->second;
  }
  if (expr->text == "inf")
    return ExpectArray::number(INFINITY);
  if (expr->text == "nan")
    return ExpectArray::number(NAN);
  if (expr->text == "pi")
    return ExpectArray::number(M_PI);
  std::string known;
  for (const auto &entry : names)
    if (entry.first.find('.') == std::string::npos)
      known += (known.empty() ? "" : ", ") + entry.first;
  return fail(expr, "is not known; there are " + known);
}

/// "x", or "as[1]" where that is a name of its own: an array behind a pointer of a list.
std::string ExpectEvaluator::keyOf(const ast::Expr *expr) {
  if (auto *name = dyn_cast<ast::Name>(expr))
    return name->text.str();
  auto *subscript = dyn_cast<ast::Subscript>(expr);
  if (!subscript || subscript->indices.size() != 1 || !subscript->indices[0].value)
    return "";
  auto *number = dyn_cast<ast::IntLit>(subscript->indices[0].value);
  std::string base = number ? keyOf(subscript->base) : "";
  std::string key = base.empty() ? "" : base + "[" + number->digits.str() + "]";
  for (const auto &entry : names)
    if (!key.empty() && llvm::StringRef(entry.first).starts_with(key))
      return key;
  return "";
}

ExpectEvaluator::Result ExpectEvaluator::member(const ast::Member *expr) {
  if (expr->name.text == "before") {
    auto found = names.find(keyOf(expr->base) + ".before");
    if (found != names.end())
      return found->second;
  }
  const bool wantsShape = expr->name.text == "shape";
  if (expr->name.text != "T" && !wantsShape)
    return fail(expr, "has no meaning here; arrays have .T, .shape, .before and .to(dtype)");
  Result value = evaluate(expr->base);
  if (!value)
    return std::nullopt;
  const int64_t rank = int64_t(value->shape.size());
  if (wantsShape) {
    ExpectArray sides = ExpectArray::filled({rank});
    sides.data.assign(value->shape.begin(), value->shape.end());
    return sides;
  }
  if (rank < 2)
    return fail(expr, "needs rank 2 or more, has " + shapeText(value->shape));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(i);
  std::swap(order[size_t(rank - 2)], order[size_t(rank - 1)]);
  return permuteAxes(*value, order);
}

/// `[1, 2]`, `[[1, 2], [3, 4]]`: elements of one shape.
ExpectEvaluator::Result ExpectEvaluator::list(const ast::List *expr) {
  ExpectArray result = ExpectArray::filled({0});
  for (auto [i, element] : llvm::enumerate(expr->elements)) {
    Result value = evaluate(element);
    if (!value)
      return std::nullopt;
    if (i == 0)
      result.shape.insert(result.shape.end(), value->shape.begin(), value->shape.end());
    else if (llvm::ArrayRef(result.shape).drop_front() != llvm::ArrayRef(value->shape))
      return fail(element, "has the shape " + shapeText(value->shape) +
                               ", the element before it another one");
    result.data.insert(result.data.end(), value->data.begin(), value->data.end());
    ++result.shape[0];
  }
  return result;
}

std::optional<int64_t> ExpectEvaluator::integer(const ast::Expr *expr) {
  Result value = evaluate(expr);
  if (!value)
    return std::nullopt;
  if (value->shape.empty() && std::trunc(value->data[0]) == value->data[0] &&
      std::fabs(value->data[0]) < 0x1p53)
    return int64_t(value->data[0]);
  fail(expr, "is not an integer");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// One expression
//===----------------------------------------------------------------------===//

/// Whether the elements of the value are those of an array, as they are.
static bool keepsElements(const ast::Expr *expr) {
  auto *call = dyn_cast<ast::Call>(expr);
  auto *callee = call ? dyn_cast<ast::Name>(call->callee) : nullptr;
  return llvm::isa<ast::Name, ast::Subscript, ast::Member>(expr) ||
         (callee && llvm::is_contained({"reshape", "permute"}, callee->text));
}

ExpectEvaluator::Result ExpectEvaluator::evaluate(const ast::Expr *expr) {
  Result value = evaluateNode(expr);
  if (value && !keepsElements(expr))
    value->bits.clear();
  return value;
}

ExpectEvaluator::Result ExpectEvaluator::evaluateNode(const ast::Expr *expr) {
  switch (expr->kind) {
  case ast::ExprKind::Name:
    return name(cast<ast::Name>(expr));
  case ast::ExprKind::IntLit:
    return ExpectArray::number(cast<ast::IntLit>(expr)->getValue().roundToDouble());
  case ast::ExprKind::FloatLit: {
    double value = 0;
    if (cast<ast::FloatLit>(expr)->digits.getAsDouble(value))
      return fail(expr, "is not a number");
    return ExpectArray::number(value);
  }
  case ast::ExprKind::BoolLit:
    return ExpectArray::number(cast<ast::BoolLit>(expr)->value);
  case ast::ExprKind::Unary:
    return unary(cast<ast::Unary>(expr));
  case ast::ExprKind::Binary:
    return binary(cast<ast::Binary>(expr));
  case ast::ExprKind::CompareChain:
    return compare(cast<ast::CompareChain>(expr));
  case ast::ExprKind::Logical:
    return logical(cast<ast::Logical>(expr));
  case ast::ExprKind::IfExpr:
    return conditional(cast<ast::IfExpr>(expr));
  case ast::ExprKind::Call:
    return call(cast<ast::Call>(expr));
  case ast::ExprKind::Subscript:
    return subscript(cast<ast::Subscript>(expr));
  case ast::ExprKind::Member:
    return member(cast<ast::Member>(expr));
  case ast::ExprKind::List:
    return list(cast<ast::List>(expr));
  case ast::ExprKind::TupleIndex: {
    auto *part = cast<ast::TupleIndex>(expr);
    auto *call = dyn_cast<ast::Call>(part->base);
    auto *callee = call ? dyn_cast<ast::Name>(call->callee) : nullptr;
    bool isKnown = callee && part->index < 2;
    Result value = isKnown ? alongAxis(call, callee->text, part->index, isKnown) : std::nullopt;
    return isKnown ? value : fail(expr, "has no parts");
  }
  default:
    return fail(expr, "has no meaning in an expectation");
  }
}

static std::optional<ExpectArray> evaluateText(mlir::MLIRContext &context, const std::string &text,
                                               const ExpectNames &names, std::string &difference,
                                               std::string &unwritten, mlir::Location &place) {
  SourceFile source("--expect", text);
  llvm::FailureOr<ParsedExpr> parsed = parseExpression(context, source);
  if (llvm::failed(parsed))
    return std::nullopt;
  ExpectEvaluator evaluator(context, source, names);
  evaluator.whole = parsed->expr;
  std::optional<ExpectArray> value = evaluator.evaluate(parsed->expr);
  difference = evaluator.difference;
  unwritten = evaluator.unwritten;
  place = source.getLocation(context, parsed->expr->range);
  return value;
}

std::optional<ExpectArray> tk::evaluateExpectation(mlir::MLIRContext &context,
                                                   const std::string &text,
                                                   const ExpectNames &names) {
  std::string difference, unwritten;
  mlir::Location place = mlir::UnknownLoc::get(&context);
  return evaluateText(context, text, names, difference, unwritten, place);
}

bool tk::checkExpectation(mlir::MLIRContext &context, const std::string &text,
                          const ExpectNames &names) {
  std::string difference, unwritten;
  mlir::Location place = mlir::UnknownLoc::get(&context);
  std::optional<ExpectArray> value = evaluateText(context, text, names, difference, unwritten, place);
  if (!value)
    return false;
  if (allTrue(*value))
    return true;
  for (int64_t i = 0; difference.empty() && i < value->size() && !value->shape.empty(); ++i)
    if (value->data[size_t(i)] == 0 || value->data[size_t(i)] != value->data[size_t(i)])
      difference = ": it is false first at " + coordinateText(value->shape, i);
  auto error = tk::emit<diag::ExpectFailed>(place, text, difference);
  if (!unwritten.empty())
    error.attachNote(place) << "nobody wrote `" << unwritten << "`; such elements count as NaN";
  return false;
}
