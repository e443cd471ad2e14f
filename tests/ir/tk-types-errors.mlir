// RUN: tk-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{pointee 'i7' is not an element of whole bytes}}
%0 = builtin.unrealized_conversion_cast to !tk.ptr<i7, 0>

// -----
// expected-error @+1 {{pointee 'tensor<4xf32>' is not an element of whole bytes}}
%0 = builtin.unrealized_conversion_cast to !tk.ptr<tensor<4xf32>, 0>

// -----
// expected-error @+1 {{alias class -1 is negative}}
%0 = builtin.unrealized_conversion_cast to !tk.ptr<f32, -1>

// -----
// expected-error @+1 {{element 'index' is not an element that memory holds}}
%0 = builtin.unrealized_conversion_cast to !tk.view<index, 1, 0>

// -----
// expected-error @+1 {{rank 17 is not within 0 to 16}}
%0 = builtin.unrealized_conversion_cast to !tk.view<f32, 17, 0>

// -----
// expected-error @+1 {{rank -1 is not within 0 to 16}}
%0 = builtin.unrealized_conversion_cast to !tk.view<f32, -1, 0>

// -----
// expected-error @+1 {{alias class -3 is negative}}
%0 = builtin.unrealized_conversion_cast to !tk.view<f32, 1, -3>

// -----
// expected-error @+1 {{contract lacks the string `kernel`}}
module attributes {c = #tk.contract<{instance = {}}>} {}

// -----
// expected-error @+1 {{contract lacks the list `args`}}
module attributes {c = #tk.contract<{kernel = "k"}>} {}

// -----
// expected-error @+1 {{contract lacks the dictionary `options`}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1],
                                     require = [], disjoint = []}>} {}

// -----
// expected-error @+1 {{contract's grid has 2 expressions, needs 3}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1],
                                     require = [], disjoint = [], options = {}}>} {}

// -----
// expected-error @+1 {{contract expression ["pow", 2, 3] is not well formed}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [],
                                     grid = [["pow", 2, 3], 1, 1],
                                     require = [], disjoint = [], options = {}}>} {}

// -----
// expected-error @+1 {{contract expression ["cdiv", "N"] is not well formed}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [],
                                     grid = [["cdiv", "N"], 1, 1],
                                     require = [], disjoint = [], options = {}}>} {}

// -----
// expected-error @+1 {{contract expression 1.000000e+00 : f64 is not well formed}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [],
                                     grid = [1, ["add", 1, 1.0], 1],
                                     require = [], disjoint = [], options = {}}>} {}

// -----
// expected-error @+1 {{contract's argument {kind = "scalar", name = "n"} lacks name, kind or dtype}}
module attributes {c = #tk.contract<{kernel = "k", instance = {},
                                     args = [{name = "n", kind = "scalar"}], grid = [1, 1, 1],
                                     require = [], disjoint = [], options = {}}>} {}

// -----
// expected-error @+1 {{contract's condition 1 : i64 lacks expr or text}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], disjoint = [], options = {}, require = [1 : i64]}>} {}

// -----
// expected-error @+1 {{lacks expr or text}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], disjoint = [], options = {}, require = [{expr = "N"}]}>} {}

// -----
// expected-error @+1 {{contract expression ["not"] is not well formed}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], disjoint = [], options = {}, require = [{expr = ["not"], text = "x"}]}>} {}

// -----
// expected-error @+1 {{lacks expr, text or index}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], disjoint = [], options = {}, require = [], variants = [{expr = "N", text = "N"}]}>} {}

// -----
// expected-error @+1 {{contract's `variants` is no list}}
module attributes {c = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], disjoint = [], options = {}, require = [], variants = 3}>} {}
