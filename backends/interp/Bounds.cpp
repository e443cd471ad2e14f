//===- Bounds.cpp - error bounds beside values ------------------------------------===//

#include "backends/interp/Bounds.h"
#include <algorithm>

using namespace tk::interp;

#pragma STDC FP_CONTRACT OFF

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Covers the roundings of the bound's own arithmetic and the terms of second order.
constexpr double kSlack = 1.01;

template <class T> struct TypeOf;
template <> struct TypeOf<F16> { static constexpr DType value = DType::f16; };
template <> struct TypeOf<BF16> { static constexpr DType value = DType::bf16; };
template <> struct TypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct TypeOf<double> { static constexpr DType value = DType::f64; };

/// A value and its bound.
struct Bounded {
  double value, bound;
  double largest() const { return std::fabs(value) + bound; }
  /// The smallest magnitude it may have.
  double smallest() const { return std::max(std::fabs(value) - bound, 0.0); }
};

} // namespace

/// `propagated` and what two roundings to nearest of a result near `value` may add; nothing when
/// the exact result is the same on all engines.
static double rounded(const FloatFormat &format, double value, double propagated,
                      bool mayBeSubnormal) {
  if (propagated == 0)
    return 0;
  double largest = std::fabs(value) + propagated;
  double bound = propagated + 2 * format.halfUlp * largest;
  if (mayBeSubnormal)
    bound += format.minSubnormal;
  return largest * (1 + format.halfUlp) > format.max ? kInfinity : bound * kSlack;
}

/// A result that is no number is the same on all engines when an operand made it so; a finite one
/// that overflowed need not be.
static double finish(double result, double bound, bool operandsFinite) {
  if (!std::isfinite(result))
    return operandsFinite && bound != 0 ? kInfinity : 0;
  return bound == bound ? bound : kInfinity;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static double productBound(Bounded a, Bounded b) {
  double bound = 0;
  if (b.bound != 0)
    bound += a.largest() * b.bound;
  if (a.bound != 0)
    bound += b.largest() * a.bound;
  return bound;
}

static double quotientBound(Bounded a, Bounded b) {
  if (a.bound == 0 && b.bound == 0)
    return 0;
  if (b.smallest() == 0)
    return kInfinity;
  return (a.bound + a.largest() / b.smallest() * b.bound) / b.smallest();
}

/// What rounding the product of equal operands changes: a contraction leaves it out.
static double productResidual(DType type, double a, double b, double result) {
  if (type == DType::f64)
    return std::fabs(std::fma(a, b, -result));
  return std::fabs(a * b - result); // a * b is exact in double
}

template <class T, BinaryOp Op, bool Contracts>
static double binaryBoundOf(const FloatFormat &format, Bounded a, Bounded b, double result) {
  switch (Op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
    return rounded(format, result, a.bound + b.bound, false);
  case BinaryOp::Mul: {
    double bound = productBound(a, b);
    if (Contracts && bound == 0)
      return productResidual(TypeOf<T>::value, a.value, b.value, result) * kSlack;
    return rounded(format, result, bound, true);
  }
  case BinaryOp::Div:
    return rounded(format, result, quotientBound(a, b), true);
  default:
    return std::max(a.bound, b.bound);
  }
}

template <class T, BinaryOp Op, bool Contracts>
static void binaryBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a), *eb = frame.boundsAt(inst.b);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]},
            y = {double(Numeric<T>::load(b[i])), eb[i]};
    double result = double(Numeric<T>::load(r[i]));
    bool finite = std::isfinite(x.value) && std::isfinite(y.value);
    bounds[i] = finish(result, binaryBoundOf<T, Op, Contracts>(format, x, y, result), finite);
  }
}

template <class T> static InstFn binaryBoundFor(BinaryOp op, bool contracts) {
  switch (op) {
  case BinaryOp::Add:
    return binaryBound<T, BinaryOp::Add, false>;
  case BinaryOp::Sub:
    return binaryBound<T, BinaryOp::Sub, false>;
  case BinaryOp::Mul:
    return contracts ? binaryBound<T, BinaryOp::Mul, true> : binaryBound<T, BinaryOp::Mul, false>;
  case BinaryOp::Div:
    return binaryBound<T, BinaryOp::Div, false>;
  default:
    return binaryBound<T, BinaryOp::Max, false>;
  }
}

/// Runs `CALL(type)` for the float type.
#define TK_FOR_FLOAT(TYPE, CALL)                                                                   \
  switch (TYPE) {                                                                                  \
  case DType::f16:                                                                                 \
    return CALL(F16);                                                                              \
  case DType::bf16:                                                                                \
    return CALL(BF16);                                                                             \
  case DType::f32:                                                                                 \
    return CALL(float);                                                                            \
  default:                                                                                         \
    return CALL(double);                                                                           \
  }

InstFn tk::interp::selectBoundBinary(BinaryOp op, DType type, bool contracts) {
#define TK_CALL(T) (binaryBoundFor<T>(op, contracts))
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

template <class T> static void fmaBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *b = frame.at<T>(inst.b), *c = frame.at<T>(inst.c);
  const T *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a), *eb = frame.boundsAt(inst.b);
  const double *ec = frame.boundsAt(inst.c);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]},
            y = {double(Numeric<T>::load(b[i])), eb[i]};
    double z = double(Numeric<T>::load(c[i])), result = double(Numeric<T>::load(r[i]));
    bool finite = std::isfinite(x.value) && std::isfinite(y.value) && std::isfinite(z);
    double bound = rounded(format, result, productBound(x, y) + ec[i], true);
    bounds[i] = finish(result, bound, finite);
  }
}

InstFn tk::interp::selectBoundFma(DType type) {
#define TK_CALL(T) (fmaBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

static double sigmoidAt(double x) {
  return 1 / (1 + std::exp(-x));
}

/// How much f may differ between two arguments within the bound of x.
static double slopeBound(UnaryMath fn, Bounded x, double result) {
  const double e = x.bound, low = x.value - e, near = x.smallest();
  switch (fn) {
  case UnaryMath::Abs:
    return e;
  case UnaryMath::Exp:
    return std::exp(x.value + e) * e;
  case UnaryMath::Exp2:
    return std::exp2(x.value + e) * e * M_LN2;
  case UnaryMath::Log:
    return low > 0 ? e / low : kInfinity;
  case UnaryMath::Log2:
    return low > 0 ? e / low * M_LOG2E : kInfinity;
  case UnaryMath::Sqrt:
    return low > 0 ? std::min(e / (2 * std::sqrt(low)), std::sqrt(e)) : std::sqrt(2 * e);
  case UnaryMath::Rsqrt:
    return low > 0 ? e / (2 * low * std::sqrt(low)) : kInfinity;
  case UnaryMath::Sin:
  case UnaryMath::Cos:
    return std::min(e, 2.0);
  case UnaryMath::Tanh: {
    double t = std::tanh(near);
    return std::min(e * (1 - t * t), 2.0);
  }
  case UnaryMath::Erf:
    return std::min(e * M_2_SQRTPI * std::exp(-near * near), 2.0);
  case UnaryMath::Floor:
    return std::floor(x.value + e) - std::floor(low);
  case UnaryMath::Ceil:
    return std::ceil(x.value + e) - std::ceil(low);
  case UnaryMath::Sigmoid:
    return std::min(e * sigmoidAt(near) * sigmoidAt(-near), 1.0);
  }
  return kInfinity;
}

/// Functions whose result is the same on all engines where the argument is: exact ones, and those
/// of special arguments.
static bool isExactAt(UnaryMath fn, double argument, double result) {
  if (fn == UnaryMath::Abs || fn == UnaryMath::Floor || fn == UnaryMath::Ceil)
    return true;
  bool underflows = fn == UnaryMath::Exp || fn == UnaryMath::Exp2 || fn == UnaryMath::Sigmoid;
  return !std::isfinite(argument) || (result == 0 && !underflows);
}

static double unaryBoundOf(UnaryMath fn, const FloatFormat &format, Bounded x, double result,
                           uint32_t ulps) {
  double slope = x.bound == 0 ? 0 : slopeBound(fn, x, result);
  if (slope == 0 && (ulps == 0 || isExactAt(fn, x.value, result)))
    return 0;
  bool isExact = fn == UnaryMath::Abs || fn == UnaryMath::Floor || fn == UnaryMath::Ceil;
  if (isExact)
    return slope;
  if (ulps == 0)
    return rounded(format, result, slope, true);
  double largest = std::fabs(result) + slope;
  double ulp = std::max(2 * format.halfUlp * largest, format.minSubnormal);
  double bound = (slope + 2 * ulps * ulp) * kSlack;
  if (std::fabs(result) - bound < format.minNormal)
    bound += format.minNormal; // one engine may flush
  return largest > format.max ? kInfinity : bound;
}

template <class T, UnaryMath Fn> static void unaryBound(const Inst &inst, Frame &frame) {
  const T *a = frame.at<T>(inst.a), *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    Bounded x = {double(Numeric<T>::load(a[i])), ea[i]};
    double result = double(Numeric<T>::load(r[i]));
    double bound = unaryBoundOf(Fn, format, x, result, inst.aux);
    bounds[i] = finish(result, bound, std::isfinite(x.value));
  }
}

template <class T> static InstFn unaryBoundFor(UnaryMath fn) {
  static constexpr InstFn table[] = {
      unaryBound<T, UnaryMath::Abs>,   unaryBound<T, UnaryMath::Exp>,
      unaryBound<T, UnaryMath::Exp2>,  unaryBound<T, UnaryMath::Log>,
      unaryBound<T, UnaryMath::Log2>,  unaryBound<T, UnaryMath::Sqrt>,
      unaryBound<T, UnaryMath::Rsqrt>, unaryBound<T, UnaryMath::Sin>,
      unaryBound<T, UnaryMath::Cos>,   unaryBound<T, UnaryMath::Tanh>,
      unaryBound<T, UnaryMath::Erf>,   unaryBound<T, UnaryMath::Floor>,
      unaryBound<T, UnaryMath::Ceil>,  unaryBound<T, UnaryMath::Sigmoid>};
  return table[unsigned(fn)];
}

InstFn tk::interp::selectBoundUnary(UnaryMath fn, DType type) {
#define TK_CALL(T) (unaryBoundFor<T>(fn))
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <class T> static void roundBound(const Inst &inst, Frame &frame) {
  const T *r = frame.at<T>(inst.dst);
  const double *ea = frame.boundsAt(inst.a);
  double *bounds = frame.boundsAt(inst.dst);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i) {
    double result = double(Numeric<T>::load(r[i]));
    double bound = rounded(format, result, ea[i], true);
    // Toward zero, each of the two roundings may be as large as one ulp.
    if (inst.aux && bound != 0)
      bound += 2 * format.halfUlp * (std::fabs(result) + ea[i]) + format.minSubnormal;
    bounds[i] = finish(result, bound, std::fabs(result) <= format.max);
  }
}

InstFn tk::interp::selectBoundRound(DType, DType to) {
#define TK_CALL(T) (roundBound<T>)
  TK_FOR_FLOAT(to, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Numbers that are multiples of a power of two so large that no partial sum needs more digits than
/// the type has: every order gives the same bits.
static bool isExactSum(const FloatFormat &format, double granule, double total) {
  return total == 0 || (std::isfinite(total) && total <= granule / format.halfUlp);
}

/// The largest power of two that divides the number; infinity for 0.
static double granuleOf(double value) {
  if (value == 0)
    return kInfinity;
  int exponent = 0;
  double fraction = std::fabs(std::frexp(value, &exponent));
  uint64_t digits = uint64_t(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

template <class T> static void sumBound(const Inst &inst, Frame &frame) {
  const ReducePlan &plan = frame.program->reductions[inst.aux];
  const ReducePlan::Operand &operand = plan.operands.front();
  const T *value = frame.at<T>(operand.value), *sums = frame.at<T>(operand.result);
  const double *ea = frame.boundsAt(operand.value);
  double *bounds = frame.boundsAt(operand.result);
  const FloatFormat format = formatOf(TypeOf<T>::value);
  for (uint32_t o = 0; o < plan.outer; ++o)
    for (uint32_t k = 0; k < plan.inner; ++k) {
      double total = 0, granule = kInfinity, propagated = 0;
      bool finite = true;
      for (uint32_t s = 0; s < plan.side; ++s) {
        size_t at = (size_t(o) * plan.side + s) * plan.inner + k;
        double x = double(Numeric<T>::load(value[at]));
        finite &= std::isfinite(x);
        total += std::fabs(x) + ea[at];
        propagated += ea[at];
        granule = std::isfinite(x) ? std::min(granule, granuleOf(x)) : granule;
      }
      size_t at = size_t(o) * plan.inner + k;
      double bound = 0;
      if (propagated != 0 || !isExactSum(format, granule, total))
        bound = (propagated + 2 * (plan.side - 1.0) * format.halfUlp * total) * kSlack;
      bounds[at] = finish(double(Numeric<T>::load(sums[at])), bound, finite);
    }
}

InstFn tk::interp::selectBoundSum(DType type) {
#define TK_CALL(T) (sumBound<T>)
  TK_FOR_FLOAT(type, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Bounds that only move
//===----------------------------------------------------------------------===//

static void boundZero(const Inst &inst, Frame &frame) {
  std::fill_n(frame.boundsAt(inst.dst), frame.count(inst), 0.0);
}
InstFn tk::interp::selectBoundZero() {
  return boundZero;
}

static void boundMove(const Inst &inst, Frame &frame) {
  std::copy_n(frame.boundsAt(inst.a), frame.count(inst), frame.boundsAt(inst.dst));
}
InstFn tk::interp::selectBoundMove() {
  return boundMove;
}
InstFn tk::interp::selectBoundCopy() {
  return boundMove;
}

static void boundSplat(const Inst &inst, Frame &frame) {
  std::fill_n(frame.boundsAt(inst.dst), frame.count(inst), *frame.boundsAt(inst.a));
}
InstFn tk::interp::selectBoundSplat() {
  return boundSplat;
}

static void boundBroadcast(const Inst &inst, Frame &frame) {
  const CopyPlan &plan = frame.program->copies[inst.aux];
  const double *from = frame.boundsAt(inst.a);
  double *to = frame.boundsAt(inst.dst);
  std::vector<uint32_t> at(plan.sides.size(), 0);
  for (size_t i = 0; i < frame.count(inst); ++i) {
    size_t source = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      source += size_t(at[axis]) * plan.strides[axis];
    to[i] = from[source];
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < plan.sides[axis])
        break;
      at[axis] = 0;
    }
  }
}
InstFn tk::interp::selectBoundBroadcast() {
  return boundBroadcast;
}

template <bool Scalar> static void boundSelect(const Inst &inst, Frame &frame) {
  const uint8_t *condition = frame.at<uint8_t>(inst.a);
  const double *whenTrue = frame.boundsAt(inst.b), *whenFalse = frame.boundsAt(inst.c);
  double *bounds = frame.boundsAt(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    bounds[i] = condition[Scalar ? 0 : i] ? whenTrue[i] : whenFalse[i];
}
InstFn tk::interp::selectBoundSelect(bool scalarCondition) {
  return scalarCondition ? boundSelect<true> : boundSelect<false>;
}
