// RUN: tk-opt %s --tk-insert-barriers --verify-diagnostics | FileCheck %s

// TK9004 is a fault of the compiler: the proof is the analysis that placed the barriers, run again, and
// only rings with wrong waits or slots make it fail (insert-barriers-rings.mlir). Here is the shape that is hardest for it, which must pass: loops in
// a branch in a loop, each ordering what the others left, and a while loop with both regions.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
// Warps hold duplicates, so it is not always one thread that touches an element.
#A = #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">

// CHECK-LABEL: tk.kernel @loops_in_branches_in_loops(
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             scf.for
// CHECK-NEXT:          tkg.barrier
// CHECK-NEXT:          tkg.buf_store
// CHECK:           } else {
// CHECK-NEXT:        tkg.barrier
// CHECK-NEXT:        tkg.buf_load
// CHECK:           tkg.barrier
// CHECK-NEXT:      tkg.buf_store
tk.kernel @loops_in_branches_in_loops(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  scf.for %i = %c0 to %n step %c1 : i64 {
    %c = arith.cmpi sgt, %i, %c1 : i64
    scf.if %c {
      scf.for %j = %c0 to %n step %c1 : i64 {
        tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
      }
    } else {
      %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #A>
    }
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  }
  tk.return
}

// CHECK-LABEL: tk.kernel @while_with_both_regions(
// CHECK:         scf.while
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tkg.buf_load
// CHECK:         } do {
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tkg.buf_store
tk.kernel @while_with_both_regions(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  scf.while : () -> () {
    %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #A>
    %c = arith.cmpi slt, %c0, %n : i64
    scf.condition(%c)
  } do {
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
    scf.yield
  }
  tk.return
}
