// RUN: tk-opt %s --tk-expand-atomics | FileCheck %s

// As the head of ExpandAtomics.cpp has it:
//   %o = tk.atomic_rmw add %v, %p order release scope gpu : i32, !tk.ptr<i32, 0>
// becomes
//   tkg.barrier
//   %r = tk.atomic_rmw add (splat %v), (splat %p) order release scope gpu : tensor<1xi32, #all>, ...
//   %b = tkg.alloc : !tkg.buf<1xi32>, tkg.buf_store %r, %b, %t = tkg.buf_load %b
//   %o = tkg.reduce %t axis 0 : tensor<1xi32, #all> -> i32

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "i32", access = "inout", align = 4}, {name = "v", kind = "scalar", dtype = "i32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#copies = #tkg.layout<"lane=[[1],[2],[4],[8],[0]], warp=[[0]]">
#within = #tkg.layout<"lane=[[1],[2],[4],[8],[0]], warp=[[16]]">

module attributes {tk.phase = "LaidOut"} {

// The result of one thread reaches all by way of shared memory; what came before is released.
// CHECK-LABEL: tk.kernel @scalar(
// CHECK:         tkg.barrier
// CHECK:         tk.splat %{{.*}} : i32 -> tensor<1xi32
// CHECK:         %[[R:.*]] = tk.atomic_rmw add %{{.*}}, %{{.*}} order release scope gpu : tensor<1xi32, #tkg.layout<"register=[], lane={{.*}}, warp={{\[\[}}0]]">>
// CHECK:         %[[B:.*]] = tkg.alloc : <1xi32>
// CHECK:         tkg.buf_store %[[R]], %[[B]]
// CHECK-NOT:     tkg.barrier
// CHECK:         %[[T:.*]] = tkg.buf_load %[[B]]
// CHECK:         %[[O:.*]] = tkg.reduce %[[T]] axis 0
// CHECK:         tk.store %[[O]]
tk.kernel @scalar(%p: !tk.ptr<i32, 0>, %v: i32) attributes {contract = #contract} {
  %o = tk.atomic_rmw add %v, %p order release scope gpu : i32, !tk.ptr<i32, 0>
  tk.store %o, %p : i32, !tk.ptr<i32, 0>
  tk.return
}

// A result that nobody asks for stays where it is; what comes after an acquire waits for it.
// CHECK-LABEL: tk.kernel @unused(
// CHECK-NOT:     tkg.alloc
// CHECK:         tk.atomic_rmw add %{{.*}} order relaxed
// CHECK-NOT:     tkg.barrier
// CHECK:         tk.atomic_load %{{.*}} order acquire
// CHECK-NEXT:    tkg.barrier
// CHECK-NOT:     tk.barrier
// CHECK:         tkg.barrier
// CHECK:         tk.return
tk.kernel @unused(%p: !tk.ptr<i32, 0>, %v: i32) attributes {contract = #contract} {
  %a = tk.atomic_rmw add %v, %p order relaxed scope gpu : i32, !tk.ptr<i32, 0>
  %b = tk.atomic_load %p order acquire scope gpu : !tk.ptr<i32, 0> -> i32
  tk.barrier
  tk.return
}

// Copies in several warps go through memory; those within a warp get theirs by a shuffle.
// CHECK-LABEL: tk.kernel @tiles(
// CHECK:         %[[A:.*]] = tk.atomic_load %{{.*}} -> tensor<16xi32, #{{.*}}lane={{\[\[}}1],[2],[4],[8],[0]], warp={{\[\[}}0]]
// CHECK:         tkg.buf_store %[[A]], %[[B:.*]] :
// CHECK:         %[[SHARED:.*]] = tkg.buf_load %[[B]]
// CHECK:         arith.addi %[[SHARED]], %[[SHARED]]
// CHECK:         %[[OWN:.*]] = tk.atomic_load %{{.*}} -> tensor<32xi32
// CHECK-NOT:     tkg.buf_store
// CHECK:         arith.addi %[[OWN]], %[[OWN]]
tk.kernel @tiles(%p: !tk.ptr<i32, 0>, %v: i32) attributes {contract = #contract} {
  %q = tk.splat %p : !tk.ptr<i32, 0> -> tensor<16x!tk.ptr<i32, 0>, #copies>
  %a = tk.atomic_load %q order relaxed scope gpu : tensor<16x!tk.ptr<i32, 0>, #copies> -> tensor<16xi32, #copies>
  %b = arith.addi %a, %a : tensor<16xi32, #copies>
  %r = tk.splat %p : !tk.ptr<i32, 0> -> tensor<32x!tk.ptr<i32, 0>, #within>
  %c = tk.atomic_load %r order relaxed scope gpu : tensor<32x!tk.ptr<i32, 0>, #within> -> tensor<32xi32, #within>
  %d = arith.addi %c, %c : tensor<32xi32, #within>
  tk.return
}

// What is both a release and an acquire has a barrier on both sides.
// CHECK-LABEL: tk.kernel @both_ways(
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.atomic_rmw xor %{{.*}} order acq_rel
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tk.return
tk.kernel @both_ways(%p: !tk.ptr<i32, 0>, %v: i32) attributes {contract = #contract} {
  %a = tk.atomic_rmw xor %v, %p order acq_rel scope gpu : i32, !tk.ptr<i32, 0>
  tk.return
}

// A volatile load and a clock are the same for all threads too.
// CHECK-LABEL: tk.kernel @polled(
// CHECK:         tk.load %{{.*}} volatile : tensor<1x
// CHECK:         tkg.buf_store
// CHECK:         tk.clock
// CHECK:         tkg.buf_store
// CHECK:         tkg.buf_load
tk.kernel @polled(%p: !tk.ptr<i32, 0>, %v: i32) attributes {contract = #contract} {
  %a = tk.load %p volatile : !tk.ptr<i32, 0> -> i32
  %t = tk.clock cycles
  %n = arith.trunci %t : i64 to i32
  %s = arith.addi %a, %n : i32
  tk.store %s, %p : i32, !tk.ptr<i32, 0>
  tk.return
}
}
