// RUN: tk-opt %s --tk-count-costs | FileCheck %s

// As the head of CountCosts.cpp has it:
//   tk.kernel @k(%n: i64) attributes {contract = #contract}
// becomes, with one barrier in it,
//   tk.kernel @k(%n: i64) attributes {contract = #contract, tkg.costs = {barriers = 1 : i64, ...}}

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#rows = #tkg.layout<"register=[[0,1],[0,2]], lane=[[0,4],[0,8],[0,16],[1,0],[2,0]]">
#columns = #tkg.layout<"register=[[0,1],[0,2]], lane=[[1,0],[2,0],[0,4],[0,8],[0,16]]">
#deep = #tkg.layout<"register=[[0,1],[0,2]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]]">

module attributes {tk.phase = "Ordered"} {
// Rows of 128 bytes are written without conflicts, 16 bytes a thread: four wavefronts, as few as can be.
// CHECK-LABEL: tk.kernel @exchange(
// CHECK-SAME:    tkg.costs = {barriers = 1 : i64, conflicts = 0 : i64, registers = 0 : i64, shared = 1 : i64, shuffle = 1 : i64, wavefronts = 8 : i64}
tk.kernel @exchange(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<4x32xf32, #rows>
  %b = tkg.alloc {conversion, offset = 0 : i64} : !tkg.buf<4x32xf32>
  tkg.buf_store %a, %b : tensor<4x32xf32, #rows>, !tkg.buf<4x32xf32>
  tkg.barrier
  %c = tkg.buf_load %b : !tkg.buf<4x32xf32> -> tensor<4x32xf32, #rows>
  %d = tkg.convert %c how "shuffle" : tensor<4x32xf32, #rows> -> tensor<4x32xf32, #columns>
  tk.return
}

// Threads of a column are 128 bytes apart: all words of an access lie in four banks.
// CHECK-LABEL: tk.kernel @conflicts(
// CHECK-SAME:    tkg.costs = {barriers = 0 : i64, conflicts = 28 : i64, {{.*}}, wavefronts = 32 : i64}
tk.kernel @conflicts(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<32x4xf32, #deep>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<32x4xf32, strides = 32, 1>
  tkg.buf_store %a, %b : tensor<32x4xf32, #deep>, !tkg.buf<32x4xf32, strides = 32, 1>
  tk.return
}
}
