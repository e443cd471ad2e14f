//===- ExpectFunctions.cpp - functions of an expectation -----------------------------------===//

#include "backends/interp/Interp.h"
#include "driver/Expect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <bit>
#include <cmath>
#include <cstdio>

using namespace tk;
using llvm::dyn_cast;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<std::vector<ExpectArray>> ExpectEvaluator::arguments(const ast::Call *expr,
                                                                   size_t least, size_t most) {
  if (expr->args.size() < least || expr->args.size() > most) {
    std::string wanted = std::to_string(least);
    if (most != least)
      wanted += " to " + std::to_string(most);
    fail(expr, "takes " + wanted + " arguments, got " + std::to_string(expr->args.size()));
    return std::nullopt;
  }
  std::vector<ExpectArray> values;
  for (const ast::Expr *arg : expr->args) {
    Result value = evaluate(arg);
    if (!value)
      return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

bool ExpectEvaluator::onlyNamed(const ast::Call *expr, llvm::ArrayRef<StringRef> keys) {
  for (const ast::NamedArg &arg : expr->namedArgs)
    if (!llvm::is_contained(keys, arg.name.text)) {
      fail(expr, "takes no argument `" + arg.name.text.str() + "`");
      return false;
    }
  return true;
}

bool ExpectEvaluator::named(const ast::Call *expr, StringRef key, double &value, bool *isGiven) {
  for (const ast::NamedArg &arg : expr->namedArgs) {
    if (arg.name.text != key)
      continue;
    Result number = evaluate(arg.value);
    if (!number)
      return false;
    if (!number->shape.empty()) {
      fail(arg.value, "is not a number");
      return false;
    }
    value = number->data[0];
    if (isGiven)
      *isGiven = true;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Comparing arrays
//===----------------------------------------------------------------------===//

static std::string numberText(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Seventeen digits only where six do not tell the two apart.
static std::string pairText(double a, double b) {
  char x[40], y[40];
  for (int digits : {6, 9, 17}) {
    snprintf(x, sizeof x, "%.*g", digits, a);
    snprintf(y, sizeof y, "%.*g", digits, b);
    if (StringRef(x) != StringRef(y))
      break;
  }
  return std::string(x) + " and " + y;
}

namespace {
/// How two elements compare.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool isSame = false; // bit for bit

  bool accepts(const ExpectArray &a, const ExpectArray &b, size_t i) const {
    const double x = a.data[i], y = b.data[i];
    if (isSame && !a.bits.empty() && !b.bits.empty() && a.dtype == b.dtype)
      return a.bits[i] == b.bits[i];
    if (x != x || y != y)
      return x != x && y != y;
    if (isSame)
      return x == y && std::signbit(x) == std::signbit(y);
    return x == y || (std::fabs(x - y) <= atol + rtol * std::fabs(y) && std::isfinite(y));
  }
};
} // namespace

/// The two numbers, or their bits where the numbers do not tell them apart.
static std::string differingText(const ExpectArray &a, const ExpectArray &b, size_t i) {
  const double x = a.data[i], y = b.data[i];
  if (a.bits.empty() || b.bits.empty() || !(x != x || x == y))
    return pairText(x, y);
  char text[60];
  snprintf(text, sizeof text, "0x%llx and 0x%llx", static_cast<unsigned long long>(a.bits[i]),
           static_cast<unsigned long long>(b.bits[i]));
  return text;
}

static std::string differenceText(const ExpectArray &a, const ExpectArray &b,
                                  const Tolerance &tolerance) {
  int64_t first = -1, differing = 0, worst = 0;
  double largest = -1;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(a.data[size_t(i)] - b.data[size_t(i)]);
    const bool isGood = tolerance.accepts(a, b, size_t(i));
    if (!isGood && !(error <= largest)) { // a NaN on one side is the largest error of all
      largest = error;
      worst = i;
    }
    if (isGood)
      continue;
    first = first < 0 ? i : first;
    ++differing;
  }
  if (first < 0)
    return "";
  auto at = [&](int64_t i) { return a.shape.empty() ? "" : " at " + coordinateText(a.shape, i); };
  return ": " + std::to_string(differing) + " of " + std::to_string(a.size()) +
         " elements differ, the first" + at(first) + ": " + differingText(a, b, size_t(first)) +
         "; the largest error is " + numberText(largest) + at(worst);
}

std::string tk::falseText(StringRef op, const ExpectArray &a, const ExpectArray &b,
                          const ExpectArray &holds) {
  const size_t first = size_t(llvm::find(holds.data, 0) - holds.data.begin());
  std::string text = ": `" + op.str() + "` is false for ";
  if (!holds.shape.empty())
    text += std::to_string(llvm::count(holds.data, 0)) + " of " + std::to_string(holds.size()) +
            " elements, the first at " + coordinateText(holds.shape, int64_t(first)) + ": ";
  return text + pairText(a.data[first], b.data[first]);
}

ExpectEvaluator::Result ExpectEvaluator::comparison(const ast::Call *expr, StringRef function) {
  const bool isClose = function == "allclose";
  auto values = arguments(expr, 2, 2);
  Tolerance tolerance{isClose ? 1e-5 : 0, isClose ? 1e-8 : 0, function == "same"};
  if (!values || !onlyNamed(expr, isClose ? llvm::ArrayRef<StringRef>{"rtol", "atol"}
                                          : llvm::ArrayRef<StringRef>()))
    return std::nullopt;
  if (isClose && (!named(expr, "rtol", tolerance.rtol) || !named(expr, "atol", tolerance.atol)))
    return std::nullopt;
  ExpectArray &a = (*values)[0], &b = (*values)[1];
  auto shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    return fail(expr, "the shapes " + shapeText(a.shape) + " and " + shapeText(b.shape) +
                          " do not broadcast");
  std::string found = differenceText(broadcastTo(a, *shape), broadcastTo(b, *shape), tolerance);
  if (found.empty())
    return ExpectArray::number(1);
  difference = found;
  return ExpectArray::number(0);
}

//===----------------------------------------------------------------------===//
// Elementwise functions
//===----------------------------------------------------------------------===//

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static Unary unaryOf(StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("abs", [](double x) { return std::fabs(x); })
      .Case("exp", [](double x) { return std::exp(x); })
      .Case("exp2", [](double x) { return std::exp2(x); })
      .Case("expm1", [](double x) { return std::expm1(x); })
      .Case("log", [](double x) { return std::log(x); })
      .Case("log2", [](double x) { return std::log2(x); })
      .Case("log1p", [](double x) { return std::log1p(x); })
      .Case("sqrt", [](double x) { return std::sqrt(x); })
      .Case("rsqrt", [](double x) { return 1 / std::sqrt(x); })
      .Case("sin", [](double x) { return std::sin(x); })
      .Case("cos", [](double x) { return std::cos(x); })
      .Case("tan", [](double x) { return std::tan(x); })
      .Case("asin", [](double x) { return std::asin(x); })
      .Case("acos", [](double x) { return std::acos(x); })
      .Case("atan", [](double x) { return std::atan(x); })
      .Case("sinh", [](double x) { return std::sinh(x); })
      .Case("cosh", [](double x) { return std::cosh(x); })
      .Case("tanh", [](double x) { return std::tanh(x); })
      .Case("erf", [](double x) { return std::erf(x); })
      .Case("erfc", [](double x) { return std::erfc(x); })
      .Case("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); })
      .Case("floor", [](double x) { return std::floor(x); })
      .Case("ceil", [](double x) { return std::ceil(x); })
      .Case("round", [](double x) { return std::nearbyint(x); })
      .Case("trunc", [](double x) { return std::trunc(x); })
      .Case("sign", [](double x) { return double((x > 0) - (x < 0)); })
      .Default(nullptr);
}

static Binary binaryOf(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("maximum",
            [](double x, double y) { return x != x || y != y ? NAN : std::max(x, y); })
      .Case("minimum",
            [](double x, double y) { return x != x || y != y ? NAN : std::min(x, y); })
      .Case("pow", [](double x, double y) { return std::pow(x, y); })
      .Case("atan2", [](double x, double y) { return std::atan2(x, y); })
      .Case("fmod", [](double x, double y) { return std::fmod(x, y); })
      .Case("hypot", [](double x, double y) { return std::hypot(x, y); })
      .Case("copysign", [](double x, double y) { return std::copysign(x, y); })
      .Default(nullptr);
}

ExpectEvaluator::Result ExpectEvaluator::elementwiseCall(const ast::Call *expr, StringRef function,
                                                         bool &isKnown) {
  Unary unary = unaryOf(function);
  Binary binary = binaryOf(function);
  const bool isClamp = function == "clamp";
  isKnown = unary || binary || isClamp;
  const size_t count = unary ? 1 : binary ? 2 : 3;
  auto values = isKnown && onlyNamed(expr, {}) ? arguments(expr, count, count) : std::nullopt;
  if (!values)
    return std::nullopt;
  ExpectArray &x = (*values)[0];
  if (unary) {
    for (double &value : x.data)
      value = unary(value);
    return x;
  }
  if (binary)
    return elementwise(expr, x, (*values)[1], binary);
  Result low = elementwise(expr, x, (*values)[1], binaryOf("maximum"));
  return low ? elementwise(expr, *low, (*values)[2], binaryOf("minimum")) : std::nullopt;
}

ExpectEvaluator::Result ExpectEvaluator::choice(const ast::Call *expr) {
  auto values = onlyNamed(expr, {}) ? arguments(expr, 3, 3) : std::nullopt;
  if (!values)
    return std::nullopt;
  const std::vector<ExpectArray> &v = *values;
  auto sides = broadcastShapes(v[1].shape, v[2].shape);
  auto shape = sides ? broadcastShapes(v[0].shape, *sides) : std::nullopt;
  if (!shape)
    return fail(expr, "the shapes " + shapeText(v[0].shape) + ", " + shapeText(v[1].shape) +
                          " and " + shapeText(v[2].shape) + " do not broadcast");
  ExpectArray condition = broadcastTo(v[0], *shape), result = broadcastTo(v[1], *shape);
  ExpectArray other = broadcastTo(v[2], *shape);
  for (size_t i = 0; i < result.data.size(); ++i)
    if (condition.data[i] == 0)
      result.data[i] = other.data[i];
  return result;
}

//===----------------------------------------------------------------------===//
// Conversions and calls
//===----------------------------------------------------------------------===//

ExpectEvaluator::Result ExpectEvaluator::converted(const ast::Expr *expr, StringRef dtype) {
  Result value = evaluate(expr);
  if (!value)
    return std::nullopt;
  const interp::DType to = *interp::parseDType(dtype);
  for (double &x : value->data) {
    uint64_t element = 0;
    interp::elementFromDouble(to, x, &element);
    x = interp::elementToDouble(to, &element);
  }
  return value;
}

ExpectEvaluator::Result ExpectEvaluator::method(const ast::Call *expr, const ast::Member *callee) {
  auto *type = expr->args.size() == 1 ? dyn_cast<ast::Name>(expr->args[0]) : nullptr;
  if (callee->name.text != "to" || !type || !interp::parseDType(type->text))
    return fail(expr,
                "has no meaning here: of methods there is x.to(f16) alone, functions stand before "
                "their array, like sum(x)");
  return converted(callee->base, type->text);
}

ExpectEvaluator::Result ExpectEvaluator::bitsOf(const ast::Call *expr) {
  auto values = onlyNamed(expr, {}) ? arguments(expr, 1, 1) : std::nullopt;
  if (!values)
    return std::nullopt;
  ExpectArray &x = (*values)[0];
  if (x.bits.empty() && !x.data.empty())
    return fail(expr, "has bits only for an array of the run or a part of one");
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = double(x.bits[i]);
  return x;
}

ExpectEvaluator::Result ExpectEvaluator::call(const ast::Call *expr) {
  if (auto *member = dyn_cast<ast::Member>(expr->callee))
    return method(expr, member);
  auto *callee = dyn_cast<ast::Name>(expr->callee);
  StringRef name = callee ? callee->text : "";
  if (name == "allclose" || name == "equal" || name == "same")
    return comparison(expr, name);
  if (name == "where")
    return choice(expr);
  if (name == "bits")
    return bitsOf(expr);
  if (interp::parseDType(name)) {
    if (expr->args.size() == 1 && expr->namedArgs.empty())
      return converted(expr->args[0], name);
    return fail(expr, "takes 1 arguments, got " + std::to_string(expr->args.size()));
  }
  bool isKnown = false;
  Result value = elementwiseCall(expr, name, isKnown);
  if (!isKnown)
    value = reduction(expr, name, isKnown);
  if (!isKnown)
    value = alongAxis(expr, name, /*part=*/0, isKnown);
  if (!isKnown)
    value = shaped(expr, name, isKnown);
  return isKnown ? value : fail(expr, "is no function of an expectation");
}
