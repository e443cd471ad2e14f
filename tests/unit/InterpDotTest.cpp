//===- InterpDotTest.cpp - what tests/run/oracle cannot say ------------------------------===//
//
// Values of products, scans and the like are compared with NumPy in tests/run/oracle. Here stands
// what needs a look inside: bounds that come with inputs, messages about elements of tiles.
//
//===----------------------------------------------------------------------===//

#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;

static std::string dotKernel(const std::string &type, const std::string &flags, int64_t side) {
  const std::string n = std::to_string(side), s = n + "x" + n;
  auto tile = [&](const std::string &element) { return "tensor<" + s + "x" + element + ">"; };
  auto view = [](const std::string &element, int cls) {
    return "!tk.view<" + element + ", 2, " + std::to_string(cls) + ">";
  };
  std::string body = "  %z = arith.constant 0 : i64\n";
  for (auto [name, element, cls] :
       {std::tuple("a", type, 0), {"b", type, 1}, {"c", std::string("f32"), 2}})
    body += "  %" + std::string(name) + " = tk.read %p" + name + "[%z, %z] widths [" + n + ", " +
            n + "] : " + view(element, cls) + " -> " + tile(element) + "\n";
  body += "  %r = tk.dot %a, %b, %c" + flags + " : " + tile(type) + ", " + tile(type) + ", " +
          tile("f32") + "\n  tk.write %r, %pr[%z, %z] widths [" + n + ", " + n +
          "] : " + tile("f32") + ", " + view("f32", 3);
  auto entry = [&](const char *name, DType dtype, const char *access) {
    return tensorEntry(name, dtype, access, n + ", " + n, n + ", 1");
  };
  const DType dtype = *parseDType(type);
  return kernelText("%pa: " + view(type, 0) + ", %pb: " + view(type, 1) + ", %pc: " +
                        view("f32", 2) + ", %pr: " + view("f32", 3),
                    entry("a", dtype, "in") + ", " + entry("b", dtype, "in") + ", " +
                        entry("c", DType::f32, "in") + ", " + entry("r", DType::f32, "out"),
                    "1, 1, 1", body);
}

TEST_CASE("bounds of operands go through a product by the other operand", "[interp]") {
  Buffer a = Buffer::make("a", DType::f32, {2, 2}), b = Buffer::make("b", DType::f32, {2, 2});
  Buffer c = Buffer::make("c", DType::f32, {2, 2}), r = Buffer::makeEmpty("r", DType::f32, {2, 2});
  const float left[] = {1, 2, 3, 4}, right[] = {5, 6, 7, 8};
  std::memcpy(a.data(), left, sizeof left);
  std::memcpy(b.data(), right, sizeof right);
  a.bounds = {0.5, 0, 0, 0};
  c.bounds = {0, 0, 0, 2};
  Options options;
  options.errorBounds = true;
  Harness harness;
  REQUIRE(mlir::succeeded(harness.run(dotKernel("f32", "", 2),
                                      {Argument::tensor("a", a), Argument::tensor("b", b),
                                       Argument::tensor("c", c), Argument::tensor("r", r)},
                                      options)));
  CHECK(valuesOf<float>(r) == std::vector<float>{19, 22, 43, 50});
  CHECK(r.bounds[0] == Approx(2.5).epsilon(0.02)); // 0.5 * 5
  CHECK(r.bounds[1] == Approx(3.0).epsilon(0.02)); // 0.5 * 6
  CHECK(r.bounds[2] == 0);                         // whole numbers, exact operands
  CHECK(r.bounds[3] == Approx(2.0).epsilon(0.02));
}

TEST_CASE("a product that may pass its type's range has no bound", "[interp]") {
  Buffer a = Buffer::make("a", DType::f32, {1, 1}), b = Buffer::make("b", DType::f32, {1, 1});
  Buffer c = Buffer::make("c", DType::f32, {1, 1}), r = Buffer::makeEmpty("r", DType::f32, {1, 1});
  const float large = 3.2e38f, one = 1.1f;
  std::memcpy(a.data(), &large, 4);
  std::memcpy(b.data(), &one, 4);
  Options options;
  options.errorBounds = true;
  Harness harness;
  REQUIRE(mlir::succeeded(harness.run(dotKernel("f32", "", 1),
                                      {Argument::tensor("a", a), Argument::tensor("b", b),
                                       Argument::tensor("c", c), Argument::tensor("r", r)},
                                      options)));
  CHECK(std::isinf(r.bounds[0]));
}

/// A region that divides, over a tile of rank 2; `head` names the operation.
static std::string regionKernel(const std::string &operation) {
  return kernelText("%px: !tk.view<i32, 2, 0>, %py: !tk.view<i32, 2, 1>",
                    tensorEntry("x", DType::i32, "in", "2, 3", "3, 1") + ", " +
                        tensorEntry("y", DType::i32, "out", "2, 3", "3, 1"),
                    "1, 1, 1",
                    "  %z = arith.constant 0 : i64\n"
                    "  %x = tk.read %px[%z, %z] widths [2, 3] : !tk.view<i32, 2, 0> -> "
                    "tensor<2x3xi32>\n" +
                        operation +
                        "  tk.write %y, %py[%z, %z] widths [2, 3] : tensor<2x3xi32>, "
                        "!tk.view<i32, 2, 1>");
}

TEST_CASE("a finding inside a region of tk.map says which element", "[interp]") {
  const std::string straight = "    %d = tk.div %seven, %e : i32\n";
  const std::string branch = "    %t = arith.cmpi sgt, %seven, %e : i32\n"
                             "    %d = scf.if %t -> i32 {\n"
                             "      %q = tk.div %seven, %e : i32\n"
                             "      scf.yield %q : i32\n    } else {\n"
                             "      scf.yield %e : i32\n    }\n";
  for (const std::string &body : {straight, branch}) {
    Buffer x = Buffer::make("x", DType::i32, {2, 3});
    Buffer y = Buffer::makeEmpty("y", DType::i32, {2, 3});
    const int32_t numbers[] = {1, 2, 3, 4, 0, 6};
    std::memcpy(x.data(), numbers, sizeof numbers);
    Harness harness;
    auto report =
        harness.run(regionKernel("  %y = tk.map %x : tensor<2x3xi32> -> tensor<2x3xi32> {\n"
                                 "  ^bb0(%e: i32):\n    %seven = arith.constant 7 : i32\n" +
                                 body + "    tk.yield %d : i32\n  }\n"),
                    {Argument::tensor("x", x), Argument::tensor("y", y)});
    REQUIRE(mlir::succeeded(report));
    CHECK(harness.said("TK5013: program (0, 0, 0) divides 7 by zero at [1, 1]"));
    CHECK(report->warnings == 1);
    CHECK(valuesOf<int32_t>(y) == std::vector<int32_t>{7, 3, 2, 1, 0, 1});
  }
}

TEST_CASE("divisions inside the region of a scan are watched", "[interp]") {
  Buffer x = Buffer::make("x", DType::i32, {2, 3});
  Buffer y = Buffer::makeEmpty("y", DType::i32, {2, 3});
  const int32_t numbers[] = {8, 2, 0, 9, 3, 3};
  std::memcpy(x.data(), numbers, sizeof numbers);
  Harness harness;
  auto report = harness.run(
      regionKernel("  %y = tk.scan %x axis 1 order indexed : tensor<2x3xi32> -> tensor<2x3xi32> {\n"
                   "  ^bb0(%a: i32, %b: i32):\n    %q = tk.div %a, %b : i32\n"
                   "    tk.yield %q : i32\n  }\n"),
      {Argument::tensor("x", x), Argument::tensor("y", y)});
  REQUIRE(mlir::succeeded(report));
  CHECK(harness.said("TK5013: program (0, 0, 0) divides 4 by zero"));
  CHECK(valuesOf<int32_t>(y) == std::vector<int32_t>{8, 4, 0, 9, 3, 1});
}

TEST_CASE("a NaN that a running sum makes is found", "[interp]") {
  const std::string tile = "tensor<3xf32>";
  Buffer x = Buffer::make("x", DType::f32, {3}), y = Buffer::makeEmpty("y", DType::f32, {3});
  const float numbers[] = {INFINITY, -INFINITY, 1};
  std::memcpy(x.data(), numbers, sizeof numbers);
  Harness harness;
  auto report = harness.run(
      kernelText("%px: !tk.view<f32, 1, 0>, %py: !tk.view<f32, 1, 1>",
                 tensorEntry("x", DType::f32, "in", "3", "1") + ", " +
                     tensorEntry("y", DType::f32, "out", "3", "1"),
                 "1, 1, 1",
                 "  %z = arith.constant 0 : i64\n  %x = tk.read %px[%z] widths [3] : "
                 "!tk.view<f32, 1, 0> -> " +
                     tile + "\n  %y = tk.scan %x axis 0 order any : " + tile + " -> " + tile +
                     " {\n  ^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n"
                     "    tk.yield %s : f32\n  }\n  tk.write %y, %py[%z] widths [3] : " +
                     tile + ", !tk.view<f32, 1, 1>"),
      {Argument::tensor("x", x), Argument::tensor("y", y)});
  REQUIRE(mlir::succeeded(report));
  CHECK(harness.said("TK5010: program (0, 0, 0) makes a NaN of inf, -inf"));
}
