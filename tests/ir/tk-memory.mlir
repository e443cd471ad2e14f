// RUN: tk-opt %s | tk-opt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 4}}>

// What a kernel may ask a view.
// CHECK-LABEL: tk.kernel @view
// CHECK:         tk.extent %[[X:.*]], 1 : <f32, 2, 0>
// CHECK-NEXT:    tk.stride %[[X]], 0 : <f32, 2, 0>
// CHECK-NEXT:    tk.base %[[X]] : <f32, 2, 0> -> <f32, 0>
tk.kernel @view() attributes {contract = #contract} {
  %x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
  %n = tk.extent %x, 1 : !tk.view<f32, 2, 0>
  %s = tk.stride %x, 0 : !tk.view<f32, 2, 0>
  %p = tk.base %x : !tk.view<f32, 2, 0> -> !tk.ptr<f32, 0>
  tk.return
}

// A single index drops its axis; all single indices give a scalar; rank 0 has no index at all.
// CHECK-LABEL: tk.kernel @places
// CHECK:         tk.read %[[X:.*]][%{{.*}}, %{{.*}}] widths [4, 64] : <f32, 2, 0> -> tensor<4x64xf32>
// CHECK-NEXT:    tk.read %[[X]][%{{.*}}, %{{.*}}] widths [0, 64] : <f32, 2, 0> -> tensor<64xf32>
// CHECK-NEXT:    tk.read %[[X]][%{{.*}}, %{{.*}}] widths [0, 0] : <f32, 2, 0> -> f32
// CHECK-NEXT:    tk.read %{{.*}}[] widths [] : <f32, 0, 1> -> f32
tk.kernel @places() attributes {contract = #contract} {
  %x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
  %s = builtin.unrealized_conversion_cast to !tk.view<f32, 0, 1>
  %i = arith.constant 0 : i64
  %0 = tk.read %x[%i, %i] widths [4, 64] : !tk.view<f32, 2, 0> -> tensor<4x64xf32>
  %1 = tk.read %x[%i, %i] widths [0, 64] : !tk.view<f32, 2, 0> -> tensor<64xf32>
  %2 = tk.read %x[%i, %i] widths [0, 0] : !tk.view<f32, 2, 0> -> f32
  %3 = tk.read %s[] widths [] : !tk.view<f32, 0, 1> -> f32
  tk.return
}

// Mask and fill are each optional.
// CHECK-LABEL: tk.kernel @masks
// CHECK:         widths [64] mask %[[M:.*]] : tensor<64xi1> fill %[[F:.*]] : f32 : <f32, 1, 0> -> tensor<64xf32>
// CHECK-NEXT:    widths [64] fill %[[F]] : f32 : <f32, 1, 0> -> tensor<64xf32>
// CHECK-NEXT:    tk.write %[[V:.*]], %[[X:.*]][%{{.*}}] widths [64] mask %[[M]] : tensor<64xi1> : tensor<64xf32>, <f32, 1, 0>
// CHECK-NEXT:    tk.write %[[V]], %[[X]][%{{.*}}] widths [64] : tensor<64xf32>, <f32, 1, 0>
// CHECK-NEXT:    tk.write %[[F]], %[[X]][%{{.*}}] widths [0] : f32, <f32, 1, 0>
tk.kernel @masks() attributes {contract = #contract} {
  %x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
  %i = arith.constant 0 : i64
  %f = arith.constant 1.0 : f32
  %m = arith.constant dense<true> : tensor<64xi1>
  %v = tk.read %x[%i] widths [64] mask %m : tensor<64xi1> fill %f : f32 : !tk.view<f32, 1, 0> -> tensor<64xf32>
  %w = tk.read %x[%i] widths [64] fill %f : f32 : !tk.view<f32, 1, 0> -> tensor<64xf32>
  tk.write %v, %x[%i] widths [64] mask %m : tensor<64xi1> : tensor<64xf32>, !tk.view<f32, 1, 0>
  tk.write %v, %x[%i] widths [64] : tensor<64xf32>, !tk.view<f32, 1, 0>
  tk.write %f, %x[%i] widths [0] : f32, !tk.view<f32, 1, 0>
  tk.return
}

// Tiles of pointers and single pointers.
// CHECK-LABEL: tk.kernel @pointers
// CHECK:         tk.ptr_add %{{.*}}, %{{.*}} : !tk.ptr<f32, 0>, i64
// CHECK:         tk.ptr_add %{{.*}}, %{{.*}} : tensor<64x!tk.ptr<f32, 0>>, tensor<64xi32>
// CHECK:         tk.load %[[Q:.*]] mask %[[M:.*]] : tensor<64xi1> fill %{{.*}} : f32 : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
// CHECK-NEXT:    tk.load %[[P:.*]] : !tk.ptr<f32, 0> -> f32
// CHECK-NEXT:    tk.store %{{.*}}, %[[Q]] mask %[[M]] : tensor<64xi1> : tensor<64xf32>, tensor<64x!tk.ptr<f32, 0>>
// CHECK-NEXT:    tk.store %{{.*}}, %[[P]] : f32, !tk.ptr<f32, 0>
tk.kernel @pointers() attributes {contract = #contract} {
  %base = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
  %i = arith.constant 5 : i64
  %f = arith.constant 1.0 : f32
  %m = arith.constant dense<true> : tensor<64xi1>
  %p = tk.ptr_add %base, %i : !tk.ptr<f32, 0>, i64
  %l = tk.arange 0 : tensor<64xi32>
  %t = tk.splat %p : !tk.ptr<f32, 0> -> tensor<64x!tk.ptr<f32, 0>>
  %q = tk.ptr_add %t, %l : tensor<64x!tk.ptr<f32, 0>>, tensor<64xi32>
  %v = tk.load %q mask %m : tensor<64xi1> fill %f : f32 : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
  %s = tk.load %p : !tk.ptr<f32, 0> -> f32
  tk.store %v, %q mask %m : tensor<64xi1> : tensor<64xf32>, tensor<64x!tk.ptr<f32, 0>>
  tk.store %s, %p : f32, !tk.ptr<f32, 0>
  tk.return
}
