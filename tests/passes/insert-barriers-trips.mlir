// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "inout", align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#D = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">

module {
// Each trip writes behind the one before: an address always leads to the same thread.
// CHECK-LABEL: tk.kernel @goes_on(
// CHECK-NOT:     tkg.barrier
// CHECK:         tk.return
tk.kernel @goes_on(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %v = arith.constant dense<1.0> : tensor<64xf32, #A>
    %l = tk.arange 0 : tensor<64xi32, #A>
    %row = arith.muli %n, %n : i64
    %j = arith.muli %i, %c64 : i64
    %at = arith.addi %row, %j : i64
    %p = tk.ptr_add %x, %at : !tk.ptr<f32, 0>, i64
    tkg.store %v, %p[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  }
  tk.return
}

// So in place, when no element has a copy in another thread.
// CHECK-LABEL: tk.kernel @in_place(
// CHECK-NOT:     tkg.barrier
// CHECK:         tk.return
tk.kernel @in_place(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %l = tk.arange 0 : tensor<64xi32, #A>
    %j = arith.muli %i, %c64 : i64
    %p = tk.ptr_add %x, %j : !tk.ptr<f32, 0>, i64
    %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    tkg.store %v, %p[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  }
  tk.return
}

// A thread that reads a copy must have read it before the owner writes.
// CHECK-LABEL: tk.kernel @in_place_with_copies(
// CHECK:         tkg.load
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.store
tk.kernel @in_place_with_copies(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %l = tk.arange 0 : tensor<32xi32, #D>
    %j = arith.muli %i, %c32 : i64
    %p = tk.ptr_add %x, %j : !tk.ptr<f32, 0>, i64
    %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<32xi32, #D> -> tensor<32xf32, #D>
    tkg.store %v, %p[%l] : tensor<32xf32, #D>, !tk.ptr<f32, 0>, tensor<32xi32, #D>
  }
  tk.return
}

// Trips that overlap: what one thread wrote another writes again.
// CHECK-LABEL: tk.kernel @overlaps(
// CHECK:         tkg.barrier
// CHECK-NEXT:    tkg.store
tk.kernel @overlaps(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c63 = arith.constant 63 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %v = arith.constant dense<1.0> : tensor<64xf32, #A>
    %l = tk.arange 0 : tensor<64xi32, #A>
    %j = arith.muli %i, %c63 : i64
    %p = tk.ptr_add %x, %j : !tk.ptr<f32, 0>, i64
    tkg.store %v, %p[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  }
  tk.return
}

// A loop around moves the begin too: nothing is known of its trips.
// CHECK-LABEL: tk.kernel @moved_from_outside(
// CHECK:         tkg.barrier
// CHECK-NEXT:    tkg.store
tk.kernel @moved_from_outside(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  scf.for %k = %c0 to %n step %c1 : i64 {
    scf.for %i = %c0 to %n step %c1 : i64 {
      %v = arith.constant dense<1.0> : tensor<64xf32, #A>
      %l = tk.arange 0 : tensor<64xi32, #A>
      %j = arith.muli %i, %c64 : i64
      %at = arith.addi %j, %k : i64
      %p = tk.ptr_add %x, %at : !tk.ptr<f32, 0>, i64
      tkg.store %v, %p[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
    }
  }
  tk.return
}
}
