//===- Number.h - element types and exact conversions between them ----------===//
//
// The one place that knows how a number lies in memory. f16 and bf16 are computed in f32 and rounded
// once. The storage types (i4, u4, fp8, f4e2m1, e8m0) have no arithmetic; in a program each of their
// elements has a byte of its own, whose upper bits are zero. ir/FloatFormat.h knows the formats below
// f32, Conversion.h turns one type into another.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/FloatFormat.h"
#include <cmath>
#include <cstdint>
#include <limits>

namespace tk::interp {

/// Element types with their sign. Inside a program integers are signless: only the signed names
/// occur, and operations carry the sign.
enum class DType : uint8_t {
  i1,
  i4,
  i8,
  i16,
  i32,
  i64,
  u4,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  f4e2m1,
  e8m0,
  ptr
};

/// One byte that is 0 or 1.
struct Bool {
  uint8_t bits;
};
struct I4 {
  uint8_t bits;
};
struct U4 {
  uint8_t bits;
};
struct F16 {
  using Format = FormatF16;
  uint16_t bits;
};
struct BF16 {
  using Format = FormatBF16;
  uint16_t bits;
};
struct F8E4M3FN {
  using Format = FormatF8E4M3FN;
  uint8_t bits;
};
struct F8E5M2 {
  using Format = FormatF8E5M2;
  uint8_t bits;
};
struct F8E4M3FNUZ {
  using Format = FormatF8E4M3FNUZ;
  uint8_t bits;
};
struct F8E5M2FNUZ {
  using Format = FormatF8E5M2FNUZ;
  uint8_t bits;
};
struct F4E2M1 {
  using Format = FormatF4E2M1;
  uint8_t bits;
};
struct E8M0 {
  using Format = FormatE8M0;
  uint8_t bits;
};

/// A float type of at most 16 bits.
template <class T>
concept NarrowFloat = requires { typename T::Format; };

/// Exact.
template <NarrowFloat T> inline float toFloat(T value) {
  return decodeFloat<typename T::Format>(value.bits);
}
inline float toFloat(float value) {
  return value;
}
inline float toFloat(I4 value) {
  return float(int32_t((value.bits & 15u) ^ 8u) - 8);
}
inline float toFloat(U4 value) {
  return float(int32_t(value.bits & 15u));
}

/// Rounded to nearest even, with the overflow that is natural to the type.
template <NarrowFloat T> inline T fromFloat(float value) {
  return {decltype(T::bits)(encodeFloat<typename T::Format>(value))};
}

/// Rounded to the 10 fraction bits of tf32, ties to even; infinity and NaN stay.
inline float roundToTf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
  bool isFinite = (bits & 0x7fffffffu) < kInfinityF32;
  return std::bit_cast<float>(isFinite ? rounded : bits);
}

/// Truncated toward zero.
inline float doubleToFloatTowardZero(double value) {
  float result = float(value);
  bool tooFar = std::fabs(double(result)) > std::fabs(value);
  uint32_t bits = std::bit_cast<uint32_t>(result) - uint32_t(tooFar);
  return std::bit_cast<float>(bits);
}

/// Truncated toward zero, with the lowest bit set when that lost anything.
inline float doubleToFloatOdd(double value) {
  float result = doubleToFloatTowardZero(value);
  bool inexact = double(result) != value && value == value;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(result) | uint32_t(inexact));
}

/// The integer as a double that rounds to any float of at most 24 bits as the integer does.
inline double integerToDoubleOdd(uint64_t magnitude) {
  if (magnitude >> 53)
    magnitude = (magnitude >> 11 | uint64_t((magnitude & 0x7ff) != 0)) << 11;
  return double(magnitude);
}

/// What a stored element computes in, and the way there and back.
template <class T> struct Numeric {
  using Compute = T;
  static T load(T value) { return value; }
  static T round(T value) { return value; }
};
template <NarrowFloat T> struct Numeric<T> {
  using Compute = float;
  static float load(T value) { return toFloat(value); }
  static T round(float value) { return fromFloat<T>(value); }
};

/// Calls `fn` with a value of the C++ type behind a float type below f32.
template <class Fn> auto withNarrowFloat(DType type, Fn &&fn) {
  switch (type) {
  case DType::f16:
    return fn(F16());
  case DType::bf16:
    return fn(BF16());
  case DType::f8e4m3fn:
    return fn(F8E4M3FN());
  case DType::f8e5m2:
    return fn(F8E5M2());
  case DType::f8e4m3fnuz:
    return fn(F8E4M3FNUZ());
  case DType::f8e5m2fnuz:
    return fn(F8E5M2FNUZ());
  case DType::f4e2m1:
    return fn(F4E2M1());
  default:
    return fn(E8M0());
  }
}

/// A double rounded once to T.
template <class T> inline T fromDouble(double value) {
  if constexpr (NarrowFloat<T>)
    return fromFloat<T>(doubleToFloatOdd(value));
  else
    return T(value);
}

/// The properties of a float type that error bounds and messages need.
struct FloatFormat {
  double halfUlp;      // relative error of one rounding to nearest
  double minNormal;    // smallest normal number
  double minSubnormal; // smallest number above zero
  double max;          // largest finite number
};
FloatFormat formatOf(DType type);
template <class F> FloatFormat formatOf() {
  FloatFormat format;
  format.halfUlp = std::ldexp(1.0, -int(F::kFractionBits) - 1);
  format.minNormal = decodeFloat<F>(F::kHasSign ? uint32_t(1) << F::kFractionBits : 0);
  format.minSubnormal = decodeFloat<F>(F::kHasSign ? 1 : 0);
  format.max = decodeFloat<F>(F::kMax);
  return format;
}

/// Bytes of one element inside a program. In memory two of 4 bits share one: see bitSize.
unsigned byteSize(DType type);
/// Bits of one element in memory: 8 for i1.
unsigned bitSize(DType type);
/// Floats of all sizes, fp8, f4e2m1 and e8m0 among them.
bool isFloat(DType type);
/// Types that are moved and converted and have no arithmetic.
bool isStorage(DType type);
bool isUnsigned(DType type);
/// The type without its sign: u8 gives i8.
DType signlessOf(DType type);
/// The unsigned integer of the same size: i8 gives u8, i1 stays.
DType unsignedOf(DType type);
const char *nameOf(DType type);

/// One element in memory as a double (64-bit integers are rounded).
double elementToDouble(DType type, const void *element);
/// Rounds to nearest even; integers truncate and saturate, NaN gives 0.
void elementFromDouble(DType type, double value, void *element);
bool isNan(DType type, const void *element);
/// The integer in an element, extended by the type's sign. Not for floats.
int64_t elementToInteger(DType type, const void *element);
void elementFromInteger(DType type, int64_t value, void *element);

} // namespace tk::interp
