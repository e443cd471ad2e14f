// RUN: tk-opt %s --tk-prepare-dots | FileCheck %s

// As the head of PrepareDots.cpp has it:
//   %d = tk.dot_scaled %a scale %s, %b, %c
// becomes, with blocks of 32,
//   %f = arith.extf %a : f32
//   %e = tk.cast %s : f32
//   %x = tk.reshape %f : tensor<64x2x32xf32>
//   %y = tk.reshape %e : tensor<64x2x1xf32>
//   %z = tk.broadcast %y : tensor<64x2x32xf32>
//   %m = arith.mulf %x, %z
//   %n = tk.reshape %m : tensor<64x64xf32>
//   %p = tk.cast %n : bf16
//   %q = tk.cast %b : bf16
//   %d = tk.dot %p, %q, %c

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>

// CHECK-LABEL: tk.kernel @powers_of_two(
// CHECK:      %[[F:.*]] = arith.extf %{{.*}} : tensor<64x64xbf16> to tensor<64x64xf32>
// CHECK-NEXT: %[[E:.*]] = tk.cast %{{.*}} : tensor<64x2xf8E8M0FNU> -> tensor<64x2xf32>
// CHECK-NEXT: %[[Y:.*]] = tk.reshape %[[E]] : tensor<64x2xf32> -> tensor<64x2x1xf32>
// CHECK-NEXT: %[[Z:.*]] = tk.broadcast %[[Y]] : tensor<64x2x1xf32> -> tensor<64x2x32xf32>
// CHECK-NEXT: %[[X:.*]] = tk.reshape %[[F]] : tensor<64x64xf32> -> tensor<64x2x32xf32>
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[Z]]
// CHECK-NEXT: %[[N:.*]] = tk.reshape %[[M]] : tensor<64x2x32xf32> -> tensor<64x64xf32>
// CHECK-NEXT: %[[P:.*]] = tk.cast %[[N]] : tensor<64x64xf32> -> tensor<64x64xbf16>
// CHECK-NEXT: %[[Q:.*]] = tk.cast %{{.*}} : tensor<64x32xf8E4M3FN> -> tensor<64x32xbf16>
// CHECK-NEXT: tk.dot %[[P]], %[[Q]], %{{.*}} promote 0
tk.kernel @powers_of_two(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xbf16>
  %s = arith.constant dense<1.0> : tensor<64x2xf8E8M0FNU>
  %b = arith.constant dense<1.0> : tensor<64x32xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot_scaled %a scale %s : tensor<64x2xf8E8M0FNU>, %b, %c : tensor<64x64xbf16>, tensor<64x32xf8E4M3FN>, tensor<64x32xf32>
  tk.return
}

// Two digits times four: f16 has them and their range. The scales of the right operand lie along its first axis.
// CHECK-LABEL: tk.kernel @digits_fit_f16(
// CHECK: tk.broadcast %{{.*}} : tensor<4x1x32xf32> -> tensor<4x16x32xf32>
// CHECK: tk.dot %{{.*}} : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
tk.kernel @digits_fit_f16(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x32xf4E2M1FN>
  %s = arith.constant dense<1.0> : tensor<4x32xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot_scaled %a, %b scale %s : tensor<4x32xf8E4M3FN>, %c : tensor<64x64xf4E2M1FN>, tensor<64x32xf4E2M1FN>, tensor<64x32xf32>
  tk.return
}

// f16 has eleven digits, as tf32, but not the range of a power of two.
// CHECK-LABEL: tk.kernel @range_needs_tf32(
// CHECK: tk.dot %{{.*}} input tf32 promote 0 : tensor<64x64xf32>, tensor<64x32xf32>
tk.kernel @range_needs_tf32(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %s = arith.constant dense<1.0> : tensor<64x2xf8E8M0FNU>
  %b = arith.constant dense<1.0> : tensor<64x32xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot_scaled %a scale %s : tensor<64x2xf8E8M0FNU>, %b, %c : tensor<64x64xf16>, tensor<64x32xf8E5M2>, tensor<64x32xf32>
  tk.return
}

// Eleven digits times four are too many for all but f32.
// CHECK-LABEL: tk.kernel @digits_need_f32(
// CHECK: tk.dot %{{.*}}, %{{.*}}, %{{.*}} promote 0 : tensor<64x64xf32>, tensor<64x32xf32>
tk.kernel @digits_need_f32(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xf16>
  %s = arith.constant dense<1.0> : tensor<64x4xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<64x32xf16>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot_scaled %a scale %s : tensor<64x4xf8E4M3FN>, %b, %c : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
  tk.return
}

// The fp8 of AMD has no instruction here; that of OCP keeps its type.
// CHECK-LABEL: tk.kernel @fp8_of_amd(
// CHECK: %[[A:.*]] = tk.cast %{{.*}} : tensor<64x64xf8E4M3FNUZ> -> tensor<64x64xf16>
// CHECK: %[[B:.*]] = tk.cast %{{.*}} : tensor<64x32xf8E5M2> -> tensor<64x32xf16>
// CHECK: tk.dot %[[A]], %[[B]]
// CHECK: tk.dot %{{.*}} : tensor<64x32xf8E5M2>, tensor<32x64xf8E4M3FN>
tk.kernel @fp8_of_amd(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x64xf8E4M3FNUZ>
  %b = arith.constant dense<1.0> : tensor<64x32xf8E5M2>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tk.dot %a, %b, %c : tensor<64x64xf8E4M3FNUZ>, tensor<64x32xf8E5M2>, tensor<64x32xf32>
  %e = arith.constant dense<1.0> : tensor<32x64xf8E4M3FN>
  %f = arith.constant dense<0.0> : tensor<64x64xf32>
  %g = tk.dot %b, %e, %f : tensor<64x32xf8E5M2>, tensor<32x64xf8E4M3FN>, tensor<64x64xf32>
  tk.return
}
