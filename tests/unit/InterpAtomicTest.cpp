//===- InterpAtomicTest.cpp - atomic operations, turns, deadlocks, ordering -----------------===//

#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;
using mlir::succeeded;

static std::string pointerEntry(const std::string &name, DType type,
                                const std::string &access = "inout") {
  return "{name = \"" + name + "\", kind = \"pointer\", dtype = \"" + nameOf(type) +
         "\", access = \"" + access + "\", align = 1}";
}

/// One rmw of `values` at the elements `at` of `memory`; gives what was there.
template <class T>
static std::vector<T> rmw(const std::string &kind, DType type, std::vector<T> &memory,
                          const std::vector<T> &values, const std::vector<int32_t> &at,
                          const std::string &more = "", std::vector<double> *bounds = nullptr) {
  const std::string n = std::to_string(values.size()), t = signless(type);
  const std::string ptrs = "tensor<" + n + "x!tk.ptr<" + t + ", 0>>", tile = "tensor<" + n + "x" + t;
  std::string text = kernelText(
      "%p: !tk.ptr<" + t + ", 0>, %v: !tk.view<" + t + ", 1, 1>, %i: !tk.view<i32, 1, 2>, %o: "
      "!tk.view<" + t + ", 1, 3>",
      pointerEntry("p", type) + ", " + tensorEntry("v", type, "in", n, "1") + ", " +
          tensorEntry("i", DType::i32, "in", n, "1") + ", " + tensorEntry("o", type, "out", n, "1"),
      "1, 1, 1",
      "  %c0 = arith.constant 0 : i64\n"
      "  %value = tk.read %v[%c0] widths [" + n + "] : !tk.view<" + t + ", 1, 1> -> " + tile + ">\n"
      "  %at = tk.read %i[%c0] widths [" + n + "] : !tk.view<i32, 1, 2> -> tensor<" + n + "xi32>\n"
      "  %ps = tk.splat %p : !tk.ptr<" + t + ", 0> -> " + ptrs + "\n"
      "  %q = tk.ptr_add %ps, %at : " + ptrs + ", tensor<" + n + "xi32>\n"
      "  %old = tk.atomic_rmw " + kind + " %value, %q " + more + " order relaxed scope gpu : " +
          tile + ">, " + ptrs + "\n"
      "  tk.write %old, %o[%c0] widths [" + n + "] : " + tile + ">, !tk.view<" + t + ", 1, 3>");
  Buffer p = bufferOf("p", type, memory), v = bufferOf("v", type, values);
  Buffer i = bufferOf("i", DType::i32, at), o = bufferOf("o", type, values);
  Harness harness;
  Options options;
  options.errorBounds = bounds;
  auto report = harness.run(text, {Argument::tensor("p", p), Argument::tensor("v", v),
                                   Argument::tensor("i", i), Argument::tensor("o", o)},
                            options);
  for (const std::string &message : harness.messages)
    UNSCOPED_INFO(message);
  REQUIRE(succeeded(report));
  CHECK(report->errors == 0);
  memory = valuesOf<T>(p);
  if (bounds)
    *bounds = p.bounds;
  return valuesOf<T>(o);
}

TEST_CASE("elements of one tile with one address are operations of their own", "[interp]") {
  std::vector<int32_t> memory = {10, 20};
  CHECK(rmw<int32_t>("add", DType::i32, memory, {1, 2, 3, 4}, {0, 1, 0, 0}) ==
        std::vector<int32_t>{10, 20, 11, 14});
  CHECK(memory == std::vector<int32_t>{18, 22});
  CHECK(rmw<int32_t>("exchange", DType::i32, memory, {5, 6}, {1, 1}) ==
        std::vector<int32_t>{22, 5});
  CHECK(memory == std::vector<int32_t>{18, 6});
}

TEST_CASE("integers of all widths wrap, with and without sign", "[interp]") {
  std::vector<int8_t> bytes = {127, -128, 3};
  CHECK(rmw<int8_t>("add", DType::i8, bytes, {1, -1, 4}, {0, 1, 2}) ==
        std::vector<int8_t>{127, -128, 3});
  CHECK(bytes == std::vector<int8_t>{-128, 127, 7});
  (void)rmw<int8_t>("max", DType::i8, bytes, {-1, -1, 9}, {0, 1, 2});
  CHECK(bytes == std::vector<int8_t>{-1, 127, 9});
  (void)rmw<int8_t>("max", DType::i8, bytes, {1, -1, 9}, {0, 1, 2}, "unsigned");
  CHECK(bytes == std::vector<int8_t>{-1, -1, 9});
  (void)rmw<int8_t>("min", DType::i8, bytes, {1, 5, 10}, {0, 1, 2}, "unsigned");
  CHECK(bytes == std::vector<int8_t>{1, 5, 9});
  std::vector<int64_t> words = {0x0ff0, 0x0ff0, 0x0ff0};
  for (const char *kind : {"and", "or", "xor"})
    (void)rmw<int64_t>(kind, DType::i64, words, {0x00ff}, {kind[0] == 'a' ? 0 : kind[0] == 'o' ? 1 : 2});
  CHECK(words == std::vector<int64_t>{0x00f0, 0x0fff, 0x0f0f});
}

TEST_CASE("floats round once; maximum and minimum propagate NaN and order zeros", "[interp]") {
  std::vector<float> memory = {1, -0.f, 0.f, 2, NAN, 5};
  (void)rmw<float>("max", DType::f32, memory, {2, 0.f, -0.f, NAN, 1, 4}, {0, 1, 2, 3, 4, 5});
  CHECK(memory[0] == 2);
  CHECK_FALSE(std::signbit(memory[1]));
  CHECK_FALSE(std::signbit(memory[2]));
  CHECK(std::isnan(memory[3]));
  CHECK(std::isnan(memory[4]));
  CHECK(memory[5] == 5);
  memory = {-0.f, 0.f, 3};
  (void)rmw<float>("min", DType::f32, memory, {0.f, -0.f, 4}, {0, 1, 2});
  CHECK(std::signbit(memory[0]));
  CHECK(std::signbit(memory[1]));
  CHECK(memory[2] == 3);
  auto half = [](float value) { return fromFloat<F16>(value).bits; };
  auto brain = [](float value) { return fromFloat<BF16>(value).bits; };
  std::vector<uint16_t> halves = {half(2048)}, brains = {brain(256)};
  (void)rmw<uint16_t>("add", DType::f16, halves, {half(1), half(3)}, {0, 0});
  CHECK(toFloat(F16{halves[0]}) == 2052); // 2049 rounds to 2048, 2051 to 2052
  (void)rmw<uint16_t>("add", DType::bf16, brains, {brain(1), brain(3)}, {0, 0});
  CHECK(toFloat(BF16{brains[0]}) == 260); // 257 rounds to 256, 259 to 260
}

TEST_CASE("sums in any order err by the sum of magnitudes", "[interp]") {
  std::vector<float> memory = {1, 1};
  std::vector<double> bounds;
  (void)rmw<float>("add", DType::f32, memory, {1e8f, -1e8f, 0.f}, {0, 0, 1}, "", &bounds);
  CHECK(bounds[0] == Approx(2 * 0x1p-24 * (1 + 2e8)));
  CHECK(bounds[1] == Approx(0x1p-24));
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// A run over instances with an i32 `lock`, f32 `data` of 4 and an i64 `n`.
namespace {
struct Shared {
  Buffer lock = Buffer::make("lock", DType::i32, {4});
  Buffer data = Buffer::make("data", DType::f32, {4});
  Harness harness;
  Options options;

  unsigned errors(const std::string &body, int64_t programs, bool isCooperative = false) {
    harness.messages.clear();
    std::fill(lock.storage.begin(), lock.storage.end(), 0);
    std::fill(data.storage.begin(), data.storage.end(), 0);
    std::string text = kernelText(
        "%lock: !tk.ptr<i32, 0>, %data: !tk.view<f32, 1, 1>",
        pointerEntry("lock", DType::i32) + ", " +
            tensorEntry("data", DType::f32, "inout", "4", "1"),
        std::to_string(programs) + ", 1, 1",
        R"(  %pid = tk.program_id 0
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f1 = arith.constant dense<1.0> : tensor<4xf32>
)" + body,
        isCooperative ? ", cooperative = true" : "");
    auto report = harness.run(
        text, {Argument::tensor("lock", lock), Argument::tensor("data", data)}, options);
    for (const std::string &message : harness.messages)
      UNSCOPED_INFO(message);
    REQUIRE(succeeded(report));
    return report->errors;
  }
};
} // namespace

static std::string lockBody(const std::string &take, const std::string &give) {
  return R"(  scf.while : () -> () {
    %old = tk.atomic_cas %zero, %one, %lock order )" +
         take + R"( scope gpu : i32, !tk.ptr<i32, 0>
    %taken = arith.cmpi ne, %old, %zero : i32
    scf.condition(%taken)
  } do {
    scf.yield
  }
  %v = tk.read %data[%c0] widths [4] : !tk.view<f32, 1, 1> -> tensor<4xf32>
  %w = arith.addf %v, %f1 : tensor<4xf32>
  tk.write %w, %data[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>
  %was = tk.atomic_rmw exchange %zero, %lock order )" +
         give + R"( scope gpu : i32, !tk.ptr<i32, 0>)";
}

TEST_CASE("a spin lock lets one instance in after the other", "[interp]") {
  Shared shared;
  for (int64_t window : {1, 2, 64}) {
    for (Order order : {Order::Forward, Order::Reverse, Order::Shuffle}) {
      shared.options.window = window;
      shared.options.order = order;
      CHECK(shared.errors(lockBody("acquire", "release"), 200) == 0);
      CHECK(valuesOf<float>(shared.data) == std::vector<float>(4, 200.f));
    }
  }
}

TEST_CASE("a lock without release or acquire orders nothing", "[interp]") {
  Shared shared;
  CHECK(shared.errors(lockBody("relaxed", "release"), 8) > 0);
  CHECK(shared.harness.said("TK5008: race: program (1, 0, 0) reads element [0] of `data`, which "
                            "program (0, 0, 0) has written"));
  CHECK(shared.errors(lockBody("acquire", "relaxed"), 8) > 0);
  CHECK(shared.errors(lockBody("acq_rel", "acq_rel"), 8) == 0);
}

/// Each instance but the first waits for the flag of the one before (`wait` = -1) or after it.
static std::string chainBody(int wait, const std::string &load, bool writesAfter = false) {
  std::string write = R"(  tk.write %w, %data[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>
)";
  std::string give = R"(  tk.atomic_store %one, %mine order release scope gpu : i32, !tk.ptr<i32, 0>
)";
  return "  %d = arith.constant " + std::to_string(wait) + R"( : i64
  %n = tk.num_programs 0
  %other = arith.addi %pid, %d : i64
  %low = arith.cmpi sge, %other, %c0 : i64
  %high = arith.cmpi slt, %other, %n : i64
  %has = arith.andi %low, %high : i1
  %mine = tk.ptr_add %lock, %pid : !tk.ptr<i32, 0>, i64
  scf.if %has {
    %theirs = tk.ptr_add %lock, %other : !tk.ptr<i32, 0>, i64
    scf.while : () -> () {
      %f = )" +
         load + R"(
      %no = arith.cmpi eq, %f, %zero : i32
      scf.condition(%no)
    } do {
      scf.yield
    }
  }
  %v = tk.read %data[%c0] widths [4] : !tk.view<f32, 1, 1> -> tensor<4xf32>
  %w = arith.addf %v, %f1 : tensor<4xf32>
)" + (writesAfter ? give + write : write + give);
}

static const char *const kAcquire =
    "tk.atomic_load %theirs order acquire scope gpu : !tk.ptr<i32, 0> -> i32";

TEST_CASE("flags hand data on, from smaller ids or, all live at once, from any", "[interp]") {
  Shared shared;
  CHECK(shared.errors(chainBody(-1, kAcquire), 4) == 0);
  CHECK(valuesOf<float>(shared.data) == std::vector<float>(4, 4.f));
  CHECK(shared.errors(chainBody(1, kAcquire), 4, /*isCooperative=*/true) == 0);
  CHECK(valuesOf<float>(shared.data) == std::vector<float>(4, 4.f));
}

TEST_CASE("what is written after the release is not handed on", "[interp]") {
  Shared shared;
  CHECK(shared.errors(chainBody(-1, kAcquire, /*writesAfter=*/true), 4) > 0);
  CHECK(shared.harness.said("TK50"));
}

TEST_CASE("a flag that is read relaxed, volatile or plainly is a race", "[interp]") {
  Shared shared;
  CHECK(shared.errors(chainBody(-1, "tk.atomic_load %theirs order relaxed scope gpu : "
                                    "!tk.ptr<i32, 0> -> i32"),
                      4) > 0);
  CHECK(shared.harness.said("TK5008: race: program (1, 0, 0) reads element [0] of `data`"));
  CHECK(shared.errors(chainBody(-1, "tk.load %theirs volatile : !tk.ptr<i32, 0> -> i32"), 4) > 0);
  CHECK(shared.harness.said("TK5008"));
  CHECK(shared.errors(chainBody(-1, "tk.load %theirs : !tk.ptr<i32, 0> -> i32"), 4) > 0);
  CHECK(shared.harness.said("TK5072: race: program (1, 0, 0) reads element [0] of `lock`, which "
                            "program (0, 0, 0) changes atomically"));
}

TEST_CASE("waiting for a larger id that has not begun is a deadlock, and says so", "[interp]") {
  Shared shared;
  shared.options.window = 2;
  CHECK(shared.errors(chainBody(1, kAcquire), 4) == 1);
  CHECK(shared.harness.messages ==
        std::vector<std::string>{
            "17: TK5076: deadlock: program (0, 0, 0) waits here for ever: element [1] of `lock` "
            "stays 0",
            "  program (2, 0, 0) has not begun: an instance may wait for those of smaller ids, and "
            "for any only under `@cooperative`",
            "  1 more of this kind at this place"});
  shared.options.window = 64;
  CHECK(shared.errors(chainBody(0, kAcquire), 3) == 1); // for itself
  CHECK(shared.harness.said("deadlock: program (0, 0, 0) waits here for ever: element [0]"));
}

TEST_CASE("all instances of a cooperative kernel must fit", "[interp]") {
  Shared shared;
  shared.options.maxArenaBytes = 1 << 12;
  Harness &harness = shared.harness;
  std::string text = kernelText("%lock: !tk.ptr<i32, 0>", pointerEntry("lock", DType::i32),
                                "1000, 1, 1",
                                "  %v = tk.atomic_load %lock order relaxed scope gpu : "
                                "!tk.ptr<i32, 0> -> i32",
                                ", cooperative = true");
  CHECK(mlir::failed(
      harness.run(text, {Argument::tensor("lock", shared.lock)}, shared.options)));
  CHECK(harness.said("TK5081: all 1000 program instances must be live at once and need"));
}

/// The last instance to arrive reads what all have written, and puts the counter back.
static std::string lastBody(const std::string &order) {
  return R"(  %four = arith.constant 4 : i64
  %mine = arith.constant 2.0 : f32
  tk.write %mine, %data[%pid] widths [0] : f32, !tk.view<f32, 1, 1>
  %n = tk.atomic_rmw add %one, %lock order )" +
         order + R"( scope gpu : i32, !tk.ptr<i32, 0>
  %three = arith.constant 3 : i32
  %last = arith.cmpi eq, %n, %three : i32
  scf.if %last {
    %v = tk.read %data[%c0] widths [4] : !tk.view<f32, 1, 1> -> tensor<4xf32>
    %w = arith.addf %v, %f1 : tensor<4xf32>
    tk.write %w, %data[%c0] widths [4] : tensor<4xf32>, !tk.view<f32, 1, 1>
    tk.store %zero, %lock : i32, !tk.ptr<i32, 0>
  })";
}

TEST_CASE("the last instance to arrive at a counter sees what all have done", "[interp]") {
  Shared shared;
  for (Order order : {Order::Forward, Order::Reverse, Order::Shuffle}) {
    shared.options.order = order;
    CHECK(shared.errors(lastBody("acq_rel"), 4) == 0);
    CHECK(valuesOf<float>(shared.data) == std::vector<float>(4, 3.f));
    CHECK(valuesOf<int32_t>(shared.lock)[0] == 0);
  }
  shared.options.order = Order::Forward;
  CHECK(shared.errors(lastBody("relaxed"), 4) > 0);
  CHECK(shared.harness.said("TK5008: race: program (3, 0, 0) reads element [0] of `data`"));
  CHECK(shared.harness.said("TK5073: race: program (3, 0, 0) writes 0 to element [0] of `lock`, on "
                            "which program"));
}

TEST_CASE("atomic sums and plain accesses of one element do not mix", "[interp]") {
  Shared shared;
  std::string add = "  %p = tk.base %data : !tk.view<f32, 1, 1> -> !tk.ptr<f32, 1>\n"
                    "  %f = arith.constant 1.0 : f32\n"
                    "  %s = tk.atomic_rmw add %f, %p order relaxed scope gpu : f32, "
                    "!tk.ptr<f32, 1>\n";
  std::string read = "  %v = tk.read %data[%c0] widths [0] : !tk.view<f32, 1, 1> -> f32\n";
  std::string write = "  tk.write %f, %data[%c0] widths [0] : f32, !tk.view<f32, 1, 1>\n";
  CHECK(shared.errors(add, 100) == 0);
  CHECK(valuesOf<float>(shared.data)[0] == 100);
  CHECK(shared.errors(add + read, 2) == 2);
  CHECK(shared.harness.said("TK5072: race: program (1, 0, 0) reads element [0] of `data`, which"));
  CHECK(shared.harness.said("TK5075: race: program (1, 0, 0) changes element [0] of `data` "
                            "atomically, which program (0, 0, 0) has read"));
  CHECK(shared.errors(add + write, 2) == 2);
  CHECK(shared.harness.said("TK5074: race: program (1, 0, 0) operates atomically on element [0] of "
                            "`data`, which program (0, 0, 0) has written"));
  CHECK(shared.errors(add + read + write, 1) == 0); // one instance alone
  // Among the threads of one instance only: for others a plain access.
  std::string alone = add;
  alone.replace(alone.find("scope gpu"), 9, "scope cta");
  CHECK(shared.errors(alone, 2) > 0);
  CHECK(shared.harness.said("TK5008"));
}

TEST_CASE("atomic operations outside a buffer, on unwritten and on `in` memory", "[interp]") {
  Harness harness;
  auto text = [](const std::string &access, const std::string &at) {
    return kernelText("%p: !tk.ptr<i32, 0>", pointerEntry("p", DType::i32, access), "1, 1, 1",
                      "  %one = arith.constant 1 : i32\n  %i = arith.constant " + at +
                          " : i64\n  %q = tk.ptr_add %p, %i : !tk.ptr<i32, 0>, i64\n"
                          "  %v = tk.atomic_rmw add %one, %q order relaxed scope gpu : i32, "
                          "!tk.ptr<i32, 0>");
  };
  Buffer p = Buffer::make("p", DType::i32, {4}), empty = Buffer::makeEmpty("p", DType::i32, {4});
  CHECK(harness.run(text("inout", "4"), {Argument::tensor("p", p)})->errors == 1);
  CHECK(harness.said("TK5070: program (0, 0, 0) operates atomically on `p` outside its 4 elements: "
                     "index 4"));
  CHECK(harness.run(text("inout", "1"), {Argument::tensor("p", empty)})->errors == 1);
  CHECK(harness.said("TK5004: program (0, 0, 0) reads element [1] of `p`, which nobody has "
                     "written"));
  CHECK(harness.run(text("in", "1"), {Argument::tensor("p", p)})->errors == 1);
  CHECK(harness.said("TK5006"));
}

TEST_CASE("results of atomics come out equal in two orders", "[interp]") {
  // A queue: each instance takes a ticket and adds its square.
  Shared shared;
  std::string body = R"(  %t = tk.atomic_rmw add %one, %lock order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %sq = arith.muli %t, %t : i32
  %p1 = tk.ptr_add %lock, %c1 : !tk.ptr<i32, 0>, i64
  %s = tk.atomic_rmw add %sq, %p1 order relaxed scope gpu : i32, !tk.ptr<i32, 0>)";
  for (Order order : {Order::Forward, Order::Reverse, Order::Shuffle})
    for (uint64_t seed : {1, 2}) {
      shared.options.order = order;
      shared.options.seed = seed;
      CHECK(shared.errors(body, 100) == 0);
      CHECK(valuesOf<int32_t>(shared.lock) == std::vector<int32_t>{100, 328350, 0, 0});
    }
}
