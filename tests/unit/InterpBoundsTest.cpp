//===- InterpBoundsTest.cpp - error bounds hold, and are not idle ----------------------------===//

#include "tests/unit/InterpHarness.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace tk::interp;
using namespace tk::interp::test;

static Options bounded() {
  Options options;
  options.errorBounds = true;
  return options;
}

static std::string softmaxKernel(int64_t n) {
  std::string tile = "tensor<" + std::to_string(n) + "xf32>";
  std::string body = R"(  %p = tk.program_id 0
  %c0 = arith.constant 0 : i64
  %f = arith.constant 0xFF800000 : f32
  %v = tk.read %x[%p, %c0] widths [0, W] fill %f : f32 : !tk.view<f32, 2, 0> -> TILE
  %m = tk.reduce %v axis 0 order any : TILE -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = tk.max %a, %b : f32
    tk.yield %c : f32
  }
  %ms = tk.splat %m : f32 -> TILE
  %scale = arith.constant dense<1.25> : TILE
  %d = arith.subf %v, %ms : TILE
  %ds = arith.mulf %d, %scale : TILE
  %e = tk.unary exp %ds : TILE
  %s = tk.reduce %e axis 0 order any : TILE -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %ss = tk.splat %s : f32 -> TILE
  %q = tk.div %e, %ss : TILE
  tk.write %q, %y[%p, %c0] widths [0, W] : TILE, !tk.view<f32, 2, 1>)";
  for (size_t at; (at = body.find("TILE")) != std::string::npos;)
    body.replace(at, 4, tile);
  for (size_t at; (at = body.find("W]")) != std::string::npos;)
    body.replace(at, 2, std::to_string(n) + "]");
  return kernelText("%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>",
                    tensorEntry("x", DType::f32, "in", "\"M\", \"N\"", "\"x.s0\", 1") + ", " +
                        tensorEntry("y", DType::f32, "out", "\"M\", \"N\"", "\"y.s0\", 1"),
                    "\"M\", 1, 1", body);
}

/// An engine that obeys the contract in another way: exp off by up to two ulps, the sum in a random
/// order, subnormal results of exp flushed.
static std::vector<float> otherSoftmax(const float *x, size_t n, std::mt19937 &random) {
  float largest = *std::max_element(x, x + n);
  std::vector<float> e(n);
  for (size_t i = 0; i < n; ++i) {
    float exact = float(std::exp(double((x[i] - largest) * 1.25f)));
    int steps = int(random() % 5) - 2;
    for (int s = 0; s < std::abs(steps); ++s)
      exact = std::nextafter(exact, steps < 0 ? 0.f : INFINITY);
    e[i] = exact < 0x1p-126f ? 0.f : exact;
  }
  std::vector<float> shuffled = e;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  float sum = 0;
  for (float value : shuffled)
    sum += value;
  for (float &value : e)
    value /= sum;
  return e;
}

TEST_CASE("softmax in f32: other engines and f64 stay within the bound", "[interp]") {
  std::mt19937 random(5);
  const int64_t rows = 20, columns = 500;
  for (float spread : {0.1f, 3.f, 60.f}) {
    std::normal_distribution<float> normal(0, spread);
    Buffer x = Buffer::make("x", DType::f32, {rows, columns});
    Buffer y = Buffer::makeEmpty("y", DType::f32, {rows, columns});
    std::vector<float> data(size_t(rows * columns));
    for (float &value : data)
      value = normal(random);
    std::memcpy(x.data(), data.data(), data.size() * 4);
    Harness harness;
    auto report = harness.run(softmaxKernel(512),
                              {Argument::tensor("x", x), Argument::tensor("y", y)}, bounded());
    REQUIRE(mlir::succeeded(report));
    CHECK(harness.messages.empty());
    REQUIRE(y.bounds.size() == data.size());
    std::vector<float> result = valuesOf<float>(y);
    unsigned outside = 0, outsideExact = 0, idle = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float *row = data.data() + r * columns;
      double largest = *std::max_element(row, row + columns), sum = 0;
      for (int64_t c = 0; c < columns; ++c)
        sum += std::exp((row[c] - largest) * 1.25);
      for (int round = 0; round < 5; ++round) {
        std::vector<float> other = otherSoftmax(row, size_t(columns), random);
        for (int64_t c = 0; c < columns; ++c) {
          size_t at = size_t(r * columns + c);
          double exact = std::exp((row[c] - largest) * 1.25) / sum;
          outside += std::fabs(double(result[at]) - other[size_t(c)]) > y.bounds[at];
          outsideExact += std::fabs(double(result[at]) - exact) > y.bounds[at];
          // Five hundred addends and arguments down to -500 allow a few thousand roundings.
          idle += y.bounds[at] > 4e-4 * exact + 1e-35;
        }
      }
    }
    INFO("spread " << spread);
    CHECK(outside == 0);
    CHECK(outsideExact == 0);
    CHECK(idle == 0);
  }
}

template <class T>
static std::vector<double> boundsOf(const std::string &op, DType type,
                                    const std::vector<std::vector<T>> &inputs,
                                    DType out = DType::f32) {
  std::vector<double> bounds;
  if (byteSize(out) == 2)
    (void)elementwise<uint16_t>(op, type, out, inputs, bounded(), nullptr, &bounds);
  else if (byteSize(out) == 8)
    (void)elementwise<double>(op, type, out, inputs, bounded(), nullptr, &bounds);
  else
    (void)elementwise<float>(op, type, out, inputs, bounded(), nullptr, &bounds);
  return bounds;
}

TEST_CASE("correctly rounded operations on equal data are bounded by zero", "[interp]") {
  std::vector<float> a = {1.1f, 2.3f, -7.7f}, b = {3.3f, -0.7f, 1e-3f};
  for (const char *op : {"%r = arith.addf %a, %b : $out", "%r = tk.div %a, %b : $out",
                         "%r = arith.mulf %a, %b : $out", "%r = tk.fma %a, %b, %a : $out",
                         "%h = tk.cast %a : $in -> tensor<3xf16>\n"
                         "%r = arith.extf %h : tensor<3xf16> to $out"})
    CHECK(boundsOf(op, DType::f32, in(a, b)) == std::vector<double>(3, 0.0));
}

TEST_CASE("a contraction changes what its product's rounding was", "[interp]") {
  const char *op = "%m = arith.mulf %a, %b : $out\n  %r = arith.addf %m, %c : $out";
  std::vector<float> x = {1 + 0x1p-13f, 1.5f}, y = {1 - 0x1p-13f, 2}, z = {-1, -1};
  std::vector<double> bounds = boundsOf(op, DType::f32, in(x, y, z));
  CHECK(bounds[0] >= 0x1p-26); // 0 without contraction, -2^-26 with it
  CHECK(bounds[0] < 0x1p-24);
  CHECK(bounds[1] == 0); // the product is exact
}

TEST_CASE("functions are allowed their ulps, and to flush", "[interp]") {
  std::vector<float> x = {1, -100, -INFINITY, 0};
  std::vector<double> bounds = boundsOf("%r = tk.unary exp %a : $out", DType::f32, in(x));
  double ulp = 0x1p-22; // of e
  CHECK(bounds[0] >= 4 * ulp);
  CHECK(bounds[0] < 8 * ulp);
  CHECK(bounds[1] >= std::exp(-100.0)); // subnormal in f32
  CHECK(bounds[2] == 0);
  std::vector<double> strict =
      boundsOf("%r = tk.unary exp %a num <ulp = 0> : $out", DType::f32, in(x));
  CHECK(strict[0] == 0);
}

TEST_CASE("bounds go through functions, products and conversions", "[interp]") {
  // log(exp(x)) - x: the difference of two engines in exp is the bound in log, and cancels nothing.
  std::vector<float> x = {0.5f, 3, 10};
  std::vector<double> bounds =
      boundsOf("%e = tk.unary exp %a : $out\n %l = tk.unary log %e : $out\n"
               "%r = arith.subf %l, %a : $out",
               DType::f32, in(x));
  for (double bound : bounds) {
    CHECK(bound > 4 * 0x1p-24);
    CHECK(bound < 1e-5);
  }
  std::vector<double> half = boundsOf("%e = tk.unary exp %a : $in\n"
                                      "%r = tk.cast %e : $in -> $out",
                                      DType::f32, in(x), DType::f16);
  CHECK(half[0] > std::exp(0.5) * 0x1p-11);
  CHECK(half[0] < std::exp(0.5) * 0x1p-9);
}

static double sumBoundOf(const std::vector<float> &x) {
  std::string n = std::to_string(x.size());
  Harness harness;
  std::string text = kernelText(
      "%px: !tk.view<f32, 1, 0>, %pr: !tk.view<f32, 0, 1>",
      tensorEntry("x", DType::f32, "in", n, "1") + ", " +
          tensorEntry("r", DType::f32, "out", "", ""),
      "1, 1, 1",
      "  %z = arith.constant 0 : i64\n  %x = tk.read %px[%z] widths [" + n +
          "] : !tk.view<f32, 1, 0> -> tensor<" + n + "xf32>\n" +
          "  %r = tk.reduce %x axis 0 order any : tensor<" + n + "xf32> -> f32 {\n" +
          "  ^bb0(%a: f32, %b: f32):\n    %c = arith.addf %a, %b : f32\n    tk.yield %c : f32\n"
          "  }\n  tk.write %r, %pr[] widths [] : f32, !tk.view<f32, 0, 1>");
  Buffer in = bufferOf("x", DType::f32, x), out = Buffer::makeEmpty("r", DType::f32, {});
  REQUIRE(mlir::succeeded(
      harness.run(text, {Argument::tensor("x", in), Argument::tensor("r", out)}, bounded())));
  return out.bounds[0];
}

TEST_CASE("sums: exactly summable data must agree in every bit", "[interp]") {
  std::vector<float> whole(1000);
  std::iota(whole.begin(), whole.end(), -500.f);
  CHECK(sumBoundOf(whole) == 0);
  whole[3] = 0x1p24f; // now some orders round
  CHECK(sumBoundOf(whole) > 0);
  std::vector<float> tenths(100, 0.1f);
  CHECK(sumBoundOf(tenths) >= 99 * 0x1p-24 * 10);
  CHECK(sumBoundOf(tenths) < 3 * 99 * 0x1p-24 * 10);
}

TEST_CASE("sums whose partial sums may be infinite may be anything", "[interp]") {
  const char *op = "%s = tk.reduce %a axis 0 order any : $in -> f32 {\n  ^bb0(%p: f32, %q: f32):\n"
                   "    %t = arith.addf %p, %q : f32\n    tk.yield %t : f32\n  }\n"
                   "  %r = tk.splat %s : f32 -> $out";
  std::vector<float> small = {4, -4, 4, -4}, large = {0x1p127f, -0x1p127f, 0x1p127f, -0x1p127f};
  CHECK(boundsOf(op, DType::f32, in(small)) == std::vector<double>(4, 0.0));
  CHECK(boundsOf(op, DType::f32, in(large)) == std::vector<double>(4, INFINITY)); // 0 in one order
}
