//===- ConstEval.cpp - arithmetic of compile-time numbers -------------------===//

#include "frontend/ConstEval.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/SmallString.h"
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

APFloat tk::roundTo(const APFloat &value, Dtype dtype) {
  APFloat result = value;
  bool losesInfo = false;
  result.convert(floatSemantics(dtype), APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
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

Int128 tk::truncateTo(const APFloat &value, Dtype dtype) {
  if (value.isNaN())
    return 0;
  APSInt result(100, /*isUnsigned=*/false);
  bool exact = false;
  value.convertToInteger(result, APFloat::rmTowardZero, &exact);
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
