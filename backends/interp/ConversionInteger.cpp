//===- ConversionInteger.cpp - the steps that begin or end at an integer ---------===//
//
// A float is rounded to an integer, then brought to the nearest end of the range; NaN gives 0. An
// i1 is an integer of the range 0 to 1.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Conversion.h"
#include <algorithm>

using namespace tk;
using namespace tk::interp;

using Step = Conversion::Step;

namespace {
/// A range, and how its numbers lie in memory.
template <class T> struct Range {
  using Element = T;
  static constexpr int64_t kLow = int64_t(std::numeric_limits<T>::min());
  static constexpr uint64_t kHigh = uint64_t(std::numeric_limits<T>::max());
};
template <> struct Range<Bool> {
  using Element = uint8_t;
  static constexpr int64_t kLow = 0;
  static constexpr uint64_t kHigh = 1;
};
template <> struct Range<I4> {
  using Element = uint8_t;
  static constexpr int64_t kLow = -8;
  static constexpr uint64_t kHigh = 7;
};
template <> struct Range<U4> {
  using Element = uint8_t;
  static constexpr int64_t kLow = 0;
  static constexpr uint64_t kHigh = 15;
};

template <class T> constexpr uint64_t kStoredBits = ~uint64_t(0);
template <> constexpr uint64_t kStoredBits<Bool> = 1;
template <> constexpr uint64_t kStoredBits<I4> = 15;
template <> constexpr uint64_t kStoredBits<U4> = 15;
} // namespace

template <class T> static typename Range<T>::Element stored(int64_t value) {
  return typename Range<T>::Element(uint64_t(value) & kStoredBits<T>);
}

/// Calls `fn` with a value of the C++ type behind an integer type.
template <class Fn> static Step withInteger(DType type, Fn &&fn) {
  switch (type) {
  case DType::i1:
    return fn(Bool());
  case DType::i4:
    return fn(I4());
  case DType::u4:
    return fn(U4());
  case DType::i8:
    return fn(int8_t());
  case DType::u8:
    return fn(uint8_t());
  case DType::i16:
    return fn(int16_t());
  case DType::u16:
    return fn(uint16_t());
  case DType::i32:
    return fn(int32_t());
  case DType::u32:
    return fn(uint32_t());
  case DType::i64:
    return fn(int64_t());
  default:
    return fn(uint64_t());
  }
}

//===----------------------------------------------------------------------===//
// Floats to integers
//===----------------------------------------------------------------------===//

/// `value` and the numbers beside it fit `Wide`.
template <Rounding R, class Wide, class Float> static Wide roundWhole(Float value) {
  const Wide whole = Wide(value); // toward zero
  const Float rest = value - Float(whole);
  if constexpr (R == Rounding::Down)
    return whole - Wide(rest < 0);
  if constexpr (R == Rounding::Up)
    return whole + Wide(rest > 0);
  if constexpr (R == Rounding::Nearest) {
    const bool isOdd = whole & 1;
    return whole + Wide(rest > Float(0.5) || (isOdd && rest == Float(0.5))) -
           Wide(rest < Float(-0.5) || (isOdd && rest == Float(-0.5)));
  }
  return whole;
}

/// Ranges whose ends, and one more, are numbers of `Float` and fit `Wide`.
template <class T, Rounding R, class Float, class Wide>
static typename Range<T>::Element toSmallInteger(Float value) {
  constexpr Wide kLow = Wide(Range<T>::kLow), kHigh = Wide(Range<T>::kHigh);
  value = value == value ? value : Float(0);
  value = value < Float(kLow - 1) ? Float(kLow - 1) : value;
  value = value > Float(kHigh + 1) ? Float(kHigh + 1) : value;
  Wide whole = roundWhole<R, Wide>(value);
  whole = whole < kLow ? kLow : whole;
  return stored<T>(whole > kHigh ? kHigh : whole);
}

/// i64 and u64, whose last number is none of `Float`.
template <class T, Rounding R, class Float> static T toLargeInteger(Float value) {
  constexpr Float kEnd = Float(std::is_signed_v<T> ? 0x1p63 : 0x1p64);
  constexpr Float kLow = std::is_signed_v<T> ? Float(-0x1p63) : Float(0);
  if (value != value)
    return 0;
  if (value >= kEnd)
    return std::numeric_limits<T>::max();
  if (value < kLow)
    return std::numeric_limits<T>::min();
  return roundWhole<R, T>(value);
}

template <class T, Rounding R, class Float>
static typename Range<T>::Element toInteger(Float value) {
  if constexpr (sizeof(T) == 8)
    return toLargeInteger<T, R, Float>(value);
  else if constexpr (sizeof(T) == 4 && sizeof(Float) == 4)
    return toSmallInteger<T, R, double, int64_t>(double(value));
  else
    return toSmallInteger<T, R, Float,
                          std::conditional_t<sizeof(Float) == 4, int32_t, int64_t>>(value);
}

Step tk::interp::floatToIntegerStep(DType from, DType to, Rounding rounding) {
  return withInteger(to, [&](auto target) {
    return withRounding(rounding, [&](auto mode) -> Step {
      using T = decltype(target);
      return from == DType::f64 ? ElementLoop<toInteger<T, mode.value, double>>::run
                                : ElementLoop<toInteger<T, mode.value, float>>::run;
    });
  });
}

//===----------------------------------------------------------------------===//
// Integers to floats
//===----------------------------------------------------------------------===//

template <class T, Rounding R> static double integerToDouble(T value) {
  if constexpr (R == Rounding::Nearest || sizeof(T) == 4)
    return double(value); // exact, or rounded by the hardware
  const bool isNegative = std::is_signed_v<T> && value < 0;
  const uint64_t magnitude = isNegative ? 0 - uint64_t(value) : uint64_t(value);
  if (magnitude >> 53 == 0)
    return double(value);
  const uint64_t unit = uint64_t(1) << (std::bit_width(magnitude) - 53);
  double result = double(magnitude & ~(unit - 1));
  const bool isAway = isNegative ? R == Rounding::Down : R == Rounding::Up;
  if (isAway && (magnitude & (unit - 1)) != 0)
    result += double(unit);
  return isNegative ? -result : result;
}

template <class T, Rounding R> static float integerToFloat(T value) {
  if constexpr (sizeof(T) == 4)
    return doubleToFloat<R>(double(value));
  if constexpr (std::is_signed_v<T>)
    if (value < 0)
      return doubleToFloat<R>(-integerToDoubleOdd(0 - uint64_t(value)));
  return doubleToFloat<R>(integerToDoubleOdd(uint64_t(value)));
}

Step tk::interp::integerToFloatStep(DType from, DType to, Rounding rounding) {
  return withRounding(rounding, [&](auto mode) {
    auto choose = [&](auto source) -> Step {
      using T = decltype(source);
      return to == DType::f64 ? ElementLoop<integerToDouble<T, mode.value>>::run
                              : ElementLoop<integerToFloat<T, mode.value>>::run;
    };
    switch (from) {
    case DType::i32:
      return choose(int32_t());
    case DType::u32:
      return choose(uint32_t());
    case DType::i64:
      return choose(int64_t());
    default:
      return choose(uint64_t());
    }
  });
}

//===----------------------------------------------------------------------===//
// Integers to integers
//===----------------------------------------------------------------------===//

template <class T> static int64_t wide(typename Range<T>::Element value) {
  if constexpr (std::is_same_v<T, I4>)
    return int64_t((value & 15) ^ 8) - 8;
  else
    return int64_t(value);
}
static int64_t wideClamped(uint64_t value) {
  return int64_t(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

Step tk::interp::integerToWideStep(DType from, bool saturate) {
  if (from == DType::u64 && saturate)
    return ElementLoop<wideClamped>::run;
  return withInteger(from, [](auto source) -> Step {
    return ElementLoop<wide<decltype(source)>>::run;
  });
}

template <class T, bool Saturate> static typename Range<T>::Element fromWide(int64_t value) {
  if constexpr (Saturate) {
    value = std::max(value, Range<T>::kLow);
    if (value > 0 && uint64_t(value) > Range<T>::kHigh)
      value = int64_t(Range<T>::kHigh);
  }
  return stored<T>(value);
}

Step tk::interp::wideToIntegerStep(DType to, bool saturate) {
  return withInteger(to, [&](auto target) -> Step {
    using T = decltype(target);
    return saturate ? ElementLoop<fromWide<T, true>>::run : ElementLoop<fromWide<T, false>>::run;
  });
}
