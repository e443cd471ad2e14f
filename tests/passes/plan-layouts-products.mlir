// RUN: tk-opt %s "--tk-plan-layouts=matrix-kinds=63" | FileCheck %s

// How products are dealt to warps, and which take a matrix instruction at all.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>

// Six batch elements are padded to eight: two of four warps' bits go over the last side, which has two bits with
// its padding, one bit is left to registers.
// CHECK-LABEL: tk.kernel @batch(
// CHECK: tk.dot {{.*}} {tkg.layouts = [#tkg.layout<"register=
// CHECK-SAME: [1,0,0,0]], lane=
// CHECK-SAME: warp={{\[\[}}0,1,0,0],[0,2,0,0]], shape=[2,3,16,8]">]
// CHECK-SAME: batch = array<i32: 2, 3>
// CHECK-SAME: warps_batch = 4 : i32
tk.kernel @batch(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<2x3x16x16xf16>
  %b = arith.constant dense<1.0> : tensor<2x3x16x8xf16>
  %c = arith.constant dense<0.0> : tensor<2x3x16x8xf32>
  %d = tk.dot %a, %b, %c : tensor<2x3x16x16xf16>, tensor<2x3x16x8xf16>, tensor<2x3x16x8xf32>
  tk.return
}

// Two batch elements leave two warps for the columns of each.
// CHECK-LABEL: tk.kernel @batch_and_columns(
// CHECK: tk.dot {{.*}}warp={{\[\[}}0,0,32],[1,0,0]]{{.*}}warps_batch = 2 : i32{{.*}}warps_m = 1 : i32, warps_n = 2 : i32
tk.kernel @batch_and_columns(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<2x16x16xf16>
  %b = arith.constant dense<1.0> : tensor<2x16x64xf16>
  %c = arith.constant dense<0.0> : tensor<2x16x64xf32>
  %d = tk.dot %a, %b, %c : tensor<2x16x16xf16>, tensor<2x16x64xf16>, tensor<2x16x64xf32>
  tk.return
}

// One row of many columns pays although 15 of 16 rows are padding.
// CHECK-LABEL: tk.kernel @one_row(
// CHECK: tk.dot {{.*}}kind = "f16", m = 1 : i32, n = 128 : i32
tk.kernel @one_row(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<1x64xf16>
  %b = arith.constant dense<1.0> : tensor<64x128xf16>
  %c = arith.constant dense<0.0> : tensor<1x128xf32>
  %d = tk.dot %a, %b, %c : tensor<1x64xf16>, tensor<64x128xf16>, tensor<1x128xf32>
  tk.return
}

// Of few numbers multiply-adds are made, and of f32 sooner than of f16: it takes three instructions.
// CHECK-LABEL: tk.kernel @few(
// CHECK: tk.dot
// CHECK-NOT: tkg.tiling
// CHECK: tk.return
tk.kernel @few(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<2x4xf32>
  %b = arith.constant dense<1.0> : tensor<4x2xf32>
  %c = arith.constant dense<0.0> : tensor<2x2xf32>
  %d = tk.dot %a, %b, %c : tensor<2x4xf32>, tensor<4x2xf32>, tensor<2x2xf32>
  tk.return
}

// Both kinds of fp8 in one product.
// CHECK-LABEL: tk.kernel @mixed_fp8(
// CHECK: tk.dot {{.*}}kind = "fp8"
tk.kernel @mixed_fp8(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<64x32xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot %a, %b, %c : tensor<64x64xf8E4M3FN>, tensor<64x32xf8E5M2>, tensor<64x32xf32>
  tk.return
}

// Where the result is the left operand of the next product, rows stay within a warp as long as each warp has
// rows of its own. With 32 rows two of four would compute what the others have.
// CHECK-LABEL: tk.kernel @chain(
// CHECK: tk.dot {{.*}}m = 64 : i32, n = 64 : i32, warps_m = 4 : i32, warps_n = 1 : i32
// CHECK: tk.dot {{.*}}m = 64 : i32, n = 64 : i32, warps_m = 4 : i32, warps_n = 1 : i32
// CHECK: tk.dot {{.*}}m = 32 : i32, n = 64 : i32, warps_m = 2 : i32, warps_n = 2 : i32
// CHECK: tk.dot {{.*}}m = 32 : i32, n = 64 : i32, warps_m = 2 : i32, warps_n = 2 : i32
tk.kernel @chain(%n: i64) attributes {contract = #contract} {
  %b = arith.constant dense<1.0> : tensor<64x64xf16>
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tk.dot %a, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %e = tk.cast %d : tensor<64x64xf32> -> tensor<64x64xf16>
  %f = tk.dot %e, %b, %c : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %g = arith.constant dense<1.0> : tensor<32x64xf16>
  %h = arith.constant dense<0.0> : tensor<32x64xf32>
  %i = tk.dot %g, %b, %h : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
  %j = tk.cast %i : tensor<32x64xf32> -> tensor<32x64xf16>
  %k = tk.dot %j, %b, %h : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
  tk.return
}
