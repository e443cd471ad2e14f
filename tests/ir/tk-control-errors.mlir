// RUN: tk-opt %s --split-input-file --verify-diagnostics
#empty = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                       disjoint = [], options = {}}>
// expected-error @+1 {{'tk.kernel' op has 1 arguments, its contract has 0}}
tk.kernel @argument_without_contract(%n: i64) attributes {contract = #empty} {
  tk.return
}

// -----
// expected-error @+1 {{requires attribute 'contract'}}
tk.kernel @no_contract() {
  tk.return
}

// -----
// expected-error @+1 {{argument 0 of type 'i64' is a scalar, its contract says tensor}}
tk.kernel @wrong_kind(%n: i64) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "n", kind = "tensor", dtype = "i64"}], grid = [1, 1, 1], require = [],
    disjoint = [], options = {}}>} {
  tk.return
}

// -----
// expected-error @+1 {{argument 0 has rank 2, its contract has 1 extents}}
tk.kernel @wrong_rank(%x: !tk.view<f32, 2, 0>) attributes {contract = #tk.contract<{kernel = "k",
    instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", extents = ["N"],
    strides = [1]}], grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// -----
#empty = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                       disjoint = [], options = {}}>
// expected-error @+1 {{a kernel has no results}}
tk.kernel @result() -> i64 attributes {contract = #empty} {
  tk.return
}

// -----
#empty = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                       disjoint = [], options = {}}>
// expected-error-re @+1 {{region #0 ({{.*}}body{{.*}}) failed to verify constraint: region with 1 blocks}}
tk.kernel @no_body() attributes {contract = #empty}

// -----
// expected-error @+1 {{expects parent op 'tk.kernel'}}
tk.return

// -----
// expected-error @+1 {{attribute 'axis' failed to satisfy constraint}}
%0 = tk.program_id 3

// -----
// expected-error @+1 {{attribute 'axis' failed to satisfy constraint}}
%0 = tk.num_programs -1
