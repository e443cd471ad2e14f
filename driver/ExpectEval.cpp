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

ExpectEvaluator::Result ExpectEvaluator::matmul(const ast::Binary *expr, const ExpectArray &a,
                                                const ExpectArray &b) {
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[1] != b.shape[0])
    return fail(expr, "the shapes " + shapeText(a.shape) + " and " + shapeText(b.shape) +
                          " do not multiply");
  const int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  ExpectArray result = ExpectArray::filled({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        result.data[size_t(i * n + j)] += a.data[size_t(i * k + p)] * b.data[size_t(p * n + j)];
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
    all = one ? elementwise(expr, *all, *one, both) : std::nullopt;
  }
  return all;
}

static bool allTrue(const ExpectArray &array) {
  for (double x : array.data)
    if (x == 0 || x != x)
      return false;
  return true;
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
  if (found != names.end())
    return found->second;
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

ExpectEvaluator::Result ExpectEvaluator::member(const ast::Member *expr) {
  if (auto *base = dyn_cast<ast::Name>(expr->base); base && expr->name.text == "before") {
    auto found = names.find(base->text.str() + ".before");
    if (found != names.end())
      return found->second;
  }
  if (expr->name.text != "T")
    return fail(expr, "has no meaning here; arrays have .T, .before and .to(dtype)");
  Result value = evaluate(expr->base);
  if (!value)
    return std::nullopt;
  if (value->shape.size() < 2)
    return fail(expr, "needs rank 2 or more, has " + shapeText(value->shape));
  ExpectArray result = *value;
  const size_t rank = result.shape.size();
  const int64_t rows = value->shape[rank - 2], columns = value->shape[rank - 1];
  std::swap(result.shape[rank - 2], result.shape[rank - 1]);
  for (int64_t i = 0; i < value->size(); ++i) {
    int64_t matrix = i / (rows * columns), row = i / columns % rows, column = i % columns;
    result.data[size_t((matrix * columns + column) * rows + row)] = value->data[size_t(i)];
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
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// What one index takes of an axis.
struct Pick {
  int64_t start = 0, step = 1, count = 1;
  bool isKept = true;    // an axis of the result
  bool takesAxis = true; // an axis of the base; not so for None
};
} // namespace

static int64_t clampIndex(int64_t index, int64_t side, int64_t low, int64_t high) {
  if (index < 0)
    index += side;
  return std::clamp(index, low, high);
}

static Pick slicePick(int64_t side, std::optional<int64_t> start, std::optional<int64_t> stop,
                      int64_t step) {
  Pick pick;
  const bool down = step < 0;
  const int64_t low = down ? -1 : 0, high = down ? side - 1 : side;
  pick.start = start ? clampIndex(*start, side, low, high) : down ? side - 1 : 0;
  int64_t end = stop ? clampIndex(*stop, side, low, high) : down ? -1 : side;
  int64_t span = down ? pick.start - end : end - pick.start;
  pick.step = step;
  pick.count = std::max<int64_t>((span + std::abs(step) - 1) / std::abs(step), 0);
  return pick;
}

static ExpectArray gather(const ExpectArray &base, const std::vector<Pick> &picks) {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0, stride = 1, axis = int64_t(base.shape.size());
  for (size_t i = picks.size(); i-- > 0;) {
    const Pick &pick = picks[i];
    if (pick.isKept) {
      shape.insert(shape.begin(), pick.count);
      strides.insert(strides.begin(), pick.takesAxis ? pick.step * stride : 0);
    }
    if (!pick.takesAxis)
      continue;
    offset += pick.start * stride;
    stride *= base.shape[size_t(--axis)];
  }
  ExpectArray result = ExpectArray::filled(shape);
  for (int64_t index = 0; index < result.size(); ++index) {
    int64_t rest = index, from = offset;
    for (size_t k = shape.size(); k-- > 0;) {
      from += rest % shape[k] * strides[k];
      rest /= shape[k];
    }
    result.data[size_t(index)] = base.data[size_t(from)];
  }
  return result;
}

ExpectEvaluator::Result ExpectEvaluator::subscript(const ast::Subscript *expr) {
  Result base = evaluate(expr->base);
  if (!base)
    return std::nullopt;
  std::vector<Pick> picks;
  size_t axis = 0;
  for (const ast::Index &index : expr->indices) {
    auto *name = index.value ? dyn_cast<ast::Name>(index.value) : nullptr;
    if (index.kind == ast::Index::Kind::Expr && name && name->text == "None") {
      picks.push_back({0, 0, 1, true, false});
      continue;
    }
    if (axis == base->shape.size())
      return fail(expr, "has more indices than axes: " + shapeText(base->shape));
    const int64_t side = base->shape[axis++];
    std::optional<int64_t> start, stop, step = 1;
    if (index.kind == ast::Index::Kind::Slice) {
      if ((index.start && !(start = integer(index.start))) ||
          (index.stop && !(stop = integer(index.stop))) ||
          (index.step && !(step = integer(index.step))))
        return std::nullopt;
      if (*step == 0)
        return fail(expr, "has a step of zero");
      picks.push_back(slicePick(side, start, stop, *step));
      continue;
    }
    const bool isBlock = index.kind == ast::Index::Kind::Block;
    if (!isBlock && index.kind != ast::Index::Kind::Expr)
      return fail(&index, "has no meaning here");
    start = integer(isBlock ? index.start : index.value);
    std::optional<int64_t> count = isBlock ? integer(index.width) : 1;
    if (!start || !count)
      return std::nullopt;
    int64_t begin = *start < 0 && !isBlock ? *start + side : *start;
    if (begin < 0 || *count < 0 || begin > side - *count)
      return fail(&index, "is outside the axis of " + std::to_string(side));
    picks.push_back({begin, 1, *count, isBlock, true});
  }
  for (; axis < base->shape.size(); ++axis)
    picks.push_back({0, 1, base->shape[axis], true, true});
  return gather(*base, picks);
}

//===----------------------------------------------------------------------===//
// One expression
//===----------------------------------------------------------------------===//

ExpectEvaluator::Result ExpectEvaluator::evaluate(const ast::Expr *expr) {
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
  default:
    return fail(expr, "has no meaning in an expectation");
  }
}

bool tk::checkExpectation(mlir::MLIRContext &context, const std::string &text,
                          const ExpectNames &names) {
  SourceFile source("--expect", text);
  llvm::FailureOr<ParsedExpr> parsed = parseExpression(context, source);
  if (llvm::failed(parsed))
    return false;
  ExpectEvaluator evaluator(context, source, names);
  std::optional<ExpectArray> value = evaluator.evaluate(parsed->expr);
  if (!value)
    return false;
  if (allTrue(*value))
    return true;
  std::string difference = evaluator.difference;
  for (int64_t i = 0; difference.empty() && i < value->size() && !value->shape.empty(); ++i)
    if (value->data[size_t(i)] == 0 || value->data[size_t(i)] != value->data[size_t(i)])
      difference = ": it is false first at " + coordinateText(value->shape, i);
  (void)tk::emit<diag::ExpectFailed>(source.getLocation(context, parsed->expr->range), text,
                                     difference);
  return false;
}
