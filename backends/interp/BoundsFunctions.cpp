//===- BoundsFunctions.cpp - error bounds of functions of one and two numbers ------===//
//
// A function contributes how much it may differ between two arguments within their bounds (its
// largest slope there, or a bound on the whole step where the slope is infinite), and the ulps that
// docs/language.md allows it, twice, because both engines may use them.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/BoundRules.h"
#include "backends/interp/Bounds.h"

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

static double sigmoidAt(double x) {
  return 1 / (1 + std::exp(-x));
}

//===----------------------------------------------------------------------===//
// Slopes
//===----------------------------------------------------------------------===//

/// The derivative of lgamma is at most the logarithm of the larger end plus 1 over the distance to
/// the next pole (for x > 0: log x - 1/x < psi(x) < log x; below by reflection).
static double lgammaSlope(double low, double high, double e) {
  if (low > 0)
    return e * std::max(std::fabs(std::log(low)) + 1 / low, std::fabs(std::log(high)));
  if (high >= 0 || std::floor(low) != std::floor(high) || std::floor(low) == low)
    return kInfinity;
  double gap = std::min(low - std::floor(low), std::ceil(high) - high);
  return e * (std::log(1 - low) + 1 + 1 / gap);
}

/// Functions whose slope is largest at the end of the interval that is farther from zero.
static double outerSlope(UnaryMath fn, double high, double e) {
  switch (fn) {
  case UnaryMath::Sinh:
    return std::cosh(high) * e;
  case UnaryMath::Cosh:
    return std::sinh(high) * e;
  case UnaryMath::Asin: // the steepest step of width e begins at 1
  case UnaryMath::Acos:
    return high > 1 ? kInfinity
                    : std::min(e / std::sqrt(1 - high * high), std::acos(1 - std::min(e, 2.0)));
  case UnaryMath::Atanh:
    return high < 1 ? e / (1 - high * high) : kInfinity;
  case UnaryMath::Erfinv: // sqrt(pi)/2 exp(y^2) at y = erfinv(high), and exp(-y^2) >= erfc(y)
    return high < 1 ? e * 0.8862269254527580 / (1 - high) : kInfinity;
  default:
    return kInfinity;
  }
}

/// Functions whose slope is largest at the end that is nearer to zero.
static double innerSlope(UnaryMath fn, double near, double e) {
  switch (fn) {
  case UnaryMath::Tanh: {
    double t = std::tanh(near);
    return std::min(e * (1 - t * t), 2.0);
  }
  case UnaryMath::Erf:
  case UnaryMath::Erfc:
    return std::min(e * M_2_SQRTPI * std::exp(-near * near), 2.0);
  case UnaryMath::Sigmoid:
    return std::min(e * sigmoidAt(near) * sigmoidAt(-near), 1.0);
  case UnaryMath::Atan:
    return e / (1 + near * near);
  case UnaryMath::Asinh:
    return e / std::sqrt(1 + near * near);
  case UnaryMath::Cbrt: { // the largest step of width e lies around zero
    double step = 2 * std::cbrt(e / 2), root = std::cbrt(near);
    return near == 0 ? step : std::min(e / (3 * root * root), step);
  }
  default:
    return kInfinity;
  }
}

static double stepOf(double (*fn)(double), double low, double high) {
  return fn(high) - fn(low);
}

/// How much f may differ between two arguments within the bound of x.
static double slopeBound(UnaryMath fn, Bounded x) {
  const double e = x.bound, low = x.value - e, high = x.value + e;
  switch (fn) {
  case UnaryMath::Abs:
    return e;
  case UnaryMath::Exp:
  case UnaryMath::Expm1:
    return std::exp(high) * e;
  case UnaryMath::Exp2:
    return std::exp2(high) * e * M_LN2;
  case UnaryMath::Exp10:
    return std::pow(10, high) * e * M_LN10;
  case UnaryMath::Log:
    return low > 0 ? e / low : kInfinity;
  case UnaryMath::Log2:
    return low > 0 ? e / low * M_LOG2E : kInfinity;
  case UnaryMath::Log10:
    return low > 0 ? e / low * M_LOG10E : kInfinity;
  case UnaryMath::Log1p:
    return low > -1 ? e / (1 + low) : kInfinity;
  case UnaryMath::Sqrt:
    return low > 0 ? std::min(e / (2 * std::sqrt(low)), std::sqrt(e)) : std::sqrt(2 * e);
  case UnaryMath::Rsqrt:
    return low > 0 ? e / (2 * low * std::sqrt(low)) : kInfinity;
  case UnaryMath::Sin:
  case UnaryMath::Cos:
    return std::min(e, 2.0);
  case UnaryMath::Tan: {
    double cosine = std::fabs(std::cos(x.value)) - e; // cos moves no faster than its argument
    return cosine > 0 ? e / (cosine * cosine) : kInfinity;
  }
  case UnaryMath::Acosh: // the steepest step of width e begins at 1
    return low < 1 ? kInfinity : std::min(e / std::sqrt(low * low - 1), std::acosh(1 + e));
  case UnaryMath::Floor:
    return stepOf(std::floor, low, high);
  case UnaryMath::Ceil:
    return stepOf(std::ceil, low, high);
  case UnaryMath::Round:
    return __builtin_roundeven(high) - __builtin_roundeven(low);
  case UnaryMath::Trunc:
    return stepOf(std::trunc, low, high);
  case UnaryMath::Lgamma:
    return lgammaSlope(low, high, e);
  default:
    return std::min(outerSlope(fn, x.largest(), e), innerSlope(fn, x.smallest(), e));
  }
}

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

static bool isExact(UnaryMath fn) {
  switch (fn) {
  case UnaryMath::Abs:
  case UnaryMath::Floor:
  case UnaryMath::Ceil:
  case UnaryMath::Round:
  case UnaryMath::Trunc:
    return true;
  default:
    return false;
  }
}

/// Special arguments give the same result on all engines: those that are no numbers, and those
/// where the exact result is zero (but for lgamma, which few libraries have exact at 1 and 2).
static bool isSpecial(UnaryMath fn, double argument, double result) {
  if (!std::isfinite(argument))
    return true;
  switch (fn) {
  case UnaryMath::Exp:
  case UnaryMath::Exp2:
  case UnaryMath::Exp10:
  case UnaryMath::Erfc:
  case UnaryMath::Sigmoid: // may have underflowed
  case UnaryMath::Lgamma:
    return false;
  default:
    return result == 0;
  }
}

/// What the ulps of a function are units of. Below zero lgamma subtracts two large numbers.
static double ulpScale(UnaryMath fn, double argument, double largest) {
  if (fn != UnaryMath::Lgamma || !std::isfinite(argument))
    return largest;
  if (argument >= 3)
    return largest;
  int sign = 0;
  return largest + (argument < 0 ? std::fabs(::lgamma_r(1 - argument, &sign)) : 0) + 1;
}

static double unaryBoundOf(UnaryMath fn, const FloatFormat &format, Bounded x, double result,
                           uint32_t ulps) {
  double slope = x.bound == 0 ? 0 : slopeBound(fn, x);
  if (isExact(fn))
    return slope;
  if (slope == 0 && (ulps == 0 || isSpecial(fn, x.value, result)))
    return 0;
  if (ulps == 0)
    return roundedBound(format, result, slope, true);
  double largest = std::fabs(result) + slope;
  double unit = ulpScale(fn, x.value, largest);
  double ulp = std::max(2 * format.halfUlp * unit, format.minSubnormal);
  double bound = (slope + 2 * ulps * ulp) * kBoundSlack;
  if (std::fabs(result) - bound < format.minNormal)
    bound += format.minNormal; // one engine may flush
  return largest > format.max ? kInfinity : bound;
}

template <class T> static void unaryBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const UnaryMath fn = UnaryMath(inst.b);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]};
    double result = double(Numeric<T>::load(r[i]));
    double bound = unaryBoundOf(fn, format, x, result, inst.aux);
    bounds[i] = finishBound(result, bound, std::isfinite(x.value));
  }
}

InstFn tk::interp::selectBoundUnary(DType type) {
#define TK_CALL(T) (unaryBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Functions of two numbers
//===----------------------------------------------------------------------===//

/// Above zero pow is monotonic in each argument, so its slopes are largest at the corners. At and
/// below zero only whole exponents that are the same on all engines have a slope.
static double powSlope(Bounded x, Bounded y) {
  const double low = x.value - x.bound, high = x.value + x.bound;
  if (low > 0) {
    double top = 0;
    for (double base : {low, high})
      for (double exponent : {y.value - y.bound, y.value + y.bound})
        top = std::max(top, std::pow(base, exponent));
    return top * (y.largest() / low * x.bound +
                  std::max(std::fabs(std::log(low)), std::fabs(std::log(high))) * y.bound);
  }
  if (y.bound != 0 || std::trunc(y.value) != y.value)
    return kInfinity;
  double base = y.value >= 1 ? x.largest() : x.smallest();
  return y.value == 0 ? 0 : std::fabs(y.value) * std::pow(base, y.value - 1) * x.bound;
}

static double atan2Slope(Bounded y, Bounded x) {
  const double distance = std::hypot(x.smallest(), y.smallest());
  const bool crossesCut = y.smallest() == 0 && y.bound != 0 && x.value - x.bound <= 0;
  if (distance == 0 || crossesCut)
    return 2 * M_PI;
  return std::min((x.bound + y.bound) / distance, 2 * M_PI);
}

/// Within one period of the divisor the remainder moves with the dividend, elsewhere it jumps.
static double fmodSlope(Bounded a, Bounded b) {
  if (b.smallest() == 0)
    return kInfinity;
  const double least = std::trunc(a.smallest() / b.largest());
  const double most = std::trunc(a.largest() / b.smallest());
  if (least == most && std::isfinite(most))
    return a.bound + most * b.bound;
  return a.smallest() == 0 ? 2 * b.largest() : b.largest();
}

static double binarySlope(BinaryMath fn, Bounded a, Bounded b) {
  switch (fn) {
  case BinaryMath::Pow:
    return powSlope(a, b);
  case BinaryMath::Atan2:
    return atan2Slope(a, b);
  case BinaryMath::Hypot:
    return a.bound + b.bound;
  case BinaryMath::Fmod:
    return fmodSlope(a, b);
  case BinaryMath::Copysign:
    return b.smallest() == 0 && b.bound != 0 ? a.bound + 2 * a.largest() : a.bound;
  case BinaryMath::MulHi:
    return 0;
  }
  return kInfinity;
}

static double binaryFnBoundOf(BinaryMath fn, const FloatFormat &format, Bounded a, Bounded b,
                              double result, uint32_t ulps) {
  double slope = a.bound == 0 && b.bound == 0 ? 0 : binarySlope(fn, a, b);
  if (fn == BinaryMath::Fmod || fn == BinaryMath::Copysign)
    return slope;
  // Powers that are the same everywhere: pow(x, 0), pow(1, y), pow(0, y), and atan2 and hypot of 0.
  const bool isSpecial = fn == BinaryMath::Pow ? b.value == 0 || a.value == 1 || a.value == 0
                                               : result == 0 && (a.value == 0 || b.value == 0);
  if (slope == 0 && (ulps == 0 || isSpecial))
    return 0;
  if (ulps == 0)
    return roundedBound(format, result, slope, true);
  double largest = std::fabs(result) + slope;
  double ulp = std::max(2 * format.halfUlp * largest, format.minSubnormal);
  double bound = (slope + 2 * ulps * ulp) * kBoundSlack;
  if (std::fabs(result) - bound < format.minNormal)
    bound += format.minNormal; // one engine may flush
  return largest > format.max ? kInfinity : bound;
}

template <class T> static void binaryFnBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a), *eb = frame.boundsAt(inst.b);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const BinaryMath fn = BinaryMath(inst.c);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]};
    Bounded y = {double(Numeric<T>::load(b[i])), eb[i]};
    double result = double(Numeric<T>::load(r[i]));
    bool finite = std::isfinite(x.value) && std::isfinite(y.value);
    bounds[i] = finishBound(result, binaryFnBoundOf(fn, format, x, y, result, inst.aux), finite);
  }
}

InstFn tk::interp::selectBoundBinaryFn(DType type) {
#define TK_CALL(T) (binaryFnBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}
