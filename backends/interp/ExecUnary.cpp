//===- ExecUnary.cpp - functions of one number ---------------------------------===//
//
// Computed by the C library in a wider type and rounded once to the element's type: in double for
// types below f64, in long double for f64. The library is off by a few units of the wider type at
// most, so the result is the correctly rounded one but for a few inputs in 2^26 (f64 on x86-64,
// whose long double has eleven bits more: in 2^8; where long double is double, f64 has the
// library's error).
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <math.h> // exp10, lgamma_r, which std does not have
#include <type_traits>

using namespace tk::interp;

namespace {
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <class T> T fromWide(Wide<T> value) {
  if constexpr (std::is_same_v<T, double>)
    return double(value);
  else
    return fromDouble<T>(value);
}
} // namespace

template <class T, class Op> static void unary(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = fromWide<T>(Op::apply(Wide<T>(Numeric<T>::load(a[i]))));
}

/// Functions that are exact or correctly rounded in the type itself.
template <class T, class Op> static void unaryInType(const Inst &inst, Frame &frame) {
  const T *__restrict a = frame.at<T>(inst.a);
  T *__restrict result = frame.at<T>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Numeric<T>::round(Op::apply(Numeric<T>::load(a[i])));
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {
/// A function of <cmath> as a type.
#define TK_FUNCTION(NAME, CALL)                                                                    \
  struct NAME {                                                                                    \
    template <class C> static C apply(C x) { return CALL; }                                        \
  };
TK_FUNCTION(Exp, std::exp(x))
TK_FUNCTION(Exp2, std::exp2(x))
TK_FUNCTION(Log, std::log(x))
TK_FUNCTION(Log2, std::log2(x))
TK_FUNCTION(Sqrt, std::sqrt(x))
TK_FUNCTION(Rsqrt, C(1) / std::sqrt(x))
TK_FUNCTION(Sin, std::sin(x))
TK_FUNCTION(Cos, std::cos(x))
TK_FUNCTION(Tanh, std::tanh(x))
TK_FUNCTION(Erf, std::erf(x))
TK_FUNCTION(Floor, std::floor(x))
TK_FUNCTION(Ceil, std::ceil(x))
TK_FUNCTION(Expm1, std::expm1(x))
TK_FUNCTION(Log10, std::log10(x))
TK_FUNCTION(Log1p, std::log1p(x))
TK_FUNCTION(Trunc, std::trunc(x))
TK_FUNCTION(Tan, std::tan(x))
TK_FUNCTION(Sinh, std::sinh(x))
TK_FUNCTION(Cosh, std::cosh(x))
TK_FUNCTION(Asin, std::asin(x))
TK_FUNCTION(Acos, std::acos(x))
TK_FUNCTION(Atan, std::atan(x))
TK_FUNCTION(Asinh, std::asinh(x))
TK_FUNCTION(Acosh, std::acosh(x))
TK_FUNCTION(Atanh, std::atanh(x))
TK_FUNCTION(Erfc, std::erfc(x))
TK_FUNCTION(Cbrt, std::cbrt(x))
#undef TK_FUNCTION

/// Ties to even, whatever rounding the process has set.
struct RoundEven {
  static float apply(float x) { return __builtin_roundevenf(x); }
  static double apply(double x) { return __builtin_roundeven(x); }
};

struct Exp10 {
  static double apply(double x) { return ::exp10(x); }
  static long double apply(long double x) { return ::exp10l(x); }
};

/// The forms that return the sign apart: workers must not share `signgam`.
struct Lgamma {
  static double apply(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
  }
  static long double apply(long double x) {
    int sign = 0;
    return ::lgammal_r(x, &sign);
  }
};

/// Below zero in the form that keeps the small results exact.
struct Sigmoid {
  template <class C> static C apply(C x) {
    if (x >= 0)
      return C(1) / (C(1) + std::exp(-x));
    C e = std::exp(x);
    return e / (C(1) + e);
  }
};

/// Halley's iteration on erf(y) = x, in the form of erfc where x is near 1: each step triples the
/// digits, so three from a start good to two digits are more than enough. The step's error is that
/// of the library's erf and erfc, relative to y.
struct Erfinv {
  template <class C> static C start(C x) {
    const C kHalfRootPi = C(0.886226925452758013649083741670572592L);
    if (std::fabs(x) < C(0.25))
      return kHalfRootPi * x * (C(1) + x * x * C(0.2618));
    // S. Winitzki's closed form, good to 2 in 1000 everywhere.
    const C kA = C(0.147), kPi = C(3.14159265358979323846264338327950288L);
    C tail = std::log1p(-x * x), half = C(2) / (kPi * kA) + tail / 2;
    return std::copysign(std::sqrt(std::sqrt(half * half - tail / kA) - half), x);
  }
  template <class C> static C apply(C x) {
    const C magnitude = std::fabs(x);
    if (!(magnitude < 1))
      return magnitude == 1 ? x * std::numeric_limits<C>::infinity()
                            : std::numeric_limits<C>::quiet_NaN();
    if (x == 0)
      return x;
    const C kTwoOverRootPi = C(1.12837916709551257389615890312154517L);
    C y = start(magnitude);
    for (int step = 0; step < 3; ++step) {
      C error = magnitude < C(0.5) ? std::erf(y) - magnitude : (C(1) - magnitude) - std::erfc(y);
      C newton = error / (kTwoOverRootPi * std::exp(-y * y));
      y -= newton / (C(1) + y * newton);
    }
    return std::copysign(y, x);
  }
};
} // namespace

template <class T> static InstFn unaryOf(UnaryMath fn) {
  // In the order of UnaryMath.
  static constexpr InstFn table[] = {
      nullptr,          unary<T, Exp>,     unary<T, Exp2>,
      unary<T, Log>,    unary<T, Log2>,    unary<T, Sqrt>,
      unary<T, Rsqrt>,  unary<T, Sin>,     unary<T, Cos>,
      unary<T, Tanh>,   unary<T, Erf>,     unaryInType<T, Floor>,
      unaryInType<T, Ceil>, unary<T, Sigmoid>, unary<T, Exp10>,
      unary<T, Expm1>,  unary<T, Log10>,   unary<T, Log1p>,
      unaryInType<T, RoundEven>, unaryInType<T, Trunc>, unary<T, Tan>,
      unary<T, Sinh>,   unary<T, Cosh>,    unary<T, Asin>,
      unary<T, Acos>,   unary<T, Atan>,    unary<T, Asinh>,
      unary<T, Acosh>,  unary<T, Atanh>,   unary<T, Erfc>,
      unary<T, Erfinv>, unary<T, Lgamma>,  unary<T, Cbrt>};
  static_assert(std::size(table) == unsigned(UnaryMath::Cbrt) + 1);
  return table[unsigned(fn)];
}

InstFn tk::interp::selectUnary(UnaryMath fn, DType type) {
  if (fn == UnaryMath::Abs)
    return selectAbs(type);
  switch (type) {
  case DType::f16:
    return unaryOf<F16>(fn);
  case DType::bf16:
    return unaryOf<BF16>(fn);
  case DType::f32:
    return fn == UnaryMath::Sqrt ? unaryInType<float, Sqrt> : unaryOf<float>(fn);
  case DType::f64:
    return fn == UnaryMath::Sqrt ? unaryInType<double, Sqrt> : unaryOf<double>(fn);
  default:
    return nullptr;
  }
}
