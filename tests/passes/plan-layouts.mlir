// RUN: tk-opt %s --tk-plan-layouts | FileCheck %s

// As the head of PlanLayouts.cpp has it:
//   %l = tk.arange 0 : tensor<1024xi32>
// becomes
//   %l = tk.arange 0 {tkg.layouts = [#tkg.layout<"register=[[1],[2],[512]], lane=...">]} : ...

#pointers = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "q", kind = "pointer", dtype = "f16", access = "out", align = 2},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["q", "p"]], options = {warps = 4}}>

module {
// CHECK: module attributes {tk.phase = "Planned"}

// Four consecutive floats a thread, then lanes, then warps, and the rest in registers; the access,
// its offsets and what comes of it have one layout, and the facts it rests on are listed.
// CHECK-LABEL: tk.kernel @one_line(
// CHECK-SAME:    tkg.used_facts = {{\[}}["divides", 16, "p.ptr"]]
// CHECK:         tk.arange 0
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[1],[2],[512]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]
// CHECK:         tkg.load
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[1],[2],[512]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]
// CHECK-SAME:      vector = 4 : i64
// CHECK:         arith.addf
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[1],[2],[512]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]
tk.kernel @one_line(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers,
    facts = [["divides", 16, "p.ptr"], ["divides", 16, "n"]]} {
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  %w = arith.addf %v, %v : tensor<1024xf32>
  tk.return
}

// The general variant takes neighbours in neighbouring lanes.
// CHECK-LABEL: tk.kernel @one_line_general(
// CHECK:         tkg.load
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[128],[256],[512]], lane=[[1],[2],[4],[8],[16]], warp=[[32],[64]]">]
// CHECK-NOT:     vector =
tk.kernel @one_line_general(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers} {
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// A tile that is smaller than the block leaves lanes and warps that hold duplicates.
// CHECK-LABEL: tk.kernel @tile_below_the_block(
// CHECK:         arith.negf
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[], lane=[[1],[2],[4],[8],[0]], warp=[[0],[0]]">]
tk.kernel @tile_below_the_block(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers} {
  %v = arith.constant dense<1.0> : tensor<16xf32>
  %w = arith.negf %v : tensor<16xf32>
  tk.return
}

// A matrix that is reduced along its rows gives each row to one warp; the sums follow from it.
// CHECK-LABEL: tk.kernel @rows_stay_in_a_warp(
// CHECK:         arith.negf
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[0,32],[4,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[1,0],[2,0]]">]
// CHECK:         tk.reduce
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[4]], lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">]
tk.kernel @rows_stay_in_a_warp(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers} {
  %v = arith.constant dense<1.0> : tensor<8x64xf32>
  %w = arith.negf %v : tensor<8x64xf32>
  %s = tk.reduce %w axis 1 order any : tensor<8x64xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// The operand of a broadcast follows the result: no movement. Lanes that run along the columns hold
// the same value of a row.
// CHECK-LABEL: tk.kernel @broadcast_operand_follows(
// CHECK:         tk.expand_dims
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[2,0],[4,0]], lane=[[0,0],[0,0],[0,0],[0,0],[0,0]], warp=[[0,0],[1,0]]">]
// CHECK:         tk.broadcast
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[2,0],[4,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[0,32],[1,0]]">]
tk.kernel @broadcast_operand_follows(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers} {
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %r = arith.negf %c : tensor<8xf32>
  %e = tk.expand_dims %r, 1 : tensor<8xf32> -> tensor<8x1xf32>
  %b = tk.broadcast %e : tensor<8x1xf32> -> tensor<8x64xf32>
  %w = arith.negf %b : tensor<8x64xf32>
  tk.return
}

// What a loop carries has one layout at its start, in it and after it.
// CHECK-LABEL: tk.kernel @loop_carried(
// CHECK:         tkg.load
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]
// CHECK:         arith.addf
// CHECK-SAME{LITERAL}: [#tkg.layout<"register=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]
// CHECK{LITERAL}: } {tkg.layouts = [#tkg.layout<"register=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">]}
tk.kernel @loop_carried(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers,
    facts = [["divides", 16, "p.ptr"]]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %l = tk.arange 0 : tensor<512xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<512xi32> -> tensor<512xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %v) -> (tensor<512xf32>) : i64 {
    %w = arith.addf %acc, %v : tensor<512xf32>
    scf.yield %w : tensor<512xf32>
  }
  tk.return
}

// f32 in and f16 out share the layout that costs least over both: with eight elements a thread the f16
// store would be one access, but each load of f32 would use half of every sector.
// CHECK-LABEL: tk.kernel @two_widths(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
// CHECK:         tkg.store {{.*}}vector = 4 : i64
tk.kernel @two_widths(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers,
    facts = [["divides", 16, "p.ptr"], ["divides", 16, "q.ptr"]]} {
  %l = tk.arange 0 : tensor<4096xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<4096xi32> -> tensor<4096xf32>
  %h = tk.cast %v : tensor<4096xf32> -> tensor<4096xf16>
  tkg.store %h, %q[%l] : tensor<4096xf16>, !tk.ptr<f16, 1>, tensor<4096xi32>
  tk.return
}

// A cheap producer is there once for each of its uses, so that it ties nothing together: the four uses
// here have a range each.
// CHECK-LABEL: tk.kernel @cheap_producers_are_cloned(
// CHECK-COUNT-4: tk.arange 0
// CHECK-NOT:     tk.arange
// CHECK:         tk.return
tk.kernel @cheap_producers_are_cloned(%p: !tk.ptr<f32, 0>, %q: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #pointers} {
  %l = tk.arange 0 : tensor<64xi32>
  %e = tk.expand_dims %l, 0 : tensor<64xi32> -> tensor<1x64xi32>
  %b = tk.broadcast %e : tensor<1x64xi32> -> tensor<8x64xi32>
  %w = arith.addi %b, %b : tensor<8x64xi32>
  %s = arith.muli %l, %l : tensor<64xi32>
  tk.return
}
}
