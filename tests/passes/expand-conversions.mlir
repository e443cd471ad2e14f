// RUN: tk-opt %s --tk-expand-conversions --tk-verify-phase | FileCheck %s
// RUN: tk-opt %s --tk-expand-conversions --verify-diagnostics -o /dev/null
// RUN: tk-opt %s --tk-expand-conversions=scratch-bytes=64 | FileCheck %s --check-prefix=PIECES
// RUN: tk-opt %s --tk-expand-conversions=barrier-cost=0 | FileCheck %s --check-prefix=CHEAP

// As the head of ExpandConversions.cpp has it:
//   %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
// becomes
//   %m = tkg.alloc {conversion} : !tkg.buf<64xf32>
//   tkg.buf_store %a, %m : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %b = tkg.buf_load %m : !tkg.buf<64xf32> -> tensor<64xf32, #B>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
#C = #tkg.layout<"register=[[0],[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
#rows = #tkg.layout<"register=[[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,0]]">
#columns = #tkg.layout<"register=[[4,0]], lane=[[1,0],[2,0],[0,1],[0,2],[0,4]], warp=[[0,0]]">
#slow = #tkg.layout<"register=[[2,0]], lane=[[0,1],[0,2],[0,4],[0,0],[0,0]], warp=[[1,0]]">
#other = #tkg.layout<"register=[[2,0],[0,4]], lane=[[1,0],[0,1],[0,0],[0,0],[0,0]], warp=[[0,2]]">
#wide = #tkg.layout<"register=[[0,1],[0,2],[8,0]], lane=[[0,4],[0,8],[0,16],[1,0],[2,0]], warp=[[4,0]]">
#deep = #tkg.layout<"register=[[1,0],[2,0],[0,16]], lane=[[4,0],[8,0],[0,1],[0,2],[0,4]], warp=[[0,8]]">
#three = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]], repeats=[[0,3]]">
#padded = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64]], shape=[96]">

module {
// CHECK: module attributes {tk.phase = "Expanded"}

// Warps exchange elements: through a scratch.
// CHECK-LABEL: tk.kernel @through_memory(
// CHECK:         %[[A:.*]] = arith.constant
// CHECK:         %[[M:.*]] = tkg.alloc {conversion} : <64xf32>
// CHECK:         tkg.buf_store %[[A]], %[[M]]
// CHECK:         %[[B:.*]] = tkg.buf_load %[[M]]
// CHECK-NOT:     tkg.convert
// CHECK:         arith.negf %[[B]]
tk.kernel @through_memory(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #A>
  // expected-remark @+2 {{TK4103: tile tensor<64xf32> changes its layout through shared memory: 256 bytes a block}}
  // expected-note @+1 {{the test asks for it: from register=[], lane=}}
  %b = tkg.convert %a how "shared" why "the test asks for it" : tensor<64xf32, #A> -> tensor<64xf32, #B>
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

// Within warps: few shuffles cost less than the way through memory, were it not for its wait.
// CHECK-LABEL: tk.kernel @within_warps(
// CHECK-NOT:     tkg.alloc
// CHECK:         tkg.convert {{.*}} how "shuffle"
// CHEAP-LABEL: tk.kernel @within_warps(
// CHEAP:         tkg.alloc
tk.kernel @within_warps(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<8x8xf32, #rows>
  // expected-remark @+2 {{TK4103: tile tensor<8x8xf32> changes its layout through 2 shuffles and 4 selects a thread: 0 bytes a block}}
  // expected-note @+1 {{nobody said why: from register=}}
  %b = tkg.convert %a how "shuffle" : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
  tk.return
}

// Where rows with padding have bank conflicts, an order that has none.
// CHECK-LABEL: tk.kernel @transposition(
// CHECK:         tkg.alloc {conversion} : <16x32xf32, order = #tkg.layout<"offset={{.*}}">>
tk.kernel @transposition(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<16x32xf32, #wide>
  // expected-remark @+2 {{TK4103: tile tensor<16x32xf32> changes its layout through shared memory: 2048 bytes a block}}
  // expected-note @+1 {{nobody said why: from register=}}
  %b = tkg.convert %a how "shared" : tensor<16x32xf32, #wide> -> tensor<16x32xf32, #deep>
  tk.return
}

// A scratch over the limit: one half of the tile after the other.
// PIECES-LABEL: tk.kernel @in_pieces(
// PIECES:         tk.slice {{.*}} offsets [0, 0]
// PIECES:         tkg.alloc {conversion} : <2x8xf32
// PIECES:         %[[FIRST:.*]] = tkg.buf_load
// PIECES:         tk.slice {{.*}} offsets [2, 0]
// PIECES:         tkg.alloc {conversion} : <2x8xf32
// PIECES:         %[[SECOND:.*]] = tkg.buf_load
// PIECES:         tk.cat %[[FIRST]], %[[SECOND]] axis 0
tk.kernel @in_pieces(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<4x8xf32, #slow>
  // expected-remark @+2 {{TK4103: tile tensor<4x8xf32> changes its layout through shared memory: 128 bytes a block}}
  // expected-note @+1 {{nobody said why: from register=}}
  %b = tkg.convert %a how "shared" : tensor<4x8xf32, #slow> -> tensor<4x8xf32, #other>
  tk.return
}

// Sides of other cores agree on no order: rows with padding.
// CHECK-LABEL: tk.kernel @repeats_and_pads(
// CHECK:         tkg.alloc {conversion} : <96xf32>
tk.kernel @repeats_and_pads(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<96xf32, #three>
  // expected-remark @+2 {{TK4103: tile tensor<96xf32> changes its layout through shared memory: 384 bytes a block}}
  // expected-note @+1 {{nobody said why: from register=}}
  %b = tkg.convert %a how "shared" : tensor<96xf32, #three> -> tensor<96xf32, #padded>
  tk.return
}
}
