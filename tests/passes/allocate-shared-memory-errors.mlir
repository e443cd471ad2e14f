// RUN: tk-opt %s --tk-allocate-shared-memory=limit-bytes=4096 --split-input-file --verify-diagnostics

// One byte over: 4096 bytes fit, and the buffer that does not is named.
tk.kernel @over_the_limit(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [],
    options = {}}>} {
  %a = tkg.alloc : !tkg.buf<1024xf32>
  // expected-error @+1 {{TK4001: block needs 4112 bytes of shared memory, the target has 4096}}
  %b = tkg.alloc : !tkg.buf<1xi8>
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
