// RUN: tk-opt %s | tk-opt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 4}}>

// Every element that memory holds may be pointed to, a pointer included.
// CHECK-LABEL: tk.kernel @pointers
// CHECK:         to !tk.ptr<i1, 0>
// CHECK:         to !tk.ptr<i8, 1>
// CHECK:         to !tk.ptr<i64, 2>
// CHECK:         to !tk.ptr<f16, 3>
// CHECK:         to !tk.ptr<bf16, 4>
// CHECK:         to !tk.ptr<f64, 5>
// CHECK:         to !tk.ptr<!tk.ptr<f32, 2>, 1>
// CHECK:         to tensor<64x!tk.ptr<f32, 0>>
tk.kernel @pointers() attributes {contract = #contract} {
  %0 = builtin.unrealized_conversion_cast to !tk.ptr<i1, 0>
  %1 = builtin.unrealized_conversion_cast to !tk.ptr<i8, 1>
  %2 = builtin.unrealized_conversion_cast to !tk.ptr<i64, 2>
  %3 = builtin.unrealized_conversion_cast to !tk.ptr<f16, 3>
  %4 = builtin.unrealized_conversion_cast to !tk.ptr<bf16, 4>
  %5 = builtin.unrealized_conversion_cast to !tk.ptr<f64, 5>
  %6 = builtin.unrealized_conversion_cast to !tk.ptr<!tk.ptr<f32, 2>, 1>
  %7 = builtin.unrealized_conversion_cast to tensor<64x!tk.ptr<f32, 0>>
  tk.return
}

// A view has a rank from 0 to 16.
// CHECK-LABEL: tk.kernel @views
// CHECK:         to !tk.view<f16, 2, 0>
// CHECK:         to !tk.view<i32, 0, 1>
// CHECK:         to !tk.view<i32, 16, 1>
tk.kernel @views() attributes {contract = #contract} {
  %0 = builtin.unrealized_conversion_cast to !tk.view<f16, 2, 0>
  %1 = builtin.unrealized_conversion_cast to !tk.view<i32, 0, 1>
  %2 = builtin.unrealized_conversion_cast to !tk.view<i32, 16, 1>
  tk.return
}

// The numeric contract prints only what differs from the default.
// CHECK-LABEL: tk.kernel @numbers
// CHECK-SAME:    all = #tk.num<round = rtz, overflow = ieee, nan = number, ulp = 2>
// CHECK-SAME:    default = #tk.num<>
// CHECK-SAME:    one = #tk.num<ulp = 1>
tk.kernel @numbers() attributes {contract = #contract,
    all = #tk.num<round = rtz, overflow = ieee, nan = number, ulp = 2>,
    default = #tk.num<round = rne, overflow = natural, nan = propagate, ulp = 0>,
    one = #tk.num<ulp = 1>} {
  tk.return
}

// Contract expressions: integers, names, and operators with their operands.
// CHECK-LABEL: tk.kernel @expressions
// CHECK-SAME:    {{\[}}"cdiv", "N", 1024]
// CHECK-SAME:    {{\[}}"add", "N", 1, ["mul", 2, "M"]]
// CHECK-SAME:    {{\[}}"select", ["not", true], ["round_up", "N", 16], ["next_pow2", "M"]]
tk.kernel @expressions(%n: i64, %m: i64) attributes {contract = #tk.contract<{
    kernel = "expressions", instance = {BLOCK = 1024}, require = [], disjoint = [],
    options = {warps = 4},
    args = [{name = "N", kind = "scalar", dtype = "i64"},
            {name = "M", kind = "scalar", dtype = "i64"}],
    grid = [["cdiv", "N", 1024], ["add", "N", 1, ["mul", 2, "M"]],
            ["select", ["not", true], ["round_up", "N", 16], ["next_pow2", "M"]]]}>} {
  tk.return
}
