//===- Number.h - element types and exact conversions between them ----------===//
//
// The one place that knows how a number lies in memory and how it is rounded. Conversions are
// branch-free over bit patterns, so loops over tiles vectorize on any x86-64. f16 and bf16 are
// computed in f32 and rounded once; a wider source is first rounded to odd in f32, after which the
// second rounding is the only one that counts (f32 has more than two bits to spare).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tk::interp {

/// Element types with their sign. Inside a program integers are signless: only the signed names
/// occur, and operations carry the sign.
enum class DType : uint8_t { i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, ptr };

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
/// One byte that is 0 or 1.
struct Bool {
  uint8_t bits;
};

inline float f16ToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000u) << 16;
  uint32_t magnitude = uint32_t(half & 0x7fffu) << 13;
  // Exact for subnormals too: the f32 subnormal pattern is scaled by 2^112.
  uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  bits |= magnitude >= 0x0f800000u ? 0x7f800000u : 0u; // infinity and NaN
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t floatToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u;
  bits ^= sign;
  uint32_t normal = (bits + 0xc8000fffu + ((bits >> 13) & 1)) >> 13;
  // Adding 0.5 leaves the subnormal half, rounded to nearest even, in the low bits.
  uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  uint32_t result = bits < 0x38800000u ? small : normal;
  result = bits >= 0x47800000u ? 0x7c00u : result;
  result = bits > 0x7f800000u ? (0x7e00u | (bits >> 13 & 0x1ffu)) : result;
  return uint16_t(result | sign >> 16);
}

inline uint16_t floatToF16TowardZero(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000u;
  bits ^= sign;
  uint32_t result = (bits + 0xc8000000u) >> 13;
  if (bits < 0x38800000u)
    result = uint32_t(std::bit_cast<float>(bits) * 0x1p24f);
  if (bits >= 0x47800000u)
    result = bits < 0x7f800000u ? 0x7bffu : 0x7c00u;
  if (bits > 0x7f800000u)
    result = 0x7e00u | (bits >> 13 & 0x1ffu);
  return uint16_t(result | sign >> 16);
}

inline float bf16ToFloat(uint16_t value) {
  return std::bit_cast<float>(uint32_t(value) << 16);
}

inline uint16_t floatToBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return uint16_t(nan ? (bits >> 16 | 0x40u) : rounded);
}

inline uint16_t floatToBF16TowardZero(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return uint16_t(nan ? (bits >> 16 | 0x40u) : bits >> 16);
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
template <> struct Numeric<F16> {
  using Compute = float;
  static float load(F16 value) { return f16ToFloat(value.bits); }
  static F16 round(float value) { return {floatToF16(value)}; }
};
template <> struct Numeric<BF16> {
  using Compute = float;
  static float load(BF16 value) { return bf16ToFloat(value.bits); }
  static BF16 round(float value) { return {floatToBF16(value)}; }
};

/// A double rounded once to T.
template <class T> T fromDouble(double value);
template <> inline F16 fromDouble<F16>(double value) {
  return {floatToF16(doubleToFloatOdd(value))};
}
template <> inline BF16 fromDouble<BF16>(double value) {
  return {floatToBF16(doubleToFloatOdd(value))};
}
template <> inline float fromDouble<float>(double value) {
  return float(value);
}
template <> inline double fromDouble<double>(double value) {
  return value;
}

/// The properties of a float type that error bounds and messages need.
struct FloatFormat {
  double halfUlp;      // relative error of one rounding to nearest
  double minNormal;    // smallest normal number
  double minSubnormal; // smallest number above zero
  double max;          // largest finite number
};
FloatFormat formatOf(DType type);

unsigned byteSize(DType type);
bool isFloat(DType type);
bool isUnsigned(DType type);
/// The type without its sign: u8 gives i8.
DType signlessOf(DType type);
const char *nameOf(DType type);

/// One element in memory as a double (64-bit integers are rounded).
double elementToDouble(DType type, const void *element);
/// Rounds to nearest even; integers truncate and saturate, NaN gives 0.
void elementFromDouble(DType type, double value, void *element);
/// The integer in an element, extended by the type's sign. Not for floats.
int64_t elementToInteger(DType type, const void *element);
void elementFromInteger(DType type, int64_t value, void *element);

} // namespace tk::interp
