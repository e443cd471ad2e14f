//===- InterpFloatTest.cpp - floats, against oracles written another way -----------------===//

#include "tests/unit/InterpHarness.h"
#include <random>

using namespace tk::interp;
using namespace tk::interp::test;

//===----------------------------------------------------------------------===//
// Oracles: numbers as fractions of powers of two, rounded in double by hand
//===----------------------------------------------------------------------===//

namespace {
struct Format {
  DType type;
  int digits;      // of the significand, the leading one included
  int minExponent; // of the smallest normal number
  uint16_t infinity;
};
const Format kF16 = {DType::f16, 11, -14, 0x7c00};
const Format kBF16 = {DType::bf16, 8, -126, 0x7f80};
} // namespace

/// A pattern's value by the definition of the format.
static double valueOf(const Format &format, uint16_t bits) {
  int fractionBits = format.digits - 1;
  int exponentBits = 15 - fractionBits;
  int exponent = bits >> fractionBits & ((1 << exponentBits) - 1);
  int fraction = bits & ((1 << fractionBits) - 1);
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(fraction, format.minExponent - fractionBits);
  return sign * std::ldexp((1 << fractionBits) + fraction,
                           exponent - 1 + format.minExponent - fractionBits);
}

/// Round to nearest even through an integer significand; NaN gives 0xffff.
static uint16_t roundTo(const Format &format, double value) {
  if (value != value)
    return 0xffff;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(value);
  if (std::isinf(value))
    return sign | format.infinity;
  int exponent = value == 0 ? format.minExponent : std::max(std::ilogb(value), format.minExponent);
  double scaled = std::ldexp(value, format.digits - 1 - exponent);
  uint32_t whole = uint32_t(std::nearbyint(scaled)); // the scaled number is exact
  uint32_t bits = uint32_t(exponent - format.minExponent) << (format.digits - 1);
  bits += whole;
  return sign | uint16_t(std::min<uint32_t>(bits, format.infinity));
}

static bool sameFloat(const Format &format, uint16_t bits, uint16_t expected) {
  if (expected == 0xffff)
    return (bits & 0x7fff) > format.infinity;
  return bits == expected;
}

static std::vector<uint16_t> allPatterns() {
  std::vector<uint16_t> patterns(65536);
  for (size_t i = 0; i < patterns.size(); ++i)
    patterns[i] = uint16_t(i);
  return patterns;
}

/// Patterns that reach every exponent, subnormals, ties, infinities and NaNs.
static std::vector<uint16_t> randomPatterns(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint16_t> patterns(65536);
  for (uint16_t &pattern : patterns)
    pattern = uint16_t(random());
  return patterns;
}

TEST_CASE("every f16 and bf16 extends to f32 and f64 exactly and comes back", "[interp]") {
  for (const Format &format : {kF16, kBF16}) {
    std::vector<uint16_t> all = allPatterns();
    auto wide =
        elementwise<float>("%r = arith.extf %a : $in to $out", format.type, DType::f32, in(all));
    auto wider =
        elementwise<double>("%r = arith.extf %a : $in to $out", format.type, DType::f64, in(all));
    auto back =
        elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::f32, format.type, in(wide));
    unsigned wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      double value = valueOf(format, all[i]);
      bool isNan = value != value;
      wrong += isNan ? wide[i] == wide[i] || wider[i] == wider[i]
                     : double(wide[i]) != value || wider[i] != value;
      wrong += isNan ? (back[i] & 0x7fff) <= format.infinity : back[i] != all[i];
    }
    CHECK(wrong == 0);
  }
}

/// Around each pattern: itself, the halfway points to its neighbours, and a hair off those.
static std::vector<double> ties(const Format &format) {
  std::vector<double> values;
  for (uint32_t bits = 0; bits < format.infinity; ++bits) {
    double low = valueOf(format, uint16_t(bits));
    double high = bits + 1 == format.infinity ? 2 * low - valueOf(format, uint16_t(bits - 1))
                                              : valueOf(format, uint16_t(bits + 1));
    double half = low + (high - low) / 2;
    for (double value : {low, half, std::nextafter(half, 0.0), std::nextafter(half, INFINITY)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  values.push_back(INFINITY);
  values.push_back(NAN);
  return values;
}

TEST_CASE("f64 and f32 round to f16 and bf16 to nearest even, once", "[interp]") {
  for (const Format &format : {kF16, kBF16}) {
    std::vector<double> values = ties(format);
    auto rounded =
        elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::f64, format.type, in(values));
    std::vector<float> narrow(values.begin(), values.end());
    auto fromFloat =
        elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::f32, format.type, in(narrow));
    unsigned wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      wrong += !sameFloat(format, rounded[i], roundTo(format, values[i]));
      wrong += !sameFloat(format, fromFloat[i], roundTo(format, narrow[i]));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f16 to bf16 and back are rounded once", "[interp]") {
  std::vector<uint16_t> all = allPatterns();
  auto brain =
      elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::f16, DType::bf16, in(all));
  auto half =
      elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::bf16, DType::f16, in(all));
  unsigned wrong = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    wrong += !sameFloat(kBF16, brain[i], roundTo(kBF16, valueOf(kF16, all[i])));
    wrong += !sameFloat(kF16, half[i], roundTo(kF16, valueOf(kBF16, all[i])));
  }
  CHECK(wrong == 0);
}

TEST_CASE("conversions toward zero truncate", "[interp]") {
  for (const Format &format : {kF16, kBF16}) {
    std::vector<double> values = ties(format);
    auto cut = elementwise<uint16_t>("%r = tk.cast %a num <round = rtz> : $in -> $out", DType::f64,
                                     format.type, in(values));
    unsigned wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        continue;
      double result = valueOf(format, cut[i]);
      bool isBelow = std::fabs(result) <= std::fabs(values[i]);
      double next = valueOf(format, uint16_t(cut[i] + 1));
      wrong += !isBelow || !(std::fabs(next) > std::fabs(values[i]));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f16 and bf16 arithmetic is computed in f32 and rounded once", "[interp]") {
  struct Case {
    const char *op;
    double (*exact)(double, double);
  };
  const Case cases[] = {
      {"%r = arith.addf %a, %b : $out", [](double x, double y) { return x + y; }},
      {"%r = arith.subf %a, %b : $out", [](double x, double y) { return x - y; }},
      {"%r = arith.mulf %a, %b : $out", [](double x, double y) { return x * y; }},
      {"%r = tk.div %a, %b : $out", [](double x, double y) { return x / y; }},
  };
  Options options;
  options.checks.nan = NanCheck::Off;
  for (const Format &format : {kF16, kBF16})
    for (const Case &test : cases) {
      std::vector<uint16_t> a = randomPatterns(1), b = randomPatterns(2);
      auto result = elementwise<uint16_t>(test.op, format.type, format.type, in(a, b), options);
      unsigned wrong = 0;
      for (size_t i = 0; i < a.size(); ++i) {
        // The result in f32 is the exact one rounded; f32 has enough digits that rounding the
        // exact quotient, sum or product (in double) to f32 first is what IEEE f32 does.
        float single = float(test.exact(valueOf(format, a[i]), valueOf(format, b[i])));
        wrong += !sameFloat(format, result[i], roundTo(format, single));
      }
      INFO(test.op << " on " << nameOf(format.type));
      CHECK(wrong == 0);
    }
}

TEST_CASE("f16 fma is rounded once", "[interp]") {
  std::vector<uint16_t> a = randomPatterns(3), b = randomPatterns(4), c = randomPatterns(5);
  Options options;
  options.checks.nan = NanCheck::Off;
  for (const Format &format : {kF16, kBF16}) {
    auto result = elementwise<uint16_t>("%r = tk.fma %a, %b, %c : $out", format.type, format.type,
                                        in(a, b, c), options);
    unsigned wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      // The product is exact in 64 digits; the sum's error too. A double that is not the exact
      // sum is made odd, so that the last rounding sees on which side of a tie the sum lies.
      long double product = (long double)valueOf(format, a[i]) * valueOf(format, b[i]);
      long double addend = valueOf(format, c[i]), sum = product + addend, back = sum - product;
      long double error = (product - (sum - back)) + (addend - back);
      double low = double(sum);
      long double rest = (sum - (long double)low) + error;
      if (std::isfinite(low) && rest != 0 && !(std::bit_cast<uint64_t>(low) & 1))
        low = std::nextafter(low, rest > 0 ? INFINITY : -INFINITY);
      wrong += !sameFloat(format, result[i], roundTo(format, low));
    }
    INFO(nameOf(format.type));
    CHECK(wrong == 0);
  }
}

TEST_CASE("f32 and f64 arithmetic is IEEE", "[interp]") {
  std::mt19937_64 random(7);
  std::vector<float> a(4096), b(4096);
  std::vector<double> p(4096), q(4096);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = std::bit_cast<float>(uint32_t(random()));
    b[i] = std::bit_cast<float>(uint32_t(random()));
    p[i] = std::bit_cast<double>(random());
    q[i] = std::bit_cast<double>(random());
  }
  Options options;
  options.checks.nan = NanCheck::Off;
  auto quotient =
      elementwise<float>("%r = tk.div %a, %b : $out", DType::f32, DType::f32, in(a, b), options);
  auto product = elementwise<double>("%r = arith.mulf %a, %b : $out", DType::f64, DType::f64,
                                     in(p, q), options);
  auto negated =
      elementwise<float>("%r = arith.negf %a : $out", DType::f32, DType::f32, in(a), options);
  unsigned wrong = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    float expected = a[i] / b[i];
    wrong += expected == expected ? quotient[i] != expected : quotient[i] == quotient[i];
    double exact = p[i] * q[i];
    wrong += exact == exact ? product[i] != exact : product[i] == product[i];
    wrong += std::bit_cast<uint32_t>(negated[i]) != (std::bit_cast<uint32_t>(a[i]) ^ 0x80000000u);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a product and a sum are not contracted", "[interp]") {
  float x = 1 + 0x1p-13f, y = 1 - 0x1p-13f;
  auto result = elementwise<float>("%m = arith.mulf %a, %b : $out\n %r = arith.addf %m, %c : $out",
                                   DType::f32, DType::f32,
                                   in(std::vector{x}, std::vector{y}, std::vector{-1.f}));
  CHECK(result[0] == 0.f); // contracted: -2^-26
  auto fused = elementwise<float>("%r = tk.fma %a, %b, %c : $out", DType::f32, DType::f32,
                                  in(std::vector{x}, std::vector{y}, std::vector{-1.f}));
  CHECK(fused[0] == -0x1p-26f);
}

TEST_CASE("minimum and maximum order zeros and take NaN as told", "[interp]") {
  const float nan = NAN;
  std::vector<float> a = {-0.f, 0.f, nan, 1.f, nan, -INFINITY, 3.f};
  std::vector<float> b = {0.f, -0.f, 2.f, nan, nan, 5.f, -4.f};
  auto run = [&](const char *op) {
    return elementwise<float>(op, DType::f32, DType::f32, in(a, b));
  };
  auto low = run("%r = tk.min %a, %b : $out"), high = run("%r = tk.max %a, %b : $out");
  CHECK(std::signbit(low[0]));
  CHECK(std::signbit(low[1]));
  CHECK_FALSE(std::signbit(high[0]));
  CHECK_FALSE(std::signbit(high[1]));
  for (size_t i : {2, 3, 4}) {
    CHECK(std::isnan(low[i]));
    CHECK(std::isnan(high[i]));
  }
  CHECK(low[5] == -INFINITY);
  CHECK(high[6] == 3.f);
  auto number = run("%r = tk.max %a, %b num <nan = number> : $out");
  CHECK(number[2] == 2.f);
  CHECK(number[3] == 1.f);
  CHECK(std::isnan(number[4]));
  CHECK_FALSE(std::signbit(number[0]));
}

TEST_CASE("comparisons of floats follow their predicates with NaN", "[interp]") {
  std::vector<float> a = {1, 2, 2, NAN}, b = {2, 1, 2, 1};
  struct Case {
    const char *predicate;
    std::vector<uint8_t> expected;
  };
  const Case cases[] = {{"false", {0, 0, 0, 0}}, {"oeq", {0, 0, 1, 0}}, {"ogt", {0, 1, 0, 0}},
                        {"oge", {0, 1, 1, 0}},   {"olt", {1, 0, 0, 0}}, {"ole", {1, 0, 1, 0}},
                        {"one", {1, 1, 0, 0}},   {"ord", {1, 1, 1, 0}}, {"ueq", {0, 0, 1, 1}},
                        {"ugt", {0, 1, 0, 1}},   {"uge", {0, 1, 1, 1}}, {"ult", {1, 0, 0, 1}},
                        {"ule", {1, 0, 1, 1}},   {"une", {1, 1, 0, 1}}, {"uno", {0, 0, 0, 1}},
                        {"true", {1, 1, 1, 1}}};
  for (const Case &test : cases) {
    auto result =
        elementwise<uint8_t>("%r = arith.cmpf " + std::string(test.predicate) + ", %a, %b : $in",
                             DType::f32, DType::i1, in(a, b));
    INFO(test.predicate);
    CHECK(result == test.expected);
  }
}

TEST_CASE("functions are within half a unit of the last place and a little", "[interp]") {
  struct Case {
    const char *name;
    long double (*exact)(long double);
    double low, high;
  };
  const Case cases[] = {
      {"exp", [](long double x) { return std::exp(x); }, -90, 88},
      {"exp2", [](long double x) { return std::exp2(x); }, -140, 127},
      {"log", [](long double x) { return std::log(x); }, 1e-30, 1e30},
      {"log2", [](long double x) { return std::log2(x); }, 1e-30, 1e30},
      {"sqrt", [](long double x) { return std::sqrt(x); }, 0, 1e30},
      {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1e-30, 1e30},
      {"sin", [](long double x) { return std::sin(x); }, -100, 100},
      {"cos", [](long double x) { return std::cos(x); }, -100, 100},
      {"tanh", [](long double x) { return std::tanh(x); }, -10, 10},
      {"erf", [](long double x) { return std::erf(x); }, -4, 4},
      {"sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }, -80, 80},
  };
  std::mt19937 random(11);
  for (const Case &test : cases) {
    std::uniform_real_distribution<double> distribution(test.low, test.high);
    std::vector<float> x(4096);
    for (float &value : x)
      value = float(distribution(random));
    auto result = elementwise<float>("%r = tk.unary " + std::string(test.name) + " %a : $out",
                                     DType::f32, DType::f32, in(x));
    unsigned wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      long double exact = test.exact(x[i]);
      float nearest = float(exact);
      double ulp = std::fabs(std::nextafter(nearest, INFINITY) - nearest);
      wrong += std::fabs((long double)result[i] - exact) > 0.5001L * ulp;
    }
    INFO(test.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("functions at the ends of their range", "[interp]") {
  auto at = [](const char *fn, float x) {
    Options options;
    options.checks.nan = NanCheck::Off;
    return elementwise<float>("%r = tk.unary " + std::string(fn) + " %a : $out", DType::f32,
                              DType::f32, in(std::vector{x}), options)[0];
  };
  CHECK(at("exp", -INFINITY) == 0);
  CHECK(at("exp", 100) == INFINITY);
  CHECK(at("exp2", -149) == 0x1p-149f);
  CHECK(at("log", 0) == -INFINITY);
  CHECK(std::isnan(at("log", -1)));
  CHECK(at("rsqrt", 0) == INFINITY);
  CHECK(at("sigmoid", -INFINITY) == 0);
  CHECK(at("sigmoid", 200) == 1);
  CHECK(at("abs", -0.f) == 0);
  CHECK_FALSE(std::signbit(at("abs", -0.f)));
  CHECK(at("floor", -1.5f) == -2);
  CHECK(std::signbit(at("ceil", -0.5f)));
}
