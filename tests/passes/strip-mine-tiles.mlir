// RUN: tk-opt %s --tk-strip-mine-tiles | FileCheck %s

// As the head of StripMineTiles.cpp has it:
//   %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
//   %w = tk.unary exp %v : tensor<65536xf32>
//   tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
// becomes
//   scf.for %p = 0 to 16 {
//     %j = %i + %p * 4096
//     %v = tk.read %x[%j] widths [4096] : !tk.view<f32, 1, 0> -> tensor<4096xf32>
//     %w = tk.unary exp %v : tensor<4096xf32>
//     tk.write %w, %y[%j] widths [4096] : tensor<4096xf32>, !tk.view<f32, 1, 1>
//   }
// 4096 elements are 32 for each of 128 threads.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["y", "x"]], options = {warps = 4}}>
#square = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["M", "N"], strides = ["S", 1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N", "M"], strides = ["T", 1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["y", "x"]], options = {warps = 4}}>

module attributes {tk.phase = "Canonical"} {

// CHECK-LABEL: tk.kernel @elementwise(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 1, 0>, %[[Y:.*]]: !tk.view<f32, 1, 1>, %[[I:.*]]: i64)
// CHECK:         %[[COUNT:.*]] = arith.constant 16 : i64
// CHECK:         scf.for %[[P:.*]] = %{{.*}} to %[[COUNT]]
// CHECK:           %[[SHIFT:.*]] = arith.muli %[[P]], %c4096{{.*}} : i64
// CHECK:           %[[J:.*]] = arith.addi %[[I]], %[[SHIFT]] : i64
// CHECK:           %[[V:.*]] = tk.read %[[X]][%[[J]]] widths [4096] : <f32, 1, 0> -> tensor<4096xf32>
// CHECK:           %[[W:.*]] = tk.unary exp %[[V]] : tensor<4096xf32>
// CHECK:           tk.write %[[W]], %[[Y]][%{{.*}}] widths [4096]
// CHECK-NOT:     65536
tk.kernel @elementwise(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %w = tk.unary exp %v : tensor<65536xf32>
  tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// 16384 elements are 128 a thread and stay as they are.
// CHECK-LABEL: tk.kernel @within_the_budget(
// CHECK-NOT:     scf.for
// CHECK:         tk.read {{.*}} widths [16384]
tk.kernel @within_the_budget(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [16384] : !tk.view<f32, 1, 0> -> tensor<16384xf32>
  %w = tk.unary exp %v : tensor<16384xf32>
  tk.write %w, %y[%i] widths [16384] : tensor<16384xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// Two tiles of 128 elements a thread that wait for a reduction are too many, though each is not.
// CHECK-LABEL: tk.kernel @live_across_a_reduction(
// CHECK:         scf.for
tk.kernel @live_across_a_reduction(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [16384] : !tk.view<f32, 1, 0> -> tensor<16384xf32>
  %w = tk.unary exp %v : tensor<16384xf32>
  %s = tk.reduce %v axis 0 order any : tensor<16384xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %t = tk.splat %s : f32 -> tensor<16384xf32>
  %u = arith.mulf %v, %t : tensor<16384xf32>
  %z = arith.addf %u, %w : tensor<16384xf32>
  tk.write %z, %y[%i] widths [16384] : tensor<16384xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// A sum has a neutral element; its partials are reduced once, after the loop. The store waits for
// it, so what it needs is loaded again. The range goes on from piece to piece.
// CHECK-LABEL: tk.kernel @sum_then_store(
// CHECK:         %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<4096xf32>
// CHECK:         %[[PARTS:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK:           %[[V:.*]] = tk.read {{.*}} widths [4096]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[ACC]], %[[V]] : tensor<4096xf32>
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK:         %[[SUM:.*]] = tk.reduce %[[PARTS]] axis 0 order any : tensor<4096xf32> -> f32
// CHECK:         %[[HALF:.*]] = arith.mulf %[[SUM]]
// CHECK:         scf.for %[[P:[^ ]*]] =
// CHECK:           tk.read {{.*}} widths [4096]
// CHECK:           tk.splat %[[HALF]]
// CHECK:           %[[LANES:.*]] = tk.arange 0 : tensor<4096xi32>
// CHECK:           %[[SHIFT:.*]] = arith.muli %[[P]], %c4096{{.*}} : i64
// CHECK:           %[[NARROW:.*]] = arith.trunci %[[SHIFT]] : i64 to i32
// CHECK:           %[[FIRST:.*]] = tk.splat %[[NARROW]]
// CHECK:           arith.addi %[[LANES]], %[[FIRST]] : tensor<4096xi32>
// CHECK:           tk.write
tk.kernel @sum_then_store(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %s = tk.reduce %v axis 0 order any : tensor<65536xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %half = arith.constant 0.5 : f32
  %h = arith.mulf %s, %half : f32
  %t = tk.splat %h : f32 -> tensor<65536xf32>
  %l = tk.arange 0 : tensor<65536xi32>
  %f = tk.cast %l : tensor<65536xi32> -> tensor<65536xf32>
  %m = arith.mulf %v, %t : tensor<65536xf32>
  %w = arith.addf %m, %f : tensor<65536xf32>
  tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// A combine that needs the order, here "the first of the largest", combines what pieces give, the
// earlier on the left; in the first trip there is nothing to combine with.
// CHECK-LABEL: tk.kernel @first_of_the_largest(
// CHECK:         scf.for %[[P:.*]] = {{.*}} iter_args(%[[BEST:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}}) -> (f32, i32)
// CHECK:           %[[HERE:.*]]:2 = tk.reduce %{{.*}}, %{{.*}} axis 0 order indexed : tensor<4096xf32>, tensor<4096xi32> -> f32, i32
// CHECK:           %[[KEEP:.*]] = arith.cmpf oge, %[[BEST]], %[[HERE]]#0
// CHECK:           arith.select %[[KEEP]], %[[BEST]], %[[HERE]]#0
// CHECK:           %[[START:.*]] = arith.cmpi eq, %[[P]], %c0{{.*}}
// CHECK:           arith.select %[[START]], %[[HERE]]#0
// CHECK:           arith.select %[[START]], %[[HERE]]#1
tk.kernel @first_of_the_largest(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %l = tk.arange 0 : tensor<65536xi32>
  %s:2 = tk.reduce %v, %l axis 0 order indexed : tensor<65536xf32>, tensor<65536xi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %keep = arith.cmpf oge, %a, %b : f32
    %c = arith.select %keep, %a, %b : f32
    %ci = arith.select %keep, %ai, %bi : i32
    tk.yield %c, %ci : f32, i32
  }
  tk.write %s#0, %y[%i] widths [0] : f32, !tk.view<f32, 1, 1>
  tk.return
}

// Rows are cut where that leaves no reduction to wait for: one loop does all.
// CHECK-LABEL: tk.kernel @rows(
// CHECK:         scf.for
// CHECK:           tk.read %{{.*}}[%{{.*}}, %{{.*}}] widths [16, 256]
// CHECK:           tk.reduce %{{.*}} axis 1 order any : tensor<16x256xf32> -> tensor<16xf32>
// CHECK:           tk.expand_dims %{{.*}}, 1 : tensor<16xf32> -> tensor<16x1xf32>
// CHECK:           tk.broadcast %{{.*}} : tensor<16x1xf32> -> tensor<16x256xf32>
// CHECK:           tk.permute %{{.*}} [1, 0] : tensor<16x256xf32> -> tensor<256x16xf32>
// CHECK:           tk.write %{{.*}} widths [256, 16]
// CHECK-NOT:     scf.for
// CHECK:         tk.return
tk.kernel @rows(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 2, 1>, %i: i64) attributes {contract = #square} {
  %v = tk.read %x[%i, %i] widths [256, 256] : !tk.view<f32, 2, 0> -> tensor<256x256xf32>
  %s = tk.reduce %v axis 1 order any : tensor<256x256xf32> -> tensor<256xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %e = tk.expand_dims %s, 1 : tensor<256xf32> -> tensor<256x1xf32>
  %t = tk.broadcast %e : tensor<256x1xf32> -> tensor<256x256xf32>
  %w = arith.mulf %v, %t : tensor<256x256xf32>
  %p = tk.permute %w [1, 0] : tensor<256x256xf32> -> tensor<256x256xf32>
  tk.write %p, %y[%i, %i] widths [256, 256] : tensor<256x256xf32>, !tk.view<f32, 2, 1>
  tk.return
}

// Stores without a dependence share a loop and what they load; what uses the first's sum moves behind.
// CHECK-LABEL: tk.kernel @two_roots(
// CHECK:         %[[PARTS:.*]] = scf.for
// CHECK:           tk.read
// CHECK-NOT:       tk.read
// CHECK:           arith.addf
// CHECK:           tk.write
// CHECK:         }
// CHECK:         %[[SUM:.*]] = tk.reduce %[[PARTS]]
// CHECK:         arith.mulf %[[SUM]], %[[SUM]]
// CHECK-NOT:     scf.for
// CHECK:         tk.return
tk.kernel @two_roots(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %s = tk.reduce %v axis 0 order any : tensor<65536xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %q = arith.mulf %s, %s : f32
  %w = arith.addf %v, %v : tensor<65536xf32>
  tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
  tk.write %q, %y[%i] widths [0] : f32, !tk.view<f32, 1, 1>
  tk.return
}

// A scan goes on from the total of the pieces before; the first piece has none before it, which for a
// product of any numbers the trip says.
// CHECK-LABEL: tk.kernel @running_product(
// CHECK:         scf.for %[[P:.*]] = {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[SCAN:.*]] = tk.scan %[[V:.*]] axis 0 order any : tensor<4096xf32>
// CHECK:           %[[TOTAL:.*]] = tk.reduce %[[V]] axis 0 order indexed : tensor<4096xf32> -> f32
// CHECK:           %[[ALL:.*]] = tk.splat %[[BEFORE]] : f32 -> tensor<4096xf32>
// CHECK:           %[[UNTIL:.*]] = arith.mulf %[[BEFORE]], %[[TOTAL]] : f32
// CHECK:           %[[NEXT:.*]] = arith.select %{{.*}}, %[[TOTAL]], %[[UNTIL]] : f32
// CHECK:           %[[ON:.*]] = arith.mulf %[[ALL]], %[[SCAN]] : tensor<4096xf32>
// CHECK:           %[[HERE:.*]] = arith.select %{{.*}}, %[[SCAN]], %[[ON]]
// CHECK:           tk.write %[[HERE]]
// CHECK:           scf.yield %[[NEXT]]
tk.kernel @running_product(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %s = tk.scan %v axis 0 order any : tensor<65536xf32> -> tensor<65536xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    tk.yield %c : f32
  }
  tk.write %s, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// A branch that yields a big tile becomes a selection; its load is masked.
// CHECK-LABEL: tk.kernel @branch(
// CHECK-NOT:     scf.if
// CHECK:         scf.for
// CHECK:           %[[OLD:.*]] = tk.read
// CHECK:           %[[RUNS:.*]] = tk.splat %{{.*}} : i1 -> tensor<4096xi1>
// CHECK:           %[[NEW:.*]] = tk.read {{.*}} mask %[[RUNS]]
// CHECK:           arith.select %{{.*}}, %[[NEW]], %[[OLD]]
tk.kernel @branch(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %c7 = arith.constant 7 : i64
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %c = arith.cmpi slt, %i, %c7 : i64
  %w = scf.if %c -> tensor<65536xf32> {
    %u = tk.read %x[%c7] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
    scf.yield %u : tensor<65536xf32>
  } else {
    scf.yield %v : tensor<65536xf32>
  }
  tk.write %w, %y[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 1>
  tk.return
}
}
