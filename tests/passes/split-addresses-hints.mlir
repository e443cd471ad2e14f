// RUN: tk-opt %s --tk-split-addresses | FileCheck %s

// A promise about an index tile becomes one about its uniform part.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "s", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>

// CHECK-LABEL: tk.kernel @promise(
// CHECK-SAME:    %[[X:[^:]*]]: !tk.ptr<f32, 0>, %[[S:[^:]*]]: i64)
// CHECK:         %[[LANES:.*]] = tk.arange 0
// CHECK:         %[[H:.*]] = tk.hint %[[S]] multiple_of [64] contiguous [1] constant [1] : i64
// CHECK:         %[[P:.*]] = tk.ptr_add %[[X]], %[[H]]
// CHECK:         tkg.load %[[P]][%[[LANES]]]
tk.kernel @promise(%x: !tk.ptr<f32, 0>, %s: i64) attributes {contract = #contract} {
  %l = tk.arange 0 : tensor<64xi32>
  %w = arith.extsi %l : tensor<64xi32> to tensor<64xi64>
  %t = tk.splat %s : i64 -> tensor<64xi64>
  %i = arith.addi %t, %w : tensor<64xi64>
  %h = tk.hint %i multiple_of [64] contiguous [64] constant [1] : tensor<64xi64>
  %b = tk.splat %x : !tk.ptr<f32, 0> -> tensor<64x!tk.ptr<f32, 0>>
  %p = tk.ptr_add %b, %h : tensor<64x!tk.ptr<f32, 0>>, tensor<64xi64>
  %v = tk.load %p : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
  tk.return
}

// Where lanes begin at 1 the first element is not the uniform part.
// CHECK-LABEL: tk.kernel @begins_at_one(
// CHECK-NOT:     tk.hint {{.*}} : i64
// CHECK:         tkg.load
tk.kernel @begins_at_one(%x: !tk.ptr<f32, 0>, %s: i64) attributes {contract = #contract} {
  %l = tk.arange 1 : tensor<64xi32>
  %w = arith.extsi %l : tensor<64xi32> to tensor<64xi64>
  %t = tk.splat %s : i64 -> tensor<64xi64>
  %i = arith.addi %t, %w : tensor<64xi64>
  %h = tk.hint %i multiple_of [64] contiguous [64] constant [1] : tensor<64xi64>
  %b = tk.splat %x : !tk.ptr<f32, 0> -> tensor<64x!tk.ptr<f32, 0>>
  %p = tk.ptr_add %b, %h : tensor<64x!tk.ptr<f32, 0>>, tensor<64xi64>
  %v = tk.load %p : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
  tk.return
}
