//===- ConstEval.h - numbers known at compile time ----------------------------===//
//
// Integers have 128 bits and never wrap: a result that does not fit is an error. Floats have the
// precision of IEEE quad, so that a literal reaches f16 to f64 with one rounding. Nothing here
// uses the host's floating point.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/Ast.h"
#include "frontend/Types.h"
#include "ir/FloatFormat.h"
#include "llvm/ADT/APFloat.h"

namespace tk {

using Int128 = __int128;

std::string toString(Int128 value);
/// The digits a reader expects: "0.5", "inf".
std::string toString(const llvm::APFloat &value);

std::optional<Int128> toInt128(const llvm::APInt &value);
llvm::APFloat floatFromInt(Int128 value);
llvm::APFloat floatFromText(llvm::StringRef digits);
/// What a conversion does out of the ordinary; nullopt: what is natural to the two types.
struct CastRule {
  std::optional<Rounding> rounding;
  std::optional<Excess> excess;
};
/// `value` rounded once to the float type `dtype`.
llvm::APFloat roundTo(const llvm::APFloat &value, Dtype dtype, const CastRule &rule = {});
/// Rounded to a whole number (without a rule toward zero) and saturated to `dtype`; NaN gives 0.
Int128 wholeOf(const llvm::APFloat &value, Dtype dtype, const CastRule &rule = {});
/// Whether a compile-time number may become `dtype` without being asked to.
bool fits(const llvm::APFloat &value, Dtype dtype);
/// Properties of a float type as compile-time numbers.
llvm::APFloat largestOf(Dtype dtype);
llvm::APFloat lowestOf(Dtype dtype);
llvm::APFloat smallestOf(Dtype dtype); // above zero
llvm::APFloat epsilonOf(Dtype dtype);  // from 1 to the next number

/// The ends of an integer type's range.
Int128 minOf(Dtype dtype);
Int128 maxOf(Dtype dtype);
bool fits(Int128 value, Dtype dtype);

enum class ConstError { None, Overflow, DivisionByZero, BadShift, Unsupported };

template <class T> struct ConstResult {
  T value;
  ConstError error = ConstError::None;
};

ConstResult<Int128> evalInt(ast::BinaryOp op, Int128 lhs, Int128 rhs);
ConstResult<llvm::APFloat> evalFloat(ast::BinaryOp op, const llvm::APFloat &lhs,
                                     const llvm::APFloat &rhs);
bool compareInt(ast::CompareOp op, Int128 lhs, Int128 rhs);
bool compareFloat(ast::CompareOp op, const llvm::APFloat &lhs, const llvm::APFloat &rhs);

/// a / b rounded up; `b` is positive.
Int128 ceilDiv(Int128 a, Int128 b);

} // namespace tk
