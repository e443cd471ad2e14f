//===- BoundRules.h - what the error bounds of all operations share ----------------===//
#pragma once

#include "backends/interp/Number.h"
#include <algorithm>

namespace tk::interp {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Covers the roundings of the bound's own arithmetic and the terms of second order.
constexpr double kBoundSlack = 1.01;

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

/// `propagated` and what two roundings to nearest of a result near `value` may add; nothing when
/// the exact result is the same on all engines.
inline double roundedBound(const FloatFormat &format, double value, double propagated,
                           bool mayBeSubnormal) {
  if (propagated == 0)
    return 0;
  double largest = std::fabs(value) + propagated;
  double bound = propagated + 2 * format.halfUlp * largest;
  if (mayBeSubnormal)
    bound += format.minSubnormal;
  return largest * (1 + format.halfUlp) > format.max ? kInfinity : bound * kBoundSlack;
}

/// A result that is no number is the same on all engines when an operand made it so; a finite one
/// that overflowed need not be.
inline double finishBound(double result, double bound, bool operandsFinite) {
  if (!std::isfinite(result))
    return operandsFinite && bound != 0 ? kInfinity : 0;
  return bound == bound ? bound : kInfinity;
}

/// Numbers that are multiples of a power of two (`granule`) so large that no partial sum needs more
/// digits than `halfUlp` stands for, or goes beyond `most`: every order gives the same bits.
inline bool isExactSum(double halfUlp, double granule, double total, double most) {
  return total == 0 || (total <= most && total <= granule / halfUlp);
}

/// The largest power of two that divides the number; infinity for 0.
inline double granuleOf(double value) {
  if (value == 0)
    return kInfinity;
  int exponent = 0;
  double fraction = std::fabs(std::frexp(value, &exponent));
  uint64_t digits = uint64_t(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
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

} // namespace tk::interp
