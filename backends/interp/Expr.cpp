//===- Expr.cpp - expressions of a contract -----------------------------------------===//
//
// Prefix arrays in checked 64-bit arithmetic, as the loader evaluates them: `["cdiv", "N", 1024]`.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Interp.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk::interp;

using Int128 = __int128;

namespace {
class Evaluator {
public:
  Evaluator(const Names &names, std::string &problem) : names(names), problem(problem) {}
  std::optional<int64_t> evaluate(Attribute expr);

private:
  std::optional<int64_t> fail(const Twine &why) {
    problem = why.str();
    return std::nullopt;
  }
  std::optional<int64_t> fit(Int128 value, StringRef op) {
    if (value < INT64_MIN || value > INT64_MAX)
      return fail(op + " leaves 64 bits");
    return int64_t(value);
  }
  std::optional<int64_t> apply(StringRef op, ArrayRef<int64_t> values);
  std::optional<int64_t> divide(StringRef op, Int128 a, Int128 b);
  std::optional<int64_t> fold(StringRef op, ArrayRef<int64_t> values);

  const Names &names;
  std::string &problem;
};
} // namespace

std::optional<int64_t> Evaluator::divide(StringRef op, Int128 a, Int128 b) {
  if (b == 0)
    return fail(op + " by zero");
  if (op == "div")
    return fit(a / b, op);
  if (op == "mod")
    return fit(a % b, op);
  if (b < 0)
    return fail(op + " by the negative " + Twine(int64_t(b)));
  Int128 ceiling = a / b + (a % b > 0);
  return fit(op == "cdiv" ? ceiling : ceiling * b, op);
}

/// Operators of two operands or more.
std::optional<int64_t> Evaluator::fold(StringRef op, ArrayRef<int64_t> values) {
  Int128 total = values.front();
  for (int64_t value : values.drop_front()) {
    if (op == "add")
      total += value;
    else if (op == "mul")
      total *= value;
    else if (op == "min")
      total = std::min<Int128>(total, value);
    else if (op == "max")
      total = std::max<Int128>(total, value);
    else
      total = op == "and" ? total && value : total || value;
    if (!fit(total, op))
      return std::nullopt;
  }
  if (op == "and" || op == "or")
    total = total != 0;
  return int64_t(total);
}

std::optional<int64_t> Evaluator::apply(StringRef op, ArrayRef<int64_t> v) {
  const bool isFold = llvm::StringSwitch<bool>(op)
                          .Cases({"add", "mul", "min", "max", "and", "or"}, true)
                          .Default(false);
  if (isFold && v.size() >= 2)
    return fold(op, v);
  if (op == "not" && v.size() == 1)
    return !v[0];
  if (op == "next_pow2" && v.size() == 1) {
    if (v[0] > int64_t(1) << 62)
      return fail("next_pow2 leaves 64 bits");
    return v[0] <= 1 ? 1 : int64_t(llvm::PowerOf2Ceil(uint64_t(v[0])));
  }
  if (op == "select" && v.size() == 3)
    return v[0] ? v[1] : v[2];
  if (v.size() != 2)
    return fail("`" + op + "` is no operator of " + Twine(v.size()) + " operands");
  if (op == "sub")
    return fit(Int128(v[0]) - v[1], op);
  if (op == "divides") {
    if (v[0] == 0)
      return fail("divides by zero");
    return Int128(v[1]) % v[0] == 0;
  }
  if (op == "div" || op == "mod" || op == "cdiv" || op == "round_up")
    return divide(op, v[0], v[1]);
  int result = llvm::StringSwitch<int>(op)
                   .Case("eq", v[0] == v[1])
                   .Case("ne", v[0] != v[1])
                   .Case("lt", v[0] < v[1])
                   .Case("le", v[0] <= v[1])
                   .Case("gt", v[0] > v[1])
                   .Case("ge", v[0] >= v[1])
                   .Default(-1);
  if (result < 0)
    return fail("`" + op + "` is no operator of 2 operands");
  return result;
}

std::optional<int64_t> Evaluator::evaluate(Attribute expr) {
  if (auto integer = dyn_cast<IntegerAttr>(expr)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().getBoolValue();
    return integer.getInt();
  }
  if (auto name = dyn_cast<StringAttr>(expr)) {
    auto found = names.find(name.getValue());
    if (found == names.end())
      return fail("`" + name.getValue() + "` is not known");
    return found->second;
  }
  auto list = dyn_cast<ArrayAttr>(expr);
  auto op = list && !list.empty() ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  if (!op)
    return fail("it is not well formed");
  SmallVector<int64_t> values;
  for (Attribute operand : list.getValue().drop_front()) {
    // The branch not taken may have no value: select(N > 0, M // N, 0).
    bool isSkipped =
        op.getValue() == "select" && !values.empty() && values.size() == (values[0] ? 2u : 1u);
    std::optional<int64_t> value = isSkipped ? 0 : evaluate(operand);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return apply(op.getValue(), values);
}

std::optional<int64_t> tk::interp::evaluate(Attribute expr, const Names &names,
                                            std::string &problem) {
  return Evaluator(names, problem).evaluate(expr);
}

static StringRef infixOf(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("add", " + ")
      .Case("sub", " - ")
      .Case("mul", " * ")
      .Case("div", " // ")
      .Case("mod", " % ")
      .Case("eq", " == ")
      .Case("ne", " != ")
      .Case("lt", " < ")
      .Case("le", " <= ")
      .Case("gt", " > ")
      .Case("ge", " >= ")
      .Case("and", " && ")
      .Case("or", " || ")
      .Default("");
}

static std::string textOf(Attribute expr, bool isNested) {
  if (auto integer = dyn_cast<IntegerAttr>(expr))
    return std::to_string(integer.getInt());
  if (auto name = dyn_cast<StringAttr>(expr))
    return name.getValue().str();
  auto list = dyn_cast<ArrayAttr>(expr);
  auto op = list && list.size() > 1 ? dyn_cast<StringAttr>(list[0]) : StringAttr();
  if (!op)
    return "?";
  if (op.getValue() == "divides" && list.size() == 3)
    return textOf(list[2], true) + " % " + textOf(list[1], true) + " == 0";
  StringRef infix = infixOf(op.getValue());
  std::string text = infix.empty() ? op.getValue().str() + "(" : isNested ? "(" : "";
  for (auto [i, operand] : llvm::enumerate(list.getValue().drop_front())) {
    if (i > 0)
      text += infix.empty() ? ", " : infix.str();
    text += textOf(operand, !infix.empty());
  }
  return infix.empty() || isNested ? text + ")" : text;
}

std::string tk::interp::expressionText(Attribute expr) {
  return textOf(expr, false);
}

std::string tk::interp::equationText(Attribute expr, int64_t value) {
  std::string number = std::to_string(value), text = expressionText(expr);
  return text == number ? number : text + " = " + number;
}
