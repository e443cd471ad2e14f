//===- Reference.cpp - conversions by definition -------------------------------===//

#include "tests/conversions/Reference.h"
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <map>

namespace conversions {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Spec integerSpec(int bits, bool isSigned) {
  Spec spec;
  spec.bits = bits;
  spec.isSigned = isSigned;
  spec.hasMinusZero = false;
  spec.saturates = true;
  return spec;
}

static Spec floatSpec(int exponentBits, int fractionBits, int bias) {
  Spec spec;
  spec.isFloat = true;
  spec.bits = 1 + exponentBits + fractionBits;
  spec.exponentBits = exponentBits;
  spec.fractionBits = fractionBits;
  spec.bias = bias;
  spec.hasInfinity = spec.hasNan = true;
  return spec;
}

Spec specOf(DType type) {
  Spec spec;
  switch (type) {
  case DType::i1:
    return integerSpec(1, false);
  case DType::f16:
    return floatSpec(5, 10, 15);
  case DType::bf16:
    return floatSpec(8, 7, 127);
  case DType::f32:
    return floatSpec(8, 23, 127);
  case DType::f64:
    return floatSpec(11, 52, 1023);
  case DType::f8e5m2:
    spec = floatSpec(5, 2, 15);
    break;
  case DType::f8e4m3fn:
    spec = floatSpec(4, 3, 7);
    spec.hasInfinity = false;
    break;
  case DType::f8e4m3fnuz:
    spec = floatSpec(4, 3, 8);
    spec.hasInfinity = spec.hasMinusZero = false;
    break;
  case DType::f8e5m2fnuz:
    spec = floatSpec(5, 2, 16);
    spec.hasInfinity = spec.hasMinusZero = false;
    break;
  case DType::f4e2m1:
    spec = floatSpec(2, 1, 1);
    spec.hasInfinity = spec.hasNan = false;
    break;
  case DType::e8m0:
    spec = floatSpec(8, 0, 127);
    spec.bits = 8;
    spec.isSigned = spec.hasInfinity = spec.hasMinusZero = false;
    break;
  default: {
    std::string name = tk::interp::nameOf(type);
    return integerSpec(std::stoi(name.substr(1)), name[0] == 'i');
  }
  }
  spec.saturates = true;
  return spec;
}

static uint64_t lowBits(int count) {
  return count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
}

static Value integerValue(const Spec &spec, uint64_t code) {
  Value value;
  value.negative = spec.isSigned && code >> (spec.bits - 1) & 1;
  value.magnitude = Real(value.negative ? (0 - code) & lowBits(spec.bits) : code);
  return value;
}

Value valueOf(DType type, uint64_t code) {
  const Spec spec = specOf(type);
  if (!spec.isFloat)
    return integerValue(spec, code);
  Value value;
  const uint64_t fraction = code & lowBits(spec.fractionBits);
  const int exponent = int(code >> spec.fractionBits & lowBits(spec.exponentBits));
  const bool isTop = exponent == int(lowBits(spec.exponentBits));
  value.negative = spec.isSigned && code >> (spec.bits - 1) & 1;
  bool isNan = false;
  if (spec.hasInfinity) {
    if (isTop && fraction == 0)
      value.kind = Value::Kind::Infinite;
    isNan = isTop && fraction != 0;
  } else if (type == DType::e8m0) {
    isNan = isTop;
  } else if (spec.hasNan) {
    isNan = spec.hasMinusZero ? isTop && fraction == lowBits(spec.fractionBits)
                              : code == uint64_t(1) << (spec.bits - 1);
  }
  if (isNan) {
    value.kind = Value::Kind::Nan;
    value.negative &= spec.hasMinusZero; // elsewhere NaN has no sign
    value.digits = spec.hasInfinity ? fraction << (64 - spec.fractionBits) : 0;
  } else if (type == DType::e8m0) {
    value.magnitude = std::ldexp(Real(1), exponent - 127);
  } else if (value.kind == Value::Kind::Finite) {
    uint64_t significand = exponent == 0 ? fraction : fraction + lowBits(spec.fractionBits) + 1;
    value.magnitude =
        std::ldexp(Real(significand), std::max(exponent, 1) - spec.bias - spec.fractionBits);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Types as lists of their numbers
//===----------------------------------------------------------------------===//

static Ladder makeLadder(DType type, bool negative) {
  const Spec spec = specOf(type);
  std::vector<std::pair<Real, uint64_t>> numbers;
  for (uint64_t code = 0; code <= lowBits(spec.bits); ++code) {
    Value value = valueOf(type, code);
    // Types without -0, and those without a sign, have one zero for both sides.
    bool isHere = value.negative == negative || (!spec.hasMinusZero && value.magnitude == 0);
    if (value.kind == Value::Kind::Finite && (isHere || type == DType::e8m0))
      numbers.push_back({value.magnitude, code});
  }
  std::sort(numbers.begin(), numbers.end());
  Ladder ladder;
  for (auto [magnitude, code] : numbers) {
    ladder.magnitudes.push_back(magnitude);
    ladder.codes.push_back(code);
    // Of floats the last digit of the significand; of e8m0 that of the exponent; of integers theirs.
    ladder.even.push_back(code % 2 == 0);
  }
  const size_t count = numbers.size();
  Real last = numbers.back().first;
  ladder.beyond = type == DType::e8m0 ? last * 2
                  : count > 1         ? last + (last - numbers[count - 2].first)
                                      : last + 1;
  return ladder;
}

const Ladder &ladderOf(DType type, bool negative) {
  static std::map<std::pair<DType, bool>, Ladder> ladders;
  auto [entry, isNew] = ladders.try_emplace({type, negative});
  if (isNew)
    entry->second = makeLadder(type, negative);
  return entry->second;
}

/// Magnitudes round away from zero.
static bool isAway(DType to, bool negative, Rounding rounding) {
  if (to == DType::e8m0)
    negative = false;
  return rounding == (negative ? Rounding::Down : Rounding::Up);
}

/// The code of what is too large for the type.
static uint64_t excessCode(DType to, bool negative, Rule rule, bool isInfinite) {
  const Spec spec = specOf(to);
  const uint64_t last = ladderOf(to, negative).codes.back();
  bool saturates = rule.overflow == OverflowRule::Saturate ||
                   (rule.overflow == OverflowRule::Natural && spec.saturates);
  bool staysFinite =
      !isInfinite && rule.rounding != Rounding::Nearest && !isAway(to, negative, rule.rounding);
  if (saturates || staysFinite || !spec.hasNan)
    return last;
  // Infinity, or the only NaN, is the code above the largest number; without -0 it is that of -0.
  return spec.hasMinusZero || to == DType::e8m0 ? last + 1 : uint64_t(1) << (spec.bits - 1);
}

std::vector<Step> stepsOf(DType to, bool negative, Rule rule) {
  const Ladder &ladder = ladderOf(to, negative);
  std::vector<Step> steps = {{0, false, ladder.codes.front()}};
  for (size_t i = 0; i < ladder.codes.size(); ++i) {
    const bool isLast = i + 1 == ladder.codes.size();
    const Real low = ladder.magnitudes[i];
    const Real high = isLast ? ladder.beyond : ladder.magnitudes[i + 1];
    const uint64_t code =
        isLast ? excessCode(to, negative, rule, /*isInfinite=*/false) : ladder.codes[i + 1];
    if (rule.rounding == Rounding::Nearest)
      steps.push_back({(low + high) / 2, bool(ladder.even[i]), code});
    else if (isAway(to, negative, rule.rounding))
      steps.push_back({low, true, code});
    else
      steps.push_back({high, false, code});
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static uint64_t nanCode(const Value &value, DType to) {
  const Spec spec = specOf(to);
  if (!spec.isFloat)
    return 0;
  if (!spec.hasNan)
    return ladderOf(to, false).codes.back(); // the largest number, without the sign
  if (to == DType::e8m0)
    return 0xff;
  if (!spec.hasMinusZero)
    return 0x80;
  const uint64_t sign = uint64_t(value.negative) << (spec.bits - 1);
  if (!spec.hasInfinity)
    return sign | lowBits(spec.bits - 1);
  const uint64_t digits = (value.digits | uint64_t(1) << 63) >> (64 - spec.fractionBits);
  return sign | lowBits(spec.exponentBits) << spec.fractionBits | digits;
}

template <class T, class Bits> static uint64_t roundByHardware(Real real, Rule rule) {
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  volatile Real source = real;
  std::fesetround(modes[int(rule.rounding)]);
  volatile T rounded = T(source);
  std::fesetround(FE_TONEAREST);
  T result = rounded;
  if (rule.overflow == OverflowRule::Saturate && std::isinf(result))
    result = std::copysign(std::numeric_limits<T>::max(), result);
  Bits bits;
  std::memcpy(&bits, &result, sizeof bits);
  return bits;
}

static uint64_t toLargeInteger(const Value &value, const Spec &spec, Rounding rounding) {
  Real whole = std::floor(value.magnitude), rest = value.magnitude - whole;
  bool up = rounding == (value.negative ? Rounding::Down : Rounding::Up) ? rest > 0
            : rounding == Rounding::Nearest
                ? rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) == 1)
                : false;
  whole += up;
  const Real limit = std::ldexp(Real(1), spec.isSigned ? spec.bits - 1 : spec.bits);
  if (value.negative && !spec.isSigned)
    return 0;
  if (value.kind == Value::Kind::Infinite || whole >= limit)
    return value.negative ? uint64_t(1) << (spec.bits - 1)
                          : lowBits(spec.isSigned ? spec.bits - 1 : spec.bits);
  uint64_t magnitude = uint64_t(whole);
  return (value.negative ? 0 - magnitude : magnitude) & lowBits(spec.bits);
}

Converter::Converter(DType to, Rule rule) : to(to), rule(rule), spec(specOf(to)) {
  for (bool negative : {false, true})
    if (spec.bits <= 16) {
      steps[negative] = stepsOf(to, negative, rule);
      infinite[negative] = excessCode(to, negative, rule, /*isInfinite=*/true);
    }
}

uint64_t Converter::operator()(const Value &value) const {
  if (value.kind == Value::Kind::Nan)
    return nanCode(value, to);
  const bool isInfinite = value.kind == Value::Kind::Infinite;
  Real real = isInfinite ? std::numeric_limits<Real>::infinity() : value.magnitude;
  real = value.negative ? -real : real;
  if (to == DType::f32)
    return roundByHardware<float, uint32_t>(real, rule);
  if (to == DType::f64)
    return roundByHardware<double, uint64_t>(real, rule);
  if (spec.bits > 16)
    return toLargeInteger(value, spec, rule.rounding);
  if (isInfinite)
    return infinite[value.negative];
  const std::vector<Step> &list = steps[value.negative];
  auto after = std::partition_point(list.begin(), list.end(), [&](const Step &step) {
    return step.isOpen ? step.from < value.magnitude : step.from <= value.magnitude;
  });
  return std::prev(after)->code;
}

OverflowRule naturalRule(DType to) {
  return specOf(to).saturates ? OverflowRule::Saturate : OverflowRule::Ieee;
}

uint64_t convertInteger(DType from, uint64_t code, DType to, OverflowRule overflow) {
  const Spec spec = specOf(to);
  const Value value = valueOf(from, code);
  if (overflow == OverflowRule::Saturate)
    return toLargeInteger(value, spec, Rounding::Zero);
  uint64_t magnitude = uint64_t(value.magnitude);
  return (value.negative ? 0 - magnitude : magnitude) & lowBits(spec.bits);
}

} // namespace conversions
