// RUN: tk-opt %s --tk-expand-conversions --tk-verify-phase | FileCheck %s

// As the head of ExpandConversions.cpp has it:
//   %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %m = tkg.alloc : !tkg.buf<64xf32>
//   tkg.buf_store %a, %m : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %b = tkg.buf_load %m : !tkg.buf<64xf32> -> tensor<64xf32, #B>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
#C = #tkg.layout<"register=[[0],[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">

module {
// CHECK: module attributes {tk.phase = "Expanded"}

// Threads exchange elements: through a buffer of the tile's shape.
// CHECK-LABEL: tk.kernel @through_memory(
// CHECK:         %[[A:.*]] = arith.constant
// CHECK:         %[[M:.*]] = tkg.alloc : <64xf32>
// CHECK:         tkg.buf_store %[[A]], %[[M]]
// CHECK:         %[[B:.*]] = tkg.buf_load %[[M]]
// CHECK-NOT:     tkg.convert
// CHECK:         arith.negf %[[B]]
tk.kernel @through_memory(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  %c = arith.negf %b : tensor<64xf32, #B>
  tk.return
}

// Each thread has what it needs: no memory.
// CHECK-LABEL: tk.kernel @renaming_stays(
// CHECK-NOT:     tkg.alloc
// CHECK:         tkg.convert {{.*}} how "registers"
tk.kernel @renaming_stays(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #B>
  %b = tkg.convert %a how "registers" : tensor<64xf32, #B> -> tensor<64xf32, #C>
  tk.return
}
}
