// RUN: tk-opt %s --tk-plan-layouts | FileCheck %s
// RUN: tk-opt %s --tk-plan-layouts=max-atomic-bytes=16 | FileCheck %s --check-prefix=WIDE

// How wide an access is: the offsets of a vector are consecutive, its first address is aligned, and
// its mask is constant. Everything the host promises is in `facts`; the width is `vector`.

#f16 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f16", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#bf16 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "bf16", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#f32 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#f64 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f64", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#i8 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "i8", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>

// 16 bytes of f16 are 8 elements.
// CHECK-LABEL: tk.kernel @aligned_f16(
// CHECK:         tkg.load {{.*}}vector = 8 : i64
tk.kernel @aligned_f16(%x: !tk.view<f16, 1, 0>) attributes {contract = #f16, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f16, 1, 0> -> !tk.ptr<f16, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f16, 0>, tensor<1024xi32> -> tensor<1024xf16>
  tk.return
}

// 16 bytes of bf16 are 8 elements.
// CHECK-LABEL: tk.kernel @aligned_bf16(
// CHECK:         tkg.load {{.*}}vector = 8 : i64
tk.kernel @aligned_bf16(%x: !tk.view<bf16, 1, 0>) attributes {contract = #bf16, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<bf16, 1, 0> -> !tk.ptr<bf16, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<bf16, 0>, tensor<1024xi32> -> tensor<1024xbf16>
  tk.return
}

// 16 bytes of f32 are 4 elements.
// CHECK-LABEL: tk.kernel @aligned_f32(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @aligned_f32(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// 16 bytes of f64 are 2 elements.
// CHECK-LABEL: tk.kernel @aligned_f64(
// CHECK:         tkg.load {{.*}}vector = 2 : i64
tk.kernel @aligned_f64(%x: !tk.view<f64, 1, 0>) attributes {contract = #f64, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f64, 1, 0> -> !tk.ptr<f64, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f64, 0>, tensor<1024xi32> -> tensor<1024xf64>
  tk.return
}

// 16 bytes of i8 are 16 elements.
// CHECK-LABEL: tk.kernel @aligned_i8(
// CHECK:         tkg.load {{.*}}vector = 16 : i64
tk.kernel @aligned_i8(%x: !tk.view<i8, 1, 0>) attributes {contract = #i8, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<i8, 1, 0> -> !tk.ptr<i8, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<i8, 0>, tensor<1024xi32> -> tensor<1024xi8>
  tk.return
}

// Sums that nobody reads: what the target adds at once, f16 two elements in any case; other changes one element.
// CHECK-LABEL: tk.kernel @sums_f32(
// CHECK:         tkg.atomic_rmw add {{.*}}scope gpu : tensor
// WIDE-LABEL:  tk.kernel @sums_f32(
// WIDE:          tkg.atomic_rmw add {{.*}}scope gpu {vector = 4 : i64}
// WIDE-NEXT:     tkg.atomic_rmw max {{.*}}scope gpu : tensor
tk.kernel @sums_f32(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xf32>
  tkg.atomic_rmw add %v, %p[%l] scope gpu : tensor<1024xf32>, !tk.ptr<f32, 0>, tensor<1024xi32>
  tkg.atomic_rmw max %v, %p[%l] scope gpu : tensor<1024xf32>, !tk.ptr<f32, 0>, tensor<1024xi32>
  tk.return
}

// CHECK-LABEL: tk.kernel @sums_f16(
// CHECK:         tkg.atomic_rmw add {{.*}}scope gpu {vector = 2 : i64}
// WIDE-LABEL:  tk.kernel @sums_f16(
// WIDE:          tkg.atomic_rmw add {{.*}}scope gpu {vector = 8 : i64}
tk.kernel @sums_f16(%x: !tk.view<f16, 1, 0>) attributes {contract = #f16, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f16, 1, 0> -> !tk.ptr<f16, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xf16>
  tkg.atomic_rmw add %v, %p[%l] scope gpu : tensor<1024xf16>, !tk.ptr<f16, 0>, tensor<1024xi32>
  tk.return
}

// CHECK-LABEL: tk.kernel @sums_bf16(
// CHECK:         tkg.atomic_rmw add {{.*}}scope gpu : tensor
// WIDE-LABEL:  tk.kernel @sums_bf16(
// WIDE:          tkg.atomic_rmw add {{.*}}scope gpu {vector = 8 : i64}
tk.kernel @sums_bf16(%x: !tk.view<bf16, 1, 0>) attributes {contract = #bf16, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<bf16, 1, 0> -> !tk.ptr<bf16, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xbf16>
  tkg.atomic_rmw add %v, %p[%l] scope gpu : tensor<1024xbf16>, !tk.ptr<bf16, 0>, tensor<1024xi32>
  tk.return
}

// CHECK-LABEL: tk.kernel @sums_f64(
// CHECK:         tkg.atomic_rmw add {{.*}}scope gpu : tensor
// WIDE-LABEL:  tk.kernel @sums_f64(
// WIDE:          tkg.atomic_rmw add {{.*}}scope gpu : tensor
tk.kernel @sums_f64(%x: !tk.view<f64, 1, 0>) attributes {contract = #f64, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f64, 1, 0> -> !tk.ptr<f64, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xf64>
  tkg.atomic_rmw add %v, %p[%l] scope gpu : tensor<1024xf64>, !tk.ptr<f64, 0>, tensor<1024xi32>
  tk.return
}
