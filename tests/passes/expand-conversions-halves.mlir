// RUN: tk-opt %s --tk-expand-conversions=scratch-bytes=64 | FileCheck %s

// Where there is little memory, a conversion goes in halves, if each half lies in registers of its own.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">
#B = #tkg.layout<"register=[[32],[1]], lane=[[2],[4],[8],[16],[0]], warp=[[1]]">
#mixedA = #tkg.layout<"register=[[32],[0]], lane=[[1],[2],[4],[8],[16]], warp=[[48]]">
#mixedB = #tkg.layout<"register=[[32],[1]], lane=[[2],[4],[8],[48],[0]], warp=[[1]]">

module {
// The upper half is the second register.
// CHECK-LABEL: tk.kernel @by_registers(
// CHECK:         tkg.alloc {conversion} : <32xf32>
// CHECK:         tkg.alloc {conversion} : <32xf32>
// CHECK:         tk.cat
tk.kernel @by_registers(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  %c = arith.negf %b : tensor<64xf32, #B>
  tk.return
}

// A register is the half, and a lane or a warp lies in it too.
// CHECK-LABEL: tk.kernel @by_registers_and_lanes(
// CHECK:         tkg.alloc {conversion} : <64xf32
// CHECK-NOT:     tk.cat
tk.kernel @by_registers_and_lanes(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #mixedA>
  %b = tkg.convert %a how "shared" : tensor<64xf32, #mixedA> -> tensor<64xf32, #mixedB>
  %c = arith.negf %b : tensor<64xf32, #mixedB>
  tk.return
}
}
