//===- InterpViewTest.cpp - tiles of indices, and views that a kernel makes ----------------===//

#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;
using mlir::succeeded;

template <class T = float> static std::vector<T> ramp(size_t n) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = T(i);
  return values;
}

static Buffer matrixOf(const std::string &name, int64_t rows, int64_t columns) {
  Buffer buffer = Buffer::make(name, DType::f32, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i)
    reinterpret_cast<float *>(buffer.data())[i] = float(i);
  return buffer;
}

static std::string pointerEntry(const std::string &name, const std::string &dtype,
                                const std::string &access) {
  return "{name = \"" + name + "\", kind = \"pointer\", dtype = \"" + dtype + "\", access = \"" +
         access + "\", align = 1}";
}

/// `body` with %x (a matrix), %i (the tile of indices read from `index`) and %z to write.
static std::string gatherKernel(const std::string &zType, const std::string &zRank,
                                const std::string &zExtents, const std::string &body) {
  return kernelText("%x: !tk.view<f32, 2, 0>, %index: !tk.view<i32, 1, 1>, %z: !tk.view<f32, " +
                        zRank + ", 2>",
                    tensorEntry("x", DType::f32, "inout", "\"M\", \"N\"", "\"x.s0\", 1") + ", " +
                        tensorEntry("index", DType::i32, "in", "4", "1") + ", " +
                        tensorEntry("z", DType::f32, "out", zExtents,
                                    zRank == "1" ? "1" : "\"z.s0\", 1"),
                    "1, 1, 1",
                    "  %c0 = arith.constant 0 : i64\n  %c1 = arith.constant 1 : i64\n"
                    "  %m1 = arith.constant -1.0 : f32\n"
                    "  %i = tk.read %index[%c0] widths [4] : !tk.view<i32, 1, 1> -> "
                    "tensor<4xi32>\n" +
                        body);
}

TEST_CASE("a tile of indices gathers, and what is outside gives the fill", "[interp]") {
  Harness harness;
  Buffer x = matrixOf("x", 3, 4), z = Buffer::make("z", DType::f32, {4, 2});
  Buffer index = bufferOf<int32_t>("index", DType::i32, {2, -1, 0, 3});
  auto report = harness.run(
      gatherKernel("f32", "2", "4, 2", R"(
  %v = tk.read %x[%i : tensor<4xi32>, %c1] widths [-1, 2] fill %m1 : f32 : !tk.view<f32, 2, 0> -> tensor<4x2xf32>
  tk.write %v, %z[%c0, %c0] widths [4, 2] : tensor<4x2xf32>, !tk.view<f32, 2, 2>)"),
      {Argument::tensor("x", x), Argument::tensor("index", index), Argument::tensor("z", z)});
  REQUIRE(succeeded(report));
  CHECK(harness.messages.empty());
  CHECK(valuesOf<float>(z) == std::vector<float>{9, 10, -1, -1, 1, 2, -1, -1});
}

TEST_CASE("two tiles of indices go together, with a mask, along any axis", "[interp]") {
  Harness harness;
  Buffer x = matrixOf("x", 4, 4), z = Buffer::make("z", DType::f32, {4});
  Buffer index = bufferOf<int32_t>("index", DType::i32, {3, 1, 2, 0});
  auto report = harness.run(
      gatherKernel("f32", "1", "4", R"(
  %lane = tk.arange 0 : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %m = arith.cmpi ne, %lane, %two : tensor<4xi32>
  %wide = arith.extsi %i : tensor<4xi32> to tensor<4xi64>
  %v = tk.read %x[%i : tensor<4xi32>, %wide : tensor<4xi64>] widths [-1, -1] mask %m : tensor<4xi1> fill %m1 : f32 : !tk.view<f32, 2, 0> -> tensor<4xf32>
  tk.write %v, %z[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 2>)"),
      {Argument::tensor("x", x), Argument::tensor("index", index), Argument::tensor("z", z)});
  REQUIRE(succeeded(report));
  CHECK(valuesOf<float>(z) == std::vector<float>{15, 5, -1, 0});
  // Columns: the block of rows stands before the picked ones.
  Buffer y = Buffer::make("z", DType::f32, {2, 4});
  report = harness.run(
      gatherKernel("f32", "2", "2, 4", R"(
  %v = tk.read %x[%c1, %i : tensor<4xi32>] widths [2, -1] : !tk.view<f32, 2, 0> -> tensor<2x4xf32>
  tk.write %v, %z[%c0, %c0] widths [2, 4] : tensor<2x4xf32>, !tk.view<f32, 2, 2>)"),
      {Argument::tensor("x", x), Argument::tensor("index", index), Argument::tensor("z", y)});
  REQUIRE(succeeded(report));
  CHECK(valuesOf<float>(y) == std::vector<float>{7, 5, 6, 4, 11, 9, 10, 8});
}

TEST_CASE("a scatter writes what exists and reports two values for one element", "[interp]") {
  Harness harness;
  Buffer x = matrixOf("x", 3, 4), z = Buffer::make("z", DType::f32, {3});
  auto scatter = [&](std::vector<int32_t> at) {
    Buffer index = bufferOf<int32_t>("index", DType::i32, at);
    harness.messages.clear();
    std::fill_n(reinterpret_cast<float *>(z.data()), 3, -7.f);
    return harness.run(
        gatherKernel("f32", "1", "3", R"(
  %v = tk.read %x[%c0, %c0] widths [0, 4] : !tk.view<f32, 2, 0> -> tensor<4xf32>
  tk.write %v, %z[%i : tensor<4xi32>] widths [-1] : tensor<4xf32>, !tk.view<f32, 1, 2>)"),
        {Argument::tensor("x", x), Argument::tensor("index", index), Argument::tensor("z", z)});
  };
  CHECK(scatter({2, -1, 0, 3})->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>{2, -7, 0});
  CHECK(scatter({1, 0, 1, 2})->errors == 1);
  CHECK(harness.messages ==
        std::vector<std::string>{"8: TK5016: program (0, 0, 0) stores 0 at [0] to element [1] of "
                                 "`z`, and 2 in another lane of the same store"});
}

/// z[0 +: 4] = part[0 +: 4], where part = x[lo:hi], and z[4] its extent.
static std::string partKernel() {
  return kernelText("%x: !tk.view<f32, 1, 0>, %z: !tk.view<f32, 1, 1>, %e: !tk.view<i64, 1, 2>, "
                    "%lo: i64, %hi: i64",
                    tensorEntry("x", DType::f32, "in", "\"N\"", "\"x.s0\"") + ", " +
                        tensorEntry("z", DType::f32, "out", "4", "1") + ", " +
                        tensorEntry("e", DType::i64, "out", "2", "1") +
                        ", {name = \"lo\", kind = \"scalar\", dtype = \"i64\"}"
                        ", {name = \"hi\", kind = \"scalar\", dtype = \"i64\"}",
                    "1, 1, 1", R"(  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %part = tk.subview %x low [%lo] high [%hi] drop [false] : !tk.view<f32, 1, 0> -> !tk.view<f32, 1, 0>
  %fill = arith.constant -1.0 : f32
  %v = tk.read %part[%c0] widths [4] fill %fill : f32 : !tk.view<f32, 1, 0> -> tensor<4xf32>
  tk.write %v, %z[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>
  %n = tk.extent %part, 0 : !tk.view<f32, 1, 0>
  %s = tk.stride %part, 0 : !tk.view<f32, 1, 0>
  tk.write %n, %e[%c0] widths [0] : i64, !tk.view<i64, 1, 2>
  tk.write %s, %e[%c1] widths [0] : i64, !tk.view<i64, 1, 2>)");
}

TEST_CASE("a part of a view has extents of its own, as far as the view goes", "[interp]") {
  struct Case {
    int64_t lo, hi, extent;
    std::vector<float> values;
  };
  for (const Case &test : {Case{1, 4, 3, {1, 2, 3, -1}}, Case{-2, 2, 2, {0, 1, -1, -1}},
                           Case{4, 99, 2, {4, 5, -1, -1}}, Case{3, 1, 0, {-1, -1, -1, -1}},
                           Case{INT64_MIN, INT64_MAX, 6, {0, 1, 2, 3}}}) {
    for (int64_t stride : {1, 3, -2}) {
      Harness harness;
      Buffer x = Buffer::makeStrided("x", DType::f32, {6}, {stride});
      for (int64_t i = 0; i < 6; ++i)
        reinterpret_cast<float *>(x.data())[x.elementAt(i)] = float(i);
      Buffer z = Buffer::make("z", DType::f32, {4}), e = Buffer::make("e", DType::i64, {2});
      auto report = harness.run(
          partKernel(), {Argument::tensor("x", x), Argument::tensor("z", z), Argument::tensor("e", e),
                         Argument::scalar("lo", DType::i64, test.lo),
                         Argument::scalar("hi", DType::i64, test.hi)});
      REQUIRE(succeeded(report));
      CHECK(harness.messages.empty());
      CHECK(valuesOf<float>(z) == test.values);
      CHECK(valuesOf<int64_t>(e) == std::vector<int64_t>{test.extent, stride});
    }
  }
}

TEST_CASE("dropped axes: a part of rank 0 and an index outside", "[interp]") {
  auto text = kernelText("%x: !tk.view<f32, 2, 0>, %z: !tk.view<f32, 1, 1>, %i: i64",
                         tensorEntry("x", DType::f32, "in", "\"M\", \"N\"", "\"x.s0\", 1") + ", " +
                             tensorEntry("z", DType::f32, "out", "1", "1") +
                             ", {name = \"i\", kind = \"scalar\", dtype = \"i64\"}",
                         "1, 1, 1", R"(  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = tk.subview %x low [%i, %c1] high [%i, %c1] drop [true, true] : !tk.view<f32, 2, 0> -> !tk.view<f32, 0, 0>
  %fill = arith.constant -1.0 : f32
  %v = tk.read %one[] widths [] fill %fill : f32 : !tk.view<f32, 0, 0> -> f32
  tk.write %v, %z[%c0] widths [0] : f32, !tk.view<f32, 1, 1>)");
  Buffer x = matrixOf("x", 2, 3), z = Buffer::make("z", DType::f32, {1});
  Harness harness;
  auto run = [&](int64_t i) {
    harness.messages.clear();
    return harness.run(text, {Argument::tensor("x", x), Argument::tensor("z", z),
                              Argument::scalar("i", DType::i64, i)});
  };
  CHECK(run(1)->errors == 0);
  CHECK(valuesOf<float>(z)[0] == 4);
  CHECK(run(2)->errors == 1);
  CHECK(harness.said("TK5003: program (0, 0, 0): index 2 on axis 0 of `x` is outside its extent 2"));
  CHECK(valuesOf<float>(z)[0] == -1);
}

/// A view of `rows` x 3 over the pointer, doubled in place.
static std::string rawViewKernel() {
  return kernelText("%p: !tk.ptr<f32, 0>, %rows: i64, %stride: i64, %shift: i64",
                    pointerEntry("p", "f32", "inout") +
                        ", {name = \"rows\", kind = \"scalar\", dtype = \"i64\"}"
                        ", {name = \"stride\", kind = \"scalar\", dtype = \"i64\"}"
                        ", {name = \"shift\", kind = \"scalar\", dtype = \"i64\"}",
                    "1, 1, 1", R"(  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %q = tk.ptr_add %p, %shift : !tk.ptr<f32, 0>, i64
  %v = tk.make_view %q extents [%rows, %c3] strides [%stride, %c1] : !tk.ptr<f32, 0> -> !tk.view<f32, 2, 0>
  %t = tk.read %v[%c0, %c0] widths [4, 4] : !tk.view<f32, 2, 0> -> tensor<4x4xf32>
  %u = arith.addf %t, %t : tensor<4x4xf32>
  tk.write %u, %v[%c0, %c0] widths [4, 4] : tensor<4x4xf32>, !tk.view<f32, 2, 0>)");
}

TEST_CASE("a view made from a pointer has the extents it says", "[interp]") {
  Harness harness;
  Buffer p = bufferOf("p", DType::f32, ramp(10));
  auto run = [&](int64_t rows, int64_t stride, int64_t shift) {
    harness.messages.clear();
    return harness.run(rawViewKernel(), {Argument::tensor("p", p),
                                         Argument::scalar("rows", DType::i64, rows),
                                         Argument::scalar("stride", DType::i64, stride),
                                         Argument::scalar("shift", DType::i64, shift)});
  };
  CHECK(run(2, 4, 1)->errors == 0);
  CHECK(valuesOf<float>(p) == std::vector<float>{0, 2, 4, 6, 4, 10, 12, 14, 8, 9});
  CHECK(run(-5, 4, 1)->errors == 0); // no rows at all
  CHECK(run(0, 4, 100)->errors == 0);
}

TEST_CASE("elements of such a view outside every buffer are reported one by one", "[interp]") {
  Harness harness;
  Buffer p = bufferOf("p", DType::f32, ramp(10));
  auto run = [&](int64_t rows, int64_t stride, int64_t shift) {
    harness.messages.clear();
    return harness.run(rawViewKernel(), {Argument::tensor("p", p),
                                         Argument::scalar("rows", DType::i64, rows),
                                         Argument::scalar("stride", DType::i64, stride),
                                         Argument::scalar("shift", DType::i64, shift)});
  };
  CHECK(run(3, 4, 1)->errors == 2);
  CHECK(harness.messages ==
        std::vector<std::string>{"7: TK5001: program (0, 0, 0) loads from `p` outside its 10 "
                                 "elements: index 10 at [2, 1]",
                                 "  1 more of this kind at this place",
                                 "9: TK5002: program (0, 0, 0) stores to `p` outside its 10 "
                                 "elements: index 10 at [2, 1]",
                                 "  1 more of this kind at this place"});
  CHECK(valuesOf<float>(p)[9] == 18); // what exists is there
  // Strides and addresses that leave 64 bits.
  for (int64_t stride : {INT64_MAX, int64_t(1) << 61})
    CHECK(run(3, stride, 1)->errors == 2);
  CHECK(run(1, 1, INT64_MAX / 8)->errors == 2);
  // A stride of zero: three rows are one.
  CHECK(run(3, 0, 0)->errors == 0); // equal values
}

TEST_CASE("pointers to pointers lead to the arrays that the host gave", "[interp]") {
  auto text = kernelText(
      "%as: !tk.ptr<!tk.ptr<f32, 2>, 0>, %cs: !tk.ptr<!tk.ptr<f32, 3>, 1>, %n: i64",
      pointerEntry("as", "f32", "in") + ", " + pointerEntry("cs", "*f32", "out") +
          ", {name = \"n\", kind = \"scalar\", dtype = \"i64\"}",
      "2, 1, 1", R"(  %g = tk.program_id 0
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %pa = tk.ptr_add %as, %g : !tk.ptr<!tk.ptr<f32, 2>, 0>, i64
  %pc = tk.ptr_add %cs, %g : !tk.ptr<!tk.ptr<f32, 3>, 1>, i64
  %a = tk.load %pa : !tk.ptr<!tk.ptr<f32, 2>, 0> -> !tk.ptr<f32, 2>
  %c = tk.load %pc : !tk.ptr<!tk.ptr<f32, 3>, 1> -> !tk.ptr<f32, 3>
  %va = tk.make_view %a extents [%n] strides [%c1] : !tk.ptr<f32, 2> -> !tk.view<f32, 1, 2>
  %vc = tk.make_view %c extents [%n] strides [%c1] : !tk.ptr<f32, 3> -> !tk.view<f32, 1, 3>
  %t = tk.read %va[%c0] widths [4] : !tk.view<f32, 1, 2> -> tensor<4xf32>
  tk.write %t, %vc[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 3>)");
  Buffer a0 = bufferOf("as[0]", DType::f32, ramp(4)), a1 = bufferOf("as[1]", DType::f32, ramp(6));
  Buffer c0 = Buffer::makeEmpty("cs[0]", DType::f32, {4});
  Buffer c1 = Buffer::makeEmpty("cs[1]", DType::f32, {4});
  Buffer as = Buffer::make("as", DType::ptr, {2}), cs = Buffer::make("cs", DType::ptr, {2});
  auto run = [&](int64_t n, Harness &harness) {
    Argument first = Argument::pointers("as", as, {Argument::tensor("as[0]", a0),
                                                   Argument::tensor("as[1]", a1)});
    Argument second = Argument::pointers("cs", cs, {Argument::tensor("cs[0]", c0),
                                                    Argument::tensor("cs[1]", c1)});
    first.dtype = second.dtype = DType::f32;
    return harness.run(text, {first, second, Argument::scalar("n", DType::i64, n)});
  };
  Harness harness;
  REQUIRE(succeeded(run(4, harness)));
  CHECK(harness.messages.empty());
  CHECK(valuesOf<float>(c1) == ramp(4));
  Harness wrong;
  std::fill(c0.written.begin(), c0.written.end(), 1);
  CHECK(run(5, wrong)->errors == 0); // only four are looked at
  Harness absent;
  c0 = Buffer::makeEmpty("cs[0]", DType::f32, {3});
  CHECK(run(4, absent)->errors == 1);
  CHECK(absent.said("TK5002: program (0, 0, 0) stores to `cs[0]` outside its 3 elements: index 3 at "
                    "[3]"));
}

TEST_CASE("an absent argument can be asked for, not used", "[interp]") {
  auto text = [](bool asks) {
    return kernelText("%b: !tk.view<f32, 1, 0>, %z: !tk.view<f32, 1, 1>",
                      "{name = \"b\", kind = \"tensor\", dtype = \"f32\", access = \"in\", "
                      "extents = [\"N\"], strides = [1], align = 4, optional = true}, " +
                          tensorEntry("z", DType::f32, "out", "1", "1"),
                      "1, 1, 1",
                      std::string("  %c0 = arith.constant 0 : i64\n") +
                          (asks ? "  %is = tk.present %b : !tk.view<f32, 1, 0>\n"
                                : "  %is = arith.constant true\n") +
                          R"(  %v = scf.if %is -> f32 {
    %x = tk.read %b[%c0] widths [0] : !tk.view<f32, 1, 0> -> f32
    scf.yield %x : f32
  } else {
    %n = arith.constant 7.0 : f32
    scf.yield %n : f32
  }
  tk.write %v, %z[%c0] widths [0] : f32, !tk.view<f32, 1, 1>)");
  };
  Buffer b = bufferOf("b", DType::f32, ramp(3)), z = Buffer::make("z", DType::f32, {1});
  Harness harness;
  CHECK(harness.run(text(true), {Argument::absent("b"), Argument::tensor("z", z)})->errors == 0);
  CHECK(valuesOf<float>(z)[0] == 7);
  CHECK(harness.run(text(true), {Argument::tensor("z", z)})->errors == 0);
  CHECK(harness.run(text(true), {Argument::tensor("b", b), Argument::tensor("z", z)})->errors == 0);
  CHECK(valuesOf<float>(z)[0] == 0);
  CHECK(harness.run(text(false), {Argument::absent("b"), Argument::tensor("z", z)})->errors == 1);
  CHECK(harness.said("TK5071: program (0, 0, 0) uses `b`, which was not given"));
}

TEST_CASE("addresses of a place, and which of them exist", "[interp]") {
  auto text = kernelText("%x: !tk.view<f32, 2, 0>, %z: !tk.view<f32, 1, 1>, %i: i64, %j: i64",
                         tensorEntry("x", DType::f32, "in", "\"M\", \"N\"", "\"x.s0\", 1") + ", " +
                             tensorEntry("z", DType::f32, "out", "4", "1") +
                             ", {name = \"i\", kind = \"scalar\", dtype = \"i64\"}"
                             ", {name = \"j\", kind = \"scalar\", dtype = \"i64\"}",
                         "1, 1, 1", R"(  %c0 = arith.constant 0 : i64
  %fill = arith.constant -1.0 : f32
  %p, %m = tk.locate %x[%i, %j] widths [0, 4] : !tk.view<f32, 2, 0> -> tensor<4x!tk.ptr<f32, 0>>, tensor<4xi1>
  %v = tk.load %p mask %m : tensor<4xi1> fill %fill : f32 : tensor<4x!tk.ptr<f32, 0>> -> tensor<4xf32>
  tk.write %v, %z[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>)");
  Buffer x = matrixOf("x", 2, 5), z = Buffer::make("z", DType::f32, {4});
  Harness harness;
  auto run = [&](int64_t i, int64_t j) {
    return harness.run(text, {Argument::tensor("x", x), Argument::tensor("z", z),
                              Argument::scalar("i", DType::i64, i),
                              Argument::scalar("j", DType::i64, j)});
  };
  CHECK(run(1, 3)->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>{8, 9, -1, -1});
  CHECK(run(0, -2)->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>{-1, -1, 0, 1});
  CHECK(run(2, 0)->errors == 1);
  CHECK(harness.said("index 2 on axis 0 of `x` is outside its extent 2"));
  CHECK(valuesOf<float>(z) == std::vector<float>(4, -1.f));
}
