// RUN: tk-opt %s --tk-lower-to-machine=target=sm_90a --split-input-file --verify-diagnostics

// An operation that the language does not have gets no code.
tk.kernel @operation_without_code(%n: f32) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "f32"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 1}}>} {
  // expected-error @+1 {{TK9005: no machine code for operation `arith.maxnumf` on sm_90a}}
  %0 = arith.maxnumf %n, %n : f32
  tk.return
}

// -----

// Nor does one without results.
tk.kernel @operation_without_results(%v: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{kernel = "k",
    instance = {}, args = [{name = "v", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1],
    align = 4}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>} {
  %c0 = arith.constant 0 : i64
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{TK9005: no machine code for operation `tk.write` on sm_90a}}
  tk.write %f, %v[%c0] widths [0] : f32, !tk.view<f32, 1, 0>
  tk.return
}
