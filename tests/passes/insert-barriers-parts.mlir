// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

// Parts of one buffer, written one after the other.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#wide = #tkg.layout<"register=[[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[8,0]]">
#narrow = #tkg.layout<"register=[], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[8,0]]">

module {
// Eight columns and the four behind them have no element in common, although their bytes lie between each other.
// CHECK-LABEL: tk.kernel @beside_each_other(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @beside_each_other(%n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<16x8xf32, #wide>
  %w = arith.constant dense<0.0> : tensor<16x4xf32, #narrow>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<16x12xf32>
  %l = tkg.buf_view %b offset 0 : !tkg.buf<16x12xf32> -> !tkg.buf<16x8xf32, strides = 12, 1>
  %r = tkg.buf_view %b offset 8 : !tkg.buf<16x12xf32> -> !tkg.buf<16x4xf32, strides = 12, 1>
  tkg.buf_store %v, %l : tensor<16x8xf32, #wide>, !tkg.buf<16x8xf32, strides = 12, 1>
  tkg.buf_store %w, %r : tensor<16x4xf32, #narrow>, !tkg.buf<16x4xf32, strides = 12, 1>
  %0 = tkg.buf_load %r : !tkg.buf<16x4xf32, strides = 12, 1> -> tensor<16x4xf32, #narrow>
  tk.return
}

// From the seventh column on they have one.
// CHECK-LABEL: tk.kernel @overlapping(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
tk.kernel @overlapping(%n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<16x8xf32, #wide>
  %w = arith.constant dense<0.0> : tensor<16x4xf32, #narrow>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<16x12xf32>
  %l = tkg.buf_view %b offset 0 : !tkg.buf<16x12xf32> -> !tkg.buf<16x8xf32, strides = 12, 1>
  %r = tkg.buf_view %b offset 7 : !tkg.buf<16x12xf32> -> !tkg.buf<16x4xf32, strides = 12, 1>
  tkg.buf_store %v, %l : tensor<16x8xf32, #wide>, !tkg.buf<16x8xf32, strides = 12, 1>
  tkg.buf_store %w, %r : tensor<16x4xf32, #narrow>, !tkg.buf<16x4xf32, strides = 12, 1>
  tk.return
}

// A view that runs beyond the side of its buffer comes back in the next row: nothing is claimed of it.
// CHECK-LABEL: tk.kernel @beyond_the_side(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
tk.kernel @beyond_the_side(%n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<16x8xf32, #wide>
  %w = arith.constant dense<0.0> : tensor<16x4xf32, #narrow>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<17x12xf32>
  %l = tkg.buf_view %b offset 0 : !tkg.buf<17x12xf32> -> !tkg.buf<16x8xf32, strides = 12, 1>
  %r = tkg.buf_view %b offset 10 : !tkg.buf<17x12xf32> -> !tkg.buf<16x4xf32, strides = 12, 1>
  tkg.buf_store %v, %l : tensor<16x8xf32, #wide>, !tkg.buf<16x8xf32, strides = 12, 1>
  tkg.buf_store %w, %r : tensor<16x4xf32, #narrow>, !tkg.buf<16x4xf32, strides = 12, 1>
  tk.return
}

// Nor of one with a run-time part.
// CHECK-LABEL: tk.kernel @run_time_part(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
tk.kernel @run_time_part(%n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<16x8xf32, #wide>
  %w = arith.constant dense<0.0> : tensor<16x4xf32, #narrow>
  %i = arith.trunci %n : i64 to i32
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<16x12xf32>
  %l = tkg.buf_view %b offset 0 : !tkg.buf<16x12xf32> -> !tkg.buf<16x8xf32, strides = 12, 1>
  %r = tkg.buf_view %b[%i] offset 8 : !tkg.buf<16x12xf32> -> !tkg.buf<16x4xf32, strides = 12, 1>
  tkg.buf_store %v, %l : tensor<16x8xf32, #wide>, !tkg.buf<16x8xf32, strides = 12, 1>
  tkg.buf_store %w, %r : tensor<16x4xf32, #narrow>, !tkg.buf<16x4xf32, strides = 12, 1>
  tk.return
}
}
