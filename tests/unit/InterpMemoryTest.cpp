//===- InterpMemoryTest.cpp - places, pointers, and every check on memory -------------------===//

#include "backends/interp/Memory.h"
#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;
using mlir::failed;
using mlir::succeeded;

/// z[i * 4 + shift +: 4] = x[i * 4 + shift +: 4], fill -1, on a grid of `programs`.
static std::string copyKernel(const std::string &programs, const std::string &xAccess = "in",
                              const std::string &zAccess = "out") {
  return kernelText("%x: !tk.view<f32, 1, 0>, %z: !tk.view<f32, 1, 1>, %shift: i64",
                    tensorEntry("x", DType::f32, xAccess, "\"N\"", "1") + ", " +
                        tensorEntry("z", DType::f32, zAccess, "\"M\"", "1") +
                        ", {name = \"shift\", kind = \"scalar\", dtype = \"i64\"}",
                    programs + ", 1, 1", R"(  %p = tk.program_id 0
  %four = arith.constant 4 : i64
  %i = arith.muli %p, %four : i64
  %j = arith.addi %i, %shift : i64
  %fill = arith.constant -1.0 : f32
  %v = tk.read %x[%j] widths [4] fill %fill : f32 : !tk.view<f32, 1, 0> -> tensor<4xf32>
  tk.write %v, %z[%j] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>)");
}

static std::vector<float> ramp(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = float(i);
  return values;
}

TEST_CASE("places fill and drop past both edges", "[interp]") {
  Harness harness;
  Buffer x = bufferOf("x", DType::f32, ramp(6)), z = Buffer::make("z", DType::f32, {9});
  for (float &value : std::vector<float>())
    value = 0;
  auto report = harness.run(copyKernel("2"), {Argument::tensor("x", x), Argument::tensor("z", z),
                                              Argument::scalar("shift", DType::i64, int64_t(-2))});
  REQUIRE(succeeded(report));
  CHECK(report->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>{0, 1, 2, 3, 4, 5, 0, 0, 0});
  report = harness.run(copyKernel("2"), {Argument::tensor("x", x), Argument::tensor("z", z),
                                         Argument::scalar("shift", DType::i64, int64_t(4))});
  CHECK(valuesOf<float>(z) == std::vector<float>{0, 1, 2, 3, 4, 5, -1, -1, -1});
  // Starts that no sum can hold are outside, not undefined.
  for (int64_t shift : {INT64_MIN, INT64_MAX, INT64_MAX - 2})
    REQUIRE(
        succeeded(harness.run(copyKernel("1"), {Argument::tensor("x", x), Argument::tensor("z", z),
                                                Argument::scalar("shift", DType::i64, shift)})));
  CHECK(valuesOf<float>(z) == std::vector<float>{0, 1, 2, 3, 4, 5, -1, -1, -1});
}

TEST_CASE("places of rank 3 with strides, masks and single indices", "[interp]") {
  Harness harness;
  // x[i, :, j] of a 2x3x4 tensor stored with its axes turned around.
  Buffer x = Buffer::makeStrided("x", DType::i16, {2, 3, 4}, {12, -4, 1});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        int16_t value = int16_t(100 * i + 10 * j + k);
        std::memcpy(x.data() + 2 * (x.origin + 12 * i - 4 * j + k), &value, 2);
      }
  Buffer z = Buffer::make("z", DType::i16, {4, 5});
  std::string text =
      kernelText("%x: !tk.view<i16, 3, 0>, %z: !tk.view<i16, 2, 1>",
                 tensorEntry("x", DType::i16, "in", "2, 3, 4", "\"x.s0\", \"x.s1\", \"x.s2\"") +
                     ", " + tensorEntry("z", DType::i16, "out", "4, 5", "\"z.s0\", 1"),
                 "1, 1, 1", R"(  %c1 = arith.constant 1 : i64
  %m1 = arith.constant -1 : i64
  %c0 = arith.constant 0 : i64
  %i = tk.arange 0 : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %odd = tk.rem %i, %two : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %even = arith.cmpi eq, %odd, %zero : tensor<4xi32>
  %row = tk.expand_dims %even, 0 : tensor<4xi1> -> tensor<1x4xi1>
  %mask = tk.broadcast %row : tensor<1x4xi1> -> tensor<4x4xi1>
  %f = arith.constant 7 : i16
  %v = tk.read %x[%c1, %m1, %c0] widths [0, 4, 4] mask %mask : tensor<4x4xi1> fill %f : i16 : !tk.view<i16, 3, 0> -> tensor<4x4xi16>
  tk.write %v, %z[%c0, %c1] widths [4, 4] mask %mask : tensor<4x4xi1> : tensor<4x4xi16>, !tk.view<i16, 2, 1>)");
  auto report = harness.run(text, {Argument::tensor("x", x), Argument::tensor("z", z)});
  REQUIRE(succeeded(report));
  CHECK(valuesOf<int16_t>(z) == std::vector<int16_t>{0, 7,   0, 7,   0, //
                                                     0, 100, 0, 102, 0, //
                                                     0, 110, 0, 112, 0, //
                                                     0, 120, 0, 122, 0});
}

TEST_CASE("a single index out of range is reported with its extent", "[interp]") {
  Harness harness;
  Buffer z = Buffer::make("z", DType::f32, {2, 3});
  std::string text = kernelText("%z: !tk.view<f32, 2, 0>",
                                tensorEntry("z", DType::f32, "out", "\"M\", \"N\"", "\"z.s0\", 1"),
                                "4, 1, 1", R"(  %p = tk.program_id 0
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<3xf32>
  tk.write %v, %z[%p, %c0] widths [0, 3] : tensor<3xf32>, !tk.view<f32, 2, 0>)");
  for (unsigned threads : {1u, 2u}) {
    harness.messages.clear();
    Options options;
    options.threads = threads;
    auto report = harness.run(text, {Argument::tensor("z", z)}, options);
    REQUIRE(succeeded(report));
    CHECK(report->errors == 1);
    CHECK(harness.messages ==
          std::vector<std::string>{"5: TK5003: program (2, 0, 0): index 2 on axis 0 of `z` is "
                                   "outside its extent 2",
                                   "  1 more of this kind at this place"});
  }
  harness.messages.clear();
  Options options;
  options.checks.bounds = false;
  CHECK(harness.run(text, {Argument::tensor("z", z)}, options)->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>(6, 1.f));
}

/// z = load x + i - 1; with `mask` only where i < n.
static std::string pointerKernel(const std::string &operands, const std::string &zAccess = "out") {
  auto entry = [](const std::string &name, const std::string &access) {
    return "{name = \"" + name + "\", kind = \"pointer\", dtype = \"f32\", access = \"" + access +
           "\", align = 4}";
  };
  return kernelText("%x: !tk.ptr<f32, 0>, %z: !tk.ptr<f32, 1>, %n: i32, %shift: i32",
                    entry("x", "in") + ", " + entry("z", zAccess) +
                        ", {name = \"n\", kind = \"scalar\", dtype = \"i32\"}"
                        ", {name = \"shift\", kind = \"scalar\", dtype = \"i32\"}",
                    "1, 1, 1",
                    R"(  %i = tk.arange 0 : tensor<8xi32>
  %s = tk.splat %shift : i32 -> tensor<8xi32>
  %j = arith.addi %i, %s : tensor<8xi32>
  %ns = tk.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<8xi32>
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  %zs = tk.splat %z : !tk.ptr<f32, 1> -> tensor<8x!tk.ptr<f32, 1>>
  %xp = tk.ptr_add %xs, %j : tensor<8x!tk.ptr<f32, 0>>, tensor<8xi32>
  %zp = tk.ptr_add %zs, %i : tensor<8x!tk.ptr<f32, 1>>, tensor<8xi32>
  %v = tk.load %xp)" + operands +
                        R"( : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  tk.store %v, %zp mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8x!tk.ptr<f32, 1>>)");
}

TEST_CASE("loads outside a buffer say which element of which", "[interp]") {
  Harness harness;
  Buffer x = bufferOf("x", DType::f32, ramp(6)), z = Buffer::make("z", DType::f32, {8});
  auto args = [&](int64_t n, int64_t shift) {
    return std::vector<Argument>{Argument::tensor("x", x), Argument::tensor("z", z),
                                 Argument::scalar("n", DType::i32, n),
                                 Argument::scalar("shift", DType::i32, shift)};
  };
  std::string masked = pointerKernel(" mask %m : tensor<8xi1>");
  CHECK(harness.run(masked, args(6, 0))->errors == 0);
  CHECK(valuesOf<float>(z) == std::vector<float>{0, 1, 2, 3, 4, 5, 0, 0});
  CHECK(harness.run(masked, args(5, 1))->errors == 0);
  CHECK(harness.messages.empty());
  CHECK(harness.run(masked, args(6, -1))->errors == 1);
  CHECK(harness.messages ==
        std::vector<std::string>{"11: TK5001: program (0, 0, 0) loads from `x` outside its 6 "
                                 "elements: index -1 at [0]"});
  harness.messages.clear();
  CHECK(harness.run(pointerKernel(""), args(0, 0))->errors == 1);
  CHECK(harness.messages ==
        std::vector<std::string>{"11: TK5001: program (0, 0, 0) loads from `x` outside its 6 "
                                 "elements: index 6 at [6]",
                                 "  1 more of this kind at this place"});
  harness.messages.clear();
  Buffer small = Buffer::make("z", DType::f32, {4});
  std::vector<Argument> list = args(6, 0);
  list[1] = Argument::tensor("z", small);
  CHECK(harness.run(masked, list)->errors == 1);
  CHECK(harness.said("12: TK5002: program (0, 0, 0) stores to `z` outside its 4 elements: index 4 "
                     "at [4]"));
  CHECK(valuesOf<float>(small) == std::vector<float>{0, 1, 2, 3});
}

TEST_CASE("lanes of one store that disagree are reported", "[interp]") {
  Harness harness;
  std::string text =
      kernelText("%z: !tk.ptr<i32, 0>",
                 "{name = \"z\", kind = \"pointer\", dtype = \"i32\", access = \"out\", align = 4}",
                 "1, 1, 1", R"(  %i = tk.arange 0 : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %half = tk.div %i, %two : tensor<4xi32>
  %zs = tk.splat %z : !tk.ptr<i32, 0> -> tensor<4x!tk.ptr<i32, 0>>
  %p = tk.ptr_add %zs, %half : tensor<4x!tk.ptr<i32, 0>>, tensor<4xi32>
  tk.store %two, %p : tensor<4xi32>, tensor<4x!tk.ptr<i32, 0>>
  tk.store %i, %p : tensor<4xi32>, tensor<4x!tk.ptr<i32, 0>>)");
  Buffer z = Buffer::make("z", DType::i32, {2});
  CHECK(harness.run(text, {Argument::tensor("z", z)})->errors == 1);
  CHECK(harness.messages ==
        std::vector<std::string>{"8: TK5016: program (0, 0, 0) stores 0 at [0] to element [0] of "
                                 "`z`, and 1 in another lane of the same store",
                                 "  1 more of this kind at this place"});
  CHECK(valuesOf<int32_t>(z) == std::vector<int32_t>{1, 3});
}

TEST_CASE("reads of what nobody wrote, and of `out`", "[interp]") {
  Harness harness;
  Buffer x = Buffer::makeEmpty("x", DType::f32, {8}), z = Buffer::make("z", DType::f32, {8});
  x.written[0] = x.written[1] = x.written[2] = x.written[3] = x.written[4] = 1;
  std::vector<Argument> args = {Argument::tensor("x", x), Argument::tensor("z", z),
                                Argument::scalar("shift", DType::i64, int64_t(0))};
  CHECK(harness.run(copyKernel("2"), args)->errors == 1);
  CHECK(harness.messages ==
        std::vector<std::string>{"7: TK5004: program (1, 0, 0) reads element [5] of `x`, which "
                                 "nobody has written",
                                 "  2 more of this kind at this place"});
  Options options;
  options.checks.init = false;
  CHECK(harness.run(copyKernel("2"), args, options)->errors == 0);
  harness.messages.clear();
  CHECK(harness.run(copyKernel("1", "out"), args)->errors == 1);
  CHECK(harness.messages == std::vector<std::string>{"7: TK5005: program (0, 0, 0) reads element "
                                                     "[0] of the `out` parameter `x`"});
  harness.messages.clear();
  CHECK(harness.run(copyKernel("1", "in", "in"), args)->errors == 1);
  CHECK(harness.messages == std::vector<std::string>{"8: TK5006: program (0, 0, 0) writes 0 to "
                                                     "element [0] of the `in` parameter `z`"});
}

/// Every instance writes z[pid * step +: 2], and reads z[at] when told to.
static std::string raceKernel(const std::string &programs, bool reads) {
  return kernelText("%z: !tk.view<i32, 1, 0>, %step: i64, %at: i64",
                    tensorEntry("z", DType::i32, "inout", "\"N\"", "1") +
                        ", {name = \"step\", kind = \"scalar\", dtype = \"i64\"}"
                        ", {name = \"at\", kind = \"scalar\", dtype = \"i64\"}",
                    programs,
                    std::string(R"(  %p = tk.program_id 0
  %i = arith.muli %p, %step : i64
)") +
                        (reads ? "  %r = tk.read %z[%at] widths [0] : !tk.view<i32, 1, 0> -> i32\n"
                               : "  %r = arith.constant 5 : i32\n") +
                        R"(  %v = tk.splat %r : i32 -> tensor<2xi32>
  tk.write %v, %z[%i] widths [2] : tensor<2xi32>, !tk.view<i32, 1, 0>)");
}

TEST_CASE("two instances that write one element race", "[interp]") {
  for (unsigned threads : {1u, 2u, 3u}) {
    Harness harness;
    Options options;
    options.threads = threads;
    Buffer z = Buffer::make("z", DType::i32, {100});
    auto args = [&](int64_t step, int64_t at) {
      return std::vector<Argument>{Argument::tensor("z", z),
                                   Argument::scalar("step", DType::i64, step),
                                   Argument::scalar("at", DType::i64, at)};
    };
    CHECK(harness.run(raceKernel("16, 1, 1", false), args(2, 0), options)->errors == 0);
    CHECK(harness.messages.empty());
    CHECK(harness.run(raceKernel("16, 1, 1", false), args(1, 0), options)->errors == 1);
    CHECK(harness.messages ==
          std::vector<std::string>{"6: TK5007: race: program (1, 0, 0) writes 5 to element [1] of "
                                   "`z`, which program (0, 0, 0) has written",
                                   "  14 more of this kind at this place"});
    harness.messages.clear();
    // The one pair of instances that meet stands at the border between two workers.
    CHECK(harness.run(raceKernel("4, 4, 1", false), args(2, 0), options)->errors == 1);
    CHECK(harness.said("program (0, 1, 0) writes 5 to element [0] of `z`, which program (0, 0, 0) "
                       "has written"));
    harness.messages.clear();
    CHECK(harness.run(raceKernel("16, 1, 1", true), args(2, 0), options)->errors == 1);
    CHECK(harness.messages ==
          std::vector<std::string>{"4: TK5008: race: program (1, 0, 0) reads element [0] of `z`, "
                                   "which program (0, 0, 0) has written",
                                   "  14 more of this kind at this place"});
    harness.messages.clear();
    CHECK(harness.run(raceKernel("16, 1, 1", true), args(2, 31), options)->errors == 1);
    CHECK(harness.messages ==
          std::vector<std::string>{"6: TK5009: race: program (15, 0, 0) writes 5 to element [31] "
                                   "of `z`, which program (0, 0, 0) has read"});
    options.checks.races = false;
    options.threads = 1;
    CHECK(harness.run(raceKernel("16, 1, 1", false), args(1, 0), options)->errors == 0);
  }
}

TEST_CASE("results do not depend on the number of workers", "[interp]") {
  std::vector<float> first;
  for (unsigned threads : {1u, 2u, 5u}) {
    Harness harness;
    Options options;
    options.threads = threads;
    Buffer x = bufferOf("x", DType::f32, ramp(1000)),
           z = Buffer::makeEmpty("z", DType::f32, {1000});
    auto report = harness.run(copyKernel("250"),
                              {Argument::tensor("x", x), Argument::tensor("z", z),
                               Argument::scalar("shift", DType::i64, int64_t(0))},
                              options);
    REQUIRE(succeeded(report));
    CHECK(report->errors == 0);
    CHECK(valuesOf<float>(z) == ramp(1000));
    CHECK(std::count(z.written.begin(), z.written.end(), 0) == 0);
  }
}

TEST_CASE("a NaN is reported where it appears, when it is stored", "[interp]") {
  auto run = [](std::vector<float> a, NanCheck level, std::vector<std::string> &messages) {
    Options options;
    options.checks.nan = level;
    std::vector<float> zero(a.size(), 0.f);
    return elementwise<float>("%q = tk.div %a, %b : $out\n  %s = arith.addf %q, %q : $out\n"
                              "  %z = arith.constant dense<true> : tensor<3xi1>\n"
                              "  %n = arith.cmpf uno, %s, %s : $out\n"
                              "  %r = arith.select %n, %c, %s : tensor<3xi1>, $out",
                              DType::f32, DType::f32, in(a, zero, zero), options, &messages);
  };
  std::vector<std::string> messages;
  (void)run({1, 0, 0}, NanCheck::Stored, messages);
  CHECK(messages.empty()); // the NaNs are selected away
  (void)run({1, NAN, 0}, NanCheck::Error, messages);
  CHECK(messages == std::vector<std::string>{"6: TK5011: program (0, 0, 0) makes a NaN at [2] of "
                                             "0, 0"});
  (void)elementwise<float>("%q = tk.div %a, %b : $out\n  %r = arith.addf %q, %q : $out", DType::f32,
                           DType::f32, in(std::vector<float>{1, 0}, std::vector<float>{1, 0}), {},
                           &messages);
  CHECK(messages == std::vector<std::string>{"5: TK5010: program (0, 0, 0) makes a NaN at [1] of "
                                             "0, 0, and a NaN is stored later"});
}

TEST_CASE("memory is found by address where regions lie over each other", "[interp]") {
  std::vector<float> memory(16);
  auto region = [&](size_t first, int64_t elements, BufferState &state, ArgState &arg) {
    state.data = reinterpret_cast<uint8_t *>(&memory[first]);
    state.elements = elements;
    state.elementBytes = sizeof(float);
    arg.buffer = &state;
  };
  BufferState states[3];
  ArgState whole, part, again;
  region(0, 16, states[0], whole);
  region(4, 2, states[1], part);
  region(4, 2, states[2], again);
  MemoryMap map;
  for (ArgState *arg : {&whole, &part, &again})
    map.add(0, arg);
  auto find = [&](size_t element) {
    return map.find(0, reinterpret_cast<uint64_t>(memory.data() + element));
  };
  CHECK(find(0) == &whole);
  CHECK(find(5) == &part); // the first of its names
  CHECK(find(6) == &whole);
  CHECK(find(16) == nullptr);
  CHECK(map.find(1, reinterpret_cast<uint64_t>(memory.data())) == nullptr);
}
