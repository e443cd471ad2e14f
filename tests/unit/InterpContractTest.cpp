//===- InterpContractTest.cpp - expressions, binding, and what does not fit -------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;
using mlir::failed;
using mlir::succeeded;

static std::optional<int64_t> value(const std::string &expr, const Names &names = {},
                                    std::string *problem = nullptr) {
  mlir::MLIRContext context;
  std::string why;
  std::optional<int64_t> result = evaluate(mlir::parseAttribute(expr, &context), names, why);
  if (problem)
    *problem = why;
  return result;
}

TEST_CASE("contract expressions are prefix arrays in checked arithmetic", "[interp]") {
  Names names = {{"N", 1000}, {"x.s0", 8}};
  CHECK(value("[\"cdiv\", \"N\", 256]", names) == 4);
  CHECK(value("[\"add\", \"N\", \"x.s0\", 1]", names) == 1009);
  CHECK(value("[\"sub\", 1, \"N\"]", names) == -999);
  CHECK(value("[\"round_up\", \"N\", 64]", names) == 1024);
  CHECK(value("[\"cdiv\", -5, 4]") == -1);
  CHECK(value("[\"div\", -5, 4]") == -1);
  CHECK(value("[\"mod\", -5, 4]") == -1);
  CHECK(value("[\"next_pow2\", \"N\"]", names) == 1024);
  CHECK(value("[\"next_pow2\", 0]") == 1);
  CHECK(value("[\"divides\", 8, \"N\"]", names) == 1);
  CHECK(value("[\"and\", [\"gt\", \"N\", 0], [\"ne\", \"N\", 7]]", names) == 1);
  CHECK(value("[\"or\", 0, 0]") == 0);
  CHECK(value("[\"not\", 0]") == 1);
  CHECK(value("[\"min\", 3, 1, 2]") == 1);
  CHECK(value("[\"select\", [\"eq\", \"N\", 0], [\"div\", 1, 0], 5]", names) == 5);
  std::string problem;
  CHECK_FALSE(value("[\"mul\", 4611686018427387904, 2]", {}, &problem));
  CHECK(problem == "mul leaves 64 bits");
  CHECK_FALSE(value("[\"cdiv\", 1, 0]", {}, &problem));
  CHECK(problem == "cdiv by zero");
  CHECK_FALSE(value("\"K\"", names, &problem));
  CHECK(problem == "`K` is not known");
  CHECK_FALSE(value("[\"frobnicate\", 1, 2]", {}, &problem));
  CHECK_FALSE(value("[\"div\", -9223372036854775808, -1]", {}, &problem));
  mlir::MLIRContext context;
  CHECK(expressionText(mlir::parseAttribute("[\"mul\", [\"cdiv\", \"M\", 8], [\"add\", \"N\", 1]]",
                                            &context)) == "cdiv(M, 8) * (N + 1)");
}

static std::string twoTensors(const std::string &xExtents, const std::string &yExtents,
                              const std::string &more = "", const std::string &grid = "\"M\"") {
  return kernelText("%x: !tk.view<f32, 2, 0>, %y: !tk.view<f16, 1, 1>, %n: i32",
                    tensorEntry("x", DType::f32, "in", xExtents, "\"x.s0\", 1") + ", " +
                        tensorEntry("y", DType::f16, "out", yExtents, "1") +
                        ", {name = \"n\", kind = \"scalar\", dtype = \"i32\"}",
                    grid + ", 1, 1", "", more);
}

namespace {
struct Given {
  Buffer x = Buffer::make("x", DType::f32, {6, 10});
  Buffer y = Buffer::make("y", DType::f16, {10});
  std::vector<Argument> args = {Argument::tensor("x", x), Argument::tensor("y", y),
                                Argument::scalar("n", DType::i32, int64_t(5))};
};
} // namespace

static void checkFails(const std::string &text, const std::vector<Argument> &args,
                       const std::string &message) {
  Harness harness;
  CHECK(failed(harness.run(text, args)));
  CHECK(harness.said(message));
}

TEST_CASE("extents bind by first use; the grid follows", "[interp]") {
  Given given;
  Harness harness;
  auto report = harness.run(twoTensors("\"M\", \"N\"", "\"N\""), given.args);
  REQUIRE(succeeded(report));
  CHECK(report->grid[0] == 6);
  CHECK(report->programs == 6);
  // An expression over scalars, and a name that is bound by a later argument.
  CHECK(succeeded(harness.run(twoTensors("\"M\", \"N\"", "[\"mul\", \"n\", 2]"), given.args)));
  CHECK(succeeded(harness.run(twoTensors("\"M\", [\"div\", \"K\", 1]", "\"K\""), given.args)));
  CHECK(succeeded(harness.run(twoTensors("\"_\", \"_\"", "\"M\""), given.args)));
}

TEST_CASE("what does not fit is said with both numbers", "[interp]") {
  Given given;
  std::string fits = twoTensors("\"M\", \"N\"", "\"N\"");
  checkFails(twoTensors("\"M\", \"N\"", "\"M\""), given.args,
             "TK5027: axis 0 of `y` is 10, needs M = 6");
  checkFails(twoTensors("\"M\", \"N\"", "[\"add\", \"N\", \"n\"]"), given.args,
             "TK5027: axis 0 of `y` is 10, needs N + n = 15");
  std::vector<Argument> args = given.args;
  args.pop_back();
  checkFails(fits, args, "TK5021: kernel `k` lacks the argument `n`");
  args = given.args;
  args.push_back(Argument::scalar("q", DType::i32, int64_t(5)));
  checkFails(fits, args, "TK5022: kernel `k` has no parameter `q`");
  args.back().name = "n";
  checkFails(fits, args, "TK5023: the argument `n` is given twice");
  args = given.args;
  args[0] = Argument::scalar("x", DType::f32, int64_t(5));
  checkFails(fits, args, "TK5024: the parameter `x` is a tensor, the argument is a scalar");
  args = given.args;
  args[2] = Argument::scalar("n", DType::i64, int64_t(5));
  checkFails(fits, args, "TK5025: the parameter `n` is i32, the argument is i64");
  Buffer flat = Buffer::make("x", DType::f32, {60});
  args = given.args;
  args[0] = Argument::tensor("x", flat);
  checkFails(fits, args, "TK5026: the parameter `x` has rank 2, the argument has rank 1");
  Buffer turned = Buffer::makeStrided("x", DType::f32, {6, 10}, {1, 6});
  args[0] = Argument::tensor("x", turned);
  checkFails(fits, args, "TK5028: stride 1 of `x` is 6, needs 1");
  Buffer empty = Buffer::make("x", DType::f32, {0, 10});
  args[0] = Argument::tensor("x", empty);
  Harness harness;
  CHECK(harness.run(fits, args)->programs == 0);
}

TEST_CASE("preconditions, disjointness, bad grids", "[interp]") {
  Given given;
  std::string text = twoTensors("\"M\", \"N\"", "\"N\"");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  checkFails(with("require = []", "require = [{expr = [\"divides\", 4, \"N\"], text = "
                                  "\"N % 4 == 0\"}]"),
             given.args, "TK5031: the precondition `N % 4 == 0` does not hold: N = 10");
  checkFails(twoTensors("\"M\", \"N\"", "\"N\"", "", "[\"sub\", 0, \"M\"]"), given.args,
             "TK5033: the grid is (-6, 1, 1): a side is negative");
  checkFails(twoTensors("\"M\", \"N\"", "\"N\"", "", "[\"div\", \"M\", 0]"), given.args,
             "TK5032: `M // 0` has no value: div by zero");
  std::string both = kernelText("%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>",
                                tensorEntry("x", DType::f32, "in", "\"N\"", "1") + ", " +
                                    tensorEntry("y", DType::f32, "out", "\"N\"", "1"),
                                "1, 1, 1", "");
  both.replace(both.find("disjoint = []"), 13, "disjoint = [[\"y\", \"x\"]]");
  Buffer x = Buffer::make("x", DType::f32, {4});
  checkFails(both, {Argument::tensor("x", x), Argument::tensor("y", x)},
             "TK5030: the arguments `y` and `x` overlap");
}

TEST_CASE("an operation that is not of stage tk is refused", "[interp]") {
  Harness harness;
  std::string text = kernelText("%n: i64", "{name = \"n\", kind = \"scalar\", dtype = \"i64\"}",
                                "1, 1, 1", "  %c = arith.divsi %n, %n : i64");
  CHECK(failed(harness.run(text, {Argument::scalar("n", DType::i64, int64_t(5))})));
  CHECK(harness.said("2: TK5035: the interpreter cannot run `arith.divsi`: it is not an operation "
                     "of stage tk"));
}

TEST_CASE("alignment, zeroed arguments and the arena are checked", "[interp]") {
  const std::string params = "%x: !tk.view<f32, 1, 0>";
  const std::string entry = tensorEntry("x", DType::f32, "inout", "\"N\"", "1");
  Buffer x = Buffer::make("x", DType::f32, {8});
  x.origin = 1;
  x.extents = {4};
  std::string aligned = kernelText(params, entry, "1, 1, 1", "");
  aligned.replace(aligned.find("align = 4"), 9, "align = 16");
  Harness first;
  CHECK(failed(first.run(aligned, {Argument::tensor("x", x)})));
  CHECK(first.said("TK5029: `x` begins at an address that is not a multiple of 16 bytes"));

  std::string zeroed = kernelText(params, entry, "1, 1, 1", "");
  zeroed.replace(zeroed.find("align = 4"), 9, "align = 4, zeroed = true");
  Buffer dirty = bufferOf<float>("x", DType::f32, {0, 0, 3});
  Harness second;
  CHECK(failed(second.run(zeroed, {Argument::tensor("x", dirty)})));
  CHECK(second.said("TK5034: `x` must be zero on entry, element 2 is 3"));

  Options small;
  small.maxArenaBytes = 64;
  Harness third;
  const std::string body = "  %i = tk.arange 0 : tensor<1024xi32>";
  CHECK(failed(third.run(kernelText(params, entry, "1, 1, 1", body), {Argument::tensor("x", x)}, small)));
  CHECK(third.said("TK5036: one program instance needs"));
}
