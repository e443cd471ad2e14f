//===- FloatFormat.h - float formats narrower than f32, and rounding to them --------===//
//
// One description (`NarrowFormat`) a format, and one branch-free way from f32 and back, over bit
// patterns, so that loops over tiles vectorize on any x86-64. Nothing here knows MLIR. A source wider than f32 is first rounded to odd
// in f32, after which the second rounding is the only one that counts: f32 has more than two digits
// and a smaller exponent to spare for each of these formats.
//
// The rules of every format, with their sources, stand in docs/design/numerics.md.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cstdint>

namespace tk {

/// How a number between two neighbours is rounded: to the nearer one (the even one of a tie), toward
/// zero, toward minus or plus infinity. In the order of tk::Round.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

/// What becomes of a number above the largest finite one: `Ieee` gives infinity, in a format without
/// infinities NaN, in one without NaN the largest number; and the largest finite number when the
/// rounding goes toward zero.
enum class Excess : uint8_t { Saturate, Ieee };

/// Which codes are no finite numbers.
enum class Specials : uint8_t {
  Ieee,    // the highest exponent: infinity and NaN
  NanOnly, // the highest code of either sign: NaN
  Fnuz,    // the code of -0: NaN; there is no -0
  None,    // all codes are finite
  Scale,   // no sign, no zero; the highest code: NaN
};

template <unsigned ExponentBits, unsigned FractionBits, int Bias, Specials Kind,
          Excess Natural = Excess::Saturate>
struct NarrowFormat {
  static constexpr unsigned kFractionBits = FractionBits;
  static constexpr int kBias = Bias;
  static constexpr Specials kSpecials = Kind;
  /// What a conversion does that does not say.
  static constexpr Excess kNatural = Natural;
  static constexpr bool kHasSign = Kind != Specials::Scale;
  static constexpr uint32_t kSignBit = uint32_t(1) << (ExponentBits + FractionBits);
  static constexpr uint32_t kLowest = kSignBit - 1; // the bits below the sign
  /// The code of the largest finite number.
  static constexpr uint32_t kMax = Kind == Specials::Ieee
                                       ? kSignBit - (uint32_t(1) << FractionBits) - 1
                                   : Kind == Specials::NanOnly || Kind == Specials::Scale
                                       ? kSignBit - 2
                                       : kSignBit - 1;
  /// What the next power of two or infinity becomes.
  static constexpr uint32_t kExcess = Kind == Specials::None ? kMax : kMax + 1;
  static constexpr unsigned kShift = 23 - FractionBits; // digits that f32 has more
  /// The f32 patterns of the smallest normal number and of the smallest number times 2^23.
  static constexpr uint32_t kMinNormal = uint32_t(127 + 1 - Bias) << 23;
  static constexpr uint32_t kMagic = uint32_t(127 + 1 - Bias - int(FractionBits) + 23) << 23;
  /// f32 has the same exponents: subnormals need no care, and the magic number does not exist.
  static constexpr bool kWide = Bias == 127;
};

using FormatF16 = NarrowFormat<5, 10, 15, Specials::Ieee, Excess::Ieee>;
using FormatBF16 = NarrowFormat<8, 7, 127, Specials::Ieee, Excess::Ieee>;
using FormatF8E4M3FN = NarrowFormat<4, 3, 7, Specials::NanOnly>;
using FormatF8E5M2 = NarrowFormat<5, 2, 15, Specials::Ieee>;
using FormatF8E4M3FNUZ = NarrowFormat<4, 3, 8, Specials::Fnuz>;
using FormatF8E5M2FNUZ = NarrowFormat<5, 2, 16, Specials::Fnuz>;
using FormatF4E2M1 = NarrowFormat<2, 1, 1, Specials::None>;
using FormatE8M0 = NarrowFormat<8, 0, 127, Specials::Scale>;

constexpr uint32_t kInfinityF32 = 0x7f800000u;
constexpr uint32_t kQuietNanF32 = 0x7fc00000u;

//===----------------------------------------------------------------------===//
// To f32
//===----------------------------------------------------------------------===//

/// Exact. The NaN of a format with infinities keeps its digits; others have the sign alone.
template <class F> inline float decodeFloat(uint32_t code) {
  if constexpr (F::kSpecials == Specials::Scale) {
    uint32_t bits = code == 0 ? 0x00400000u : code << 23;
    return std::bit_cast<float>(code > F::kMax ? kQuietNanF32 : bits);
  } else {
    const uint32_t magnitude = code & F::kLowest;
    const uint32_t sign = (code & F::kSignBit) * (0x80000000u / F::kSignBit);
    uint32_t bits = magnitude << F::kShift;
    if constexpr (!F::kWide) {
      bits += uint32_t(127 - F::kBias) << 23;
      constexpr float kSmallest = std::bit_cast<float>(F::kMagic - (23u << 23));
      uint32_t small = std::bit_cast<uint32_t>(float(int32_t(magnitude)) * kSmallest);
      bits = magnitude < (1u << F::kFractionBits) ? small : bits;
    }
    if constexpr (F::kSpecials == Specials::Ieee)
      bits |= magnitude > F::kMax ? kInfinityF32 : 0u;
    if constexpr (F::kSpecials == Specials::NanOnly)
      bits = magnitude > F::kMax ? kQuietNanF32 : bits;
    if constexpr (F::kSpecials == Specials::Fnuz)
      return std::bit_cast<float>(code == F::kSignBit ? kQuietNanF32 : bits | sign);
    return std::bit_cast<float>(bits | sign);
  }
}

//===----------------------------------------------------------------------===//
// From f32
//===----------------------------------------------------------------------===//

/// What rounding adds to a pattern whose lowest `Shift` bits go. `away`: all ones for a number that
/// rounds away from zero, else zero.
template <unsigned Shift, Rounding R> inline uint32_t increment(uint32_t bits, uint32_t away) {
  constexpr uint32_t kLost = (uint32_t(1) << Shift) - 1;
  if constexpr (R == Rounding::Nearest)
    return (kLost >> 1) + (bits >> Shift & 1);
  if constexpr (R == Rounding::Zero)
    return 0;
  return kLost & away;
}

/// The code of a magnitude below the smallest normal number, as a number of smallest numbers.
template <class F, Rounding R> inline uint32_t roundSmall(uint32_t magnitude, uint32_t away) {
  // Adding 2^23 smallest numbers leaves the count, rounded to nearest even, in the low bits.
  constexpr float kMagic = std::bit_cast<float>(F::kMagic);
  const float value = std::bit_cast<float>(magnitude), sum = value + kMagic;
  uint32_t count = std::bit_cast<uint32_t>(sum) - F::kMagic;
  if constexpr (R == Rounding::Nearest)
    return count;
  const float rounded = sum - kMagic; // exact
  uint32_t tooFar = rounded > value ? 1u : 0u, tooNear = rounded < value ? 1u : 0u;
  if constexpr (R == Rounding::Zero)
    return count - tooFar;
  return count - (tooFar & ~away) + (tooNear & away);
}

/// The code of a magnitude, as if there were no largest number.
template <class F, Rounding R> inline uint32_t roundMagnitude(uint32_t magnitude, uint32_t away) {
  if constexpr (F::kSpecials == Specials::Scale) {
    // Between 2^-127 and 2^-126 f32 is subnormal: there the fraction is moved to where it belongs.
    uint32_t least = magnitude < 0x00400000u ? 0x00400000u : magnitude;
    magnitude = magnitude < 0x00800000u ? (least - 0x00400000u) << 1 : magnitude;
  }
  uint32_t bits = magnitude + increment<F::kShift, R>(magnitude, away);
  uint32_t code = (bits >> F::kShift) - (uint32_t(127 - F::kBias) << F::kFractionBits);
  if constexpr (!F::kWide)
    code = magnitude < F::kMinNormal ? roundSmall<F, R>(magnitude, away) : code;
  return code;
}

template <class F, Rounding R, Excess E> inline uint32_t limit(uint32_t code, uint32_t magnitude,
                                                              uint32_t away) {
  uint32_t excess = F::kExcess;
  if constexpr (E == Excess::Saturate)
    excess = F::kMax;
  else if constexpr (R != Rounding::Nearest)
    // Toward zero, only infinity itself is not finite.
    excess = (away | (magnitude == kInfinityF32 ? ~0u : 0u)) ? F::kExcess : F::kMax;
  return code > F::kMax ? excess : code;
}

/// The code of a NaN, with the sign where the format has one.
template <class F> inline uint32_t nanCode(uint32_t magnitude, uint32_t sign) {
  if constexpr (F::kSpecials == Specials::Ieee) {
    constexpr uint32_t kFraction = (uint32_t(1) << F::kFractionBits) - 1;
    constexpr uint32_t kQuiet = (F::kMax + 1) | (uint32_t(1) << (F::kFractionBits - 1));
    return kQuiet | (magnitude >> F::kShift & kFraction) | sign;
  }
  if constexpr (F::kSpecials == Specials::NanOnly)
    return F::kExcess | sign;
  return F::kExcess;
}

/// Whether `value`, no NaN, rounds to nearest beyond the largest number.
template <class F> inline bool exceeds(float value) {
  uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffffu;
  return roundMagnitude<F, Rounding::Nearest>(magnitude, 0) > F::kMax;
}

/// `value` rounded once.
template <class F, Rounding R = Rounding::Nearest, Excess E = F::kNatural>
inline uint32_t encodeFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t negative = 0u - (bits >> 31);
  if constexpr (!F::kHasSign)
    negative = 0; // the rounding is that of the magnitude
  const uint32_t away = R == Rounding::Down ? negative : R == Rounding::Up ? ~negative : 0u;
  uint32_t code = limit<F, R, E>(roundMagnitude<F, R>(magnitude, away), magnitude, away);
  uint32_t sign = negative & F::kSignBit;
  if constexpr (!F::kHasSign)
    sign = 0;
  if constexpr (F::kSpecials == Specials::Fnuz)
    sign = code == 0 || code == F::kExcess ? 0u : sign;
  return magnitude > kInfinityF32 ? nanCode<F>(magnitude, sign) : code | sign;
}

} // namespace tk
