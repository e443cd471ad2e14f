//===- ExecCast.cpp - conversions between element types ------------------------===//
//
// Every conversion rounds once. i1 is 0 or 1 in tk.cast, whatever the flags say; in arith.extsi a
// set bit extends to -1.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <type_traits>

using namespace tk::interp;

template <class From, class To, class Op> static void convert(const Inst &inst, Frame &frame) {
  const From *__restrict a = frame.at<From>(inst.a);
  To *__restrict result = frame.at<To>(inst.dst);
  const size_t n = frame.count(inst);
  for (size_t i = 0; i < n; ++i)
    result[i] = Op::template apply<From, To>(a[i]);
}

//===----------------------------------------------------------------------===//
// Integers to integers
//===----------------------------------------------------------------------===//

namespace {
/// Sign extension for signed From, zero extension for unsigned, truncation.
struct ByValue {
  template <class From, class To> static To apply(From value) { return To(value); }
};
struct BoolSign {
  template <class From, class To> static To apply(From value) { return value ? To(-1) : To(0); }
};
struct LowBit {
  template <class From, class To> static To apply(From value) { return To(value & 1); }
};
} // namespace

template <class From, class Op> static InstFn toInteger(DType to) {
  switch (to) {
  case DType::i8:
    return convert<From, int8_t, Op>;
  case DType::i16:
    return convert<From, int16_t, Op>;
  case DType::i32:
    return convert<From, int32_t, Op>;
  case DType::i64:
    return convert<From, int64_t, Op>;
  default:
    return nullptr;
  }
}

/// Runs `F<type>(args)` for the C++ type that holds integers of `type` with the sign asked for.
#define TK_FOR_INTEGER(TYPE, UNSIGNED, CALL)                                                       \
  switch (TYPE) {                                                                                  \
  case DType::i8:                                                                                  \
    return UNSIGNED ? CALL(uint8_t) : CALL(int8_t);                                                \
  case DType::i16:                                                                                 \
    return UNSIGNED ? CALL(uint16_t) : CALL(int16_t);                                              \
  case DType::i32:                                                                                 \
    return UNSIGNED ? CALL(uint32_t) : CALL(int32_t);                                              \
  case DType::i64:                                                                                 \
    return UNSIGNED ? CALL(uint64_t) : CALL(int64_t);                                              \
  default:                                                                                         \
    return nullptr;                                                                                \
  }

static InstFn extendFloat(DType from, DType to);

InstFn tk::interp::selectExtend(DType from, DType to, bool isUnsigned) {
  if (isFloat(from))
    return extendFloat(from, to);
  if (from == DType::i1)
    return isUnsigned ? toInteger<uint8_t, ByValue>(to) : toInteger<uint8_t, BoolSign>(to);
#define TK_CALL(T) (toInteger<T, ByValue>(to))
  TK_FOR_INTEGER(from, isUnsigned, TK_CALL)
#undef TK_CALL
}

InstFn tk::interp::selectTruncate(DType from, DType to) {
#define TK_TO_BOOL(T) (convert<T, uint8_t, LowBit>)
  if (to == DType::i1) {
    TK_FOR_INTEGER(from, true, TK_TO_BOOL)
  }
#undef TK_TO_BOOL
#define TK_CALL(T) (toInteger<T, ByValue>(to))
  TK_FOR_INTEGER(from, true, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Floats to floats
//===----------------------------------------------------------------------===//

namespace {
struct Nearest {
  template <class From, class To> static To apply(From value) {
    if constexpr (std::is_same_v<From, double>)
      return fromDouble<To>(value);
    else if constexpr (std::is_same_v<To, double>)
      return double(Numeric<From>::load(value));
    else
      return Numeric<To>::round(Numeric<From>::load(value));
  }
};

template <class To> To floatTowardZero(float value) {
  if constexpr (std::is_same_v<To, F16>)
    return {floatToF16TowardZero(value)};
  else if constexpr (std::is_same_v<To, BF16>)
    return {floatToBF16TowardZero(value)};
  else
    return To(value);
}

struct TowardZero {
  template <class From, class To> static To apply(From value) {
    if constexpr (std::is_same_v<To, double>)
      return double(Numeric<From>::load(value));
    else if constexpr (std::is_same_v<From, double>)
      return floatTowardZero<To>(doubleToFloatTowardZero(value));
    else
      return floatTowardZero<To>(Numeric<From>::load(value));
  }
};
} // namespace

template <class From, class Op> static InstFn floatTo(DType to) {
  switch (to) {
  case DType::f16:
    return convert<From, F16, Op>;
  case DType::bf16:
    return convert<From, BF16, Op>;
  case DType::f32:
    return convert<From, float, Op>;
  case DType::f64:
    return convert<From, double, Op>;
  default:
    return nullptr;
  }
}

template <class Op> static InstFn floatToFloat(DType from, DType to) {
  switch (from) {
  case DType::f16:
    return floatTo<F16, Op>(to);
  case DType::bf16:
    return floatTo<BF16, Op>(to);
  case DType::f32:
    return floatTo<float, Op>(to);
  case DType::f64:
    return floatTo<double, Op>(to);
  default:
    return nullptr;
  }
}

static InstFn extendFloat(DType from, DType to) {
  return floatToFloat<Nearest>(from, to);
}

//===----------------------------------------------------------------------===//
// Integers to floats
//===----------------------------------------------------------------------===//

namespace {
template <class From> double toDoubleOdd(From value) {
  if constexpr (std::is_signed_v<From>)
    if (value < 0)
      return -integerToDoubleOdd(0 - uint64_t(value));
  return integerToDoubleOdd(uint64_t(value));
}

struct IntNearest {
  template <class From, class To> static To apply(From value) {
    if constexpr (std::is_same_v<To, double> || std::is_same_v<To, float>)
      return To(value); // the hardware rounds once
    else
      return fromDouble<To>(toDoubleOdd(value));
  }
};

struct IntTowardZero {
  template <class From, class To> static To apply(From value) {
    if constexpr (std::is_same_v<To, double>) {
      uint64_t magnitude = uint64_t(value);
      bool isNegative = std::is_signed_v<From> && value < From(0);
      magnitude = isNegative ? 0 - magnitude : magnitude;
      if (magnitude >> 53)
        magnitude &= ~uint64_t(0) << (std::bit_width(magnitude) - 53);
      return isNegative ? -double(magnitude) : double(magnitude);
    } else {
      return floatTowardZero<To>(doubleToFloatTowardZero(toDoubleOdd(value)));
    }
  }
};
} // namespace

template <class Op> static InstFn intToFloat(DType from, DType to, bool isUnsigned) {
  if (from == DType::i1)
    return floatTo<uint8_t, Op>(to);
#define TK_CALL(T) (floatTo<T, Op>(to))
  TK_FOR_INTEGER(from, isUnsigned, TK_CALL)
#undef TK_CALL
}

//===----------------------------------------------------------------------===//
// Floats to integers
//===----------------------------------------------------------------------===//

namespace {
/// Rounded to an integer, then brought into To's range: its nearest end, or its low bits.
template <bool Truncate, bool Saturate> struct ToInteger {
  template <class From, class To> static To apply(From number) {
    double value = double(Numeric<From>::load(number));
    value = Truncate ? std::trunc(value) : std::nearbyint(value);
    constexpr double kTop = double(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr double kBottom = double(std::numeric_limits<To>::min());
    if (value != value)
      return 0;
    if (value >= kBottom && value < kTop)
      return To(value);
    if constexpr (Saturate)
      return value < 0 ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
    if (!std::isfinite(value))
      return 0;
    double low = std::fmod(std::fabs(value), 0x1p64);
    return To(value < 0 ? 0 - uint64_t(low) : uint64_t(low));
  }
};

/// i1: 1 for what rounds to 1 or more when saturating, else the low bit.
template <bool Truncate, bool Saturate> struct ToBool {
  template <class From, class To> static To apply(From number) {
    uint64_t whole = ToInteger<Truncate, Saturate>::template apply<From, uint64_t>(number);
    return To(Saturate ? whole != 0 : whole & 1);
  }
};
} // namespace

template <class From, template <bool, bool> class Op, class To>
static InstFn floatToIntOf(CastRule rule) {
  if (rule.towardZero)
    return rule.saturate ? convert<From, To, Op<true, true>> : convert<From, To, Op<true, false>>;
  return rule.saturate ? convert<From, To, Op<false, true>> : convert<From, To, Op<false, false>>;
}

template <class From> static InstFn floatToInt(DType to, CastRule rule) {
  if (to == DType::i1)
    return floatToIntOf<From, ToBool, uint8_t>(rule);
#define TK_CALL(T) (floatToIntOf<From, ToInteger, T>(rule))
  TK_FOR_INTEGER(to, rule.toUnsigned, TK_CALL)
#undef TK_CALL
}

InstFn tk::interp::selectCast(DType from, DType to, CastRule rule) {
  if (!isFloat(from))
    return rule.towardZero ? intToFloat<IntTowardZero>(from, to, rule.fromUnsigned)
                           : intToFloat<IntNearest>(from, to, rule.fromUnsigned);
  if (isFloat(to))
    return rule.towardZero ? floatToFloat<TowardZero>(from, to) : floatToFloat<Nearest>(from, to);
  switch (from) {
  case DType::f16:
    return floatToInt<F16>(to, rule);
  case DType::bf16:
    return floatToInt<BF16>(to, rule);
  case DType::f32:
    return floatToInt<float>(to, rule);
  default:
    return floatToInt<double>(to, rule);
  }
}
