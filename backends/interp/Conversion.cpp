//===- Conversion.cpp - the steps between floats, and which to take ---------------===//

#include "backends/interp/Conversion.h"
#include <algorithm>

using namespace tk;
using namespace tk::interp;

using Step = Conversion::Step;

Conversion::Conversion(Step first, Step second, DType from, DType middle, DType to)
    : first(first), second(second), fromBytes(uint8_t(byteSize(from))),
      middleBytes(uint8_t(byteSize(middle))), toBytes(uint8_t(byteSize(to))) {}

void Conversion::run(const void *from, void *to, size_t count) const {
  if (!second)
    return first(from, to, count);
  constexpr size_t kChunk = 512; // what lies between stays in the nearest cache
  alignas(64) uint64_t between[kChunk];
  const auto *source = static_cast<const uint8_t *>(from);
  auto *target = static_cast<uint8_t *>(to);
  for (size_t done = 0; done < count; done += kChunk) {
    size_t now = std::min(kChunk, count - done);
    first(source + done * fromBytes, between, now);
    second(between, target + done * toBytes, now);
  }
}

//===----------------------------------------------------------------------===//
// To f32
//===----------------------------------------------------------------------===//

/// A NaN that signals becomes quiet, as in every conversion of IEEE 754.
template <NarrowFloat T> static float widen(T value) {
  float wide = toFloat(value);
  if constexpr (T::Format::kSpecials != Specials::Ieee)
    return wide;
  uint32_t bits = std::bit_cast<uint32_t>(wide);
  bool isNan = (bits & 0x7fffffffu) > kInfinityF32;
  return std::bit_cast<float>(bits | (isNan ? 0x00400000u : 0u));
}

/// Integers that f32 holds.
template <class T> static float exactly(T value) {
  return float(value);
}
template <> float exactly<I4>(I4 value) {
  return toFloat(value);
}
template <> float exactly<U4>(U4 value) {
  return toFloat(value);
}

template <class T> static float roundToOdd(T value) {
  if constexpr (std::is_signed_v<T> && sizeof(T) == 8 && !std::is_floating_point_v<T>)
    if (value < 0)
      return -doubleToFloatOdd(integerToDoubleOdd(0 - uint64_t(value)));
  if constexpr (std::is_unsigned_v<T> || (sizeof(T) == 8 && !std::is_floating_point_v<T>))
    return doubleToFloatOdd(integerToDoubleOdd(uint64_t(value)));
  else
    return doubleToFloatOdd(double(value));
}

/// What f32 does not hold is rounded to odd. Null for f32 itself.
static Step toF32Step(DType from) {
  switch (from) {
  case DType::f32:
    return nullptr;
  case DType::i1:
  case DType::u8:
    return ElementLoop<exactly<uint8_t>>::run;
  case DType::i4:
    return ElementLoop<exactly<I4>>::run;
  case DType::u4:
    return ElementLoop<exactly<U4>>::run;
  case DType::i8:
    return ElementLoop<exactly<int8_t>>::run;
  case DType::i16:
    return ElementLoop<exactly<int16_t>>::run;
  case DType::u16:
    return ElementLoop<exactly<uint16_t>>::run;
  case DType::i32:
    return ElementLoop<roundToOdd<int32_t>>::run;
  case DType::u32:
    return ElementLoop<roundToOdd<uint32_t>>::run;
  case DType::i64:
    return ElementLoop<roundToOdd<int64_t>>::run;
  case DType::u64:
    return ElementLoop<roundToOdd<uint64_t>>::run;
  case DType::f64:
    return ElementLoop<roundToOdd<double>>::run;
  default:
    return withNarrowFloat(
        from, [](auto narrow) -> Step { return ElementLoop<widen<decltype(narrow)>>::run; });
  }
}

//===----------------------------------------------------------------------===//
// From f32 and f64
//===----------------------------------------------------------------------===//

template <class T, Rounding R, Excess E> static T narrow(float value) {
  return {decltype(T::bits)(encodeFloat<typename T::Format, R, E>(value))};
}

static Excess excessOf(DType to, OverflowRule overflow) {
  if (overflow != OverflowRule::Natural)
    return overflow == OverflowRule::Saturate ? Excess::Saturate : Excess::Ieee;
  if (to == DType::f32 || to == DType::f64)
    return Excess::Ieee;
  return withNarrowFloat(to, [](auto narrow) { return decltype(narrow)::Format::kNatural; });
}

static Step narrowStep(DType to, Rounding rounding, Excess excess) {
  return withNarrowFloat(to, [&](auto target) {
    return withRounding(rounding, [&](auto mode) -> Step {
      using T = decltype(target);
      return excess == Excess::Saturate ? ElementLoop<narrow<T, mode.value, Excess::Saturate>>::run
                                        : ElementLoop<narrow<T, mode.value, Excess::Ieee>>::run;
    });
  });
}

/// The nearest finite number; NaN stays.
template <class T> static T clampFinite(T value) {
  constexpr T kMax = std::numeric_limits<T>::max();
  value = value > kMax ? kMax : value;
  return value < -kMax ? -kMax : value;
}
static double toDouble(float value) {
  return value;
}
static double toFiniteDouble(float value) {
  // An infinity of f32 is beyond all numbers of f64 too.
  return clampFinite(double(value));
}
template <Rounding R> static float toFiniteFloat(double value) {
  return clampFinite(doubleToFloat<R>(value));
}

static Step doubleToFloatStep(Rounding rounding, Excess excess) {
  return withRounding(rounding, [&](auto mode) -> Step {
    return excess == Excess::Saturate ? ElementLoop<toFiniteFloat<mode.value>>::run
                                      : ElementLoop<doubleToFloat<mode.value>>::run;
  });
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// By way of f32, where both ends allow it.
static Conversion byF32(DType from, DType to, Step second) {
  Step first = toF32Step(from);
  if (!first)
    return Conversion(second);
  return second ? Conversion(first, second, from, DType::f32, to) : Conversion(first);
}

static bool isWideInteger(DType type) {
  return !isFloat(type) && byteSize(type) >= 4;
}

static Conversion toFloatType(DType from, DType to, Rounding rounding, OverflowRule overflow) {
  const Excess excess = excessOf(to, overflow);
  if (to != DType::f32 && to != DType::f64)
    return byF32(from, to, narrowStep(to, rounding, excess));
  if (isWideInteger(from))
    return integerToFloatStep(from, to, rounding);
  if (from == DType::f64)
    return doubleToFloatStep(rounding, excess);
  if (to == DType::f64)
    return byF32(from, to,
                 excess == Excess::Saturate ? ElementLoop<toFiniteDouble>::run
                                            : ElementLoop<toDouble>::run);
  return byF32(from, to, excess == Excess::Saturate ? ElementLoop<clampFinite<float>>::run : nullptr);
}

Rounding tk::interp::defaultRounding(DType from, DType to) {
  return isFloat(from) && !isFloat(to) ? Rounding::Zero : Rounding::Nearest;
}

std::optional<Conversion> tk::interp::conversionOf(DType from, DType to, Rounding rounding,
                                                   OverflowRule overflow) {
  if (from == to || from == DType::ptr || to == DType::ptr)
    return std::nullopt;
  if (isFloat(to))
    return toFloatType(from, to, rounding, overflow);
  if (from == DType::f64)
    return Conversion(floatToIntegerStep(from, to, rounding));
  if (isFloat(from))
    return byF32(from, to, floatToIntegerStep(DType::f32, to, rounding));
  const bool saturates = overflow == OverflowRule::Saturate;
  return Conversion(integerToWideStep(from, saturates), wideToIntegerStep(to, saturates), from,
                    DType::i64, to);
}
