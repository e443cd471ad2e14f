//===- InterpRunCommandTest.cpp - tkc run: arguments, outputs, expectations
//--------------------===//

#include "driver/Expect.h"
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
      {{"x=zeros(1):3x8"}, 2, "has a value that is only for full()"},
      {{"q=zeros:3x8"}, 1, "TK5022: kernel `k` has no parameter `q`"},
      {{"x=zeros:f16:3x8"}, 1, "`x=zeros:f16:3x8` is f16, the parameter is f32"},
      {{"x=zeros:24"}, 1, "TK5026: the parameter `x` has rank 2, the argument has rank 1"},
      {{"x=5"}, 1, "`x=5` is a scalar, the parameter is an array"},
      {{"x=zeros:3x8", "s=zeros:1"}, 1, "`s=zeros:1` is an array, the parameter is a scalar"},
      {{"x=zeros:3x8", "s=abc"}, 1, "`s=abc` is not a number"},
      {{"x=@nowhere.npy"}, 1, "TK5042: cannot read `nowhere.npy`: No such file"},
      {{"s=1"},
       1,
       "TK5049: the extents of `y` do not follow from the other arguments: `M` is not "
       "known"},
      {{"y=zeros:3x8"}, 1, "TK5021: kernel `k` lacks the argument `x`"},
      {{"x=zeros:3x8", "y=zeros:3x7"}, 1, "TK5027: axis 1 of `y` is 7, needs N = 8"},
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
  CHECK(runner.said("help: -k NAME chooses one"));
  options.kernel = "b";
  CHECK(runner.run(options, scaleKernel("a") + scaleKernel("b")) == 0);
  options.kernel = "c";
  CHECK(runner.run(options, scaleKernel("a") + scaleKernel("b")) == 2);
  CHECK(runner.said("TK5045: the file has no kernel `c`"));
  options.kernel = "";
  options.prints = {"z"};
  CHECK(runner.run(options) == 1);
  CHECK(runner.said("TK5048: `z` names `z`, which is not an array of this run"));
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

static std::string expectation(const std::string &text, bool *holds = nullptr) {
  Harness harness;
  ExpectNames names;
  ExpectArray x = ExpectArray::filled({2, 3});
  for (int i = 0; i < 6; ++i)
    x.data[size_t(i)] = i;
  names["x"] = x;
  names["x.before"] = ExpectArray::filled({2, 3}, 1);
  names["v"] = {{3}, {1, 0.1, NAN}};
  names["n"] = ExpectArray::number(5);
  bool result = checkExpectation(harness.context, text, names);
  if (holds)
    *holds = result;
  return harness.messages.empty() ? "" : harness.messages[0];
}

TEST_CASE("expectations that hold", "[run]") {
  for (const char *text : {"true",
                           "x[1, 2] == n",
                           "equal(x[:, 1], 3 * arange(2) + 1)",
                           "x.T[2, 1] == 5",
                           "equal(x[::, ::-1][0, :], 2 - arange(3))",
                           "equal(x[0, 1 +: 2], arange(1, 3))",
                           "sum(x) == 15",
                           "equal(sum(x, axis=0), 3 + 2 * arange(3))",
                           "max(x, axis=-1)[1] == 5",
                           "mean(x) == 2.5",
                           "allclose(variance(x), 35 / 12)",
                           "allclose(sum(softmax(x, axis=1), 1), 1)",
                           "equal(x @ x.T, x @ x.T)",
                           "(x @ x.T)[0, 0] == 5",
                           "equal(where(x < 2, x, 0)[0, 2], 0)",
                           "0 <= x <= 5",
                           "!(x[0, 0] > 0)",
                           "equal(x[:, None, :] + x[None, 0, :], x[:, None, :] * 1 + "
                           "arange(3))",
                           "v.to(bf16)[1] == 0.10009765625",
                           "equal(v, v)",
                           "7 // 2 == 3 && -7 // 2 == -3 && -7 % 2 == -1",
                           "exp(log(2.0)) > 1.99",
                           "allclose(tanh(0.5), 2 * sigmoid(1.0) - 1)",
                           "maximum(2, 3) == 3",
                           "erf(0) == 0 || false",
                           "if n == 5 { true } else { false }",
                           "equal(x.before, 1)",
                           "abs(-inf) == inf",
                           "1 << 4 == 16 && 6 & 3 == 2",
                           "rsqrt(4) == 0.5",
                           "sum(x, axis=1)[1] == 12"}) {
    bool holds = false;
    std::string message = expectation(text, &holds);
    INFO(text << " " << message);
    CHECK(holds);
  }
}

TEST_CASE("expectations that fail show the first difference and the largest", "[run]") {
  CHECK(expectation("allclose(x, x.before * 2, rtol=0.5)") ==
        "1: TK5051: the expectation `allclose(x, x.before * 2, rtol=0.5)` does not hold: 3 of 6 "
        "elements differ, the first at [0, 0]: 0 and 2; the largest error is 3 at [1, 2]");
  CHECK(expectation("x < 4") == "1: TK5051: the expectation `x < 4` does not hold: it is false "
                                "first at [1, 1]");
  CHECK(expectation("n == 6") == "1: TK5051: the expectation `n == 6` does not hold");
  CHECK(expectation("equal(v, v[0])").find("the largest error is nan at [2]") != std::string::npos);
}

TEST_CASE("expectations that cannot be evaluated", "[run]") {
  struct Case {
    const char *text;
    const char *message;
  };
  for (const Case &test : {
           Case{"y == 1", "TK5052: `y`: is not known; there are n, v, x"},
           Case{"x + v[:2] == 0", "the shapes [2, 3] and [2] do not broadcast"},
           Case{"frob(x)", "TK5052: `frob(x)`: is no function of an expectation"},
           Case{"exp(x, x) == 0", "takes 1 arguments, got 2"},
           Case{"allclose(x, x, tol=1)", "takes no argument `tol`"},
           Case{"sum(x, axis=2) == 0", "has axis 2 of an array of shape [2, 3]"},
           Case{"x[0, 3] == 0", "is outside the axis of 3"},
           Case{"x[0, 0, 0] == 0", "has more indices than axes: [2, 3]"},
           Case{"x @ x == 0", "do not multiply"},
           Case{"x[::0] == 0", "has a step of zero"},
           Case{"x.to(f7) == 0", "x.to(f16) rounds"},
           Case{"x +", "TK10"},
       }) {
    bool holds = true;
    std::string message = expectation(test.text, &holds);
    INFO(test.text << ": " << message);
    CHECK_FALSE(holds);
    CHECK(message.find(test.message) != std::string::npos);
  }
}
