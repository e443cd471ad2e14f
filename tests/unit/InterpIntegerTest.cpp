//===- InterpIntegerTest.cpp - integers, their corners, and casts -------------------------===//

#include "tests/unit/InterpHarness.h"
#include <random>

using namespace tk::interp;
using namespace tk::interp::test;

/// No reports about the corner cases, which are what is tested.
static Options quiet() {
  Options options;
  options.checks.arithmetic = false;
  return options;
}

/// The language's rules in 128 bits, for one pair.
template <class T> static T expected(const std::string &op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  __int128 x = a, y = b;
  if (op == "div")
    return b == 0 ? T(0) : T(x / y);
  if (op == "rem")
    return b == 0 ? a : T(x % y);
  if (op == "shl")
    return U(b) >= width ? T(0) : T((unsigned __int128)(U(a)) << U(b));
  if (op == "shr")
    return T(x >> (U(b) >= width ? width : U(b)));
  if (op == "min")
    return x < y ? a : b;
  if (op == "max")
    return x > y ? a : b;
  if (op == "add")
    return T(x + y);
  if (op == "sub")
    return T(x - y);
  return T((unsigned __int128)x * (unsigned __int128)y);
}

template <class T> static std::vector<T> corners(unsigned seed) {
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           7,
                           8,
                           15,
                           16,
                           31,
                           32,
                           63,
                           64,
                           100,
                           T(-1),
                           T(-2),
                           T(-7),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           T(std::numeric_limits<T>::min() + 1)};
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i)
    values.push_back(T(random()));
  return values;
}

template <class T> static void checkAllPairs(DType type, const std::string &op) {
  std::vector<T> a, b;
  for (T x : corners<T>(1))
    for (T y : corners<T>(2)) {
      a.push_back(x);
      b.push_back(y);
    }
  bool isPlain = op == "add" || op == "sub" || op == "mul";
  std::string text = isPlain ? "%r = arith." + op + "i %a, %b : $out"
                             : "%r = tk." + op + " %a, %b" +
                                   (std::is_unsigned_v<T> ? " unsigned" : "") + " : $out";
  auto result = elementwise<T>(text, type, type, in(a, b), quiet());
  unsigned wrong = 0;
  for (size_t i = 0; i < a.size(); ++i)
    wrong += result[i] != expected<T>(op, a[i], b[i]);
  INFO(op << " on " << nameOf(type) << (std::is_unsigned_v<T> ? " unsigned" : ""));
  CHECK(wrong == 0);
}

TEST_CASE("integers wrap, divide and shift as the language says", "[interp]") {
  for (const char *op : {"add", "sub", "mul", "div", "rem", "shl", "shr", "min", "max"}) {
    checkAllPairs<int8_t>(DType::i8, op);
    checkAllPairs<int16_t>(DType::i16, op);
    checkAllPairs<int32_t>(DType::i32, op);
    checkAllPairs<int64_t>(DType::i64, op);
    checkAllPairs<uint8_t>(DType::u8, op);
    checkAllPairs<uint16_t>(DType::u16, op);
    checkAllPairs<uint32_t>(DType::u32, op);
    checkAllPairs<uint64_t>(DType::u64, op);
  }
}

TEST_CASE("the stated corners, by hand", "[interp]") {
  std::vector<int32_t> a = {7, 7, INT32_MIN, INT32_MIN, 1, 1, -8}, b = {0, -2, -1, 0, 32, -1, 40};
  auto run = [&](const char *op) {
    return elementwise<int32_t>(op, DType::i32, DType::i32, in(a, b), quiet());
  };
  auto div = run("%r = tk.div %a, %b : $out"), rem = run("%r = tk.rem %a, %b : $out");
  auto shl = run("%r = tk.shl %a, %b : $out"), shr = run("%r = tk.shr %a, %b : $out");
  CHECK(div[0] == 0);
  CHECK(div[1] == -3);
  CHECK(div[2] == INT32_MIN);
  CHECK(rem[0] == 7);
  CHECK(rem[1] == 1);
  CHECK(rem[2] == 0);
  CHECK(rem[3] == INT32_MIN);
  CHECK(shl[4] == 0);
  CHECK(shl[5] == 0);
  CHECK(shr[6] == -1);
}

TEST_CASE("i1 is one bit", "[interp]") {
  std::vector<uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  auto run = [&](const std::string &op) {
    return elementwise<uint8_t>("%r = " + op + " : $out", DType::i1, DType::i1, in(a, b), quiet());
  };
  using Bits = std::vector<uint8_t>;
  CHECK(run("arith.addi %a, %b") == Bits{0, 1, 1, 0});
  CHECK(run("arith.muli %a, %b") == Bits{0, 0, 0, 1});
  CHECK(run("arith.xori %a, %b") == Bits{0, 1, 1, 0});
  CHECK(run("tk.div %a, %b") == Bits{0, 0, 0, 1});
  CHECK(run("tk.rem %a, %b unsigned") == Bits{0, 0, 1, 0});
  CHECK(run("tk.shr %a, %b") == Bits{0, 0, 1, 1});
  CHECK(run("tk.shr %a, %b unsigned") == Bits{0, 0, 1, 0});
  CHECK(run("tk.max %a, %b") == Bits{0, 0, 0, 1});
  CHECK(run("tk.max %a, %b unsigned") == Bits{0, 1, 1, 1});
  CHECK(run("arith.cmpi slt, %a, %b") == Bits{0, 0, 1, 0}); // the signed 1 is -1
  CHECK(run("arith.cmpi ult, %a, %b") == Bits{0, 1, 0, 0});
}

TEST_CASE("integer conversions extend, truncate and mask", "[interp]") {
  std::vector<int8_t> bytes = {0, 1, 127, -128, -1};
  auto wide =
      elementwise<int32_t>("%r = arith.extsi %a : $in to $out", DType::i8, DType::i32, in(bytes));
  auto zero =
      elementwise<int32_t>("%r = arith.extui %a : $in to $out", DType::i8, DType::i32, in(bytes));
  CHECK(wide == std::vector<int32_t>{0, 1, 127, -128, -1});
  CHECK(zero == std::vector<int32_t>{0, 1, 127, 128, 255});
  std::vector<uint8_t> bits = {0, 1};
  auto sign =
      elementwise<int64_t>("%r = arith.extsi %a : $in to $out", DType::i1, DType::i64, in(bits));
  CHECK(sign == std::vector<int64_t>{0, -1});
  std::vector<int32_t> words = {0, 1, 2, 3, -1, 256};
  auto low =
      elementwise<uint8_t>("%r = arith.trunci %a : $in to $out", DType::i32, DType::i1, in(words));
  CHECK(low == std::vector<uint8_t>{0, 1, 0, 1, 1, 0});
  auto cut =
      elementwise<int8_t>("%r = arith.trunci %a : $in to $out", DType::i32, DType::i8, in(words));
  CHECK(cut == std::vector<int8_t>{0, 1, 2, 3, -1, 0});
}

TEST_CASE("floats become integers by truncation and saturation", "[interp]") {
  std::vector<float> x = {1.9f, -1.9f, 3e9f,   -3e9f, INFINITY, -INFINITY,
                          NAN,  -0.5f, 255.5f, 2.5f,  3.5f};
  auto i32 = elementwise<int32_t>("%r = tk.cast %a : $in -> $out", DType::f32, DType::i32, in(x));
  CHECK(i32 ==
        std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, 0, 255, 2, 3});
  auto u8 = elementwise<uint8_t>("%r = tk.cast %a to_unsigned : $in -> $out", DType::f32, DType::u8,
                                 in(x));
  CHECK(u8 == std::vector<uint8_t>{1, 0, 255, 0, 255, 0, 0, 0, 255, 2, 3});
  auto i64 = elementwise<int64_t>("%r = tk.cast %a : $in -> $out", DType::f32, DType::i64,
                                  in(std::vector{9.3e18f, -9.3e18f, 0x1p62f}));
  CHECK(i64 == std::vector<int64_t>{INT64_MAX, INT64_MIN, int64_t(1) << 62});
  auto nearest = elementwise<int32_t>("%r = tk.cast %a num <round = rne> : $in -> $out", DType::f32,
                                      DType::i32, in(x));
  CHECK(nearest[9] == 2);
  CHECK(nearest[10] == 4);
  CHECK(nearest[1] == -2);
  auto bit = elementwise<uint8_t>("%r = tk.cast %a to_unsigned : $in -> $out", DType::f32,
                                  DType::i1, in(x));
  CHECK(bit == std::vector<uint8_t>{1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("integers become floats with one rounding", "[interp]") {
  std::vector<int64_t> x = {(int64_t(1) << 53) + 1,
                            INT64_MAX,
                            INT64_MIN,
                            65519,
                            65520,
                            -65521,
                            (int64_t(1) << 60) + (int64_t(1) << 52) + 1,
                            2049,
                            2051,
                            -7};
  auto f32 = elementwise<float>("%r = tk.cast %a : $in -> $out", DType::i64, DType::f32, in(x));
  auto f16 = elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::i64, DType::f16, in(x));
  auto bf16 =
      elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::i64, DType::bf16, in(x));
  CHECK(f32[0] == 0x1p53f);
  CHECK(f32[1] == 0x1p63f);
  CHECK(f16[3] == 0x7bff);
  CHECK(f16[4] == 0x7c00);
  CHECK(f16[5] == 0xfc00);
  // 2^60 + 2^52 is the tie; one more would become the tie if it were rounded to double first.
  int64_t tie = (int64_t(1) << 60) + (int64_t(1) << 52);
  auto around = elementwise<uint16_t>("%r = tk.cast %a : $in -> $out", DType::i64, DType::bf16,
                                      in(std::vector<int64_t>{tie - 1, tie, tie + 1}));
  CHECK(around == std::vector<uint16_t>{0x5d80, 0x5d80, 0x5d81});
  auto u64 = elementwise<float>("%r = tk.cast %a from_unsigned : $in -> $out", DType::u64,
                                DType::f32, in(std::vector<uint64_t>{~uint64_t(0), 5}));
  CHECK(u64[0] == 0x1p64f);
  CHECK(u64[1] == 5);
  auto yes = elementwise<float>("%r = tk.cast %a from_unsigned : $in -> $out", DType::i1,
                                DType::f32, in(std::vector<uint8_t>{0, 1}));
  CHECK(yes == std::vector<float>{0, 1});
}

TEST_CASE("select and absolute value", "[interp]") {
  std::vector<int16_t> x = {5, -5, INT16_MIN, 0}, y = {1, 2, 3, 4};
  auto result =
      elementwise<int16_t>("%z = tk.unary abs %a : $out\n %m = arith.cmpi sgt, %a, %b : $out\n"
                           "%r = arith.select %m, %z, %b : tensor<4xi1>, $out",
                           DType::i16, DType::i16, in(x, y));
  CHECK(result == std::vector<int16_t>{5, 2, 3, 4});
  auto abs = elementwise<int16_t>("%r = tk.unary abs %a : $out", DType::i16, DType::i16, in(x));
  CHECK(abs == std::vector<int16_t>{5, 5, INT16_MIN, 0});
}

TEST_CASE("what has a stated value but should not happen is a warning", "[interp]") {
  std::vector<std::string> messages;
  std::vector<int32_t> a = {6, 7, INT32_MIN, INT32_MIN}, b = {3, 0, -1, 0};
  auto quotient = elementwise<int32_t>("%r = tk.div %a, %b : $out", DType::i32, DType::i32,
                                       in(a, b), {}, &messages);
  CHECK(quotient == std::vector<int32_t>{2, 0, INT32_MIN, 0});
  REQUIRE(messages.size() == 3);
  CHECK(messages[0] == "5: TK5013: program (0, 0, 0) divides 7 by zero at [1]");
  CHECK(messages[1] == "  1 more of this kind at this place");
  CHECK(messages[2].find("TK5014") != std::string::npos);
  (void)elementwise<int32_t>("%r = tk.shl %a, %b : $out", DType::i32, DType::i32,
                             in(std::vector<int32_t>{1, 1}, std::vector<int32_t>{31, 32}), {},
                             &messages);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] == "5: TK5015: program (0, 0, 0) shifts by 32, the width is 32 at [1]");
}
