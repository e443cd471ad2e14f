// RUN: tk-opt %s --tk-pipeline-loops --verify-diagnostics | FileCheck %s

// As the head of PipelineLoops.cpp has it:
//   scf.for %i = 0 to %n {
//     %v = tkg.load %p(%i)
//     %b = tkg.alloc
//     tkg.buf_store %v, %b
//     use %b
//   }
// becomes, with two slots,
//   %r = tkg.alloc                       // both slots
//   tkg.async_copy when 0 < %n, %p(0), slot 0
//   tkg.async_commit
//   scf.for %i = 0 to %n {
//     tkg.async_wait 0                   // at most S - 2 groups under way: slot %i % S is full
//     tkg.barrier                        // for all threads; and the slot read last is free
//     tkg.async_copy when %i + 1 < %n, %p(%i + 1), slot (%i + 1) % S    // behind the first product
//     tkg.async_commit
//     use slot %i % S
//   }
//   tkg.async_wait 0

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in"},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">

// CHECK-LABEL: tk.kernel @two_slots(
// CHECK: %[[R:.*]] = tkg.alloc : <2x64xf32>
// CHECK: tkg.async_copy when %{{.*}}, {{.*}} {vector = 1 : i64}
// CHECK: tkg.async_commit
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} iter_args({{.*}}, %[[SLOT:[^ ]*]] = %{{.*}}) -> (f32, i32)
// CHECK:   tkg.async_wait 0
// CHECK:   tkg.barrier
// CHECK:   %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : i64
// CHECK:   %[[BEHIND:.*]] = tkg.ring_slot %[[SLOT]] plus 1 of 2
// CHECK:   %[[EXISTS:.*]] = arith.cmpi slt, %[[NEXT]], %arg1
// CHECK:   arith.muli %[[NEXT]]
// CHECK:   arith.muli %[[BEHIND]]
// CHECK:   tkg.async_copy when %[[EXISTS]], {{.*}} {vector = 1 : i64}
// CHECK:   tkg.async_commit
// CHECK:   %[[V:.*]] = tkg.buf_view %[[R]]
// CHECK-NOT: tkg.load
// CHECK:   tkg.buf_load %[[V]]
// CHECK:   tkg.ring_slot %[[SLOT]] plus 1 of 2
// CHECK: tkg.async_wait 0
tk.kernel @two_slots(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %z = arith.constant 0.0 : f32
  // expected-remark @+1 {{TK4104: 1 loads of this loop are copied 1 iterations ahead: 512 bytes of shared memory}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) : i64 {
    %at = arith.muli %i, %c64 : i64
    %p = tk.ptr_add %x, %at : !tk.ptr<f32, 0>, i64
    %o = tk.arange 0 : tensor<64xi32, #A>
    %v = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %b = tkg.alloc : !tkg.buf<64xf32>
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
    %w = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %t = tk.reduce %w axis 0 order any : tensor<64xf32, #B> -> f32 {
    ^bb0(%a: f32, %c: f32):
      %d = arith.addf %a, %c : f32
      tk.yield %d : f32
    }
    %u = arith.addf %s, %t : f32
    scf.yield %u : f32
  } {tk.pipeline = 2 : i64}
  tk.return
}

// The address is what the last iteration loaded, and memory that may be written: both stay.
// CHECK-LABEL: tk.kernel @not_ahead(
// CHECK-NOT: tkg.async_copy
tk.kernel @not_ahead(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c0) -> (i64) : i64 {
    %p = tk.ptr_add %x, %at : !tk.ptr<f32, 0>, i64
    %o = tk.arange 0 : tensor<64xi32, #A>
    // expected-remark @+1 {{TK4106: this load is not copied ahead: its address depends on what the loop carries or loads}}
    %v = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %b = tkg.alloc : !tkg.buf<64xf32>
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
    %w = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    // expected-remark @+1 {{TK4106: this load is not copied ahead: the kernel may write the memory it reads}}
    %v2 = tkg.load %x[%o] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %b2 = tkg.alloc : !tkg.buf<64xf32>
    tkg.buf_store %v2, %b2 : tensor<64xf32, #A>, !tkg.buf<64xf32>
    %w2 = tkg.buf_load %b2 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = arith.addi %at, %c1 : i64
    scf.yield %next : i64
  }
  tk.return
}

// A limit of the mask that the loop changes is 0 where there is no such iteration: no condition is left. A place
// that may be negative is below 0, too, and so may be one that the loop changes, in iterations that do not exist.
// CHECK-LABEL: tk.kernel @limits(
// CHECK:         scf.for
// CHECK:           %[[EXISTS:.*]] = arith.cmpi slt, %{{.*}}, %arg1
// CHECK:           %[[REST:.*]] = arith.trunci
// CHECK:           %[[LIMIT:.*]] = arith.select %[[EXISTS]], %[[REST]], %c0_i32
// CHECK:           %[[LIMITS:.*]] = tk.splat %[[LIMIT]]
// CHECK:           %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[LIMITS]]
// CHECK:           %[[BOTH:.*]] = arith.andi %{{.*}}, %[[MASK]]
// CHECK:           tkg.async_copy %{{.*}} mask %[[BOTH]]
// CHECK:           tkg.async_copy when %[[EXISTS]], %{{.*}} mask
// CHECK:           tkg.async_copy when %[[EXISTS]], %{{.*}} mask
tk.kernel @limits(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i32
  %c100 = arith.constant 100 : i64
  %z = arith.constant 0.0 : f32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %three = tk.splat %c3 : i32 -> tensor<64xi32, #A>
  %below = arith.subi %o, %three : tensor<64xi32, #A>
  %fixed = arith.cmpi slt, %o, %three : tensor<64xi32, #A>
  // expected-remark @+1 {{TK4104: 3 loads of this loop are copied 1 iterations ahead}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) : i64 {
    %back = arith.subi %c100, %i : i64
    %start = arith.trunci %back : i64 to i32
    %starts = tk.splat %start : i32 -> tensor<64xi32, #A>
    %places = arith.addi %o, %starts : tensor<64xi32, #A>
    %rest = arith.subi %n, %i : i64
    %limit = arith.trunci %rest : i64 to i32
    %limits = tk.splat %limit : i32 -> tensor<64xi32, #A>
    %m = arith.cmpi slt, %o, %limits : tensor<64xi32, #A>
    %both = arith.andi %fixed, %m : tensor<64xi1, #A>
    %other = arith.cmpi slt, %below, %limits : tensor<64xi32, #A>
    %third = arith.cmpi slt, %places, %limits : tensor<64xi32, #A>
    %p = tk.ptr_add %x, %i : !tk.ptr<f32, 0>, i64
    %v = tkg.load %p[%o] mask %both : tensor<64xi1, #A> readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %f = tkg.load %p[%o] mask %other : tensor<64xi1, #A> readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %g = tkg.load %p[%o] mask %third : tensor<64xi1, #A> readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %vf = arith.addf %v, %f : tensor<64xf32, #A>
    %w = arith.addf %vf, %g : tensor<64xf32, #A>
    %t = tk.reduce %w axis 0 order any : tensor<64xf32, #A> -> f32 {
    ^bb0(%a: f32, %c: f32):
      %d = arith.addf %a, %c : f32
      tk.yield %d : f32
    }
    %u = arith.addf %s, %t : f32
    scf.yield %u : f32
  } {tk.pipeline = 2 : i64}
  tk.return
}
