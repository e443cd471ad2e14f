// RUN: tk-opt %s --tk-lower-places | FileCheck %s

// Extents of the same name are one value, so that the masks of both tensors are one comparison;
// `_` is no name: each such axis has an extent of its own.
#named = #tk.contract<{kernel = "k", instance = {}, grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1], align = 4}]}>
#any = #tk.contract<{kernel = "k", instance = {}, grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["_"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["_"], strides = [1], align = 4}]}>

module attributes {tk.phase = "Canonical"} {

// CHECK-LABEL: tk.kernel @one_name(
// CHECK-NOT:     tk.extent %arg1
tk.kernel @one_name(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>) attributes {contract = #named} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0] widths [128] : !tk.view<f32, 1, 0> -> tensor<128xf32>
  tk.write %v, %y[%c0] widths [128] : tensor<128xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// CHECK-LABEL: tk.kernel @no_name(
// CHECK:         tk.extent %arg0, 0
// CHECK:         tkg.load
// CHECK:         tk.extent %arg1, 0
// CHECK:         tkg.store
tk.kernel @no_name(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>) attributes {contract = #any} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0] widths [128] : !tk.view<f32, 1, 0> -> tensor<128xf32>
  tk.write %v, %y[%c0] widths [128] : tensor<128xf32>, !tk.view<f32, 1, 1>
  tk.return
}
}
