//===- InterpRunCommandTest.cpp - tkc run: arguments and outputs -----------------------------===//

#include "driver/Npy.h"
#include "driver/RunArgs.h"
#include "tests/unit/InterpHarness.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace tk;
using namespace tk::interp;
using namespace tk::interp::test;

/// y[r, :] = x[r, :] * s, on rows of 8.
static std::string scaleKernel(const std::string &name = "k") {
  std::string text =
      kernelText("%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %s: f32",
                 tensorEntry("x", DType::f32, "in", "\"M\", \"N\"", "\"x.s0\", 1") + ", " +
                     tensorEntry("y", DType::f32, "out", "\"M\", \"N\"", "\"y.s0\", 1") +
                     ", {name = \"s\", kind = \"scalar\", dtype = \"f32\", default = 2.0 : f32}",
                 "\"M\", 1, 1", R"(  %p = tk.program_id 0
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%p, %c0] widths [0, 8] : !tk.view<f32, 2, 0> -> tensor<8xf32>
  %t = tk.splat %s : f32 -> tensor<8xf32>
  %w = arith.mulf %v, %t : tensor<8xf32>
  tk.write %w, %y[%p, %c0] widths [0, 8] : tensor<8xf32>, !tk.view<f32, 2, 1>)");
  for (size_t at; name != "k" && (at = text.find("@k(")) != std::string::npos;)
    text.replace(at, 3, "@" + name + "(");
  if (name != "k")
    text.replace(text.find("kernel = \"k\""), 12, "kernel = \"" + name + "\"");
  return text;
}

namespace {
struct Runner : Harness {
  int run(const RunOptions &options, const std::string &text = scaleKernel()) {
    messages.clear();
    printed.clear();
    KernelOp kernel = parse(text);
    llvm::raw_string_ostream stream(printed);
    return runCommand(options, kernel->getParentOfType<mlir::ModuleOp>(), stream);
  }
  int runOn(std::vector<std::string> args, std::vector<std::string> expects = {}) {
    RunOptions options;
    options.args = std::move(args);
    options.expects = std::move(expects);
    return run(options);
  }
  std::string printed;
};
} // namespace

TEST_CASE("a run makes its arguments, the outputs included", "[run]") {
  Runner runner;
  CHECK(runner.runOn({"x=randn:f32:3x8:seed=1", "s=3"}, {"allclose(y, x * 3)"}) == 0);
  CHECK(runner.messages.empty());
  CHECK(runner.runOn({"x=randn:3x8"}, {"equal(y, 2 * x)", "M == 3 && N == 8"}) == 0);
  CHECK(runner.runOn({"x=arange:3x8", "y=empty", "s=-0.5"},
                     {"y[1, 2] == -5", "equal(y[2, 7], -11.5)"}) == 0);
  CHECK(runner.runOn({"x=full(1.5):f32:2x8"}, {"y == 3"}) == 0);
  CHECK(runner.runOn({"x=ones:2x8"}, {"sum(y) == 32"}) == 0);
  CHECK(runner.runOn({"x=rand:2x8"}, {"min(x) >= 0 && max(x) < 1 && variance(x) > 0.01"}) == 0);
  // The same seed gives the same numbers, no seed a name's own.
  CHECK(runner.runOn({"x=randn:2x8:seed=7"}, {"abs(x[0, 0]) < 10"}) == 0);
}

TEST_CASE("elements past the tile stay unwritten and are read by nobody", "[run]") {
  Runner runner;
  RunOptions options;
  options.args = {"x=ones:1x9"};
  options.prints = {"y"};
  CHECK(runner.run(options) == 0);
  CHECK(runner.printed == "y: f32[1, 9] =\n[[2, 2, 2, 2, 2, 2, 2, 2, _]]\n");
}

TEST_CASE("bad arguments say what is wrong", "[run]") {
  struct Case {
    std::vector<std::string> args;
    int status;
    const char *message;
  };
  const Case cases[] = {
      {{"x"}, 2, "TK5041: the argument `x` is not NAME=VALUE"},
      {{"x=zeroes:3x8"}, 2, "has the rule `zeroes`, which is none of zeros"},
      {{"x=zeros:3y8"}, 2, "has `3y8`, which is neither a type, nor extents"},
      {{"x=randn:3x8:seed=a"}, 2, "has the seed `a`, which is no number"},
      {{"x=full:3x8"}, 2, "needs a value: full(0.5)"},
      {{"x=zeros(1):3x8"}, 2, "has a value that `zeros` does not take"},
      {{"x=randint:3x8"}, 2, "needs bounds: randint(8) or randint(-4, 4)"},
      {{"x=ones:3x8:strides=8,1"}, 2, "has the strides `8,1`, which are not numbers like 32x1"},
      {{"x=ones:3x8:T:strides=8x1"}, 2, "has both T and strides"},
      {{"x=ones:3x8:strides=8"}, 1, "has 1 strides for 2 axes"},
      {{"x=ones:24:T"}, 1, "is transposed, which needs two axes"},
      {{"x=[[1, 2], [3]]"}, 1, "is no list of numbers, or of lists of one length"},
      {{"x=[[1, a]]"}, 1, "is no list of numbers, or of lists of one length"},
      {{"x=w"}, 1, "is neither an array nor the name of another array argument"},
      {{"q=zeros:3x8"}, 1, "TK5022: kernel `k` has no parameter `q`"},
      {{"q=zeros:3x8"}, 1, "help: its parameters are x, y, s; -D"},
      {{"X=zeros:3x8"}, 1, "help: did you mean `x`?"},
      {{"x=zeros:f16:3x8"}, 1, "`x=zeros:f16:3x8` is f16, the parameter is f32"},
      {{"x=zeros:f16:3x8"}, 1, "help: write x=zeros:f32:3x8"},
      {{"x=zeros:24"}, 1, "TK5026: the parameter `x` has rank 2, the argument has rank 1"},
      {{"x=zeros:24"}, 1, "help: for example x=randn:64x64"},
      {{"x=5"}, 1, "`x=5` is a scalar, the parameter is an array"},
      {{"x=zeros:3x8", "s=zeros:1"}, 1, "`s=zeros:1` is an array, the parameter is a scalar"},
      {{"x=zeros:3x8", "s=abc"}, 1, "`s=abc` is not a number"},
      {{"x=@nowhere.npy"}, 1, "TK5042: cannot read `nowhere.npy`: No such file"},
      {{"s=1"}, 1, "TK5021: kernel `k` lacks the argument `x`"},
      {{"s=1"}, 1, "help: add x=randn:64x64"},
      {{"y=zeros:4x32"}, 1, "help: add x=randn"},
      {{"x=zeros"}, 1, "TK5049: the extents of `x` do not follow from the other arguments: `M` is"},
      {{"x=zeros"}, 1, "help: give it extents: x=zeros:64x64"},
      {{"y=zeros:3x8"}, 1, "TK5021: kernel `k` lacks the argument `x`"},
      {{"x=zeros:3x8", "y=zeros:3x7"}, 1, "TK5027: axis 1 of `y` is 7, needs N = 8"},
      {{"x=zeros:3x8", "y=zeros:3x7"}, 1, "help: write y=zeros:3x8"},
      {{"x=zeros:3x8", "x=zeros:3x8"}, 1, "TK5023: the argument `x` is given twice"},
  };
  for (const Case &test : cases) {
    Runner runner;
    INFO(test.args.back());
    CHECK(runner.runOn(test.args) == test.status);
    CHECK(runner.said(test.message));
  }
}

TEST_CASE("engines, kernels and outputs that are not there", "[run]") {
  Runner runner;
  RunOptions options;
  options.args = {"x=zeros:3x8"};
  options.engine = "gpu";
  CHECK(runner.run(options) == 1);
  CHECK(runner.said("TK5046: the engine `gpu` is not built yet"));
  options.engine = "cray";
  CHECK(runner.run(options) == 2);
  options.engine = "interp";
  CHECK(runner.run(options, scaleKernel("a") + scaleKernel("b")) == 2);
  CHECK(runner.said("TK5044: the file has 2 kernels: a, b"));
  CHECK(runner.said("help: choose one: -k a"));
  options.kernel = "b";
  CHECK(runner.run(options, scaleKernel("a") + scaleKernel("b")) == 0);
  options.kernel = "c";
  CHECK(runner.run(options, scaleKernel("a") + scaleKernel("b")) == 2);
  CHECK(runner.said("TK5045: the file has no kernel `c`"));
  options.kernel = "";
  options.prints = {"z"};
  CHECK(runner.run(options) == 1);
  CHECK(runner.said("TK5048: `z` is not an array of this run"));
  options.prints.clear();
  options.outs = {"y=/nowhere/y.npy"};
  CHECK(runner.run(options) == 2);
  options.outs = {"y=@/nowhere/y.npy"};
  CHECK(runner.run(options) == 1);
  CHECK(runner.said("TK5043: cannot write `/nowhere/y.npy`"));
  CHECK(runner.run(options,
                   "module attributes {tk.phase = \"LaidOut\"} {\n" + scaleKernel() + "}") == 1);
  CHECK(runner.said("TK5037: the interpreter runs phase Emitted, the module is in phase LaidOut"));
}

TEST_CASE("results and bounds are saved and read again", "[run]") {
  llvm::SmallString<128> folder;
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("tkc-run-test", folder));
  std::string y = (folder + "/y.npy").str(), b = (folder + "/b.npy").str();
  Runner runner;
  RunOptions options;
  options.args = {"x=randn:3x8"};
  options.outs = {"y=@" + y};
  options.bounds = {"y=@" + b};
  CHECK(runner.run(options) == 0);
  CHECK(runner.runOn({"x=@" + y, "s=0.5"}, {"allclose(y, x / 2)"}) == 0);
  NpyArray array;
  std::string problem;
  REQUIRE(readNpy(b, array, problem));
  CHECK(array.descr == "<f8");
  CHECK(array.shape == std::vector<int64_t>{3, 8});
  CHECK(array.bytes == std::string(24 * 8, '\0')); // one product, nothing to contract it with
  (void)llvm::sys::fs::remove_directories(folder);
}
