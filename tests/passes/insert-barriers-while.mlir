// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

// A while loop is left from its condition: what the condition read last is still pending after it.
#contract = #tk.contract<{kernel = "k", instance = {}, grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 4}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "inout", align = 4},
                                   {name = "n", kind = "scalar", dtype = "i64"}]}>
#E = #tkg.layout<"register=[[64]], lane=[[1],[2],[4],[8],[16]], warp=[[32],[0]]">

module attributes {tk.phase = "SmemAllocated"} {

// The body ends behind a barrier, the condition reads the buffer, and the store after the loop would
// overwrite it while another warp still reads.
// CHECK-LABEL: tk.kernel @store_after_the_loop(
// CHECK:         scf.while
// CHECK:           tkg.buf_load
// CHECK:           scf.condition
// CHECK:           tkg.barrier
// CHECK-NEXT:      tkg.buf_store
// CHECK:         }
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
tk.kernel @store_after_the_loop(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %buf = tkg.alloc {offset = 0 : i64} : !tkg.buf<128xf32>
  %one = arith.constant dense<1.0> : tensor<128xf32, #E>
  scf.while : () -> () {
    %v = tkg.buf_load %buf : !tkg.buf<128xf32> -> tensor<128xf32, #E>
    %c0 = arith.constant 0 : i64
    %more = arith.cmpi sgt, %n, %c0 : i64
    scf.condition(%more)
  } do {
    tkg.buf_store %one, %buf : tensor<128xf32, #E>, !tkg.buf<128xf32>
    scf.yield
  }
  tkg.buf_store %one, %buf : tensor<128xf32, #E>, !tkg.buf<128xf32>
  tk.return
}

// The same in an outer loop: the next trip's store waits for the last condition of this one.
// CHECK-LABEL: tk.kernel @store_in_the_next_trip(
// CHECK:         scf.for
// CHECK:           tkg.barrier
// CHECK-NEXT:      tkg.buf_store
// CHECK:           scf.while
tk.kernel @store_in_the_next_trip(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %buf = tkg.alloc {offset = 0 : i64} : !tkg.buf<128xf32>
  %one = arith.constant dense<1.0> : tensor<128xf32, #E>
  scf.for %i = %c0 to %n step %c1 : i64 {
    tkg.buf_store %one, %buf : tensor<128xf32, #E>, !tkg.buf<128xf32>
    scf.while : () -> () {
      %v = tkg.buf_load %buf : !tkg.buf<128xf32> -> tensor<128xf32, #E>
      %more = arith.cmpi sgt, %n, %c0 : i64
      scf.condition(%more)
    } do {
      scf.yield
    }
  }
  tk.return
}
}
