//===- InterpControlTest.cpp - reductions, loops, branches, shapes -------------------------===//

#include "tests/unit/InterpHarness.h"
#include <random>

using namespace tk::interp;
using namespace tk::interp::test;

static const char *const kView1 = "!tk.view<f32, 1, 0>";

/// The tree by its definition: split after the largest power of two below n.
static float treeSum(const float *x, size_t n) {
  if (n == 1)
    return x[0];
  size_t left = 1;
  while (left * 2 < n)
    left *= 2;
  return treeSum(x, left) + treeSum(x + left, n - left);
}

/// Sums the middle axis of a (outer, side, inner) tile.
static std::vector<float> sumMiddle(const std::vector<float> &x, int outer, int side, int inner) {
  Harness harness;
  auto shape = [](std::initializer_list<int> sides) {
    std::string text;
    for (int s : sides)
      text += std::to_string(s) + "x";
    return "tensor<" + text + "f32>";
  };
  std::string o = std::to_string(outer), s = std::to_string(side), i = std::to_string(inner);
  std::string body = "  %z = arith.constant 0 : i64\n  %x = tk.read %px[%z, %z, %z] widths [" + o +
                     ", " + s + ", " + i + "] : !tk.view<f32, 3, 0> -> " +
                     shape({outer, side, inner}) +
                     "\n  %r = tk.reduce %x axis 1 order any : " + shape({outer, side, inner}) +
                     " -> " + shape({outer, inner}) +
                     " {\n  ^bb0(%a: f32, %b: f32):\n    %c = arith.addf %a, %b : f32\n"
                     "    tk.yield %c : f32\n  }\n  tk.write %r, %pr[%z, %z] widths [" +
                     o + ", " + i + "] : " + shape({outer, inner}) + ", !tk.view<f32, 2, 1>";
  std::string text = kernelText(
      "%px: !tk.view<f32, 3, 0>, %pr: !tk.view<f32, 2, 1>",
      tensorEntry("x", DType::f32, "in", o + ", " + s + ", " + i, "\"x.s0\", \"x.s1\", 1") + ", " +
          tensorEntry("r", DType::f32, "out", o + ", " + i, "\"r.s0\", 1"),
      "1, 1, 1", body);
  Buffer in = Buffer::make("x", DType::f32, {outer, side, inner});
  std::memcpy(in.data(), x.data(), x.size() * 4);
  Buffer out = Buffer::makeEmpty("r", DType::f32, {outer, inner});
  auto report = harness.run(text, {Argument::tensor("x", in), Argument::tensor("r", out)});
  REQUIRE(mlir::succeeded(report));
  CHECK(harness.messages.empty());
  return valuesOf<float>(out);
}

TEST_CASE("a sum is the balanced tree, bit by bit", "[interp]") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (int inner : {1, 3})
    for (int outer : {1, 2})
      for (int side = 1; side <= 70; ++side) {
        std::vector<float> x(size_t(outer * side * inner));
        for (float &value : x)
          value = normal(random) * std::exp2(normal(random) * 4);
        std::vector<float> sums = sumMiddle(x, outer, side, inner);
        for (int o = 0; o < outer; ++o)
          for (int i = 0; i < inner; ++i) {
            std::vector<float> line;
            for (int s = 0; s < side; ++s)
              line.push_back(x[size_t((o * side + s) * inner + i)]);
            REQUIRE(sums[size_t(o * inner + i)] == treeSum(line.data(), line.size()));
          }
      }
}

/// Reads `x` of n elements as `%x`, runs `body` that makes the scalar `%r`, writes it.
static double reduceTo(const std::string &body, std::vector<float> x, DType type,
                       std::vector<std::string> *messages = nullptr) {
  Harness harness;
  std::string n = std::to_string(x.size()), element = signless(type);
  std::string text = kernelText(
      std::string("%px: ") + kView1 + ", %pr: !tk.view<" + element + ", 0, 1>",
      tensorEntry("x", DType::f32, "in", "\"N\"", "1") + ", " +
          tensorEntry("r", type, "out", "", ""),
      "1, 1, 1",
      "  %z = arith.constant 0 : i64\n  %x = tk.read %px[%z] widths [" + n + "] : " + kView1 +
          " -> tensor<" + n + "xf32>\n" + body + "\n  tk.write %r, %pr[] widths [] : " + element +
          ", !tk.view<" + element + ", 0, 1>");
  Buffer in = bufferOf("x", DType::f32, x), out = Buffer::makeEmpty("r", type, {});
  auto report = harness.run(text, {Argument::tensor("x", in), Argument::tensor("r", out)});
  for (const std::string &message : harness.messages)
    UNSCOPED_INFO(message);
  REQUIRE(mlir::succeeded(report));
  if (messages)
    *messages = harness.messages;
  return elementToDouble(type, out.data());
}

TEST_CASE("the lower index is on the left", "[interp]") {
  // Keeping the left operand gives the first element, the right one the last.
  for (size_t n : {1, 2, 3, 6, 7, 13}) {
    std::vector<float> x;
    for (size_t i = 0; i < n; ++i)
      x.push_back(float(i + 10));
    std::string type = "tensor<" + std::to_string(n) + "xf32> -> f32";
    std::string head = "  %r = tk.reduce %x axis 0 order indexed : " + type +
                       " {\n  ^bb0(%a: f32, %b: f32):\n    tk.yield ";
    CHECK(reduceTo(head + "%a : f32\n  }", x, DType::f32) == 10);
    CHECK(reduceTo(head + "%b : f32\n  }", x, DType::f32) == double(n + 9));
  }
}

TEST_CASE("several operands, values from outside and constants in the region", "[interp]") {
  // argmax with ties to the lowest index, and a bias from outside that changes nothing.
  std::string body = R"(
  %i = tk.arange 5 : tensor<6xi32>
  %bias = arith.constant 0 : i32
  %m, %r = tk.reduce %x, %i axis 0 order indexed : tensor<6xf32>, tensor<6xi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %less = arith.cmpf olt, %a, %b : f32
    %v = arith.select %less, %b, %a : f32
    %w = arith.select %less, %bi, %ai : i32
    %one = arith.constant 0 : i32
    %w1 = arith.addi %w, %one : i32
    %w2 = arith.addi %w1, %bias : i32
    tk.yield %v, %w2 : f32, i32
  })";
  CHECK(reduceTo(body, {1, 7, 3, 7, 7, 2}, DType::i32) == 6);
}

TEST_CASE("a region with control flow runs pair by pair in the same tree", "[interp]") {
  std::string body = R"(
  %r = tk.reduce %x axis 0 order indexed : tensor<7xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    %v = scf.if %less -> f32 {
      %s = arith.subf %a, %b : f32
      scf.yield %s : f32
    } else {
      %t = arith.addf %a, %b : f32
      scf.yield %t : f32
    }
    tk.yield %v : f32
  })";
  auto f = [](float a, float b) { return a < b ? a - b : a + b; };
  std::vector<float> x = {3, 1, 4, 1.5, 5, 9, 2.6f};
  float expected = f(f(f(x[0], x[1]), f(x[2], x[3])), f(f(x[4], x[5]), x[6]));
  CHECK(reduceTo(body, x, DType::f32) == expected);
}

TEST_CASE("loop-carried values may swap and nest", "[interp]") {
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %a0 = arith.constant 1.0 : f32
  %b0 = arith.constant 2.0 : f32
  %a, %b, %n = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %a0, %q = %b0, %m = %c0) -> (f32, f32, i64)  : i64 {
    %m2 = scf.for %j = %c0 to %i step %c1 iter_args(%k = %m) -> i64  : i64 {
      %k2 = arith.addi %k, %j : i64
      scf.yield %k2 : i64
    }
    scf.yield %q, %p, %m2 : f32, f32, i64
  }
  %nf = tk.cast %n : i64 -> f32
  %ten = arith.constant 10.0 : f32
  %t = arith.mulf %a, %ten : f32
  %u = arith.addf %t, %b : f32
  %v = arith.mulf %nf, %ten : f32
  %w = arith.mulf %v, %ten : f32
  %r = arith.addf %w, %u : f32)";
  // a, b swap five times: 2, 1. The inner sums are 0, 0, 1, 3, 6.
  CHECK(reduceTo(body, {0}, DType::f32) == 1021);
}

TEST_CASE("tiles carried by a loop, with the slots of the body used again", "[interp]") {
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> tensor<4xf32>  : i64 {
    %a = arith.addf %t, %t : tensor<4xf32>
    %b = arith.addf %a, %t : tensor<4xf32>
    %c = arith.subf %b, %t : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  %r = tk.reduce %y axis 0 order any : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  })";
  CHECK(reduceTo(body, {1, 2, 3, 4}, DType::f32) == 80);
}

TEST_CASE("while loops carry values between their two regions", "[interp]") {
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c10 = arith.constant 10 : i64
  %n, %s = scf.while (%i = %c0, %t = %c1) : (i64, i64) -> (i64, i64) {
    %go = arith.cmpi slt, %i, %c10 : i64
    scf.condition(%go) %t, %i : i64, i64
  } do {
  ^bb0(%t: i64, %i: i64):
    %i2 = arith.addi %i, %c1 : i64
    %t2 = arith.addi %t, %t : i64
    scf.yield %i2, %t2 : i64, i64
  }
  %m = arith.addi %n, %s : i64
  %r = tk.cast %m : i64 -> f32)";
  CHECK(reduceTo(body, {0}, DType::f32) == 1034);
}

TEST_CASE("branches give the value of the side taken", "[interp]") {
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %v = tk.read %px[%c0] widths [0] : !tk.view<f32, 1, 0> -> f32
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %v, %zero : f32
  %r = scf.if %positive -> f32 {
    %a = arith.addf %v, %v : f32
    scf.yield %a : f32
  } else {
    scf.yield %v : f32
  })";
  CHECK(reduceTo(body, {3}, DType::f32) == 6);
  CHECK(reduceTo(body, {-3}, DType::f32) == -3);
}

TEST_CASE("a loop step that is not positive is reported and the loop left out", "[interp]") {
  std::string body = R"(
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %c3 step %c0 iter_args(%t = %one) -> f32  : i64 {
    %u = arith.addf %t, %t : f32
    scf.yield %u : f32
  })";
  std::vector<std::string> messages;
  CHECK(reduceTo(body, {0}, DType::f32, &messages) == 1);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] == "8: TK5012: program (0, 0, 0): the step of the loop is 0; the loop is left "
                       "out");
}

TEST_CASE("a loop whose variable would wrap ends", "[interp]") {
  std::string body = R"(
  %low = arith.constant 9223372036854775800 : i64
  %high = arith.constant 9223372036854775807 : i64
  %step = arith.constant 5 : i64
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %low to %high step %step iter_args(%t = %zero) -> f32  : i64 {
    %u = arith.addf %t, %one : f32
    scf.yield %u : f32
  })";
  CHECK(reduceTo(body, {0}, DType::f32) == 2);
}

TEST_CASE("shapes: expand, broadcast, splat, select on a scalar", "[interp]") {
  // Row sums of x[None, :] * x[:, None] as a 5x3 tile with a repeated axis.
  std::string body = R"(
  %row = tk.expand_dims %x, 0 : tensor<3xf32> -> tensor<1x3xf32>
  %col = tk.expand_dims %x, 1 : tensor<3xf32> -> tensor<3x1xf32>
  %a = tk.broadcast %row : tensor<1x3xf32> -> tensor<3x3xf32>
  %b = tk.broadcast %col : tensor<3x1xf32> -> tensor<3x3xf32>
  %p = arith.mulf %a, %b : tensor<3x3xf32>
  %deep = tk.expand_dims %p, 1 : tensor<3x3xf32> -> tensor<3x1x3xf32>
  %wide = tk.broadcast %deep : tensor<3x1x3xf32> -> tensor<3x4x3xf32>
  %true = arith.constant true
  %zero = arith.constant dense<0.0> : tensor<3x4x3xf32>
  %s = arith.select %true, %wide, %zero : tensor<3x4x3xf32>
  %s1 = tk.reduce %s axis 2 order any : tensor<3x4x3xf32> -> tensor<3x4xf32> {
  ^bb0(%l: f32, %m: f32):
    %n = arith.addf %l, %m : f32
    tk.yield %n : f32
  }
  %s2 = tk.reduce %s1 axis 0 order any : tensor<3x4xf32> -> tensor<4xf32> {
  ^bb0(%l: f32, %m: f32):
    %n = arith.addf %l, %m : f32
    tk.yield %n : f32
  }
  %r = tk.reduce %s2 axis 0 order any : tensor<4xf32> -> f32 {
  ^bb0(%l: f32, %m: f32):
    %n = tk.max %l, %m : f32
    tk.yield %n : f32
  })";
  CHECK(reduceTo(body, {1, 2, 4}, DType::f32) == 49);
}
