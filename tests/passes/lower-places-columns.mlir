// RUN: tk-opt %s --tk-lower-places | FileCheck %s

// Where elements are known to lie side by side along another axis than the last one, the tile is accessed with that axis last:
// threads next to each other then meet elements next to each other.

module attributes {tk.phase = "Canonical"} {

// Two axes; the mask of the author is turned too.
// CHECK-LABEL: tk.kernel @columns(
// CHECK:         %[[M:.*]] = tk.permute %{{.*}} [1, 0] : tensor<8x16xi1> -> tensor<16x8xi1>
// CHECK:         %[[O:.*]] = arith.addi {{.*}} : tensor<16x8xi{{.*}}>
// CHECK:         %[[L:.*]] = tkg.load %{{.*}}[%[[O]]] mask %{{.*}} : tensor<16x8xi1>
// CHECK-SAME:      -> tensor<16x8xf32>
// CHECK-NEXT:    %[[T:.*]] = tk.permute %[[L]] [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
// CHECK:         %[[V:.*]] = tk.permute %[[T]] [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
// CHECK:         tkg.store %[[V]], %{{.*}} : tensor<16x8xf32>
tk.kernel @columns(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %i: i64, %m: tensor<8x16xi1>) attributes {contract = #tk.contract<{kernel = "columns", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["M", "N"], strides = [1, "x.s1"], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["M", "N"], strides = [1, "y.s1"], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}, {name = "m", kind = "scalar", dtype = "i1"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  %t = tk.read %x[%i, %i] widths [8, 16] mask %m : tensor<8x16xi1> : !tk.view<f32, 2, 0> -> tensor<8x16xf32>
  tk.write %t, %y[%i, %i] widths [8, 16] : tensor<8x16xf32>, !tk.view<f32, 2, 1>
  tk.return
}

// Of three axes the inner one moves behind the others, which keep their order; a scalar index makes no axis.
// CHECK-LABEL: tk.kernel @middle(
// CHECK:         tkg.load {{.*}} -> tensor<2x8x4xf32>
// CHECK-NEXT:    tk.permute %{{.*}} [0, 2, 1] : tensor<2x8x4xf32> -> tensor<2x4x8xf32>
// CHECK:         tkg.load {{.*}} -> tensor<2x8x4xf32>
// CHECK-NEXT:    tk.permute %{{.*}} [2, 0, 1] : tensor<2x8x4xf32> -> tensor<4x2x8xf32>
// A side of one, a last axis that is side by side too, and tiles of one axis are left as they are.
// CHECK:         tkg.load {{.*}} -> tensor<2x1x8xf32>
// CHECK:         tkg.load {{.*}} -> tensor<4xf32>
// CHECK-NOT:     tk.permute
// CHECK:         tk.return
tk.kernel @middle(%x: !tk.view<f32, 4, 0>, %y: !tk.view<f32, 4, 0>, %i: i64) attributes {contract = #tk.contract<{kernel = "middle", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["A", "B", "C", "D"], strides = ["x.s0", "x.s1", 1, "x.s3"], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "in", extents = ["A", "B", "C", "D"], strides = [1, "y.s1", "y.s2", "y.s3"], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  %a = tk.read %x[%i, %i, %i, %i] widths [2, 0, 4, 8] : !tk.view<f32, 4, 0> -> tensor<2x4x8xf32>
  %b = tk.read %y[%i, %i, %i, %i] widths [4, 2, 0, 8] : !tk.view<f32, 4, 0> -> tensor<4x2x8xf32>
  %c = tk.read %x[%i, %i, %i, %i] widths [2, 0, 1, 8] : !tk.view<f32, 4, 0> -> tensor<2x1x8xf32>
  %d = tk.read %x[%i, %i, %i, %i] widths [0, 0, 4, 0] : !tk.view<f32, 4, 0> -> tensor<4xf32>

  tk.return
}

}
