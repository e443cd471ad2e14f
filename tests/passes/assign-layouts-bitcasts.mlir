// RUN: tk-opt %s --tk-plan-layouts --tk-assign-layouts | FileCheck %s

// A bitcast that splits or joins elements keeps all parts of a whole in one thread.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "u32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "z", kind = "tensor", dtype = "f32", access = "in", extents = ["M", "N"], strides = ["s", 1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>

// The narrow tile is dealt out by eight, and the wide one follows: no conversion.
// CHECK-LABEL: tk.kernel @splits(
// CHECK:         tk.bitcast {{.*}} axis 0 : tensor<64xi32, #tkg.layout<"register=[], lane={{\[\[}}1],[2],[4],[8],[16]], warp={{\[\[}}32]]">>
// CHECK-SAME:      -> tensor<512xi4, #tkg.layout<"register={{\[\[}}1],[2],[4]], lane={{\[\[}}8],[16],[32],[64],[128]], warp={{\[\[}}256]]">>
// CHECK-NOT:     tkg.convert
// CHECK:         tk.return
tk.kernel @splits(%x: !tk.view<i32, 1, 0>, %z: !tk.view<f32, 2, 1>) attributes {contract = #contract} {
  %p = tk.base %x : !tk.view<i32, 1, 0> -> !tk.ptr<i32, 0>
  %l = tk.arange 0 : tensor<64xi32>
  %v = tkg.load %p[%l] : !tk.ptr<i32, 0>, tensor<64xi32> -> tensor<64xi32>
  %n = tk.bitcast %v axis 0 : tensor<64xi32> -> tensor<512xi4>
  tk.return
}

// Where another operation decides how the narrow tile lies, the parts come together by a conversion.
// CHECK-LABEL: tk.kernel @joins(
// CHECK:         tk.broadcast
// CHECK:         %[[TOGETHER:.*]] = tkg.convert %{{.*}} how "shared" {{.*}} : tensor<64x1xi16
// CHECK:         tk.bitcast %[[TOGETHER]] axis 0 {{.*}} -> tensor<32x1xi32
// CHECK:         tk.return
tk.kernel @joins(%x: !tk.view<i32, 1, 0>, %z: !tk.view<f32, 2, 1>) attributes {contract = #contract} {
  %c = arith.constant dense<3> : tensor<64x1xi16>
  %m = tk.unary abs %c : tensor<64x1xi16>
  %t = tk.broadcast %m : tensor<64x1xi16> -> tensor<64x32xi16>
  %w = tk.bitcast %m axis 0 : tensor<64x1xi16> -> tensor<32x1xi32>
  tk.return
}
