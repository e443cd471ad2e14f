// RUN: tk-opt %s --tk-allocate-shared-memory=limit-bytes=4096 --split-input-file --verify-diagnostics

#all = #tkg.layout<"register=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[[256],[512]]">
#one = #tkg.layout<"register=[[0]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]]">

// One byte over: 4096 bytes fit, and the buffers are listed.
tk.kernel @over_the_limit(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {}}>} {
  %f = arith.constant dense<1.0> : tensor<1024xf32, #all>
  %i = arith.constant dense<1> : tensor<1xi8, #one>
  // expected-note @+1 {{4096 bytes for this}}
  %a = tkg.alloc : !tkg.buf<1024xf32>
  // expected-error @+2 {{TK4001: block needs 4112 bytes of shared memory, the target has 4096}}
  // expected-note @+1 {{16 bytes for this}}
  %b = tkg.alloc : !tkg.buf<1xi8>
  tkg.buf_store %f, %a : tensor<1024xf32, #all>, !tkg.buf<1024xf32>
  tkg.buf_store %i, %b : tensor<1xi8, #one>, !tkg.buf<1xi8>
  %g = tkg.buf_load %a : !tkg.buf<1024xf32> -> tensor<1024xf32, #all>
  tk.return
}

// -----

// Buffers that are not needed at the same time share their bytes.
tk.kernel @one_after_the_other(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {}}>} {
  %a = tkg.alloc : !tkg.buf<1024xf32>
  %b = tkg.alloc : !tkg.buf<1024xf32>
  tk.return
}

// -----

// Exactly the limit is no error.
tk.kernel @at_the_limit(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {}}>} {
  %a = tkg.alloc : !tkg.buf<1024xf32>
  tk.return
}
