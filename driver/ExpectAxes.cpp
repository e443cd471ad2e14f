//===- ExpectAxes.cpp - functions of an expectation along axes -----------------------------===//

#include "driver/Expect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tk;
using llvm::StringRef;

using Line = std::vector<double>;

bool ExpectEvaluator::axisOf(const ast::Call *expr, const ExpectArray &array, size_t position,
                             std::optional<int64_t> &axis) {
  double given = 0;
  bool hasAxis = false;
  if (expr->args.size() > position) {
    std::optional<int64_t> number = integer(expr->args[position]);
    if (!number)
      return false;
    given = double(*number);
    hasAxis = true;
  }
  if (!named(expr, "axis", given, &hasAxis))
    return false;
  if (!hasAxis)
    return true;
  const int64_t rank = int64_t(array.shape.size());
  axis = int64_t(given) + (given < 0 ? rank : 0);
  if (*axis >= 0 && *axis < rank)
    return true;
  fail(expr, "has axis " + std::to_string(int64_t(given)) + " of an array of shape " +
                 shapeText(array.shape));
  return false;
}

bool ExpectEvaluator::numbersOf(const ast::Call *expr, size_t first,
                                std::vector<int64_t> &numbers) {
  for (const ast::Expr *arg : expr->args.drop_front(std::min(first, expr->args.size()))) {
    std::optional<int64_t> number = integer(arg);
    if (!number)
      return false;
    numbers.push_back(*number);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static double sumOf(const Line &x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}
static double productOf(const Line &x) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
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
static double anyOf(const Line &x) {
  return llvm::any_of(x, [](double value) { return value != 0; });
}
static double allOf(const Line &x) {
  return llvm::all_of(x, [](double value) { return value != 0; });
}

/// As the language orders numbers: -0 below +0, NaN above all.
static bool isBelow(double a, double b) {
  if (a != a || b != b)
    return b != b && a == a;
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// The first of the largest or smallest; a NaN counts as either.
template <bool Max> static double placeOf(const Line &x) {
  size_t best = 0;
  for (size_t i = 1; i < x.size() && x[best] == x[best]; ++i)
    if (x[i] != x[i] || (Max ? isBelow(x[best], x[i]) : isBelow(x[i], x[best])))
      best = i;
  return double(best);
}
template <bool Max> static double extremeOf(const Line &x) {
  return x.empty() ? (Max ? -INFINITY : INFINITY) : x[size_t(placeOf<Max>(x))];
}

ExpectEvaluator::Result ExpectEvaluator::reduction(const ast::Call *expr, StringRef function,
                                                   bool &isKnown) {
  using Reducer = double (*)(const Line &);
  Reducer fn = llvm::StringSwitch<Reducer>(function)
                   .Case("sum", sumOf)
                   .Case("prod", productOf)
                   .Case("mean", meanOf)
                   .Case("variance", varOf)
                   .Case("any", anyOf)
                   .Case("all", allOf)
                   .Case("max", extremeOf<true>)
                   .Case("min", extremeOf<false>)
                   .Case("argmax", placeOf<true>)
                   .Case("argmin", placeOf<false>)
                   .Default(nullptr);
  isKnown = fn;
  auto values = fn ? arguments(expr, 1, 2) : std::nullopt;
  std::optional<int64_t> axis;
  if (!values || !onlyNamed(expr, {"axis"}) || !axisOf(expr, (*values)[0], 1, axis))
    return std::nullopt;
  return reduceAxis((*values)[0], axis, fn);
}

//===----------------------------------------------------------------------===//
// Line for line
//===----------------------------------------------------------------------===//

static void softmaxOf(Line &x) {
  const double top = extremeOf<true>(x);
  double total = 0;
  for (double &value : x)
    total += value = std::exp(value - top);
  for (double &value : x)
    value /= total;
}

static void sortOf(Line &x, bool isDescending, bool wantsIndices) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const bool isBefore = isDescending ? isBelow(x[b], x[a]) : isBelow(x[a], x[b]);
    const bool isAfter = isDescending ? isBelow(x[a], x[b]) : isBelow(x[b], x[a]);
    return isBefore || (!isAfter && a < b); // ties to the lowest index
  });
  Line result;
  for (size_t i : order)
    result.push_back(wantsIndices ? double(i) : x[i]);
  x = std::move(result);
}

/// `part` 1: the indices of sort and topk.
ExpectEvaluator::Result ExpectEvaluator::alongAxis(const ast::Call *expr, StringRef function,
                                                   unsigned part, bool &isKnown) {
  const bool isSort = function == "sort" || function == "topk";
  isKnown = isSort || (part == 0 && llvm::is_contained(
                                        {"softmax", "cumsum", "cumprod", "argsort", "flip"}, function));
  if (!isKnown)
    return std::nullopt;
  const size_t position = function == "topk" ? 2 : 1; // of the axis
  auto values = arguments(expr, position, position + 1);
  double descending = function == "topk";
  std::optional<int64_t> axis;
  if (!values || !onlyNamed(expr, {"axis", "descending"}) ||
      !named(expr, "descending", descending) || !axisOf(expr, (*values)[0], position, axis))
    return std::nullopt;
  const ExpectArray &x = (*values)[0];
  if (x.shape.empty())
    return fail(expr, "needs an axis, got a number");
  const int64_t at = axis.value_or(int64_t(x.shape.size()) - 1);
  int64_t side = x.shape[size_t(at)];
  if (function == "topk") {
    const double taken = (*values)[1].data.empty() ? -1 : (*values)[1].data[0];
    if (!(taken >= 0 && taken <= double(side)))
      return fail(expr, "takes more elements than the axis has: " + std::to_string(side));
    side = int64_t(taken);
  }
  return mapAxis(x, at, side, [&](Line &line) {
    if (function == "softmax")
      softmaxOf(line);
    else if (function == "cumsum")
      std::partial_sum(line.begin(), line.end(), line.begin());
    else if (function == "cumprod")
      std::partial_sum(line.begin(), line.end(), line.begin(), std::multiplies<>());
    else if (function == "flip")
      std::reverse(line.begin(), line.end());
    else
      sortOf(line, descending != 0, function == "argsort" || part == 1);
  });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

ExpectEvaluator::Result ExpectEvaluator::reshaped(const ast::Call *expr) {
  if (expr->args.empty() || !onlyNamed(expr, {}))
    return fail(expr, "needs an array and its new sides");
  Result x = evaluate(expr->args[0]);
  std::vector<int64_t> shape;
  if (!x || !numbersOf(expr, 1, shape))
    return std::nullopt;
  int64_t known = 1, *open = nullptr;
  for (int64_t &side : shape) {
    if (side < 0 && !open)
      open = &side;
    else
      known *= side;
  }
  if (open && known > 0)
    *open = x->size() / known;
  const int64_t size = open ? known * *open : known;
  if (size != x->size() || size < 0)
    return fail(expr, "the shape " + shapeText(x->shape) + " does not become " + shapeText(shape));
  x->shape = shape;
  return x;
}

ExpectEvaluator::Result ExpectEvaluator::permuted(const ast::Call *expr) {
  if (expr->args.empty() || !onlyNamed(expr, {}))
    return fail(expr, "needs an array and the order of its axes");
  Result x = evaluate(expr->args[0]);
  std::vector<int64_t> order;
  if (!x || !numbersOf(expr, 1, order))
    return std::nullopt;
  std::vector<int64_t> sorted = order;
  llvm::sort(sorted);
  bool isOrder = sorted.size() == x->shape.size();
  for (size_t i = 0; isOrder && i < sorted.size(); ++i)
    isOrder = sorted[i] == int64_t(i);
  if (!isOrder)
    return fail(expr, "names each axis of " + shapeText(x->shape) + " once");
  return permuteAxes(*x, order);
}

/// cat(a, b, ..., axis=0).
ExpectEvaluator::Result ExpectEvaluator::joined(const ast::Call *expr) {
  auto values = arguments(expr, 1, 64);
  double given = 0;
  if (!values || !onlyNamed(expr, {"axis"}) || !named(expr, "axis", given))
    return std::nullopt;
  ExpectArray result = (*values)[0];
  const int64_t rank = int64_t(result.shape.size());
  const int64_t axis = int64_t(given) + (given < 0 ? rank : 0);
  if (axis < 0 || axis >= rank)
    return fail(expr, "joins along axis " + std::to_string(axis) + " of " +
                          shapeText(result.shape));
  for (const ExpectArray &next : llvm::drop_begin(*values)) {
    std::vector<int64_t> wanted = result.shape;
    if (next.shape.size() == wanted.size())
      wanted[size_t(axis)] = next.shape[size_t(axis)];
    if (wanted != next.shape)
      return fail(expr, "the shapes " + shapeText(result.shape) + " and " + shapeText(next.shape) +
                            " do not join");
    int64_t inner = 1, outer = 1;
    for (int64_t i = 0; i < rank; ++i)
      (i < axis ? outer : inner) *= i == axis ? 1 : result.shape[size_t(i)];
    const int64_t a = result.shape[size_t(axis)] * inner, b = next.shape[size_t(axis)] * inner;
    ExpectArray both = ExpectArray::filled({});
    both.data.clear();
    for (int64_t o = 0; o < outer; ++o) {
      both.data.insert(both.data.end(), result.data.begin() + o * a, result.data.begin() + (o + 1) * a);
      both.data.insert(both.data.end(), next.data.begin() + o * b, next.data.begin() + (o + 1) * b);
    }
    both.shape = result.shape;
    both.shape[size_t(axis)] += next.shape[size_t(axis)];
    result = std::move(both);
  }
  return result;
}

ExpectEvaluator::Result ExpectEvaluator::shaped(const ast::Call *expr, StringRef function,
                                                bool &isKnown) {
  isKnown = true;
  if (function == "reshape")
    return reshaped(expr);
  if (function == "permute")
    return permuted(expr);
  if (function == "cat")
    return joined(expr);
  if (function == "take")
    return take(expr);
  isKnown = llvm::is_contained({"arange", "zeros", "ones", "full", "eye"}, function);
  const bool isFull = function == "full";
  std::vector<int64_t> numbers;
  Result fill = ExpectArray::number(function == "ones");
  if (isKnown && isFull)
    fill = expr->args.empty() ? fail(expr, "needs a value") : evaluate(expr->args[0]);
  if (!isKnown || !fill || !onlyNamed(expr, {}) || !numbersOf(expr, isFull, numbers))
    return std::nullopt;
  int64_t elements = 1;
  for (int64_t number : numbers)
    if (function != "arange" && (number < 0 || (elements *= std::max<int64_t>(number, 1)) > 1 << 30))
      return fail(expr, "has sides that are negative or too large");
  if (function == "arange") {
    if (numbers.empty() || numbers.size() > 2)
      return fail(expr, "takes 1 to 2 arguments, got " + std::to_string(numbers.size()));
    const int64_t begin = numbers.size() == 2 ? numbers[0] : 0;
    if (numbers.back() - begin > 1 << 30)
      return fail(expr, "is too long");
    ExpectArray result = ExpectArray::filled({std::max<int64_t>(numbers.back() - begin, 0)});
    std::iota(result.data.begin(), result.data.end(), double(begin));
    return result;
  }
  if (function == "eye") {
    if (numbers.size() != 1)
      return fail(expr, "takes 1 arguments, got " + std::to_string(numbers.size()));
    ExpectArray result = ExpectArray::filled({numbers[0], numbers[0]});
    for (int64_t i = 0; i < numbers[0]; ++i)
      result.data[size_t(i * (numbers[0] + 1))] = 1;
    return result;
  }
  return ExpectArray::filled(numbers, fill->data.empty() ? 0 : fill->data[0]);
}
