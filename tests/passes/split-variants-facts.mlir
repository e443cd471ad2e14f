// RUN: tk-opt %s --tk-split-variants | FileCheck %s

// What the facts of @variants make of kernels: a pair of copies each, before the kernel's own pair.

module attributes {tk.phase = "Emitted"} {

// An equality is written into the contract, wherever the axis has the name or the place; the kernel itself keeps its names.
// CHECK-LABEL: tk.kernel @strides__fact0(
// CHECK-SAME:    extents = ["M", "N"], kind = "tensor", name = "a", strides = ["a.s0", 1]
// CHECK-SAME:    fact = 0 : i64
// CHECK-SAME:    facts = {{\[}}["divides", 16, "a.ptr"], ["divides", 8, "N"], ["divides", 8, "a.s0"]
// CHECK-SAME:    specialized = {{\[}}["or", ["eq", "a.s1", 1], ["le", "a.e1", 1]]]
// CHECK-SAME:    variant_of = "strides"
// CHECK-LABEL: tk.kernel @strides__fact0__any(
// CHECK-SAME:    strides = ["a.s0", 1]
// CHECK-SAME:    facts = [],
// CHECK-SAME:    specialized = {{\[}}["or", ["eq", "a.s1", 1], ["le", "a.e1", 1]]]
// CHECK-LABEL: tk.kernel @strides__fact1(
// CHECK-SAME:    extents = ["M", "N"], kind = "tensor", name = "a", strides = [1, "sn"]
// CHECK-SAME:    facts = {{\[}}["divides", 16, "a.ptr"], ["divides", 8, "M"], ["divides", 8, "N"],
// CHECK-SAME:    specialized = {{\[}}["or", ["eq", 1, "a.s0"], ["le", "a.e0", 1]]]
// CHECK-LABEL: tk.kernel @strides__fact1__any(
// CHECK-LABEL: tk.kernel @strides__fact2(
// CHECK-SAME:    strides = ["a.s0", 2]
// CHECK-SAME:    strides = ["c.s0", 2]
// CHECK-SAME:    specialized = {{\[}}["eq", "sn", 2]]
// CHECK-LABEL: tk.kernel @strides__fact2__any(
// CHECK-LABEL: tk.kernel @strides(
// CHECK-SAME:    strides = ["a.s0", "sn"]
// CHECK-NOT:     specialized
// CHECK-LABEL: tk.kernel @strides__any(
// CHECK-SAME:    strides = ["a.s0", "sn"]
tk.kernel @strides(%a: !tk.view<f16, 2, 0>, %c: !tk.view<f16, 2, 1>) attributes {contract = #tk.contract<{kernel = "strides", instance = {},
    args = [{name = "a", kind = "tensor", dtype = "f16", access = "in", extents = ["M", "N"], strides = ["a.s0", "sn"], align = 2},
            {name = "c", kind = "tensor", dtype = "f16", access = "in", extents = ["M", "N"], strides = ["c.s0", "sn"], align = 2}],
    grid = ["M", 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["eq", "a.s1", 1], text = "a.stride(1) == 1"}, {index = 1, expr = ["eq", 1, "a.s0"], text = "1 == a.stride(0)"},
                {index = 2, expr = ["eq", "sn", 2], text = "sn == 2"}]}>} {
  tk.return
}

// Extents, and the grid where it is an extent; scalars in the body; a number that the type has not says nothing.
// CHECK-LABEL: tk.kernel @numbers__fact0(
// CHECK-SAME:    extents = [7]
// CHECK-SAME:    grid = [7, 1, 1]
// CHECK-SAME:    specialized = {{\[}}["eq", "N", 7], ["eq", "n", 3]]
// CHECK:         %[[N:.*]] = arith.constant 3 : i32
// CHECK:         arith.addi %[[N]], %[[N]]
// CHECK-LABEL: tk.kernel @numbers__fact0__any(
// CHECK-LABEL: tk.kernel @numbers__fact1(
// CHECK-SAME:    specialized = []
// CHECK:         arith.addi %arg1, %arg1
// CHECK-LABEL: tk.kernel @numbers__fact2(
// CHECK-SAME:    specialized = {{\[}}"flag"]
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         tk.assume %[[TRUE]]
// CHECK-LABEL: tk.kernel @numbers__fact3(
// CHECK-SAME:    specialized = {{\[}}["not", "flag"], ["eq", "u", 4294967295]]
// CHECK:         %[[U:.*]] = arith.constant -1 : i32
// CHECK:         %[[FALSE:.*]] = arith.constant false
// CHECK:         arith.addi %[[U]], %arg1
// CHECK:         tk.assume %[[FALSE]]
tk.kernel @numbers(%x: !tk.view<f32, 1, 0>, %n: i32, %flag: i1, %u: i32) attributes {contract = #tk.contract<{kernel = "numbers", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "n", kind = "scalar", dtype = "i32"}, {name = "flag", kind = "scalar", dtype = "i1"}, {name = "u", kind = "scalar", dtype = "u32"}],
    grid = ["N", 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["and", ["eq", "N", 7], ["eq", "n", 3]], text = "N == 7 && n == 3"},
                {index = 1, expr = ["eq", "n", 3000000000], text = "n == 3000000000"}, {index = 2, expr = "flag", text = "flag"},
                {index = 3, expr = ["and", ["not", "flag"], ["eq", "u", 4294967295]], text = "!flag && u == 4294967295"}]}>} {
  %sum = arith.addi %n, %n : i32
  %other = arith.addi %u, %n : i32
  tk.assume %flag
  tk.return
}

// Whether an optional tensor is there.
// CHECK-LABEL: tk.kernel @presence__fact0(
// CHECK-SAME:    specialized = {{\[}}["not", ["ne", "b.ptr", 0]]]
// CHECK:         %[[NO:.*]] = arith.constant false
// CHECK-NEXT:    tk.assume %[[NO]]
// CHECK-LABEL: tk.kernel @presence__fact1(
// CHECK:         %[[YES:.*]] = arith.constant true
// CHECK-NEXT:    tk.assume %[[YES]]
// CHECK-LABEL: tk.kernel @presence(
// CHECK:         tk.present
tk.kernel @presence(%b: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{kernel = "presence", instance = {},
    args = [{name = "b", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4}],
    grid = ["N", 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["not", ["ne", "b.ptr", 0]], text = "!b"}, {index = 1, expr = ["ne", "b.ptr", 0], text = "b"}]}>} {
  %there = tk.present %b : !tk.view<f32, 1, 0>
  tk.assume %there
  tk.return
}

// Multiples and bounds are facts in both copies. Of two multiples the fast one takes the larger power of two; bounds are
// written as "at most" and "at least". A condition that nothing can be made of is dropped.
// CHECK-LABEL: tk.kernel @facts__fact0(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "x.ptr"], ["divides", 8, "N"]]
// CHECK-LABEL: tk.kernel @facts__fact0__any(
// CHECK-SAME:    facts = {{\[}}["divides", 4, "N"]]
// CHECK-LABEL: tk.kernel @facts__fact1(
// CHECK-SAME:    facts = {{\[}}["divides", 64, "N"], ["divides", 16, "x.ptr"]]
// CHECK-LABEL: tk.kernel @facts__fact2(
// CHECK-SAME:    facts = {{\[}}["le", "N", 99], ["ge", "N", 1], ["divides", 16, "x.ptr"], ["divides", 8, "N"]]
// CHECK-LABEL: tk.kernel @facts__fact2__any(
// CHECK-SAME:    facts = {{\[}}["le", "N", 99], ["ge", "N", 1]]
// CHECK-LABEL: tk.kernel @facts__fact3(
// CHECK-SAME:    facts = {{\[}}["le", "N", 5], ["ge", "N", 6],
// CHECK-LABEL: tk.kernel @facts__fact4__any(
// CHECK-SAME:    facts = [],
// CHECK-SAME:    specialized = []
// A bound or multiple of what has no value for the host, or that no number is, is none.
// CHECK-LABEL: tk.kernel @facts__fact5__any(
// CHECK-SAME:    facts = [],
// CHECK-SAME:    specialized = []
tk.kernel @facts(%x: !tk.view<f16, 1, 0>, %h: i64, %b: i1) attributes {contract = #tk.contract<{kernel = "facts", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f16", access = "in", extents = ["N"], strides = [1], align = 2},
            {name = "h", kind = "scalar", dtype = "u64"}, {name = "b", kind = "scalar", dtype = "i1"}],
    grid = ["N", 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["divides", 4, "N"], text = "N % 4 == 0"}, {index = 1, expr = ["divides", 64, "N"], text = "N % 64 == 0"},
                {index = 2, expr = ["and", ["lt", "N", 100], ["lt", 0, "N"]], text = "0 < N < 100"},
                {index = 3, expr = ["and", ["ge", 5, "N"], ["gt", "N", 5]], text = "5 >= N && N > 5"},
                {index = 4, expr = ["and", ["ne", "N", 3], ["or", ["eq", "N", 1], ["eq", "N", 2]], ["gt", "N", 9223372036854775807]], text = "..."},
                {index = 5, expr = ["and", ["eq", "h", 3], ["divides", 16, "h"], ["le", "h", 100], ["ne", "b", 2], ["divides", 0, "N"]], text = "..."}]}>} {
  tk.return
}

// Of an axis of one element the stride is any number, unless the program asks for it: there of `a`, not of `c`.
// CHECK-LABEL: tk.kernel @asked__fact0(
// CHECK-SAME:    specialized = {{\[}}["eq", "a.s0", 8]]
// CHECK-LABEL: tk.kernel @asked__fact1(
// CHECK-SAME:    specialized = {{\[}}["or", ["eq", "c.s0", 8], ["le", "c.e0", 1]]]
tk.kernel @asked(%a: !tk.view<f16, 2, 0>, %c: !tk.view<f16, 2, 1>) attributes {contract = #tk.contract<{kernel = "asked", instance = {},
    args = [{name = "a", kind = "tensor", dtype = "f16", access = "in", extents = ["M", "N"], strides = ["a.s0", 1], align = 2},
            {name = "c", kind = "tensor", dtype = "f16", access = "in", extents = ["M", "N"], strides = ["c.s0", 1], align = 2}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["eq", "a.s0", 8], text = "..."}, {index = 1, expr = ["eq", "c.s0", 8], text = "..."}]}>} {
  %s = tk.stride %a, 0 : !tk.view<f16, 2, 0>
  tk.return
}
}
