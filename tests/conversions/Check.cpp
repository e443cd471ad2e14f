//===- Check.cpp - comparing conversions code by code ---------------------------===//

#include "tests/conversions/Check.h"
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

namespace conversions {

static const char *nameOf(Rounding rounding) {
  static constexpr const char *names[] = {"rne", "rtz", "down", "up"};
  return names[int(rounding)];
}
static const char *nameOf(OverflowRule overflow) {
  static constexpr const char *names[] = {"natural", "saturate", "ieee"};
  return names[int(overflow)];
}

static void printDifference(DType from, DType to, Rule rule, uint64_t code, uint64_t expected,
                            uint64_t found) {
  std::printf("%s 0x%" PRIx64 " -> %s, %s, %s: 0x%" PRIx64 " expected, found 0x%" PRIx64 "\n",
              tk::interp::nameOf(from), code, tk::interp::nameOf(to), nameOf(rule.rounding),
              nameOf(rule.overflow), expected, found);
}

namespace {
/// Codes of one type, as the interpreter and as the reference read them.
struct Inputs {
  DType type;
  std::vector<uint64_t> codes;
  std::vector<uint8_t> bytes;
  std::vector<Value> values;
};
} // namespace

static std::vector<uint8_t> run(const Inputs &inputs, DType to, Rule rule) {
  std::vector<uint8_t> found(inputs.codes.size() * tk::interp::byteSize(to));
  if (auto conversion = tk::interp::conversionOf(inputs.type, to, rule.rounding, rule.overflow))
    conversion->run(inputs.bytes.data(), found.data(), inputs.codes.size());
  return found;
}

static std::vector<uint64_t> expectedCodes(const Inputs &inputs, DType to, Rule rule) {
  std::vector<uint64_t> expected;
  const bool isInteger = !specOf(inputs.type).isFloat && !specOf(to).isFloat;
  const Converter converter(to, rule);
  for (size_t i = 0; i < inputs.codes.size(); ++i)
    expected.push_back(isInteger ? convertInteger(inputs.type, inputs.codes[i], to, rule.overflow)
                                 : converter(inputs.values[i]));
  return expected;
}

static void compare(Report &report, const Inputs &inputs, DType to, Rule rule,
                    const std::vector<uint64_t> &expected) {
  const unsigned bytes = tk::interp::byteSize(to);
  const std::vector<uint8_t> found = run(inputs, to, rule);
  unsigned shown = 0;
  for (size_t i = 0; i < inputs.codes.size(); ++i) {
    uint64_t code = 0;
    std::memcpy(&code, &found[i * bytes], bytes);
    if (code == expected[i])
      continue;
    ++report.wrong;
    if (++shown <= 5)
      printDifference(inputs.type, to, rule, inputs.codes[i], expected[i], code);
  }
  report.checked += inputs.codes.size();
}

void checkAllRules(Report &report, DType from, DType to, const std::vector<uint64_t> &codes) {
  if (from == to)
    return;
  const unsigned bytes = tk::interp::byteSize(from);
  Inputs inputs = {from, codes, std::vector<uint8_t>(codes.size() * bytes), {}};
  for (size_t i = 0; i < codes.size(); ++i) {
    std::memcpy(&inputs.bytes[i * bytes], &codes[i], bytes);
    inputs.values.push_back(valueOf(from, codes[i]));
  }
  const bool isInteger = !specOf(from).isFloat && !specOf(to).isFloat;
  for (Rounding rounding : kRoundings)
    for (OverflowRule overflow : {OverflowRule::Saturate, OverflowRule::Ieee}) {
      const auto expected = expectedCodes(inputs, to, {rounding, overflow});
      compare(report, inputs, to, {rounding, overflow}, expected);
      if (overflow == (isInteger ? OverflowRule::Ieee : naturalRule(to)))
        compare(report, inputs, to, {rounding, OverflowRule::Natural}, expected);
    }
}

//===----------------------------------------------------------------------===//
// Codes of wide types
//===----------------------------------------------------------------------===//

template <class T> static uint64_t codeOf(T value) {
  uint64_t code = 0;
  std::memcpy(&code, &value, sizeof value);
  return code;
}

/// The float nearest to `number`, and its neighbours, on both sides of zero.
template <class T> static void addNear(std::vector<uint64_t> &codes, Real number) {
  T value = T(number);
  for (int i = 0; i < 2; ++i)
    value = std::nextafter(value, T(0));
  for (int i = 0; i < 5; ++i, value = std::nextafter(value, std::numeric_limits<T>::infinity())) {
    codes.push_back(codeOf(value));
    codes.push_back(codeOf(-value));
  }
}

static void addNearInteger(std::vector<uint64_t> &codes, const Spec &spec, Real number) {
  if (number < 0.25L || number > std::ldexp(Real(1), spec.bits))
    return;
  uint64_t mask = spec.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << spec.bits) - 1;
  uint64_t center = number >= std::ldexp(Real(1), 64) ? ~uint64_t(0) : uint64_t(number);
  for (int offset = -2; offset <= 2; ++offset) {
    codes.push_back((center + uint64_t(offset)) & mask);
    codes.push_back((0 - center + uint64_t(offset)) & mask);
  }
}

static void addNear(std::vector<uint64_t> &codes, DType from, Real number) {
  if (from == DType::f32)
    addNear<float>(codes, number);
  else if (from == DType::f64)
    addNear<double>(codes, number);
  else
    addNearInteger(codes, specOf(from), number);
}

/// Numbers of which f32 or f64 have two neighbours at equal distance, or nearly so.
static void addTies(std::vector<uint64_t> &codes, DType from) {
  for (int top = -150; top <= 128; ++top)
    for (int gap : {23, 24, 25, 52, 53, 54, 60}) {
      Real one = std::ldexp(Real(1), top), half = std::ldexp(Real(1), top - gap);
      for (Real number : {one, one + half, one + 3 * half, 2 * one - half, half})
        addNear(codes, from, number);
    }
}

/// All of f32; of the others as many as take no more than a moment.
static void addSteps(std::vector<uint64_t> &codes, DType from, const std::vector<Step> &steps) {
  const size_t stride = from == DType::f32 || steps.size() < 1000 ? 1 : 7;
  for (size_t i = 0; i < steps.size(); i += stride)
    addNear(codes, from, steps[i].from);
}

std::vector<uint64_t> chosenCodes(DType from, DType to) {
  std::vector<uint64_t> codes;
  const Spec spec = specOf(from);
  if (specOf(to).bits <= 16)
    for (Rounding rounding : {Rounding::Nearest, Rounding::Zero})
      addSteps(codes, from, stepsOf(to, false, {rounding, OverflowRule::Saturate}));
  addTies(codes, from);
  std::mt19937_64 random(from == DType::f32 ? 1 : 2);
  const uint64_t mask = spec.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << spec.bits) - 1;
  for (int i = 0; i < 20000; ++i)
    codes.push_back(random() & mask);
  // Sums and differences of few powers of two: every carry, and digits far below the last kept.
  for (int high = 0; high < spec.bits; ++high)
    for (int low = 0; low <= high; ++low)
      for (uint64_t sign : {uint64_t(1), ~uint64_t(0)}) {
        uint64_t number = (uint64_t(1) << high) + sign * (uint64_t(1) << low);
        for (uint64_t code : {number, number + 1, number - 1, 0 - number})
          codes.push_back(code & mask);
      }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

} // namespace conversions
