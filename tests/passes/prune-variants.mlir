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
// CHECK-NOT:     tkg.author_facts
// CHECK-NOT:   tk.kernel @several__fact0__any(
// CHECK-NOT:   tk.kernel @several__fact1
// CHECK-LABEL: tk.kernel @several__fact2(
// CHECK-SAME:    facts = {{\[}}["divides", 8, "n"]]
// CHECK-NOT:   tk.kernel @several__fact2__any(
// CHECK-NOT:   tk.kernel @several(
// CHECK-LABEL: tk.kernel @several__any(
#facts = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {},
    variants = [{expr = ["eq", "n", 1], text = "n == 1"}, {expr = ["divides", 2, "n"], text = "n % 2 == 0"}, {expr = ["divides", 4, "n"], text = "n % 4 == 0"}]}>
// Nothing but what it is made for.
tk.kernel @several__fact0(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 0 : i64, specialized = [["eq", "n", 1]], tkg.author_facts = [],
    facts = [["divides", 16, "x.ptr"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @several__fact0__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 0 : i64, specialized = [["eq", "n", 1]], tkg.author_facts = [],
    facts = [], tkg.used_facts = []} {
  tk.return
}
// Its fact is of no use.
tk.kernel @several__fact1(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 1 : i64, specialized = [], tkg.author_facts = [["divides", 2, "n"]],
    facts = [["divides", 2, "n"], ["divides", 16, "x.ptr"]], tkg.used_facts = [["divides", 16, "x.ptr"]]} {
  tk.return
}
tk.kernel @several__fact1__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 1 : i64, specialized = [], tkg.author_facts = [["divides", 2, "n"]],
    facts = [["divides", 2, "n"]], tkg.used_facts = []} {
  tk.return
}
// A larger multiple of the same name is a use of it: this one stands for the kernel's own, which is not reached.
tk.kernel @several__fact2(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 2 : i64, specialized = [], tkg.author_facts = [["divides", 4, "n"]],
    facts = [["divides", 8, "n"], ["divides", 16, "x.ptr"]], tkg.used_facts = [["divides", 8, "n"]]} {
  tk.return
}
tk.kernel @several__fact2__any(%n: i64) attributes {contract = #facts, variant_of = "several", fact = 2 : i64, specialized = [], tkg.author_facts = [["divides", 4, "n"]],
    facts = [["divides", 4, "n"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @several(%n: i64) attributes {contract = #facts, variant_of = "several", facts = [["divides", 8, "n"], ["divides", 16, "x.ptr"]],
    tkg.used_facts = [["divides", 8, "n"]]} {
  tk.return
}
tk.kernel @several__any(%n: i64) attributes {contract = #facts, variant_of = "several"} {
  tk.return
}
