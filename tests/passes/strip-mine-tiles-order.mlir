// RUN: tk-opt %s --tk-strip-mine-tiles --verify-diagnostics | FileCheck %s

// What is read and written again must not be what another piece, or an earlier trip, has written.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "inout", extents = ["N"], strides = [1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
#still = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "inout", extents = ["N"], strides = [0], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
#rows = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "inout", extents = ["M", "N"], strides = [1, 1], align = 4},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
#pointers = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "f32", access = "inout", align = 4},
            {name = "o", kind = "tensor", dtype = "i32", access = "in", extents = ["N"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [["p", "o"]], options = {warps = 4}}>

module attributes {tk.phase = "Canonical"} {

// Read before the loop, written in it: the second trip would read what the first has written.
// CHECK-LABEL: tk.kernel @read_before_a_loop(
// CHECK:         tk.read
// CHECK:         scf.for
// CHECK-NOT:       tk.read
// CHECK:           tk.write {{.*}} widths [65536]
tk.kernel @read_before_a_loop(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  scf.for %k = %c0 to %c4 step %c1 : i64 {
    %w = arith.addf %v, %v : tensor<65536xf32>
    // expected-remark @+1 {{TK4111}}
    tk.write %w, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  }
  tk.return
}

// All elements are one.
// CHECK-LABEL: tk.kernel @no_stride(
// CHECK-NOT:     scf.for
tk.kernel @no_stride(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #still} {
  %v = tk.read %x[%i] widths [65536] : !tk.view<f32, 1, 0> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4111}}
  tk.write %w, %x[%i] widths [65536] : tensor<65536xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// Rows that overlap.
// CHECK-LABEL: tk.kernel @rows(
// CHECK-NOT:     scf.for
tk.kernel @rows(%x: !tk.view<f32, 2, 0>, %i: i64) attributes {contract = #rows} {
  %v = tk.read %x[%i, %i] widths [256, 256] : !tk.view<f32, 2, 0> -> tensor<256x256xf32>
  %w = arith.addf %v, %v : tensor<256x256xf32>
  // expected-remark @+1 {{TK4111}}
  tk.write %w, %x[%i, %i] widths [256, 256] : tensor<256x256xf32>, !tk.view<f32, 2, 0>
  tk.return
}

// Pointers that a range was added to, but that may be any.
// CHECK-LABEL: tk.kernel @any_pointers(
// CHECK-NOT:     scf.for
tk.kernel @any_pointers(%p: !tk.ptr<f32, 0>, %o: !tk.view<i32, 1, 1>) attributes {contract = #pointers} {
  %c0 = arith.constant 0 : i64
  %any = tk.read %o[%c0] widths [65536] : !tk.view<i32, 1, 1> -> tensor<65536xi32>
  %range = tk.arange 0 : tensor<65536xi32>
  %s = tk.splat %p : !tk.ptr<f32, 0> -> tensor<65536x!tk.ptr<f32, 0>>
  %q = tk.ptr_add %s, %any : tensor<65536x!tk.ptr<f32, 0>>, tensor<65536xi32>
  %r = tk.ptr_add %q, %range : tensor<65536x!tk.ptr<f32, 0>>, tensor<65536xi32>
  %v = tk.load %r : tensor<65536x!tk.ptr<f32, 0>> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4111}}
  tk.store %w, %r : tensor<65536xf32>, tensor<65536x!tk.ptr<f32, 0>>
  tk.return
}

// A volatile load happens once.
// CHECK-LABEL: tk.kernel @volatile_load(
// CHECK-NOT:     scf.for
tk.kernel @volatile_load(%p: !tk.ptr<f32, 0>, %o: !tk.view<i32, 1, 1>) attributes {contract = #pointers} {
  %range = tk.arange 0 : tensor<65536xi32>
  %s = tk.splat %p : !tk.ptr<f32, 0> -> tensor<65536x!tk.ptr<f32, 0>>
  %q = tk.ptr_add %s, %range : tensor<65536x!tk.ptr<f32, 0>>, tensor<65536xi32>
  %v = tk.load %q volatile : tensor<65536x!tk.ptr<f32, 0>> -> tensor<65536xf32>
  %w = arith.addf %v, %v : tensor<65536xf32>
  // expected-remark @+1 {{TK4111}}
  tk.store %w, %q : tensor<65536xf32>, tensor<65536x!tk.ptr<f32, 0>>
  tk.return
}
}
