//===- Expect.h - expectations of tkc run over whole arrays -----------------------------===//
//
// An expectation is an expression of the language over the arrays of a run, evaluated in f64 with
// NumPy's broadcasting; it holds when every element of its value is true.
//
//   names        the parameters as they are after the run, `x.before` as they were, the extents
//                (`N`), and `inf`, `nan`, `pi`
//   operators    + - * / // % comparisons & | ^ ! && || @ (rank 2), x[i, 2:, None, a +: w], x.T
//   functions    allclose(a, b, rtol=1e-5, atol=1e-8)  equal(a, b)  where  arange  maximum  minimum
//                abs exp exp2 log log2 sqrt rsqrt sin cos tanh erf sigmoid floor ceil
//                max min sum mean variance softmax (axis=)   x.to(f16) rounds
//
// A NaN is close to a NaN and equal to it, an infinity to itself.
//
//===----------------------------------------------------------------------===//
#pragma once

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
  /// ": first at [0, 3]: 1.5 and 2; ..." of the last allclose or equal that failed.
  std::string difference;

private:
  using Result = std::optional<ExpectArray>;
  Result fail(const ast::Node *node, const std::string &why);
  Result binary(const ast::Binary *expr);
  Result unary(const ast::Unary *expr);
  Result compare(const ast::CompareChain *expr);
  Result logical(const ast::Logical *expr);
  Result conditional(const ast::IfExpr *expr);
  Result call(const ast::Call *expr);
  Result method(const ast::Call *expr, const ast::Member *callee);
  Result subscript(const ast::Subscript *expr);
  Result member(const ast::Member *expr);
  Result name(const ast::Name *expr);
  Result reduction(const ast::Call *expr, llvm::StringRef function);
  Result comparison(const ast::Call *expr, bool isClose);
  Result matmul(const ast::Binary *expr, const ExpectArray &a, const ExpectArray &b);
  Result elementwise(const ast::Node *node, const ExpectArray &a, const ExpectArray &b,
                     double (*fn)(double, double));
  std::optional<int64_t> integer(const ast::Expr *expr);
  std::optional<std::vector<ExpectArray>> arguments(const ast::Call *expr, size_t least,
                                                    size_t most);
  /// A named argument's number; `value` stays when there is none. False after an error.
  bool named(const ast::Call *expr, llvm::StringRef key, double &value, bool *isGiven = nullptr);
  bool onlyNamed(const ast::Call *expr, llvm::ArrayRef<llvm::StringRef> keys);

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
std::string shapeText(llvm::ArrayRef<int64_t> shape);
std::string coordinateText(llvm::ArrayRef<int64_t> shape, int64_t index);

/// Whether the expectation holds; reports when it does not, or cannot be evaluated.
bool checkExpectation(mlir::MLIRContext &context, const std::string &text,
                      const ExpectNames &names);

} // namespace tk
