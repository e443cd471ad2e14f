//===- InterpRunArgsTest.cpp - the words of tkc run, layouts, lists, files ------------------===//

#include "driver/Npy.h"
#include "driver/RunArgs.h"
#include "tests/unit/InterpHarness.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace tk;
using namespace tk::interp;
using namespace tk::interp::test;

/// y = x over a tensor of rank 2, with strides as `xStrides` says, on one instance.
static std::string copyKernel(const std::string &xStrides, const std::string &more = "") {
  return kernelText("%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>",
                    "{name = \"x\", kind = \"tensor\", dtype = \"f32\", access = \"in\", extents = "
                    "[\"M\", \"N\"], strides = [" +
                        xStrides + "], align = 4}, " +
                        tensorEntry("y", DType::f32, "out", "\"M\", \"N\"", "\"y.s0\", \"y.s1\""),
                    "1, 1, 1", R"(  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0, %c0] widths [4, 4] : !tk.view<f32, 2, 0> -> tensor<4x4xf32>
  tk.write %v, %y[%c0, %c0] widths [4, 4] : tensor<4x4xf32>, !tk.view<f32, 2, 1>)",
                    more);
}

namespace {
struct Inputs : Harness {
  RunInputs inputs;
  int make(const std::string &text, const std::vector<std::string> &words) {
    messages.clear();
    inputs = RunInputs();
    kernel = parse(text);
    return makeInputs(kernel, words, Options(), inputs);
  }
  std::vector<int64_t> stridesOf(llvm::StringRef name) { return inputs.find(name)->strides; }
  KernelOp kernel;
};
} // namespace

TEST_CASE("arrays lie as the word says, or as the kernel wants them", "[run]") {
  Inputs inputs;
  const std::string any = copyKernel("\"x.s0\", \"x.s1\"");
  CHECK(inputs.make(any, {"x=arange:2x3"}) == 0);
  CHECK(inputs.stridesOf("x") == std::vector<int64_t>{3, 1});
  CHECK(inputs.make(any, {"x=arange:2x3:T"}) == 0);
  CHECK(inputs.stridesOf("x") == std::vector<int64_t>{1, 2});
  CHECK(valuesOf<float>(*inputs.inputs.find("x")) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(inputs.make(any, {"x=arange:2x3:strides=-4x1"}) == 0);
  CHECK(inputs.inputs.find("x")->origin == 4);
  CHECK(inputs.make(any, {"x=ones:2x3:strides=0x1", "y=empty:2x3:strides=1x2"}) == 0);
  CHECK(inputs.make(copyKernel("1, \"x.s1\""), {"x=arange:2x3"}) == 0);
  CHECK(inputs.stridesOf("x") == std::vector<int64_t>{1, 2});
  CHECK(inputs.make(any, {"x=[[1, 2.5], [-3, inf], [true, 0x10]]"}) == 0);
  CHECK(valuesOf<float>(*inputs.inputs.find("x")) ==
        std::vector<float>{1, 2.5f, -3, INFINITY, 1, 16});
}

TEST_CASE("whole random numbers, permutations, one element", "[run]") {
  Inputs inputs;
  const std::string text = kernelText(
      "%i: !tk.view<i32, 1, 0>, %s: !tk.view<f32, 0, 1>",
      tensorEntry("i", DType::i32, "in", "\"N\"", "1") + ", " +
          tensorEntry("s", DType::f32, "in", "", ""),
      "1, 1, 1", "");
  CHECK(inputs.make(text, {"i=randint(-2, 3):1000", "s=2.5"}) == 0);
  std::vector<int32_t> values = valuesOf<int32_t>(*inputs.inputs.find("i"));
  CHECK(*std::min_element(values.begin(), values.end()) == -2);
  CHECK(*std::max_element(values.begin(), values.end()) == 2);
  CHECK(valuesOf<float>(*inputs.inputs.find("s")) == std::vector<float>{2.5f});
  CHECK(inputs.make(text, {"i=perm:100", "s=ones"}) == 0);
  values = valuesOf<int32_t>(*inputs.inputs.find("i"));
  CHECK_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (int i = 0; i < 100; ++i)
    REQUIRE(values[size_t(i)] == i);
}

TEST_CASE("pointers to pointers take lists, optional tensors may be left out", "[run]") {
  Inputs inputs;
  const std::string text = kernelText(
      "%as: !tk.ptr<!tk.ptr<f16, 2>, 0>, %b: !tk.view<f32, 1, 1>, %w: !tk.view<f32, 2, 3>",
      "{name = \"as\", kind = \"pointer\", dtype = \"f16\", access = \"in\", align = 8}, "
      "{name = \"b\", kind = \"tensor\", dtype = \"f32\", access = \"in\", extents = [\"N\"], "
      "strides = [1], align = 4, optional = true}, "
      "{name = \"w\", kind = \"tensor\", dtype = \"f32\", access = \"scratch\", extents = "
      "[\"programs.0\", 8], strides = [8, 1], align = 4, zeroed = true}",
      "3, 1, 1", "");
  CHECK(inputs.make(text, {"as=[ones:2x4, zeros:f16:3, [1, 2]]"}) == 0);
  REQUIRE(inputs.inputs.arguments.size() == 3);
  CHECK(inputs.inputs.arguments[0].pointees.size() == 3);
  CHECK(inputs.inputs.find("as[2]")->elements == 2);
  CHECK(inputs.inputs.arguments[1].isAbsent);
  CHECK(inputs.inputs.find("w")->extents == std::vector<int64_t>{3, 8});
  CHECK(inputs.inputs.find("w")->written.empty());
  CHECK(inputs.make(text, {"as=ones:4"}) == 1);
  CHECK(inputs.said("is no list of arrays, which pointers to pointers need"));
  CHECK(inputs.make(text, {"as=[ones]"}) == 1);
  CHECK(inputs.said("TK5049: the extents of `as[0]` do not follow from the other arguments: it is "
                    "behind a pointer"));
  CHECK(inputs.make(text, {"as=[5]"}) == 1);
  CHECK(inputs.said("`5` is no array, which the pointer needs"));
}

TEST_CASE("what is in memory goes to a file in row-major order and back", "[run]") {
  Inputs inputs;
  const std::string any = copyKernel("\"x.s0\", \"x.s1\"");
  CHECK(inputs.make(any, {"x=arange:2x3:T"}) == 0);
  std::string bytes = packedBytes(*inputs.inputs.find("x"));
  float values[6];
  REQUIRE(bytes.size() == sizeof values);
  std::memcpy(values, bytes.data(), sizeof values);
  for (int i = 0; i < 6; ++i)
    CHECK(values[i] == float(i));
  llvm::SmallString<128> folder;
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("tkc-args-test", folder));
  std::string path = (folder + "/x.npy").str(), problem;
  REQUIRE(writeNpy(path, "<f4", {2, 3}, bytes, problem));
  CHECK(inputs.make(any, {"x=@" + path + ":T"}) == 0);
  CHECK(valuesOf<float>(*inputs.inputs.find("x")) == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(inputs.make(any, {"x=@" + path + ":strides=4x1:f32"}) == 0);
  CHECK(inputs.stridesOf("x") == std::vector<int64_t>{4, 1});
  (void)llvm::sys::fs::remove_directories(folder);
}

TEST_CASE("a stride of zero is for what is only read", "[run]") {
  Harness harness;
  Buffer x = Buffer::makeStrided("x", DType::f32, {2, 3}, {0, 1});
  Buffer y = Buffer::make("y", DType::f32, {2, 3});
  const std::string text = copyKernel("\"x.s0\", \"x.s1\"");
  CHECK(mlir::succeeded(harness.run(text, {Argument::tensor("x", x), Argument::tensor("y", y)})));
  CHECK(mlir::failed(harness.run(text, {Argument::tensor("x", y), Argument::tensor("y", x)})));
  CHECK(harness.said("TK5082: stride 0 of `y` is 0, and the kernel writes it"));
}
