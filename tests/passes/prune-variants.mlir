// RUN: tk-opt %s --tk-prune-variants | FileCheck %s

// As the head of PruneVariants.cpp has it:
//   tk.kernel @k {facts = [A, B], tkg.used_facts = [A]}, tk.kernel @k__any
// becomes
//   tk.kernel @k {facts = [A]}, tk.kernel @k__any
// and with tkg.used_facts = [] only
//   tk.kernel @k

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>

// A fact that the plan does not rest on goes; both variants stay.
// CHECK-LABEL: tk.kernel @one_fact_used(
// CHECK-SAME:    facts = {{\[}}["divides", 16, "x.ptr"]]
// CHECK-NOT:     tkg.used_facts
// CHECK-LABEL: tk.kernel @one_fact_used__any(
tk.kernel @one_fact_used(%n: i64) attributes {contract = #contract, variant_of = "one_fact_used",
    facts = [["divides", 16, "x.ptr"], ["divides", 16, "n"]], tkg.used_facts = [["divides", 16, "x.ptr"]]} {
  tk.return
}
tk.kernel @one_fact_used__any(%n: i64) attributes {contract = #contract, variant_of = "one_fact_used"} {
  tk.return
}

// When no fact is used the kernel is unconditional, and the only one.
// CHECK-LABEL: tk.kernel @no_fact_used(
// CHECK-NOT:     facts
// CHECK-NOT:   @no_fact_used__any
tk.kernel @no_fact_used(%n: i64) attributes {contract = #contract, variant_of = "no_fact_used",
    facts = [["divides", 16, "n"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @no_fact_used__any(%n: i64) attributes {contract = #contract, variant_of = "no_fact_used"} {
  tk.return
}

// A kernel that was never split keeps its name and stays alone.
// CHECK-LABEL: tk.kernel @never_split(
// CHECK-NOT:     tkg.used_facts
tk.kernel @never_split(%n: i64) attributes {contract = #contract} {
  tk.return
}

// Of the variants of a fact: what is reached is kept, in its order. The conditions of `specialized` are part of what a variant needs.
// CHECK-LABEL: tk.kernel @several__fact0(
// CHECK-SAME:    specialized = {{\[}}["eq", "n", 1]]
// CHECK-NOT:   tk.kernel @several__fact0__any(
// CHECK-NOT:   tk.kernel @several__fact1
// CHECK-LABEL: tk.kernel @several__fact2(
// CHECK-SAME:    facts = {{\[}}["divides", 8, "n"]]
// CHECK-LABEL: tk.kernel @several__fact2__any(
// CHECK-SAME:    facts = {{\[}}["divides", 4, "n"]]
// CHECK-NOT:   tk.kernel @several(
// CHECK-LABEL: tk.kernel @several__any(
#facts = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["eq", "n", 1], text = "n == 1"}, {index = 1, expr = ["divides", 64, "n"], text = "n % 64 == 0"},
                {index = 2, expr = ["divides", 4, "n"], text = "n % 4 == 0"}]}>
// Nothing but what it is made for: its twin is not reached.
tk.kernel @several__fact0(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 0 : i64, specialized = [["eq", "n", 1]],
    facts = [["divides", 16, "x.ptr"]], tkg.used_facts = []} {
  %code = arith.constant 1 : i64
  tk.return
}
tk.kernel @several__fact0__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 0 : i64, specialized = [["eq", "n", 1]],
    facts = [], tkg.used_facts = []} {
  %code = arith.constant 1 : i64
  tk.return
}
// The code is that of the kernel's own variants, which take these arguments too.
tk.kernel @several__fact1(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 1 : i64, specialized = [],
    facts = [["divides", 64, "n"], ["divides", 16, "x.ptr"]], tkg.used_facts = [["divides", 64, "n"]]} {
  %code = arith.constant 8 : i64
  tk.return
}
tk.kernel @several__fact1__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 1 : i64, specialized = [],
    facts = [["divides", 64, "n"]], tkg.used_facts = []} {
  %code = arith.constant 0 : i64
  tk.return
}
// One of two has code of its own. The other stays before it, although the kernel has that code: it stands for the kernel's, which is not reached.
tk.kernel @several__fact2(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 2 : i64, specialized = [],
    facts = [["divides", 8, "n"], ["divides", 16, "x.ptr"]], tkg.used_facts = [["divides", 8, "n"]]} {
  %code = arith.constant 8 : i64
  tk.return
}
tk.kernel @several__fact2__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 2 : i64, specialized = [],
    facts = [["divides", 4, "n"]], tkg.used_facts = [["divides", 4, "n"]]} {
  %code = arith.constant 4 : i64
  tk.return
}
tk.kernel @several(%n: i64) attributes {contract = #facts, variant_of = "several", facts = [["divides", 8, "n"], ["divides", 16, "x.ptr"]],
    tkg.used_facts = [["divides", 8, "n"]]} {
  %code = arith.constant 8 : i64
  tk.return
}
tk.kernel @several__any(%n: i64) attributes {contract = #facts, variant_of = "several"} {
  %code = arith.constant 0 : i64
  tk.return
}

// The same code in a contract of its own is other code; bounds are implied by narrower ones, and never by others.
// CHECK-LABEL: tk.kernel @bounds__fact0(
// CHECK-LABEL: tk.kernel @bounds__fact1(
// CHECK-NOT:   tk.kernel @bounds__fact2(
// CHECK-LABEL: tk.kernel @bounds__fact3(
// CHECK-LABEL: tk.kernel @bounds(
#own = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [7, 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["eq", "n", 1], text = "n == 1"}, {index = 1, expr = ["le", "n", 9], text = "n <= 9"},
                {index = 2, expr = ["le", "n", 4], text = "n <= 4"}, {index = 3, expr = ["ge", "n", 4], text = "n >= 4"}]}>
#plain = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = ["n", 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["eq", "n", 1], text = "n == 1"}, {index = 1, expr = ["le", "n", 9], text = "n <= 9"},
                {index = 2, expr = ["le", "n", 4], text = "n <= 4"}, {index = 3, expr = ["ge", "n", 4], text = "n >= 4"}]}>
tk.kernel @bounds__fact0(%n: i64) attributes {contract = #own, variant_of = "bounds", fact = 0 : i64, specialized = [["eq", "n", 1]]} {
  tk.return
}
tk.kernel @bounds__fact1(%n: i64) attributes {contract = #plain, variant_of = "bounds", fact = 1 : i64, specialized = [],
    facts = [["le", "n", 9]], tkg.used_facts = [["le", "n", 9]]} {
  %code = arith.constant 1 : i64
  tk.return
}
tk.kernel @bounds__fact2(%n: i64) attributes {contract = #plain, variant_of = "bounds", fact = 2 : i64, specialized = [],
    facts = [["le", "n", 4]], tkg.used_facts = [["le", "n", 4]]} {
  %code = arith.constant 2 : i64
  tk.return
}
tk.kernel @bounds__fact3(%n: i64) attributes {contract = #plain, variant_of = "bounds", fact = 3 : i64, specialized = [],
    facts = [["ge", "n", 4]], tkg.used_facts = [["ge", "n", 4]]} {
  %code = arith.constant 3 : i64
  tk.return
}
tk.kernel @bounds(%n: i64) attributes {contract = #plain, variant_of = "bounds"} {
  tk.return
}
