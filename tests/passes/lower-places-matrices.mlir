// RUN: tk-opt %s --tk-lower-places | FileCheck %s

// Places of matrices: conditions of scalar indices, masks of two axes, strides known at run time.

// x: f32[M, N] in with a run-time row stride, y: f32[M, N] out with rows of 64; grid M.
#rows = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["M", "N"], strides = ["x.s0", 1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["M", "N"], strides = [64, 1], align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = ["M", 1, 1], require = [], disjoint = [["y", "x"]], options = {}}>

module attributes {tk.phase = "Canonical"} {

// The grid has M instances, so row program_id(0) of M rows is there: no scalar comparison.
// CHECK-LABEL: tk.kernel @row_proven_by_the_grid(
// CHECK-NOT:     arith.cmpi {{.*}} : i64
// CHECK-NOT:     arith.select
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, {{.*}} : tensor<64xi32>
// CHECK-NOT:     arith.cmpi
// CHECK:         tkg.load {{.*}} mask %[[MASK]]
tk.kernel @row_proven_by_the_grid(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows} {
  %c0 = arith.constant 0 : i64
  %row = tk.program_id 0
  %v = tk.read %x[%row, %c0] widths [0, 64] : !tk.view<f32, 2, 0> -> tensor<64xf32>
  tk.return
}

// Axis 1 of the grid has one instance and does not bound M: the condition makes the bound of the
// sliced axis zero, and costs no mask of its own.
// CHECK-LABEL: tk.kernel @row_of_another_grid_axis(
// CHECK:         %[[ROW:.*]] = tk.program_id 1
// CHECK:         %[[M:.*]] = tk.extent %{{.*}}, 0
// CHECK:         %[[IN:.*]] = arith.cmpi slt, %[[ROW]], %[[M]] : i64
// CHECK:         %[[BOUND:.*]] = arith.select %[[IN]], %{{.*}}, %c0{{.*}} : i64
// CHECK:         arith.trunci %[[BOUND]]
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, {{.*}} : tensor<64xi32>
// CHECK-NOT:     tk.splat %[[IN]]
// CHECK:         tkg.load {{.*}} mask %[[MASK]]
tk.kernel @row_of_another_grid_axis(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows} {
  %c0 = arith.constant 0 : i64
  %row = tk.program_id 1
  %v = tk.read %x[%row, %c0] widths [0, 64] : !tk.view<f32, 2, 0> -> tensor<64xf32>
  tk.return
}

// Two sliced axes: one mask each, spread over the tile and joined.
// CHECK-LABEL: tk.kernel @two_axes(
// CHECK:         %[[ROWS:.*]] = arith.cmpi slt, {{.*}} : tensor<8xi32>
// CHECK:         tk.expand_dims %[[ROWS]], 1
// CHECK:         %[[A:.*]] = tk.broadcast {{.*}} -> tensor<8x32xi1>
// CHECK:         %[[COLUMNS:.*]] = arith.cmpi slt, {{.*}} : tensor<32xi32>
// CHECK:         tk.expand_dims %[[COLUMNS]], 0
// CHECK:         %[[B:.*]] = tk.broadcast {{.*}} -> tensor<8x32xi1>
// CHECK:         %[[MASK:.*]] = arith.andi %[[A]], %[[B]]
// CHECK:         tkg.store {{.*}} mask %[[MASK]]
tk.kernel @two_axes(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<8x32xf32>
  tk.write %v, %y[%c0, %c0] widths [8, 32] : tensor<8x32xf32>, !tk.view<f32, 2, 1>
  tk.return
}

// A constant stride whose offsets fit is multiplied in 32 bits, with no fact.
// CHECK-LABEL: tk.kernel @constant_stride(
// CHECK-SAME:    facts = []
// CHECK:         arith.muli %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK-NOT:     tensor<{{.*}}xi64>
// CHECK:         tkg.store {{.*}}, tensor<8x32xi32>
tk.kernel @constant_stride(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows, facts = []} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<8x32xf32>
  tk.write %v, %y[%c0, %c0] widths [8, 32] : tensor<8x32xf32>, !tk.view<f32, 2, 1>
  tk.return
}

// A run-time stride is 32-bit in the fast variant, under facts that 8 rows of it stay below 2^30.
// CHECK-LABEL: tk.kernel @run_time_stride_fast(
// CHECK-SAME:    facts = {{\[}}["divides", 4, "N"], ["le", "x.s0", 134217728], ["ge", "x.s0", -134217728]]
// CHECK:         tk.base
// CHECK:         %[[STRIDE:.*]] = tk.stride %{{.*}}, 0
// CHECK:         %[[NARROW:.*]] = arith.trunci %[[STRIDE]] : i64 to i32
// CHECK:         tk.splat %[[NARROW]] : i32 -> tensor<8xi32>
// CHECK-NOT:     tensor<{{.*}}xi64>
// CHECK:         tkg.load {{.*}}, tensor<8x32xi32>
tk.kernel @run_time_stride_fast(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64)
    attributes {contract = #rows, facts = [["divides", 4, "N"]]} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0, %c0] widths [8, 32] : !tk.view<f32, 2, 0> -> tensor<8x32xf32>
  tk.return
}

// The general variant may rely on nothing and computes offsets in 64 bits; its masks stay 32-bit.
// CHECK-LABEL: tk.kernel @run_time_stride_general(
// CHECK-NOT:     facts
// CHECK:         arith.cmpi slt, {{.*}} : tensor<8xi32>
// CHECK:         arith.extsi {{.*}} : tensor<8xi32> to tensor<8xi64>
// CHECK:         arith.muli {{.*}} : tensor<8xi64>
// CHECK:         tkg.load {{.*}}, tensor<8x32xi64>
tk.kernel @run_time_stride_general(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0, %c0] widths [8, 32] : !tk.view<f32, 2, 0> -> tensor<8x32xf32>
  tk.return
}

// A tile with one row never steps along the stride: 32 bits without a fact, in any variant.
// CHECK-LABEL: tk.kernel @one_row_steps_nowhere(
// CHECK-NOT:     tensor<{{.*}}xi64>
// CHECK:         tkg.load {{.*}}, tensor<1x32xi32>
tk.kernel @one_row_steps_nowhere(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %n: i64) attributes {contract = #rows} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0, %c0] widths [1, 32] : !tk.view<f32, 2, 0> -> tensor<1x32xf32>
  tk.return
}

// Three axes that step along run-time strides: each may take a third of the 32 bits, so that the sum of
// the three cannot wrap (2^31 / 3 / 4 = 178956970).
// CHECK-LABEL: tk.kernel @three_strides(
// CHECK-SAME:    ["le", "v.s0", 178956970], ["ge", "v.s0", -178956970], ["le", "v.s1", 178956970], {{.*}}["ge", "v.s2", -178956970]]
// CHECK:         tkg.load {{.*}}, tensor<4x4x4xi32>
tk.kernel @three_strides(%v: !tk.view<f32, 3, 0>) attributes {facts = [], contract = #tk.contract<{kernel = "k",
    instance = {}, args = [{name = "v", kind = "tensor", dtype = "f32", access = "in", extents = ["A", "B", "C"],
    strides = ["v.s0", "v.s1", "v.s2"], align = 4}], grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  %c0 = arith.constant 0 : i64
  %t = tk.read %v[%c0, %c0, %c0] widths [4, 4, 4] : !tk.view<f32, 3, 0> -> tensor<4x4x4xf32>
  tk.return
}

// An `in` tensor that shares its class with one that is written is not read-only.
// CHECK-LABEL: tk.kernel @in_and_yet_written(
// CHECK:         tkg.load
// CHECK-NOT:     readonly
// CHECK:         tk.return
tk.kernel @in_and_yet_written(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{
    kernel = "k", instance = {}, args = [
    {name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
    {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  %c0 = arith.constant 0 : i64
  %t = tk.read %x[%c0] widths [4] : !tk.view<f32, 1, 0> -> tensor<4xf32>
  tk.return
}
}
