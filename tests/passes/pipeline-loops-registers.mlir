// RUN: tk-opt %s --tk-pipeline-loops --verify-diagnostics | FileCheck %s

// Loads of registers: from a ring that each thread fills for itself, so there is no barrier.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in"},
    {name = "y", kind = "pointer", dtype = "f32", access = "out"}, {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">

// What is read is zero where the mask is false; the fill is put back.
// CHECK-LABEL: tk.kernel @asked_for(
// CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %{{.*}})
// CHECK-NEXT: tkg.async_wait 1
// CHECK-NOT:  tkg.barrier
// CHECK:      tkg.async_copy when
// CHECK:      %[[PLACE:.*]] = arith.muli %[[SLOT]]
// CHECK-NEXT: %[[VIEW:.*]] = tkg.buf_view %{{.*}}[%[[PLACE]]]
// CHECK-NEXT: %[[TILE:.*]] = tkg.buf_load %[[VIEW]]
// CHECK-NEXT: %[[FILL:.*]] = tk.splat %cst
// CHECK-NEXT: arith.select %{{.*}}, %[[TILE]], %[[FILL]]
tk.kernel @asked_for(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %f = arith.constant 1.0 : f32
  %m = arith.constant dense<true> : tensor<64xi1, #A>
  // expected-remark @+1 {{TK4104: 1 loads of this loop are copied 2 iterations ahead: 768 bytes of shared memory}}
  scf.for %i = %c0 to %n step %c1 : i64 {
    %at = arith.muli %i, %c64 : i64
    %p = tk.ptr_add %x, %at : !tk.ptr<f32, 0>, i64
    %o = tk.arange 0 : tensor<64xi32, #A>
    %v = tkg.load %p[%o] mask %m : tensor<64xi1, #A> fill %f : f32 readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    // The same address in each iteration: nothing to be gained.
    %w = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %s = arith.addf %v, %w : tensor<64xf32, #A>
    tkg.store %s, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  } {tk.pipeline}
  tk.return
}

// Nobody asked, and no product waits.
// CHECK-LABEL: tk.kernel @not_asked(
// CHECK-NOT: tkg.async_copy
tk.kernel @not_asked(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %p = tk.ptr_add %x, %i : !tk.ptr<f32, 0>, i64
    %o = tk.arange 0 : tensor<64xi32, #A>
    %v = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    tkg.store %v, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  }
  tk.return
}

// Three slots of 128 KiB do not fit: the load stays.
#L = #tkg.layout<"register=[[64],[128],[256],[512],[1024],[2048],[4096],[8192],[16384]], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
// CHECK-LABEL: tk.kernel @too_large(
// CHECK-NOT: tkg.async_copy
tk.kernel @too_large(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %p = tk.ptr_add %x, %i : !tk.ptr<f32, 0>, i64
    %o = tk.arange 0 : tensor<32768xi32, #L>
    // expected-remark @+1 {{TK4106: this load is not copied ahead: the ring would not fit in shared memory}}
    %v = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<32768xi32, #L> -> tensor<32768xf32, #L>
    tkg.store %v, %y[%o] : tensor<32768xf32, #L>, !tk.ptr<f32, 1>, tensor<32768xi32, #L>
  } {tk.pipeline = 3 : i64}
  tk.return
}
