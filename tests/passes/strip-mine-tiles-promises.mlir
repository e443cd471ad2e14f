// RUN: tk-opt %s --tk-strip-mine-tiles --verify-diagnostics | FileCheck %s

// What the author promised of blocks of elements, in pieces.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "f32", access = "out", align = 4},
            {name = "o", kind = "tensor", dtype = "i32", access = "in", extents = ["N"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [["p", "o"]], options = {warps = 4}}>

module attributes {tk.phase = "Canonical"} {

// Blocks that the pieces hold whole stay.
// CHECK-LABEL: tk.kernel @whole_blocks(
// CHECK:         scf.for
// CHECK:           tk.hint %{{.*}} multiple_of [4] contiguous [12] constant [1] : tensor<3072xi32>
tk.kernel @whole_blocks(%p: !tk.ptr<f32, 0>, %o: !tk.view<i32, 1, 1>) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %i = tk.read %o[%c0] widths [49152] : !tk.view<i32, 1, 1> -> tensor<49152xi32>
  %h = tk.hint %i multiple_of [4] contiguous [12] constant [1] : tensor<49152xi32>
  %s = tk.splat %p : !tk.ptr<f32, 0> -> tensor<49152x!tk.ptr<f32, 0>>
  %q = tk.ptr_add %s, %h : tensor<49152x!tk.ptr<f32, 0>>, tensor<49152xi32>
  %v = arith.constant dense<1.0> : tensor<49152xf32>
  // expected-remark @+1 {{TK4110}}
  tk.store %v, %q : tensor<49152xf32>, tensor<49152x!tk.ptr<f32, 0>>
  tk.return
}

// Blocks that reach beyond a piece say nothing of it.
// CHECK-LABEL: tk.kernel @longer_blocks(
// CHECK:         scf.for
// CHECK:           tk.hint %{{.*}} multiple_of [1] contiguous [1] constant [1] : tensor<3072xi32>
tk.kernel @longer_blocks(%p: !tk.ptr<f32, 0>, %o: !tk.view<i32, 1, 1>) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %i = tk.read %o[%c0] widths [49152] : !tk.view<i32, 1, 1> -> tensor<49152xi32>
  %h = tk.hint %i multiple_of [4] contiguous [4096] constant [1] : tensor<49152xi32>
  %s = tk.splat %p : !tk.ptr<f32, 0> -> tensor<49152x!tk.ptr<f32, 0>>
  %q = tk.ptr_add %s, %h : tensor<49152x!tk.ptr<f32, 0>>, tensor<49152xi32>
  %v = arith.constant dense<1.0> : tensor<49152xf32>
  // expected-remark @+1 {{TK4110}}
  tk.store %v, %q : tensor<49152xf32>, tensor<49152x!tk.ptr<f32, 0>>
  tk.return
}
}
