// RUN: tk-opt %s --tk-plan-layouts --split-input-file --verify-diagnostics

// 512 x 512 floats over 128 threads are 2048 registers each: the assembler would take minutes.
tk.kernel @tile_over_the_registers(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 4}}>} {
  // expected-note @+2 {{use more warps, or a smaller tile in a loop}}
  // expected-error @+1 {{TK4002: a tile of tensor<512x512xf32> needs 2048 registers a thread with 4 warps, at most 512 are allowed}}
  %v = arith.constant dense<0.0> : tensor<512x512xf32>
  %w = arith.addf %v, %v : tensor<512x512xf32>
  tk.return
}

// -----

// f64 takes two registers an element.
tk.kernel @doubles_count_twice(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 1}}>} {
  // expected-note @+2 {{use more warps, or a smaller tile in a loop}}
  // expected-error @+1 {{TK4002: a tile of tensor<32768xf64> needs 2048 registers a thread with 1 warps}}
  %v = arith.constant dense<0.0> : tensor<32768xf64>
  %w = arith.addf %v, %v : tensor<32768xf64>
  tk.return
}

// -----

// Half the tile fits as f32: 512 registers are the most that is allowed.
tk.kernel @at_the_limit(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {warps = 1}}>} {
  %v = arith.constant dense<0.0> : tensor<16384xf32>
  %w = arith.addf %v, %v : tensor<16384xf32>
  tk.return
}

// -----

// An access that is narrower than the target allows is named, with its variant.
tk.kernel @narrow_access(%p: !tk.ptr<f32, 0>) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "f32", access = "inout", align = 4}], grid = [1, 1, 1],
    require = [], disjoint = [], options = {warps = 1}}>} {
  %l = tk.arange 0 : tensor<1024xi32>
  // expected-remark @+1 {{TK4102: load is 32 bits wide a thread in variant `narrow_access`, 128 would fit}}
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  // expected-remark @+1 {{TK4102: store is 32 bits wide a thread in variant `narrow_access`, 128 would fit}}
  tkg.store %v, %p[%l] : tensor<1024xf32>, !tk.ptr<f32, 0>, tensor<1024xi32>
  tk.return
}
