// RUN: tk-opt %s --tk-prefetch-fragments | FileCheck %s
// RUN: tk-opt %s --tk-prefetch-fragments=most-registers=15 | FileCheck %s --check-prefix=WHOLE

// As the head of PrefetchFragments.cpp has it:
//   scf.for %i iter_args(%acc, %slot) {
//     tkg.async_wait N; tkg.barrier; copies ahead
//     %a = tkg.buf_view %ra[%slot]; %b = tkg.buf_view %rb[%slot]
//     %d = tkg.mma %a, %b, %acc                      // two steps along K
//   }
// becomes
//   tkg.async_wait N; tkg.barrier
//   scf.for %i iter_args(%acc, %slot, %a0 = step 0 of slot 0, %b0 likewise) {
//     %a1 = step 1 of %a; %b1 likewise
//     %c = tkg.mma %a0, %b0, %acc
//     copies ahead
//     tkg.async_wait N; tkg.barrier
//     %a2 = step 0 of the next slot; %b2 likewise    // in the last iteration nobody uses it
//     %d = tkg.mma %a1, %b1, %c
//     yield %d, next slot, %a2, %b2
//   }

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f16", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#O = #tkg.layout<"register=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]]">
#C = #tkg.layout<"register=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]]">

// CHECK-LABEL: tk.kernel @two_steps(
// CHECK:         tkg.async_wait 0
// CHECK-NEXT:    tkg.barrier
// CHECK:         %[[A0:.*]] = tkg.buf_load %{{.*}} : <16x16xf16, strides = 40, 1> ->
// CHECK:         %[[B0:.*]] = tkg.buf_load %{{.*}} : <16x8xf16> ->
// CHECK:         scf.for {{.*}} iter_args(%[[ACC:[^ ]*]] = %{{[^,]*}}, %[[SLOT:[^ ]*]] = %{{[^,]*}}, %[[LEFT:[^ ]*]] = %[[A0]], %[[RIGHT:[^ ]*]] = %[[B0]])
// CHECK:           tkg.buf_view %{{.*}} offset 16 :
// CHECK-NEXT:      %[[A1:.*]] = tkg.buf_load
// CHECK:           tkg.buf_view %{{.*}} offset 128 :
// CHECK-NEXT:      %[[B1:.*]] = tkg.buf_load
// CHECK-NEXT:      %[[D:.*]] = tkg.mma %[[LEFT]], %[[RIGHT]], %[[ACC]]
// CHECK-SAME:        k = 16 : i32
// CHECK-NEXT:      tkg.async_copy
// CHECK-NEXT:      tkg.async_commit
// CHECK-NEXT:      tkg.async_wait 0
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      %[[NEXT:.*]] = tkg.ring_slot %[[SLOT]] plus 1 of 2
// CHECK-NEXT:      %[[PA:.*]] = arith.muli %[[NEXT]]
// CHECK-NEXT:      tkg.buf_view %{{.*}}[%[[PA]]] offset 0 :
// CHECK-NEXT:      %[[A2:.*]] = tkg.buf_load
// CHECK:           %[[B2:.*]] = tkg.buf_load
// CHECK-NEXT:      %[[E:.*]] = tkg.mma %[[A1]], %[[B1]], %[[D]]
// CHECK-NEXT:      scf.yield %[[E]], %[[NEXT]], %[[A2]], %[[B2]]
// CHECK:         tkg.async_wait 0

// WHOLE:       scf.for
// WHOLE:         tkg.mma %{{.*}} : !tkg.buf<16x32xf16, strides = 40, 1>, !tkg.buf<32x8xf16>
tk.kernel @two_steps(%x: !tk.ptr<f16, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %ea = arith.constant 640 : i32
  %eb = arith.constant 256 : i32
  %o = arith.constant dense<0> : tensor<16x32xi32, #O>
  %z = arith.constant dense<0.0> : tensor<16x8xf32, #C>
  %ra = tkg.alloc : !tkg.buf<2x16x32xf16, strides = 640, 40, 1>
  %rb = tkg.alloc : !tkg.buf<2x32x8xf16>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z, %slot = %s0) -> (tensor<16x8xf32, #C>, i32) : i64 {
    tkg.async_wait 0
    tkg.barrier
    %far = tkg.ring_slot %slot plus 1 of 2
    %pf = arith.muli %far, %ea : i32
    %vf = tkg.buf_view %ra[%pf] offset 0 : !tkg.buf<2x16x32xf16, strides = 640, 40, 1> -> !tkg.buf<16x32xf16, strides = 40, 1>
    tkg.async_copy %x[%o], %vf {vector = 8 : i64} : !tk.ptr<f16, 0>, tensor<16x32xi32, #O>, !tkg.buf<16x32xf16, strides = 40, 1>
    tkg.async_commit
    %pa = arith.muli %slot, %ea : i32
    %a = tkg.buf_view %ra[%pa] offset 0 : !tkg.buf<2x16x32xf16, strides = 640, 40, 1> -> !tkg.buf<16x32xf16, strides = 40, 1>
    %pb = arith.muli %slot, %eb : i32
    %b = tkg.buf_view %rb[%pb] offset 0 : !tkg.buf<2x32x8xf16> -> !tkg.buf<32x8xf16>
    %d = tkg.mma %a, %b, %acc input "exact" promote 128 {tkg.tiling = {kind = "f16", m = 16 : i32, n = 8 : i32, k = 32 : i32, warps_m = 1 : i32, warps_n = 1 : i32}}
        : !tkg.buf<16x32xf16, strides = 40, 1>, !tkg.buf<32x8xf16>, tensor<16x8xf32, #C>
    %next = tkg.ring_slot %slot plus 1 of 2
    scf.yield %d, %next : tensor<16x8xf32, #C>, i32
  }
  tkg.async_wait 0
  tk.return
}
