//===- Conversion.h - elements of one type from elements of another -----------===//
//
//   Conversion half = *conversionOf(DType::f64, DType::f16, Rounding::Up, OverflowRule::Natural);
//   half.run(from, to, count);
//
// Every pair of types of numbers is here, each conversion rounded once. What a rule does out of
// range, with NaN, infinity and zeros stands in docs/language.md, Numbers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Number.h"
#include <cstddef>
#include <optional>

namespace tk::interp {

/// In the order of tk::Overflow. Natural: f16, bf16, f32 and f64 overflow as IEEE 754 says, smaller
/// floats saturate; floats saturate as integers, integers keep their low bits.
enum class OverflowRule : uint8_t { Natural, Saturate, Ieee };

/// One way or two steps by way of a type that holds what the second one needs: f32 or f64 (wider
/// sources are rounded to odd), or i64.
class Conversion {
public:
  /// Reads `count` elements, writes `count` elements; the two do not overlap.
  using Step = void (*)(const void *from, void *to, size_t count);

  Conversion(Step only) : first(only) {}
  Conversion(Step first, Step second, DType from, DType middle, DType to);

  void run(const void *from, void *to, size_t count) const;

private:
  Step first;
  Step second = nullptr;
  uint8_t fromBytes = 0, middleBytes = 0, toBytes = 0;
};

/// Types have their signs here: u8 and i8 differ. None for pointers and from a type to itself.
std::optional<Conversion> conversionOf(DType from, DType to, Rounding rounding,
                                       OverflowRule overflow);
/// Truncation for a float that becomes an integer, else to nearest even.
Rounding defaultRounding(DType from, DType to);

// ConversionInteger.cpp
/// From f32 or f64; saturates.
Conversion::Step floatToIntegerStep(DType from, DType to, Rounding rounding);
/// From an integer of 32 or 64 bits to f32 or f64.
Conversion::Step integerToFloatStep(DType from, DType to, Rounding rounding);
/// Any integer as i64, and i64 as any integer; u64 that is larger keeps its bits, or saturates.
Conversion::Step integerToWideStep(DType from, bool saturate);
Conversion::Step wideToIntegerStep(DType to, bool saturate);

/// The loop that applies `Fn` to every element.
template <auto Fn> struct ElementLoop;
template <class To, class From, To (*Fn)(From)> struct ElementLoop<Fn> {
  static void run(const void *from, void *to, size_t count) {
    const From *__restrict source = static_cast<const From *>(from);
    To *__restrict target = static_cast<To *>(to);
    for (size_t i = 0; i < count; ++i)
      target[i] = Fn(source[i]);
  }
};

/// Calls `fn` with `std::integral_constant<Rounding, rounding>()`.
template <class Fn> auto withRounding(Rounding rounding, Fn &&fn) {
  switch (rounding) {
  case Rounding::Nearest:
    return fn(std::integral_constant<Rounding, Rounding::Nearest>());
  case Rounding::Zero:
    return fn(std::integral_constant<Rounding, Rounding::Zero>());
  case Rounding::Down:
    return fn(std::integral_constant<Rounding, Rounding::Down>());
  default:
    return fn(std::integral_constant<Rounding, Rounding::Up>());
  }
}

/// A double rounded once to f32; overflow as IEEE 754 says.
template <Rounding R> inline float doubleToFloat(double value) {
  const float nearest = float(value);
  const double back = double(nearest);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const bool isNegative = bits >> 31;
  if constexpr (R == Rounding::Nearest)
    return nearest;
  // One step away from zero is one more in the pattern, from the largest number to infinity too.
  uint32_t shrink = 0, grow = 0;
  if constexpr (R == Rounding::Zero)
    shrink = std::fabs(back) > std::fabs(value);
  if constexpr (R == Rounding::Down) {
    shrink = back > value && !isNegative;
    grow = back > value && isNegative;
  }
  if constexpr (R == Rounding::Up) {
    shrink = back < value && isNegative;
    grow = back < value && !isNegative;
  }
  return std::bit_cast<float>(bits - shrink + grow);
}

} // namespace tk::interp
