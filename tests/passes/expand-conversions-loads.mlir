// RUN: tk-opt %s --tk-expand-conversions --cse | FileCheck %s

// As the head of LoadInLayout.cpp has it:
//   %x = tkg.load %p[%i] readonly : ... -> tensor<64xf32, #A>
//   %b = tkg.convert %x how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %j = ...                                    // as %i, in #B
//   %b = tkg.load %p[%j] readonly : ... -> tensor<64xf32, #B>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in"},
    {name = "y", kind = "pointer", dtype = "f32", access = "inout"}, {name = "n", kind = "scalar", dtype = "i32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">

module {
// Mask and offsets in the other layout too; what follows elementwise is done there.
// CHECK-LABEL: tk.kernel @loaded(
// CHECK-NOT:     tkg.alloc
// CHECK:         %[[I:.*]] = tk.arange 0 : tensor<64xi32, #[[B:.*]]>
// CHECK:         %[[M:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : tensor<64xi32, #[[B]]>
// CHECK:         %[[X:.*]] = tkg.load %{{.*}}[%[[I]]] mask %[[M]]
// CHECK:         %[[E:.*]] = tk.unary exp2 %[[X]] : tensor<64xf32, #[[B]]>
// CHECK:         tkg.store %[[E]]
tk.kernel @loaded(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i32) attributes {contract = #contract} {
  %i = tk.arange 0 : tensor<64xi32, #A>
  %s = tk.splat %n : i32 -> tensor<64xi32, #A>
  %m = arith.cmpi slt, %i, %s : tensor<64xi32, #A>
  %f = tkg.load %x[%i] mask %m : tensor<64xi1, #A> readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %e = tk.unary exp2 %f : tensor<64xf32, #A>
  %b = tkg.convert %e how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  %j = tk.arange 0 : tensor<64xi32, #B>
  tkg.store %b, %y[%j] : tensor<64xf32, #B>, !tk.ptr<f32, 1>, tensor<64xi32, #B>
  tk.return
}

// From the slot of a ring, which holds what it holds for the whole iteration.
// CHECK-LABEL: tk.kernel @slot(
// CHECK:         %[[V:.*]] = tkg.buf_view
// CHECK-NOT:     tkg.buf_store
// CHECK:         %[[X:.*]] = tkg.buf_load %[[V]]{{.*}}-> tensor<64xf32, #[[B]]>
// CHECK:         tkg.store %[[X]]
tk.kernel @slot(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i32) attributes {contract = #contract} {
  %ring = tkg.alloc : !tkg.buf<2x64xf32>
  %v = tkg.buf_view %ring[%n] offset 0 : !tkg.buf<2x64xf32> -> !tkg.buf<64xf32>
  %f = tkg.buf_load %v : !tkg.buf<64xf32> -> tensor<64xf32, #A>
  %b = tkg.convert %f how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  %j = tk.arange 0 : tensor<64xi32, #B>
  tkg.store %b, %y[%j] : tensor<64xf32, #B>, !tk.ptr<f32, 1>, tensor<64xi32, #B>
  tk.return
}

// Memory that the kernel may write in the meantime is not read again, nor a buffer that is no ring's.
// CHECK-LABEL: tk.kernel @written(
// CHECK-COUNT-2: tkg.alloc {conversion}
tk.kernel @written(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i32) attributes {contract = #contract} {
  %i = tk.arange 0 : tensor<64xi32, #A>
  %j = tk.arange 0 : tensor<64xi32, #B>
  %f = tkg.load %y[%i] : !tk.ptr<f32, 1>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %b = tkg.convert %f how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  tkg.store %b, %y[%j] : tensor<64xf32, #B>, !tk.ptr<f32, 1>, tensor<64xi32, #B>
  %m = tkg.alloc : !tkg.buf<64xf32>
  tkg.buf_store %f, %m : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %g = tkg.buf_load %m : !tkg.buf<64xf32> -> tensor<64xf32, #A>
  %c = tkg.convert %g how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  tkg.store %c, %y[%j] : tensor<64xf32, #B>, !tk.ptr<f32, 1>, tensor<64xi32, #B>
  tk.return
}
}
