// RUN: tk-opt %s --tk-hoist-loads | FileCheck %s
// RUN: tk-opt %s --tk-hoist-loads=registers-per-block=3000 | FileCheck %s --check-prefix=NONE
// RUN: tk-opt %s --tk-hoist-loads=registers-per-block=10000 | FileCheck %s --check-prefix=TIGHT

// As the head of HoistLoads.cpp has it:
//   %s = tk.reduce %x
//   %w = tkg.load %p[%o] readonly
// becomes
//   %w = tkg.load %p[%o] readonly
//   %s = tk.reduce %x

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in"},
    {name = "y", kind = "pointer", dtype = "f32", access = "inout"}, {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">

// With what computes its address; not one whose address the reduction gives, and not of memory that the
// kernel may write.
// CHECK-LABEL: tk.kernel @row(
// CHECK:         %[[V:.*]] = tk.cast
// CHECK-NEXT:    %[[P:.*]] = tk.ptr_add
// CHECK-NEXT:    %[[W:.*]] = tkg.load %[[P]]
// CHECK-NEXT:    %[[S:.*]] = tk.reduce %[[V]]
// CHECK:         tkg.load %{{.*}} : <f32, 1>
// CHECK:         arith.muli %[[S]]
// CHECK:         tkg.load
// NONE-LABEL: tk.kernel @row(
// NONE:         tk.cast
// NONE-NEXT:    tk.reduce
tk.kernel @row(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<64xi32, #A>
  %f = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %v = tk.cast %f : tensor<64xf32, #A> -> tensor<64xi32, #A>
  %s = tk.reduce %v axis 0 order any : tensor<64xi32, #A> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tk.yield %c : i32
  }
  %u = tkg.load %y[%o] : !tk.ptr<f32, 1>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %p = tk.ptr_add %x, %n : !tk.ptr<f32, 0>, i64
  %w = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %t = arith.muli %s, %s : i32
  %q = tk.ptr_add %x, %t : !tk.ptr<f32, 0>, i32
  %z = tkg.load %q[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tkg.store %w, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  tkg.store %z, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  tkg.store %u, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  tk.return
}

// Over a loop it would take registers all that time.
// CHECK-LABEL: tk.kernel @loop(
// CHECK:         tk.reduce
// CHECK:         scf.for
// CHECK:         tkg.load
tk.kernel @loop(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %o = tk.arange 0 : tensor<64xi32, #A>
  %s = tk.reduce %o axis 0 order any : tensor<64xi32, #A> -> i32 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tk.yield %c : i32
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %s) -> (i32) : i64 {
    %u = arith.addi %t, %t : i32
    scf.yield %u : i32
  }
  %w = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tkg.store %w, %y[%o] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  tk.return
}

// Three blocks of two warps have 52 registers a thread each, of 10000: enough for 16 words and what comes with
// them, not with the 16 of a tile that is alive over the reduction, too.
#W = #tkg.layout<"register=[[1],[2],[256],[512]], lane=[[4],[8],[16],[32],[64]], warp=[[128]]">
// TIGHT-LABEL: tk.kernel @dead(
// TIGHT:         tkg.load
// TIGHT:         tkg.load
// TIGHT:         tk.reduce
tk.kernel @dead(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<1024xi32, #W>
  %v = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %s = tk.reduce %v axis 0 order any : tensor<1024xf32, #W> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %w = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  tkg.store %w, %y[%o] : tensor<1024xf32, #W>, !tk.ptr<f32, 1>, tensor<1024xi32, #W>
  tk.store %s, %y : f32, !tk.ptr<f32, 1>
  tk.return
}

// CHECK-LABEL: tk.kernel @alive(
// CHECK:         tkg.load
// CHECK:         tkg.load
// CHECK:         tk.reduce
// TIGHT-LABEL: tk.kernel @alive(
// TIGHT:         tkg.load
// TIGHT-NOT:     tkg.load
// TIGHT:         tk.reduce
tk.kernel @alive(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<1024xi32, #W>
  %v = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %s = tk.reduce %v axis 0 order any : tensor<1024xf32, #W> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %w = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %p = arith.mulf %w, %v : tensor<1024xf32, #W>
  tkg.store %p, %y[%o] : tensor<1024xf32, #W>, !tk.ptr<f32, 1>, tensor<1024xi32, #W>
  tk.store %s, %y : f32, !tk.ptr<f32, 1>
  tk.return
}

// What is alive over any of the reductions that are passed counts.
// TIGHT-LABEL: tk.kernel @second(
// TIGHT-COUNT-2: tkg.load
// TIGHT:         tk.reduce
// TIGHT:         tk.reduce
// TIGHT:         tkg.load
tk.kernel @second(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<1024xi32, #W>
  %v = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %i = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %s = tk.reduce %v axis 0 order any : tensor<1024xf32, #W> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %m = tk.splat %s : f32 -> tensor<1024xf32, #W>
  %u = arith.mulf %m, %m : tensor<1024xf32, #W>
  %t = tk.reduce %i axis 0 order any : tensor<1024xf32, #W> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %w = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<1024xi32, #W> -> tensor<1024xf32, #W>
  %p = arith.mulf %w, %u : tensor<1024xf32, #W>
  tkg.store %p, %y[%o] : tensor<1024xf32, #W>, !tk.ptr<f32, 1>, tensor<1024xi32, #W>
  tk.store %t, %y : f32, !tk.ptr<f32, 1>
  tk.return
}
