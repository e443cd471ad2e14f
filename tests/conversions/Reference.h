//===- Reference.h - conversions by definition, to test the fast ones against -------===//
//
// Written from the tables of docs/language.md, by other means than backends/interp: a format is the
// list of its numbers (as long double, which holds every number of every type exactly), a number is
// converted by looking for its two neighbours in that list, and the rounding chooses between them.
// f32 and f64 are rounded by the hardware under the rounding mode in question.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "backends/interp/Conversion.h"
#include <string>
#include <vector>

namespace conversions {

using tk::interp::DType;
using tk::interp::OverflowRule;
using tk::Rounding;

using Real = long double;

/// A number, or what is none.
struct Value {
  enum class Kind : uint8_t { Finite, Infinite, Nan } kind = Kind::Finite;
  bool negative = false;
  Real magnitude = 0;  // of a finite one
  uint64_t digits = 0; // of a NaN: its fraction, the first digit in bit 63
};

struct Rule {
  Rounding rounding;
  OverflowRule overflow;
};
constexpr Rounding kRoundings[] = {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up};
constexpr OverflowRule kOverflows[] = {OverflowRule::Natural, OverflowRule::Saturate,
                                       OverflowRule::Ieee};
constexpr DType kAllTypes[] = {
    DType::i1,       DType::i4,     DType::i8,         DType::i16,        DType::i32,
    DType::i64,      DType::u4,     DType::u8,         DType::u16,        DType::u32,
    DType::u64,      DType::f16,    DType::bf16,       DType::f32,        DType::f64,
    DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz, DType::f4e2m1,
    DType::e8m0};

/// What the definition of a type says about it.
struct Spec {
  bool isFloat = false, isSigned = true;
  int bits = 0;
  int exponentBits = 0, fractionBits = 0, bias = 0;
  bool hasInfinity = false, hasNan = false, hasMinusZero = true;
  bool saturates = false; // by nature
};
Spec specOf(DType type);

/// What a code means.
Value valueOf(DType type, uint64_t code);

/// The numbers of a type of at most 16 bits on one side of zero, in rising order.
struct Ladder {
  std::vector<Real> magnitudes; // the first is 0, or 2^-127 for e8m0
  std::vector<uint64_t> codes;
  std::vector<bool> even; // which of two neighbours a tie chooses
  Real beyond = 0;        // the number after the largest, if there were one
};
const Ladder &ladderOf(DType type, bool negative);

/// Where the codes of a conversion change: magnitudes of at least `from` (above it when `isOpen`)
/// give `code`, until the next step.
struct Step {
  Real from;
  bool isOpen;
  uint64_t code;
};
/// Of all finite magnitudes on one side of zero, in rising order; for types of at most 16 bits.
std::vector<Step> stepsOf(DType to, bool negative, Rule rule);

/// Conversions to one type under one rule.
class Converter {
public:
  Converter(DType to, Rule rule);
  uint64_t operator()(const Value &value) const;

private:
  DType to;
  Rule rule;
  Spec spec;
  std::vector<Step> steps[2]; // of positive and negative numbers
  uint64_t infinite[2];
};

/// From an integer to another integer.
uint64_t convertInteger(DType from, uint64_t code, DType to, OverflowRule overflow);

/// Floats saturate by nature, or overflow as IEEE 754 says; integers keep their low bits.
OverflowRule naturalRule(DType to);

} // namespace conversions
