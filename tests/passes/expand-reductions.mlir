// RUN: tk-opt %s --tk-expand-reductions | FileCheck %s

// As the head of ExpandReductions.cpp has it:
//   %s = tk.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> f32 {...}
// becomes
//   %p = tkg.reduce %x axis 0 order any : tensor<1024xf32, #4warps> -> tensor<4xf32, #onePerWarp> {...}
//   %b = tkg.alloc : !tkg.buf<4xf32>
//   tkg.buf_store %p, %b
//   %q = tkg.buf_load %b : -> tensor<4xf32, #allInEachThread>
//   %s = tkg.reduce %q axis 0 order any : -> f32 {...}

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
#warps1 = #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]]">
#warps4 = #tkg.layout<"register=[[1],[2],[512]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">
#warps16 = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32],[64],[128],[256]]">
#warps8of130 = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32],[64],[128]], shape=[130]">
#above = #tkg.layout<"register=[[32],[64],[128],[256]], lane=[[1],[2],[4],[8],[16]]">
#rows = #tkg.layout<"register=[[0,32]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[1,0],[2,0]]">
#columns = #tkg.layout<"register=[[0,1]], lane=[[0,2],[0,4],[0,8],[0,16],[0,32]], warp=[[1,0],[2,0]]">

// Within one warp nothing but registers and lanes takes part: one tkg.reduce, no memory.
// CHECK-LABEL: tk.kernel @one_warp(
// CHECK:         tkg.reduce {{.*}} axis 0 order any {{.*}} -> f32 {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      %[[C:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:      tkg.yield %[[C]] : f32
// CHECK-NOT:     {{tkg.alloc|tk.reduce}}
// CHECK:         tk.return
tk.kernel @one_warp(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #warps1>
  %s = tk.reduce %x axis 0 order any : tensor<64xf32, #warps1> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Four warps leave four partials, which each thread reads.
// CHECK-LABEL: tk.kernel @four_warps(
// CHECK:         %[[P:.*]] = tkg.reduce {{.*}} axis 0 order any
// CHECK-SAME{LITERAL}: -> tensor<4xf32, #tkg.layout<"register=[], lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">>
// CHECK:         %[[M:.*]] = tkg.alloc : <4xf32>
// CHECK:         tkg.buf_store %[[P]], %[[M]]
// CHECK:         %[[Q:.*]] = tkg.buf_load %[[M]]
// CHECK-SAME{LITERAL}: -> tensor<4xf32, #tkg.layout<"register=[[1],[2]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]]">>
// CHECK:         tkg.reduce %[[Q]] axis 0 order any {{.*}} -> f32
tk.kernel @four_warps(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<1024xf32, #warps4>
  %s = tk.reduce %x axis 0 order any : tensor<1024xf32, #warps4> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// More than eight partials are dealt to lanes.
// CHECK-LABEL: tk.kernel @sixteen_warps(
// CHECK:         tkg.alloc : <16xf32>
// CHECK:         tkg.buf_load
// CHECK-SAME{LITERAL}: -> tensor<16xf32, #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[0]], warp=[[0],[0],[0],[0]]">>
tk.kernel @sixteen_warps(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<512xf32, #warps16>
  %s = tk.reduce %x axis 0 order any : tensor<512xf32, #warps16> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Of eight warps over 130 elements the last three hold padding alone: five partials, not eight, or
// what their lanes happen to hold would take part.
// CHECK-LABEL: tk.kernel @warps_of_padding(
// CHECK:         tkg.reduce
// CHECK-SAME:      -> tensor<5xf32,
// CHECK:         tkg.alloc : <5xf32>
// CHECK:         tkg.buf_load
// CHECK-SAME{LITERAL}: -> tensor<5xf32, #tkg.layout<"register=[[1],[2],[4]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0],[0]], shape=[5]">>
tk.kernel @warps_of_padding(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<130xf32, #warps8of130>
  %s = tk.reduce %x axis 0 order any : tensor<130xf32, #warps8of130> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Warps on rows: a reduction of columns stays within them and gives a tile.
// CHECK-LABEL: tk.kernel @warps_on_rows(
// CHECK:         tkg.reduce {{.*}} axis 1
// CHECK-SAME{LITERAL}: -> tensor<4xf32, #tkg.layout<"register=[], lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">>
// CHECK-NOT:     tkg.alloc
// CHECK:         tk.return
tk.kernel @warps_on_rows(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<4x64xf32, #rows>
  %s = tk.reduce %x axis 1 order any : tensor<4x64xf32, #rows> -> tensor<4xf32, #tkg.layout<"register=[], lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// The other axis is spread over the warps: one partial row a warp, 4 rows of 64 in memory, padded to 68.
// CHECK-LABEL: tk.kernel @across_rows(
// CHECK:         tkg.reduce {{.*}} axis 0
// CHECK:         tkg.alloc : <4x64xf32, strides = 68, 1>
// CHECK:         tkg.reduce {{.*}} axis 0 {{.*}} -> tensor<64xf32,
tk.kernel @across_rows(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<4x64xf32, #rows>
  %s = tk.reduce %x axis 0 order any : tensor<4x64xf32, #rows> -> tensor<64xf32, #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[[0],[0]]">> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Two operands go together: two buffers, one combine of four arguments.
// CHECK-LABEL: tk.kernel @two_operands(
// CHECK:         %[[P:.*]]:2 = tkg.reduce
// CHECK:         tkg.buf_store %[[P]]#0, %{{.*}} : {{.*}}, <4xf32>
// CHECK:         tkg.buf_store %[[P]]#1, %{{.*}} : {{.*}}, <4xi32>
// CHECK:         tkg.reduce %{{.*}}, %{{.*}} axis 0 order any {{.*}} -> f32, i32 {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
tk.kernel @two_operands(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<1024xf32, #warps4>
  %y = arith.constant dense<1> : tensor<1024xi32, #warps4>
  %s:2 = tk.reduce %x, %y axis 0 order any : tensor<1024xf32, #warps4>, tensor<1024xi32, #warps4> -> f32, i32 {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %c = arith.addf %a, %b : f32
    %k = arith.addi %i, %j : i32
    tk.yield %c, %k : f32, i32
  }
  tk.return
}

// Under `order indexed` registers that step over lanes and warps ([512]) come first into natural order.
// CHECK-LABEL: tk.kernel @indexed_gets_natural_order(
// CHECK:         tkg.convert %{{.*}} how "shared"
// CHECK-SAME{LITERAL}: -> tensor<1024xf32, #tkg.layout<"register=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[[256],[512]]">>
// CHECK:         tkg.reduce {{.*}} order indexed
// CHECK:         tkg.reduce {{.*}} order indexed {{.*}} -> f32
tk.kernel @indexed_gets_natural_order(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<1024xf32, #warps4>
  %s = tk.reduce %x axis 0 order indexed : tensor<1024xf32, #warps4> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// An axis that is in natural order already is left where it is.
// CHECK-LABEL: tk.kernel @indexed_in_natural_order(
// CHECK-NOT:     tkg.convert
// CHECK:         tkg.reduce {{.*}} axis 1 order indexed
// CHECK-NOT:     tkg.convert
// CHECK:         tk.return
tk.kernel @indexed_in_natural_order(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<4x64xf32, #columns>
  %s = tk.reduce %x axis 1 order indexed : tensor<4x64xf32, #columns> -> tensor<4xf32, #tkg.layout<"register=[], lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Of a tree each level lies in registers, in lanes or over warps, the lowest first. The register that holds the
// highest bit of the index comes last: an axis of its own.
// CHECK-LABEL: tk.kernel @tree(
// CHECK:         %[[X:.*]] = tk.reshape
// CHECK-SAME{LITERAL}: -> tensor<2x512xf32, #tkg.layout<"register=[[0,1],[0,2],[1,0]], lane=[[0,4],[0,8],[0,16],[0,32],[0,64]], warp=[[0,128],[0,256]]">>
// CHECK:         %[[P:.*]] = tkg.reduce %[[X]] axis 1 order tree {{.*}} -> tensor<2x4xf32
// CHECK:         tkg.buf_store %[[P]]
// CHECK:         %[[Q:.*]] = tkg.reduce %{{.*}} axis 1 order tree {{.*}} -> tensor<2xf32
// CHECK:         tkg.reduce %[[Q]] axis 0 order tree {{.*}} -> f32
// CHECK-NOT:     tkg.convert
// CHECK:         tk.return
tk.kernel @tree(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<1024xf32, #warps4>
  %s = tk.reduce %x axis 0 order tree : tensor<1024xf32, #warps4> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Sixteen shuffles a lane bit would be more than bringing the axis into order.
// CHECK-LABEL: tk.kernel @tree_in_order(
// CHECK:         %[[N:.*]] = tkg.convert
// CHECK-SAME{LITERAL}: -> tensor<512xf32, #tkg.layout<"register=[[1],[2],[4],[8]], lane=[[16],[32],[64],[128],[256]], warp=[]">>
// CHECK:         tkg.reduce %[[N]] axis 0 order tree {{.*}} -> f32
tk.kernel @tree_in_order(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<512xf32, #above>
  %s = tk.reduce %x axis 0 order tree : tensor<512xf32, #above> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}
