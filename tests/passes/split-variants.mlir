// RUN: tk-opt %s --tk-split-variants | FileCheck %s
// RUN: tk-opt %s --tk-split-variants --tk-verify-phase | FileCheck %s --check-prefix=PHASE
// PHASE: module attributes {tk.phase = "Canonical"}

// As the head of SplitVariants.cpp has it:
//   tk.kernel @k(%x: !tk.view<f32, 1, 0>) ...
// becomes
//   tk.kernel @k(...) attributes {facts = [["divides", 16, "x.ptr"], ["divides", 4, "N"]], ...}
//   tk.kernel @k__any(...) attributes {variant_of = "k"}

module attributes {tk.phase = "Emitted"} {

// A tensor gives its base at 16 bytes and its last extent at 16 bytes' worth of elements.
// CHECK-LABEL: tk.kernel @k(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "x.ptr"], ["divides", 4, "N"]]
// CHECK-SAME:    variant_of = "k"
// CHECK-LABEL: tk.kernel @k__any(
// CHECK-NOT:     facts
// CHECK-SAME:    variant_of = "k"
tk.kernel @k(%x: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4}],
    grid = ["N", 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// The widest of several wishes for one name stays: N serves f32 (4) and i8 (16) rows.
// CHECK-LABEL: tk.kernel @one_name_two_types(
// CHECK-SAME:    ["divides", 16, "x.ptr"], ["divides", 16, "N"], ["divides", 16, "y.ptr"]]
// CHECK-NOT:     ["divides", 4
tk.kernel @one_name_two_types(%x: !tk.view<f32, 1, 0>, %y: !tk.view<i8, 1, 1>) attributes {
    contract = #tk.contract<{kernel = "one_name_two_types", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "i8", access = "out", extents = ["N"], strides = [1], align = 1}],
    grid = ["N", 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// Outer extents need no fact; run-time strides do, each in elements of its tensor.
// CHECK-LABEL: tk.kernel @rows_of_a_matrix(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "x.ptr"], ["divides", 8, "N"], ["divides", 8, "x.s0"]]
tk.kernel @rows_of_a_matrix(%x: !tk.view<f16, 2, 0>) attributes {
    contract = #tk.contract<{kernel = "rows_of_a_matrix", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f16", access = "in", extents = ["M", "N"], strides = ["x.s0", 1], align = 2}],
    grid = ["M", 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// Pointers give their address, integer scalars a multiple of 16; floats and booleans give nothing.
// CHECK-LABEL: tk.kernel @pointers_and_scalars(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "p.ptr"], ["divides", 16, "n"], ["divides", 16, "m"]]
tk.kernel @pointers_and_scalars(%p: !tk.ptr<f32, 0>, %n: i64, %m: i32, %f: f32, %b: i1) attributes {
    contract = #tk.contract<{kernel = "pointers_and_scalars", instance = {},
    args = [{name = "p", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}, {name = "m", kind = "scalar", dtype = "i32"},
            {name = "f", kind = "scalar", dtype = "f32"}, {name = "b", kind = "scalar", dtype = "i1"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// Of a u64 no guard can ask, for the host computes with i64; of a u32 it can.
// CHECK-LABEL: tk.kernel @unsigned_scalars(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "m"]]
tk.kernel @unsigned_scalars(%n: i64, %m: i32) attributes {contract = #tk.contract<{kernel = "unsigned_scalars", instance = {},
    args = [{name = "n", kind = "scalar", dtype = "u64"}, {name = "m", kind = "scalar", dtype = "u32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// A number, an expression and `_` are no names that the host could promise anything about.
// CHECK-LABEL: tk.kernel @extents_without_names(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "x.ptr"], ["divides", 16, "y.ptr"], ["divides", 16, "z.ptr"]]
tk.kernel @extents_without_names(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>) attributes {
    contract = #tk.contract<{kernel = "extents_without_names", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = [100], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "in", extents = [["add", "E", 1]], strides = [1], align = 4},
            {name = "z", kind = "tensor", dtype = "f32", access = "out", extents = ["_"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}

// Without parameters the list is empty; the general variant is made all the same and pruned later.
// CHECK-LABEL: tk.kernel @no_parameters()
// CHECK-SAME:    facts = []
// CHECK-LABEL: tk.kernel @no_parameters__any()
tk.kernel @no_parameters() attributes {contract = #tk.contract<{kernel = "no_parameters", instance = {},
    args = [], grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  tk.return
}
}
