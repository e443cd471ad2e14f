// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

// What threads copy for themselves needs no barrier, unless some of them have padding: they read the first element in its place.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#P = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[48]">
module {
// CHECK-LABEL: tk.kernel @whole(
// CHECK:         tkg.async_wait 0
// CHECK-NEXT:    tkg.buf_load
tk.kernel @whole(%x: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<64xi32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  tkg.async_copy %x[%o], %b {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<64xi32, #A>, !tkg.buf<64xf32>
  tkg.async_commit
  tkg.async_wait 0
  %t = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #A>
  tk.return
}
// CHECK-LABEL: tk.kernel @padded(
// CHECK:         tkg.async_wait 0
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @padded(%x: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<48xi32, #P>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<48xf32>
  tkg.async_copy %x[%o], %b {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<48xi32, #P>, !tkg.buf<48xf32>
  tkg.async_commit
  tkg.async_wait 0
  %t = tkg.buf_load %b : !tkg.buf<48xf32> -> tensor<48xf32, #P>
  tk.return
}
// CHECK-LABEL: tk.kernel @padded_before_a_copy(
// CHECK:         tkg.buf_load
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.async_copy
tk.kernel @padded_before_a_copy(%x: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %o = tk.arange 0 : tensor<48xi32, #P>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<48xf32>
  %t = tkg.buf_load %b : !tkg.buf<48xf32> -> tensor<48xf32, #P>
  tkg.async_copy %x[%o], %b {vector = 1 : i64} : !tk.ptr<f32, 0>, tensor<48xi32, #P>, !tkg.buf<48xf32>
  tkg.async_commit
  tkg.async_wait 0
  tk.return
}
}
