// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "i32", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">
#E = #tkg.layout<"register=[], lane=[[2],[4],[8],[16],[32]], warp=[[1]]">

module {

// Buffers share bytes where one begins within the other, not where one ends as the other begins.
// CHECK-LABEL: tk.kernel @parts_of_bytes(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
// CHECK-NOT:     tkg.barrier
tk.kernel @parts_of_bytes(%x: !tk.ptr<i32, 0>) attributes {contract = #contract} {
  %v = arith.constant dense<1> : tensor<64xi32, #A>
  %w = arith.constant dense<1> : tensor<32xi32, #B>
  %a = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xi32>
  %c = tkg.alloc {offset = 256 : i64} : !tkg.buf<32xi32>
  %b = tkg.alloc {offset = 128 : i64} : !tkg.buf<32xi32>
  tkg.buf_store %v, %a : tensor<64xi32, #A>, !tkg.buf<64xi32>
  tkg.buf_store %w, %c : tensor<32xi32, #B>, !tkg.buf<32xi32>
  tkg.buf_store %w, %b : tensor<32xi32, #B>, !tkg.buf<32xi32>
  tk.return
}

// Changes of one kind whose results nobody wants go in any order; of two kinds, or with a result, they do not.
// CHECK-LABEL: tk.kernel @changes(
// CHECK:         tk.atomic_rmw add
// CHECK-NEXT:    tk.atomic_rmw add
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.atomic_rmw xor
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.atomic_rmw xor
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.atomic_rmw xor
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.load
tk.kernel @changes(%x: !tk.ptr<i32, 0>) attributes {contract = #contract} {
  %v = arith.constant 1 : i32
  %0 = tk.atomic_rmw add %v, %x order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %1 = tk.atomic_rmw add %v, %x order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %2 = tk.atomic_rmw xor %v, %x order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %3 = tk.atomic_rmw xor %v, %x order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %4 = tk.atomic_rmw xor %v, %x order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %5 = tk.load %x : !tk.ptr<i32, 0> -> i32
  %6 = arith.addi %3, %5 : i32
  tk.store %6, %x : i32, !tk.ptr<i32, 0>
  tk.return
}

// So do those at a base and offsets. One thread changes and stores an element, so none is waited for at the same place;
// to read what they left, and where the places differ, they are.
// CHECK-LABEL: tk.kernel @placed_changes(
// CHECK:         tkg.atomic_rmw add
// CHECK-NEXT:    tkg.atomic_rmw add
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.atomic_rmw xor
// CHECK-NEXT:    tkg.store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.atomic_rmw xor
// CHECK-NEXT:    tkg.atomic_rmw xor
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.load
tk.kernel @placed_changes(%x: !tk.ptr<i32, 0>) attributes {contract = #contract} {
  %one = arith.constant 1 : i32
  %v = arith.constant dense<1> : tensor<64xi32, #A>
  %p = arith.constant dense<0> : tensor<64xi32, #A>
  %q = tk.arange 0 : tensor<64xi32, #A>
  %s = tk.splat %x : !tk.ptr<i32, 0> -> tensor<64x!tk.ptr<i32, 0>, #A>
  %ps = tk.ptr_add %s, %q : tensor<64x!tk.ptr<i32, 0>, #A>, tensor<64xi32, #A>
  tkg.atomic_rmw add %v, %x[%p] scope gpu : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  tkg.atomic_rmw add %v, %x[%q] scope gpu : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  tkg.atomic_rmw xor %v, %x[%q] scope gpu : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  tkg.store %v, %x[%q] : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  %0 = tk.atomic_rmw xor %v, %ps order relaxed scope gpu : tensor<64xi32, #A>, tensor<64x!tk.ptr<i32, 0>, #A>
  tkg.atomic_rmw xor %v, %x[%p] scope gpu : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  %w = tkg.load %x[%q] : !tk.ptr<i32, 0>, tensor<64xi32, #A> -> tensor<64xi32, #A>
  tkg.store %w, %x[%q] : tensor<64xi32, #A>, !tk.ptr<i32, 0>, tensor<64xi32, #A>
  tk.return
}

// Counts commute with one another, not with a store or a load of the counters.
// CHECK-LABEL: tk.kernel @counters(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_count
// CHECK-NEXT:    tkg.buf_count
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @counters(%x: !tk.ptr<i32, 0>) attributes {contract = #contract} {
  %v = arith.constant dense<1> : tensor<64xi32, #A>
  %w = arith.constant dense<0> : tensor<32xi32, #B>
  %c = tkg.alloc {offset = 0 : i64} : !tkg.buf<32xi32>
  tkg.buf_store %w, %c : tensor<32xi32, #B>, !tkg.buf<32xi32>
  tkg.buf_count %v, %c : tensor<64xi32, #A>, !tkg.buf<32xi32>
  tkg.buf_count %v, %c : tensor<64xi32, #A>, !tkg.buf<32xi32>
  %r = tkg.buf_load %c : !tkg.buf<32xi32> -> tensor<32xi32, #B>
  tk.return
}

// A loop may make no trip, and then a barrier in it has been none.
// CHECK-LABEL: tk.kernel @no_trip(
// CHECK:         tkg.buf_store
// CHECK:         scf.for
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:    }
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @no_trip(%x: !tk.ptr<i32, 0>) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %n = tk.program_id 0
  %v = arith.constant dense<1> : tensor<64xi32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xi32>
  tkg.buf_store %v, %b : tensor<64xi32, #A>, !tkg.buf<64xi32>
  scf.for %i = %c0 to %n step %c1 : i64 {
    tkg.barrier
  }
  %r = tkg.buf_load %b : !tkg.buf<64xi32> -> tensor<64xi32, #E>
  tk.return
}
}
