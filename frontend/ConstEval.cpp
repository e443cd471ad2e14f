//===- ConstEval.cpp - arithmetic of compile-time numbers -------------------===//

#include "frontend/ConstEval.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Error.h"
#include <algorithm>

using namespace llvm;
using namespace tk;

static const fltSemantics &wide() {
  return APFloat::IEEEquad();
}

std::string tk::toString(Int128 value) {
  if (value == 0)
    return "0";
  bool negative = value < 0;
  std::string digits;
  for (; value != 0; value /= 10) {
    int digit = int(value % 10);
    digits.push_back(char('0' + (digit < 0 ? -digit : digit)));
  }
  if (negative)
    digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string tk::toString(const APFloat &value) {
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  if (value.isNaN())
    return "nan";
  SmallString<32> text;
  value.toString(text, /*FormatPrecision=*/9, /*FormatMaxPadding=*/9);
  if (StringRef(text).find_first_of(".eE") == StringRef::npos)
    text += ".0";
  return text.str().str();
}

std::optional<Int128> tk::toInt128(const APInt &value) {
  if (value.getActiveBits() > 127)
    return std::nullopt;
  APInt wideValue = value.zextOrTrunc(128);
  return Int128((unsigned __int128)(wideValue.extractBitsAsZExtValue(64, 64)) << 64 |
                wideValue.extractBitsAsZExtValue(64, 0));
}

static APInt toAPInt(Int128 value) {
  uint64_t words[2] = {uint64_t(value), uint64_t(value >> 64)};
  return APInt(128, words);
}

APFloat tk::floatFromInt(Int128 value) {
  APFloat result(wide());
  result.convertFromAPInt(toAPInt(value), /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
  return result;
}

APFloat tk::floatFromText(StringRef digits) {
  APFloat result(wide());
  if (Expected<APFloat::opStatus> status =
          result.convertFromString(digits, APFloat::rmNearestTiesToEven);
      !status) {
    consumeError(status.takeError());
    return APFloat::getNaN(wide());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Calls `fn` with the format of a float type below f32.
template <class Fn> static auto withFormat(Dtype dtype, Fn &&fn) {
  switch (dtype) {
  case Dtype::F16:
    return fn(FormatF16());
  case Dtype::BF16:
    return fn(FormatBF16());
  case Dtype::F8E4M3FN:
    return fn(FormatF8E4M3FN());
  case Dtype::F8E5M2:
    return fn(FormatF8E5M2());
  case Dtype::F8E4M3FNUZ:
    return fn(FormatF8E4M3FNUZ());
  case Dtype::F8E5M2FNUZ:
    return fn(FormatF8E5M2FNUZ());
  case Dtype::F4E2M1:
    return fn(FormatF4E2M1());
  default:
    return fn(FormatE8M0());
  }
}

static APFloat::roundingMode modeOf(Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return APFloat::rmNearestTiesToEven;
  case Rounding::Zero:
    return APFloat::rmTowardZero;
  case Rounding::Down:
    return APFloat::rmTowardNegative;
  case Rounding::Up:
    return APFloat::rmTowardPositive;
  }
  return APFloat::rmNearestTiesToEven;
}

/// Rounded to odd: what any narrower format makes of it is what it makes of `value`.
static float toFloatOdd(APFloat value) {
  bool isNan = value.isNaN(), losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmTowardZero, &losesInfo);
  uint32_t bits = uint32_t(value.bitcastToAPInt().getZExtValue());
  return bit_cast<float>(bits | uint32_t(losesInfo && !isNan));
}

template <class F> static uint32_t encode(float value, Rounding rounding, Excess excess) {
  auto saturating = [&](auto encodeSaturated, auto encodeIeee) {
    return excess == Excess::Saturate ? encodeSaturated(value) : encodeIeee(value);
  };
  switch (rounding) {
  case Rounding::Nearest:
    return saturating(encodeFloat<F, Rounding::Nearest, Excess::Saturate>,
                      encodeFloat<F, Rounding::Nearest, Excess::Ieee>);
  case Rounding::Zero:
    return saturating(encodeFloat<F, Rounding::Zero, Excess::Saturate>,
                      encodeFloat<F, Rounding::Zero, Excess::Ieee>);
  case Rounding::Down:
    return saturating(encodeFloat<F, Rounding::Down, Excess::Saturate>,
                      encodeFloat<F, Rounding::Down, Excess::Ieee>);
  default:
    return saturating(encodeFloat<F, Rounding::Up, Excess::Saturate>,
                      encodeFloat<F, Rounding::Up, Excess::Ieee>);
  }
}

APFloat tk::roundTo(const APFloat &value, Dtype dtype, const CastRule &rule) {
  const Rounding rounding = rule.rounding.value_or(Rounding::Nearest);
  if (dtype == Dtype::F32 || dtype == Dtype::F64) {
    APFloat result = value;
    bool losesInfo = false;
    result.convert(floatSemantics(dtype), modeOf(rounding), &losesInfo);
    if (result.isInfinity() && rule.excess == Excess::Saturate)
      return APFloat::getLargest(floatSemantics(dtype), result.isNegative());
    return result;
  }
  return withFormat(dtype, [&](auto format) {
    using F = decltype(format);
    uint32_t code = encode<F>(toFloatOdd(value), rounding, rule.excess.value_or(F::kNatural));
    return APFloat(floatSemantics(dtype), APInt(dtypeBits(dtype), code));
  });
}

bool tk::fits(const APFloat &value, Dtype dtype) {
  if (value.isNaN())
    return hasNan(dtype);
  if (value.isInfinity())
    return hasInfinity(dtype);
  if (dtype == Dtype::F32 || dtype == Dtype::F64)
    return roundTo(value, dtype).isFinite();
  if (dtype == Dtype::E8M0 && value.compare(smallestOf(dtype)) == APFloat::cmpLessThan)
    return false;
  return withFormat(dtype,
                    [&](auto format) { return !exceeds<decltype(format)>(toFloatOdd(value)); });
}

static APFloat widened(APFloat value) {
  bool losesInfo = false;
  value.convert(wide(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

APFloat tk::largestOf(Dtype dtype) {
  return widened(APFloat::getLargest(floatSemantics(dtype)));
}
APFloat tk::lowestOf(Dtype dtype) {
  if (dtype == Dtype::E8M0)
    return smallestOf(dtype);
  return widened(APFloat::getLargest(floatSemantics(dtype), /*Negative=*/true));
}
APFloat tk::smallestOf(Dtype dtype) {
  return widened(APFloat::getSmallest(floatSemantics(dtype)));
}
APFloat tk::epsilonOf(Dtype dtype) {
  int digits = int(APFloat::semanticsPrecision(floatSemantics(dtype)));
  return scalbn(APFloat::getOne(wide()), 1 - digits, APFloat::rmNearestTiesToEven);
}

Int128 tk::minOf(Dtype dtype) {
  return isSignedInteger(dtype) ? -(Int128(1) << (dtypeBits(dtype) - 1)) : 0;
}

Int128 tk::maxOf(Dtype dtype) {
  return (Int128(1) << (dtypeBits(dtype) - (isSignedInteger(dtype) ? 1 : 0))) - 1;
}

bool tk::fits(Int128 value, Dtype dtype) {
  return value >= minOf(dtype) && value <= maxOf(dtype);
}

Int128 tk::wholeOf(const APFloat &value, Dtype dtype, const CastRule &rule) {
  if (value.isNaN())
    return 0;
  APSInt result(100, /*isUnsigned=*/false);
  bool exact = false;
  value.convertToInteger(result, modeOf(rule.rounding.value_or(Rounding::Zero)), &exact);
  APInt full = result.sext(128);
  Int128 number = Int128((unsigned __int128)(full.extractBitsAsZExtValue(64, 64)) << 64 |
                         full.extractBitsAsZExtValue(64, 0));
  return std::clamp(number, minOf(dtype), maxOf(dtype));
}

static ConstResult<Int128> shift(ast::BinaryOp op, Int128 lhs, Int128 rhs) {
  if (rhs < 0)
    return {0, ConstError::BadShift};
  if (op == ast::BinaryOp::Shr)
    return {rhs > 126 ? (lhs < 0 ? Int128(-1) : Int128(0)) : lhs >> int(rhs)};
  if (lhs == 0)
    return {0};
  Int128 result = 0;
  if (rhs > 126 || __builtin_mul_overflow(lhs, Int128(1) << int(rhs), &result))
    return {0, ConstError::Overflow};
  return {result};
}

static ConstResult<Int128> divide(ast::BinaryOp op, Int128 lhs, Int128 rhs) {
  if (rhs == 0)
    return {0, ConstError::DivisionByZero};
  if (rhs == -1 && op == ast::BinaryOp::Rem)
    return {0};
  Int128 negated = 0;
  if (rhs == -1) {
    bool overflow = __builtin_sub_overflow(Int128(0), lhs, &negated);
    return {negated, overflow ? ConstError::Overflow : ConstError::None};
  }
  return {op == ast::BinaryOp::Rem ? lhs % rhs : lhs / rhs};
}

ConstResult<Int128> tk::evalInt(ast::BinaryOp op, Int128 lhs, Int128 rhs) {
  using ast::BinaryOp;
  Int128 result = 0;
  bool overflow = false;
  switch (op) {
  case BinaryOp::Add:
    overflow = __builtin_add_overflow(lhs, rhs, &result);
    break;
  case BinaryOp::Sub:
    overflow = __builtin_sub_overflow(lhs, rhs, &result);
    break;
  case BinaryOp::Mul:
    overflow = __builtin_mul_overflow(lhs, rhs, &result);
    break;
  case BinaryOp::IntDiv:
  case BinaryOp::Rem:
    return divide(op, lhs, rhs);
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return shift(op, lhs, rhs);
  case BinaryOp::BitAnd:
    return {lhs & rhs};
  case BinaryOp::BitXor:
    return {lhs ^ rhs};
  case BinaryOp::BitOr:
    return {lhs | rhs};
  case BinaryOp::Div:
  case BinaryOp::MatMul:
    return {0, ConstError::Unsupported};
  }
  return {result, overflow ? ConstError::Overflow : ConstError::None};
}

ConstResult<APFloat> tk::evalFloat(ast::BinaryOp op, const APFloat &lhs, const APFloat &rhs) {
  using ast::BinaryOp;
  APFloat result = lhs;
  constexpr auto round = APFloat::rmNearestTiesToEven;
  switch (op) {
  case BinaryOp::Add:
    result.add(rhs, round);
    return {result};
  case BinaryOp::Sub:
    result.subtract(rhs, round);
    return {result};
  case BinaryOp::Mul:
    result.multiply(rhs, round);
    return {result};
  case BinaryOp::Div:
    result.divide(rhs, round);
    return {result};
  default:
    return {result, ConstError::Unsupported};
  }
}

bool tk::compareInt(ast::CompareOp op, Int128 lhs, Int128 rhs) {
  switch (op) {
  case ast::CompareOp::Lt:
    return lhs < rhs;
  case ast::CompareOp::Gt:
    return lhs > rhs;
  case ast::CompareOp::Le:
    return lhs <= rhs;
  case ast::CompareOp::Ge:
    return lhs >= rhs;
  case ast::CompareOp::Eq:
    return lhs == rhs;
  case ast::CompareOp::Ne:
    return lhs != rhs;
  }
  return false;
}

bool tk::compareFloat(ast::CompareOp op, const APFloat &lhs, const APFloat &rhs) {
  APFloat::cmpResult order = lhs.compare(rhs);
  switch (op) {
  case ast::CompareOp::Lt:
    return order == APFloat::cmpLessThan;
  case ast::CompareOp::Gt:
    return order == APFloat::cmpGreaterThan;
  case ast::CompareOp::Le:
    return order == APFloat::cmpLessThan || order == APFloat::cmpEqual;
  case ast::CompareOp::Ge:
    return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
  case ast::CompareOp::Eq:
    return order == APFloat::cmpEqual;
  case ast::CompareOp::Ne:
    return order != APFloat::cmpEqual;
  }
  return false;
}

Int128 tk::ceilDiv(Int128 a, Int128 b) {
  return a > 0 ? (a - 1) / b + 1 : a / b;
}
