//===- InterpDebugTest.cpp - print, assert, assume, hint, clock, wrapping addresses ---------===//

#include "tests/unit/InterpHarness.h"

using namespace tk::interp;
using namespace tk::interp::test;
using mlir::succeeded;

namespace {
/// Runs `body` on `programs` instances, with an f32 tensor x of 2x3.
struct Debug {
  Harness harness;
  Options options;
  Buffer x = Buffer::make("x", DType::f32, {2, 3});
  std::string printed;

  unsigned errors(const std::string &body, const std::string &programs = "1, 1, 1") {
    harness.messages.clear();
    printed.clear();
    for (int i = 0; i < 6; ++i)
      reinterpret_cast<float *>(x.data())[i] = float(i) / 2;
    llvm::raw_string_ostream stream(printed);
    options.out = &stream;
    auto report = harness.run(
        kernelText("%x: !tk.view<f32, 2, 0>",
                   tensorEntry("x", DType::f32, "inout", "2, 3", "\"x.s0\", 1"), programs,
                   "  %pid = tk.program_id 0\n  %c0 = arith.constant 0 : i64\n"
                   "  %c1 = arith.constant 1 : i64\n"
                   "  %i = tk.arange 0 : tensor<4xi32>\n" +
                       body),
        {Argument::tensor("x", x)}, options);
    for (const std::string &message : harness.messages)
      UNSCOPED_INFO(message);
    REQUIRE(succeeded(report));
    return report->errors;
  }
};
} // namespace

TEST_CASE("instances print in the order of their ids, whatever the order they run in", "[interp]") {
  Debug debug;
  std::string body = "  tk.print \"id\" %pid unsigned [false] : i64";
  for (Order order : {Order::Forward, Order::Reverse, Order::Shuffle}) {
    debug.options.order = order;
    debug.options.threads = 3;
    CHECK(debug.errors(body, "3, 2, 1") == 0);
    CHECK(debug.printed == "(0, 0, 0) id 0\n(1, 0, 0) id 1\n(2, 0, 0) id 2\n"
                           "(0, 1, 0) id 0\n(1, 1, 0) id 1\n(2, 1, 0) id 2\n");
  }
}

TEST_CASE("tiles, signs, hexadecimal, pointers", "[interp]") {
  Debug debug;
  CHECK(debug.errors(R"(
  %t = tk.read %x[%c0, %c0] widths [2, 3] : !tk.view<f32, 2, 0> -> tensor<2x3xf32>
  %m1 = arith.constant -1 : i16
  %p, %e = tk.locate %x[%c1, %c1] widths [0, 0] : !tk.view<f32, 2, 0> -> !tk.ptr<f32, 0>, i1
  %q = tk.ptr_add %p, %c1 : !tk.ptr<f32, 0>, i64
  %r = tk.ptr_add %q, %c1 : !tk.ptr<f32, 0>, i64
  tk.print "t = " %t unsigned [false] : tensor<2x3xf32>
  tk.print "m" %m1, %m1 unsigned [false, true] : i16, i16
  tk.print "h" hex %m1, %t unsigned [false, false] : i16, tensor<2x3xf32>
  tk.print "" %p, %r, %e unsigned [false, false, false] : !tk.ptr<f32, 0>, !tk.ptr<f32, 0>, i1
  tk.print "only text" unsigned [])") == 0);
  CHECK(debug.printed == "(0, 0, 0) t = [[0, 0.5, 1], [1.5, 2, 2.5]]\n"
                         "(0, 0, 0) m -1 65535\n"
                         "(0, 0, 0) h 0xffff [[0x00000000, 0x3f000000, 0x3f800000], [0x3fc00000, "
                         "0x40000000, 0x40200000]]\n"
                         "(0, 0, 0) x[1, 1] x + 6 1\n"
                         "(0, 0, 0) only text\n");
}

TEST_CASE("an assertion that fails ends the instance and names the element", "[interp]") {
  Debug debug;
  std::string body = R"(
  %two = arith.constant dense<2> : tensor<4xi32>
  %c = arith.cmpi ne, %i, %two : tensor<4xi32>
  tk.assert %c, "not two" : tensor<4xi1>
  tk.print "after" unsigned [])";
  CHECK(debug.errors(body, "3, 1, 1") == 1);
  CHECK(debug.harness.messages ==
        std::vector<std::string>{"9: TK5077: program (0, 0, 0): assertion failed: not two at [2]",
                                 "  2 more of this kind at this place"});
  CHECK(debug.printed.empty());
  CHECK(debug.errors(R"(
  %two = arith.constant dense<2> : tensor<4xi32>
  %c = arith.cmpi ne, %i, %two : tensor<4xi32>
  tk.assert %c, "not two" mask %c : tensor<4xi1> : tensor<4xi1>)") == 0);
}

TEST_CASE("assumptions and hints are looked at", "[interp]") {
  Debug debug;
  CHECK(debug.errors("  %c = arith.cmpi eq, %pid, %c0 : i64\n  tk.assume %c", "2, 1, 1") == 1);
  CHECK(debug.harness.said("TK5078: program (1, 0, 0): what is assumed here is false"));
  auto hint = [&](const std::string &promise, int start) {
    return debug.errors("  %s = arith.constant dense<" + std::to_string(start) +
                        "> : tensor<4xi32>\n  %j = arith.addi %i, %s : tensor<4xi32>\n"
                        "  %h = tk.hint %j " + promise + " : tensor<4xi32>");
  };
  CHECK(hint("multiple_of [8] contiguous [4] constant [1]", 16) == 0);
  CHECK(hint("multiple_of [8] contiguous [4] constant [1]", 17) == 1);
  CHECK(debug.harness.said("TK5079: program (0, 0, 0): the hint multiple_of 8 on axis 0 is not true "
                           "of 17 at [0]"));
  CHECK(hint("multiple_of [1] contiguous [1] constant [2]", 0) == 1);
  CHECK(debug.harness.said("the hint constant 2 on axis 0 is not true of 1 at [1]"));
  CHECK(hint("multiple_of [2] contiguous [2] constant [1]", 2) == 0);
  CHECK(hint("multiple_of [2] contiguous [1] constant [1]", 2) == 1);
  CHECK(debug.harness.said("the hint multiple_of 2 on axis 0 is not true of 3 at [1]"));
  // Bytes, of pointers; their buffer lies on any alignment.
  std::string pointer = "  %p = tk.base %x : !tk.view<f32, 2, 0> -> !tk.ptr<f32, 0>\n"
                        "  %ps = tk.splat %p : !tk.ptr<f32, 0> -> tensor<4x!tk.ptr<f32, 0>>\n"
                        "  %q = tk.ptr_add %ps, %i : tensor<4x!tk.ptr<f32, 0>>, tensor<4xi32>\n"
                        "  %h = tk.hint %q multiple_of [16] contiguous [4] constant [1] : "
                        "tensor<4x!tk.ptr<f32, 0>>";
  CHECK(debug.errors(pointer) == 0);
}

TEST_CASE("a product of i32 that wraps on its way into 64 bits is a warning", "[interp]") {
  Debug debug;
  auto widened = [&](const std::string &use) {
    return debug.errors("  %a = arith.constant 319 : i32\n  %b = arith.constant 7864320 : i32\n"
                        "  %s = arith.muli %a, %b : i32\n  " + use);
  };
  CHECK(widened("%o = arith.extsi %s : i32 to i64") == 0);
  CHECK(debug.harness.messages ==
        std::vector<std::string>{"8: TK5080: program (0, 0, 0): 319 * 7864320 wraps to -1786249216 "
                                 "in 32 bits, on its way into an address or 64 bits"});
  CHECK(widened("%o = arith.extui %s : i32 to i64") == 0); // a hash is a number of its own
  CHECK(debug.harness.messages.empty());
  CHECK(widened("%t = tk.splat %s : i32 -> tensor<4xi32>\n"
                "  %u = arith.subi %i, %t : tensor<4xi32>\n"
                "  %v = tk.read %x[%u : tensor<4xi32>, %c0] widths [-1, 0] : !tk.view<f32, 2, 0> -> "
                "tensor<4xf32>") == 0);
  CHECK(debug.harness.messages.size() == 1);
  debug.options.checks.arithmetic = false;
  CHECK(widened("%o = arith.extsi %s : i32 to i64") == 0);
  CHECK(debug.harness.messages.empty());
}

TEST_CASE("the clock counts operations and goes forward over all instances", "[interp]") {
  Debug debug;
  debug.options.threads = 2;
  CHECK(debug.errors(R"(
  %t0 = tk.clock cycles
  %u = arith.addi %i, %i : tensor<4xi32>
  %t1 = tk.clock nanoseconds
  %d = arith.subi %t1, %t0 : i64
  %w = tk.num_warps
  %s = tk.sm_id
  tk.barrier
  tk.grid_dependency wait
  tk.print "" %t0, %d, %w, %s unsigned [false, false, false, false] : i64, i64, i64, i64)",
                     "2, 1, 1") == 0);
  std::string first = debug.printed;
  CHECK(first.substr(0, first.find('\n')).find(" 2 4 0") != std::string::npos);
  std::string again;
  CHECK(debug.errors("  tk.barrier", "1, 1, 1") == 0);
}
