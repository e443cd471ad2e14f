//===- ExpectFunctions.cpp - functions of an expectation
//---------------------------------------===//

#include "backends/interp/Interp.h"
#include "driver/Expect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstdio>
#include <numeric>

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

ExpectEvaluator::Result ExpectEvaluator::comparison(const ast::Call *expr, bool isClose) {
  auto values = arguments(expr, 2, 2);
  double rtol = isClose ? 1e-5 : 0, atol = isClose ? 1e-8 : 0;
  if (!values || !onlyNamed(expr, isClose ? llvm::ArrayRef<StringRef>{"rtol", "atol"}
                                          : llvm::ArrayRef<StringRef>()))
    return std::nullopt;
  if (isClose && (!named(expr, "rtol", rtol) || !named(expr, "atol", atol)))
    return std::nullopt;
  auto shape = broadcastShapes((*values)[0].shape, (*values)[1].shape);
  if (!shape)
    return fail(expr, "the shapes " + shapeText((*values)[0].shape) + " and " +
                          shapeText((*values)[1].shape) + " do not broadcast");
  ExpectArray a = broadcastTo((*values)[0], *shape), b = broadcastTo((*values)[1], *shape);
  int64_t first = -1, differing = 0, worst = 0;
  double largest = -1;
  for (int64_t i = 0; i < a.size(); ++i) {
    double x = a.data[size_t(i)], y = b.data[size_t(i)], error = std::fabs(x - y);
    if (x == y || (x != x && y != y))
      continue;
    if (!(error <= largest)) { // a NaN on one side is the largest error of all
      largest = error;
      worst = i;
    }
    if (error <= atol + rtol * std::fabs(y) && std::isfinite(y))
      continue;
    first = first < 0 ? i : first;
    ++differing;
  }
  if (first < 0)
    return ExpectArray::number(1);
  auto at = [&](int64_t i) { return shape->empty() ? "" : " at " + coordinateText(*shape, i); };
  difference = ": " + std::to_string(differing) + " of " + std::to_string(a.size()) +
               " elements differ, the first" + at(first) + ": " +
               pairText(a.data[size_t(first)], b.data[size_t(first)]) + "; the largest error is " +
               numberText(largest) + at(worst);
  return ExpectArray::number(0);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

using Line = std::vector<double>;

static double sumOf(const Line &x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}
static double meanOf(const Line &x) {
  return sumOf(x) / double(x.size());
}
static double varOf(const Line &x) {
  double mean = meanOf(x), total = 0;
  for (double value : x)
    total += (value - mean) * (value - mean);
  return total / double(x.size());
}
template <bool Max> static double extremeOf(const Line &x) {
  double best = Max ? -INFINITY : INFINITY;
  for (double value : x) {
    if (value != value)
      return value;
    best = (Max ? value > best : value < best) ? value : best;
  }
  return best;
}

ExpectEvaluator::Result ExpectEvaluator::reduction(const ast::Call *expr, StringRef function) {
  auto values = arguments(expr, 1, 2);
  if (!values || !onlyNamed(expr, {"axis"}))
    return std::nullopt;
  ExpectArray &x = (*values)[0];
  double given = values->size() > 1 ? (*values)[1].data[0] : 0;
  bool hasAxis = values->size() > 1;
  if (!named(expr, "axis", given, &hasAxis))
    return std::nullopt;
  std::optional<int64_t> axis;
  if (hasAxis) {
    axis = int64_t(given) + (given < 0 ? int64_t(x.shape.size()) : 0);
    if (*axis < 0 || *axis >= int64_t(x.shape.size()))
      return fail(expr,
                  "has axis " + numberText(given) + " of an array of shape " + shapeText(x.shape));
  }
  if (function != "softmax") {
    double (*fn)(const Line &) = llvm::StringSwitch<double (*)(const Line &)>(function)
                                     .Case("sum", sumOf)
                                     .Case("mean", meanOf)
                                     .Case("variance", varOf)
                                     .Case("max", extremeOf<true>)
                                     .Default(extremeOf<false>);
    return reduceAxis(x, axis, fn);
  }
  auto unreduced = [&](const ExpectArray &reduced) {
    ExpectArray kept = reduced;
    if (axis)
      kept.shape.insert(kept.shape.begin() + *axis, 1);
    return broadcastTo(kept, x.shape);
  };
  ExpectArray top = unreduced(reduceAxis(x, axis, extremeOf<true>));
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = std::exp(x.data[i] - top.data[i]);
  ExpectArray total = unreduced(reduceAxis(x, axis, sumOf));
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] /= total.data[i];
  return x;
}

//===----------------------------------------------------------------------===//
// Elementwise functions
//===----------------------------------------------------------------------===//

using Unary = double (*)(double);

static Unary unaryOf(StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("abs", [](double x) { return std::fabs(x); })
      .Case("exp", [](double x) { return std::exp(x); })
      .Case("exp2", [](double x) { return std::exp2(x); })
      .Case("log", [](double x) { return std::log(x); })
      .Case("log2", [](double x) { return std::log2(x); })
      .Case("sqrt", [](double x) { return std::sqrt(x); })
      .Case("rsqrt", [](double x) { return 1 / std::sqrt(x); })
      .Case("sin", [](double x) { return std::sin(x); })
      .Case("cos", [](double x) { return std::cos(x); })
      .Case("tanh", [](double x) { return std::tanh(x); })
      .Case("erf", [](double x) { return std::erf(x); })
      .Case("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); })
      .Case("floor", [](double x) { return std::floor(x); })
      .Case("ceil", [](double x) { return std::ceil(x); })
      .Default(nullptr);
}

static double larger(double x, double y) {
  return x != x || y != y ? NAN : std::max(x, y);
}
static double smaller(double x, double y) {
  return x != x || y != y ? NAN : std::min(x, y);
}

ExpectEvaluator::Result ExpectEvaluator::method(const ast::Call *expr, const ast::Member *callee) {
  auto *type = expr->args.size() == 1 ? dyn_cast<ast::Name>(expr->args[0]) : nullptr;
  auto dtype = type ? interp::parseDType(type->text) : std::nullopt;
  if (callee->name.text != "to" || !dtype)
    return fail(expr, "has no meaning here; x.to(f16) rounds");
  Result value = evaluate(callee->base);
  if (!value)
    return std::nullopt;
  for (double &x : value->data) {
    uint64_t element = 0;
    interp::elementFromDouble(*dtype, x, &element);
    x = interp::elementToDouble(*dtype, &element);
  }
  return value;
}

static ExpectArray arangeOf(double begin, double end) {
  ExpectArray result = ExpectArray::filled({std::max<int64_t>(int64_t(end - begin), 0)});
  for (int64_t i = 0; i < result.size(); ++i)
    result.data[size_t(i)] = begin + double(i);
  return result;
}

ExpectEvaluator::Result ExpectEvaluator::call(const ast::Call *expr) {
  if (auto *member = dyn_cast<ast::Member>(expr->callee))
    return method(expr, member);
  auto *callee = dyn_cast<ast::Name>(expr->callee);
  StringRef name = callee ? callee->text : "";
  if (name == "allclose" || name == "equal")
    return comparison(expr, name == "allclose");
  if (llvm::is_contained({"sum", "mean", "variance", "max", "min", "softmax"}, name))
    return reduction(expr, name);
  if (!onlyNamed(expr, {}))
    return std::nullopt;
  if (Unary fn = unaryOf(name)) {
    auto values = arguments(expr, 1, 1);
    if (!values)
      return std::nullopt;
    for (double &x : (*values)[0].data)
      x = fn(x);
    return (*values)[0];
  }
  if (name == "maximum" || name == "minimum") {
    auto values = arguments(expr, 2, 2);
    if (!values)
      return std::nullopt;
    return elementwise(expr, (*values)[0], (*values)[1], name == "maximum" ? larger : smaller);
  }
  if (name == "arange") {
    auto values = arguments(expr, 1, 2);
    if (!values)
      return std::nullopt;
    for (const ExpectArray &bound : *values)
      if (!bound.shape.empty() || !(std::fabs(bound.data[0]) < 0x1p31))
        return fail(expr, "needs numbers");
    return values->size() == 1 ? arangeOf(0, (*values)[0].data[0])
                               : arangeOf((*values)[0].data[0], (*values)[1].data[0]);
  }
  if (name != "where")
    return fail(expr, "is no function of an expectation");
  auto values = arguments(expr, 3, 3);
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
