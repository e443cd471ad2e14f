// RUN: tk-opt %s --tk-strip-mine-tiles --verify-diagnostics | FileCheck %s

// Reductions along the tree of the language: pieces are its nodes.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>

module attributes {tk.phase = "Canonical"} {

// Eight pieces: 1, 2, 4 and 8 of them wait, each for its right neighbour; the last is the result.
// CHECK-LABEL: tk.kernel @eight_pieces(
// CHECK:         %[[R:.*]]:4 = scf.for %[[P:.*]] = {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}, %[[D:.*]] = %{{.*}}) -> (f32, f32, f32, f32)
// CHECK:           %[[V:.*]] = tk.reduce %{{.*}} axis 0 order tree : tensor<1024xf32> -> f32
// CHECK:           %[[BIT:.*]] = arith.andi %[[P]], %c1{{.*}} : i64
// CHECK:           %[[EVEN:.*]] = arith.cmpi eq, %[[BIT]], %c0
// CHECK:           arith.select %[[EVEN]], %[[V]], %[[A]] : f32
// CHECK:           %[[PAIR:.*]] = arith.addf %[[A]], %[[V]] : f32
// CHECK:           %[[BITS:.*]] = arith.andi %[[P]], %c3{{.*}} : i64
// CHECK:           %[[WAITS:.*]] = arith.cmpi eq, %[[BITS]], %c1
// CHECK:           arith.select %[[WAITS]], %[[PAIR]], %[[B]] : f32
// CHECK:           %[[FOUR:.*]] = arith.addf %[[B]], %[[PAIR]] : f32
// CHECK:           arith.addf %[[C]], %[[FOUR]] : f32
// CHECK:         tk.print "s = " %[[R]]#3
tk.kernel @eight_pieces(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #contract} {
  // expected-remark @+2 {{TK4110}}
  %v = tk.read %x[%i] widths [8192] : !tk.view<f32, 1, 0> -> tensor<8192xf32>
  %s = tk.reduce %v axis 0 order tree : tensor<8192xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.print "s = " %s unsigned [false] : f32
  tk.return
}

// Of 12 pieces 8 and 4 are left: the earlier ones on the left.
// CHECK-LABEL: tk.kernel @three_times_a_power(
// CHECK:         arith.constant 12 : i64
// CHECK:         %[[R:.*]]:4 = scf.for
// CHECK:           tk.reduce %{{.*}} axis 0 order tree : tensor<1024xf32> -> f32
// CHECK:         arith.addf %[[R]]#3, %[[R]]#2 : f32
tk.kernel @three_times_a_power(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #contract} {
  // expected-remark @+2 {{TK4110}}
  %v = tk.read %x[%i] widths [12288] : !tk.view<f32, 1, 0> -> tensor<12288xf32>
  %s = tk.reduce %v axis 0 order tree : tensor<12288xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.print "s = " %s unsigned [false] : f32
  tk.return
}

// Pieces of 8 elements would leave most of the block idle.
// CHECK-LABEL: tk.kernel @odd(
// CHECK-NOT:     scf.for
tk.kernel @odd(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [8200] : !tk.view<f32, 1, 0> -> tensor<8200xf32>
  // expected-remark @+1 {{TK4111}}
  %s = tk.reduce %v axis 0 order tree : tensor<8200xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.print "s = " %s unsigned [false] : f32
  tk.return
}
}
