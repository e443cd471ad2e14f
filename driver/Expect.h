//===- Expect.h - expectations of tkc run over whole arrays -----------------------------===//
//
// An expectation is an expression of the language over the arrays of a run, evaluated in f64 with
// NumPy's broadcasting; it holds when every element of its value is true.
//
//   names        the parameters as they are after the run, `x.before` as they were, `as[0]` what a
//                pointer of a list points to, the extents (`N`), what --let has named, and `inf`,
//                `nan`, `pi`
//   operators    + - * / // % comparisons & | ^ << >> ! && || @ (of the last two axes, the others
//                broadcast), x[i, 2:, None, a +: w], x[table, 0 +: 8] (an array as index gathers),
//                x.T (the last two axes), x.shape, [1, 2, 3]
//   comparing    allclose(a, b, rtol=1e-5, atol=1e-8)  equal(a, b)  same(a, b): bit for bit
//   elementwise  where maximum minimum clamp pow atan2 fmod hypot copysign abs exp exp2 expm1 log log2
//                log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh erf erfc sigmoid floor
//                ceil round trunc sign
//   along axes   max min sum prod mean variance any all argmax argmin (axis=, else over all)
//                softmax cumsum cumprod sort argsort topk(x, k) flip (axis=, else the last):
//                topk(x, k).0 and .1 are values and indices, with descending=true for sort
//   shapes       arange zeros ones full(v, M, N) eye reshape(x, M, N) permute(x, 1, 0) cat(a, b)
//                take(x, i, axis=0)
//   numbers      x.to(f16), f16(x) round as a conversion of the language does; bits(x) is how an
//                element lies in memory, as an unsigned integer
//
// A NaN is close to a NaN and equal to it, an infinity to itself. An element that nobody wrote is NaN,
// and the message says so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include "frontend/Ast.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tk {

/// A row-major array in f64; rank 0 for a number.
struct ExpectArray {
  std::vector<int64_t> shape;
  std::vector<double> data;
  /// Of an array of the run, or what is a part of one: the elements as they lie in memory.
  std::vector<uint64_t> bits = {};
  interp::DType dtype = interp::DType::f64;
  /// The first element that nobody wrote, "y[32]"; such elements are NaN in `data`.
  std::string unwritten = {};

  static ExpectArray number(double value) { return {{}, {value}}; }
  static ExpectArray filled(std::vector<int64_t> shape, double value = 0);
  int64_t size() const { return int64_t(data.size()); }
};

using ExpectNames = std::map<std::string, ExpectArray, std::less<>>;

/// What a comparison of arrays found, for the message.
struct ExpectEvaluator {
  ExpectEvaluator(mlir::MLIRContext &context, const SourceFile &source, const ExpectNames &names)
      : context(context), source(source), names(names) {}

  /// None after an error has been reported.
  std::optional<ExpectArray> evaluate(const ast::Expr *expr);
  /// ": first at [0, 3]: 1.5 and 2; ..." of the last allclose or equal that failed, or of a
  /// comparison that is the whole expectation or one side of its && and ||.
  std::string difference;
  const ast::Expr *whole = nullptr; // the expectation
  std::string unwritten; // an element that nobody wrote of an array that the text names

private:
  using Result = std::optional<ExpectArray>;
  using Line = std::vector<double>;
  Result fail(const ast::Node *node, const std::string &why);

  // ExpectEval.cpp
  Result evaluateNode(const ast::Expr *expr);
  Result binary(const ast::Binary *expr);
  Result unary(const ast::Unary *expr);
  Result compare(const ast::CompareChain *expr);
  Result logical(const ast::Logical *expr);
  Result conditional(const ast::IfExpr *expr);
  Result list(const ast::List *expr);
  Result member(const ast::Member *expr);
  Result name(const ast::Name *expr);
  std::string keyOf(const ast::Expr *expr);
  Result matmul(const ast::Binary *expr, const ExpectArray &a, const ExpectArray &b);
  Result elementwise(const ast::Node *node, const ExpectArray &a, const ExpectArray &b,
                     double (*fn)(double, double));
  std::optional<int64_t> integer(const ast::Expr *expr);

  // ExpectIndex.cpp
  struct Pick;
  Result subscript(const ast::Subscript *expr);
  std::optional<Pick> pickOf(const ast::Subscript *expr, const ast::Index &index, int64_t side);
  Result gather(const ast::Subscript *expr, const ExpectArray &base,
                const std::vector<Pick> &picks);
  Result take(const ast::Call *expr);

  // ExpectFunctions.cpp
  Result call(const ast::Call *expr);
  Result method(const ast::Call *expr, const ast::Member *callee);
  Result converted(const ast::Expr *expr, llvm::StringRef dtype);
  Result bitsOf(const ast::Call *expr);
  Result comparison(const ast::Call *expr, llvm::StringRef function);
  Result elementwiseCall(const ast::Call *expr, llvm::StringRef function, bool &isKnown);
  Result choice(const ast::Call *expr);
  std::optional<std::vector<ExpectArray>> arguments(const ast::Call *expr, size_t least,
                                                    size_t most);
  /// A named argument's number; `value` stays when there is none. False after an error.
  bool named(const ast::Call *expr, llvm::StringRef key, double &value, bool *isGiven = nullptr);
  bool onlyNamed(const ast::Call *expr, llvm::ArrayRef<llvm::StringRef> keys);

  // ExpectAxes.cpp
  Result reduction(const ast::Call *expr, llvm::StringRef function, bool &isKnown);
  Result alongAxis(const ast::Call *expr, llvm::StringRef function, unsigned part, bool &isKnown);
  Result shaped(const ast::Call *expr, llvm::StringRef function, bool &isKnown);
  Result reshaped(const ast::Call *expr);
  Result permuted(const ast::Call *expr);
  Result joined(const ast::Call *expr);
  /// The axis that `axis=`, or the argument at `position`, names; none when neither is there.
  bool axisOf(const ast::Call *expr, const ExpectArray &array, size_t position,
              std::optional<int64_t> &axis);
  /// Whole numbers from the argument at `first` on.
  bool numbersOf(const ast::Call *expr, size_t first, std::vector<int64_t> &numbers);

  mlir::MLIRContext &context;
  const SourceFile &source;
  const ExpectNames &names;
};

/// The shape both broadcast to; none when they do not fit.
std::optional<std::vector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                                    llvm::ArrayRef<int64_t> b);
ExpectArray broadcastTo(const ExpectArray &array, llvm::ArrayRef<int64_t> shape);
/// Reduces one axis, or all with axis = none; `fn` sees the elements in order.
ExpectArray reduceAxis(const ExpectArray &array, std::optional<int64_t> axis,
                       const std::function<double(const std::vector<double> &)> &fn);
/// Puts what `fn` makes of each line along an axis, `side` elements, in its place.
ExpectArray mapAxis(const ExpectArray &array, int64_t axis, int64_t side,
                    const std::function<void(std::vector<double> &)> &fn);
/// With its axes in another order.
ExpectArray permuteAxes(const ExpectArray &array, llvm::ArrayRef<int64_t> order);
/// ": `<` is false for 3 of 6 elements, the first at [1]: 2 and 1" of two arrays of one shape.
std::string falseText(llvm::StringRef op, const ExpectArray &a, const ExpectArray &b,
                      const ExpectArray &holds);
std::string shapeText(llvm::ArrayRef<int64_t> shape);
std::string coordinateText(llvm::ArrayRef<int64_t> shape, int64_t index);

/// The value of an expression; none after an error has been reported.
std::optional<ExpectArray> evaluateExpectation(mlir::MLIRContext &context, const std::string &text,
                                               const ExpectNames &names);
/// Whether the expectation holds; reports when it does not, or cannot be evaluated.
bool checkExpectation(mlir::MLIRContext &context, const std::string &text,
                      const ExpectNames &names);

} // namespace tk
