// RUN: split-file %s %t
// RUN: tk-opt %t/ordered.mlir --tk-insert-barriers --tk-verify-phase | FileCheck %t/ordered.mlir
// RUN: not tk-opt %t/wait.mlir --tk-insert-barriers 2>&1 | FileCheck %t/wait.mlir
// RUN: not tk-opt %t/slot.mlir --tk-insert-barriers 2>&1 | FileCheck %t/slot.mlir
// RUN: not tk-opt %t/after.mlir --tk-insert-barriers 2>&1 | FileCheck %t/after.mlir
// RUN: not tk-opt %t/early.mlir --tk-insert-barriers 2>&1 | FileCheck %t/early.mlir

// Three slots, copies two iterations ahead: what the wait and the barrier order needs no other barrier.

//--- ordered.mlir
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module {
// CHECK-LABEL: tk.kernel @k(
// CHECK-NOT:     tkg.barrier
// CHECK:         scf.for
// CHECK-NEXT:      tkg.async_wait 1
// CHECK-NEXT:      tkg.barrier
// CHECK-NOT:       tkg.barrier
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    tkg.async_wait 0
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @k(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %s1 = arith.constant 1 : i32
  %side = arith.constant 64 : i32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %r = tkg.alloc {offset = 0 : i64} : !tkg.buf<3x64xf32>
  %p0 = arith.muli %s0, %side : i32
  %v0 = tkg.buf_view %r[%p0] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v0 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %p1 = arith.muli %s1, %side : i32
  %v1 = tkg.buf_view %r[%p1] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v1 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    tkg.async_wait 1
    tkg.barrier
    %far = tkg.ring_slot %slot plus 2 of 3
    %pf = arith.muli %far, %side : i32
    %vf = tkg.buf_view %r[%pf] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    tkg.async_copy %x[%o], %vf {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
    tkg.async_commit
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %r[%p] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    %t = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = tkg.ring_slot %slot plus 1 of 3
    scf.yield %next : i32
  }
  tkg.async_wait 0
  %z = tkg.buf_load %v0 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  tk.return
}
}

// One group more may be under way than may: the slot that is read may be empty yet.
//--- wait.mlir
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module {
// CHECK: error: TK9004
tk.kernel @k(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %s1 = arith.constant 1 : i32
  %side = arith.constant 64 : i32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %r = tkg.alloc {offset = 0 : i64} : !tkg.buf<3x64xf32>
  %p0 = arith.muli %s0, %side : i32
  %v0 = tkg.buf_view %r[%p0] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v0 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %p1 = arith.muli %s1, %side : i32
  %v1 = tkg.buf_view %r[%p1] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v1 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    tkg.async_wait 2
    tkg.barrier
    %far = tkg.ring_slot %slot plus 2 of 3
    %pf = arith.muli %far, %side : i32
    %vf = tkg.buf_view %r[%pf] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    tkg.async_copy %x[%o], %vf {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
    tkg.async_commit
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %r[%p] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    %t = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = tkg.ring_slot %slot plus 1 of 3
    scf.yield %next : i32
  }
  tkg.async_wait 0
  %z = tkg.buf_load %v0 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  tk.return
}
}

// The copy goes to the slot that is read in this iteration.
//--- slot.mlir
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module {
// CHECK: error: TK9004
tk.kernel @k(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %s1 = arith.constant 1 : i32
  %side = arith.constant 64 : i32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %r = tkg.alloc {offset = 0 : i64} : !tkg.buf<3x64xf32>
  %p0 = arith.muli %s0, %side : i32
  %v0 = tkg.buf_view %r[%p0] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v0 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %p1 = arith.muli %s1, %side : i32
  %v1 = tkg.buf_view %r[%p1] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v1 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    tkg.async_wait 1
    tkg.barrier
    %far = tkg.ring_slot %slot plus 0 of 3
    %pf = arith.muli %far, %side : i32
    %vf = tkg.buf_view %r[%pf] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    tkg.async_copy %x[%o], %vf {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
    tkg.async_commit
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %r[%p] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    %t = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = tkg.ring_slot %slot plus 1 of 3
    scf.yield %next : i32
  }
  tkg.async_wait 0
  %z = tkg.buf_load %v0 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  tk.return
}
}

// What is read after the loop is not waited for.
//--- after.mlir
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module {
// CHECK: error: TK9004
tk.kernel @k(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %s1 = arith.constant 1 : i32
  %side = arith.constant 64 : i32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %r = tkg.alloc {offset = 0 : i64} : !tkg.buf<3x64xf32>
  %p0 = arith.muli %s0, %side : i32
  %v0 = tkg.buf_view %r[%p0] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v0 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %p1 = arith.muli %s1, %side : i32
  %v1 = tkg.buf_view %r[%p1] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v1 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    tkg.async_wait 1
    tkg.barrier
    %far = tkg.ring_slot %slot plus 2 of 3
    %pf = arith.muli %far, %side : i32
    %vf = tkg.buf_view %r[%pf] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    tkg.async_copy %x[%o], %vf {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
    tkg.async_commit
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %r[%p] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    %t = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = tkg.ring_slot %slot plus 1 of 3
    scf.yield %next : i32
  }
  %z = tkg.buf_load %v0 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  tk.return
}
}

// The copy is one iteration too early: others still read its slot.
//--- early.mlir
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module {
// CHECK: error: TK9004
tk.kernel @k(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %s1 = arith.constant 1 : i32
  %side = arith.constant 64 : i32
  %o = tk.arange 0 : tensor<64xi32, #A>
  %r = tkg.alloc {offset = 0 : i64} : !tkg.buf<3x64xf32>
  %p0 = arith.muli %s0, %side : i32
  %v0 = tkg.buf_view %r[%p0] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v0 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %p1 = arith.muli %s1, %side : i32
  %v1 = tkg.buf_view %r[%p1] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %v1 {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    tkg.async_wait 1
    tkg.barrier
    %far = tkg.ring_slot %slot plus 1 of 3
    %pf = arith.muli %far, %side : i32
    %vf = tkg.buf_view %r[%pf] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    tkg.async_copy %x[%o], %vf {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
    tkg.async_commit
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %r[%p] offset 0 : !tkg.buf<3x64xf32> -> !tkg.buf<64xf32>
    %t = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #B>
    %next = tkg.ring_slot %slot plus 1 of 3
    scf.yield %next : i32
  }
  tkg.async_wait 0
  %z = tkg.buf_load %v0 : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  tk.return
}
}
