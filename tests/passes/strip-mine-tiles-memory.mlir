// RUN: tk-opt %s --tk-strip-mine-tiles --verify-diagnostics | FileCheck %s

// A loop over pieces does the loads and stores of one piece before those of the next. `x` is read and written.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "inout", extents = ["N"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["x", "y"]], options = {warps = 4}}>

module attributes {tk.phase = "Canonical"} {

// Read and written at one place: a piece meets no other.
// CHECK-LABEL: tk.kernel @in_place(
// CHECK:         scf.for
// CHECK:           tk.read
// CHECK:           tk.write
tk.kernel @in_place(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4110: tiles of tensor<65536xf32> are worked through in 16 strips, 32 elements a thread each}}
  tk.write %w, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// One element further on: the second piece would read what the first has written.
// CHECK-LABEL: tk.kernel @further_on(
// CHECK-NOT:     scf.for
// CHECK:         tk.write {{.*}} widths [65536]
tk.kernel @further_on(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %c1 = arith.constant 1 : i64
  %j = arith.addi %i, %c1 : i64
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4111: tiles of tensor<65536xf32> stay in registers, 512 elements a thread: pieces would read memory that others have written}}
  tk.write %w, %x[%j] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// What is loaded before a store and used behind it cannot be loaded again.
// CHECK-LABEL: tk.kernel @loaded_before_a_store(
// CHECK:         %[[OLD:.*]] = tk.read %{{.*}} widths [65536]
// CHECK:         scf.for
// CHECK:           tk.write
// CHECK:         tk.write %[[OLD]]
tk.kernel @loaded_before_a_store(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %c9 = arith.constant 65536 : i64
  %j = arith.addi %i, %c9 : i64
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %u = tk.read %y[%i] widths [65536] : !tk.view<f32, 1, 1> -> tensor<65536xf32>
  // expected-remark @+1 {{TK4110}}
  tk.write %u, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  // expected-remark @+1 {{TK4111}}
  tk.write %v, %x[%j] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// A load behind a store of the same memory begins another loop, so do stores to one place.
// CHECK-LABEL: tk.kernel @loaded_after_a_store(
// CHECK:         scf.for
// CHECK:           tk.read %arg1
// CHECK:           tk.write
// CHECK:         scf.for
// CHECK:           tk.read %arg0
// CHECK:           tk.write
tk.kernel @loaded_after_a_store(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %u = tk.read %y[%i] widths [65536] : !tk.view<f32, 1, 1> -> tensor<65536xf32>
  // expected-remark @+1 {{TK4110}}
  tk.write %u, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4110}}
  tk.write %w, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// A scan from the end goes against the order of the pieces.
// CHECK-LABEL: tk.kernel @scan(
// CHECK-NOT:     scf.for
tk.kernel @scan(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %i: i64) attributes {contract = #contract} {
  %u = tk.read %y[%i] widths [32768] : !tk.view<f32, 1, 1> -> tensor<32768xf32>
  %s = tk.scan %u axis 0 reverse order any : tensor<32768xf32> -> tensor<32768xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  // expected-remark @+1 {{TK4111: tiles of tensor<32768xf32> stay in registers, 256 elements a thread: its elements meet in an operation that no loop over pieces can do}}
  tk.write %s, %x[%i] widths [32768] : tensor<32768xf32>, !tk.view<f32, 1, 0>
  tk.return
}
}
