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
tk.kernel @one_fact_used(%n: i64) attributes {contract = #contract,
    facts = [["divides", 16, "x.ptr"], ["divides", 16, "n"]], tkg.used_facts = [["divides", 16, "x.ptr"]]} {
  tk.return
}
tk.kernel @one_fact_used__any(%n: i64) attributes {contract = #contract} {
  tk.return
}

// When no fact is used the kernel is unconditional, and the only one.
// CHECK-LABEL: tk.kernel @no_fact_used(
// CHECK-NOT:     facts
// CHECK-NOT:   @no_fact_used__any
tk.kernel @no_fact_used(%n: i64) attributes {contract = #contract,
    facts = [["divides", 16, "n"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @no_fact_used__any(%n: i64) attributes {contract = #contract} {
  tk.return
}

// A kernel that was never split keeps its name and stays alone.
// CHECK-LABEL: tk.kernel @never_split(
// CHECK-NOT:     tkg.used_facts
tk.kernel @never_split(%n: i64) attributes {contract = #contract} {
  tk.return
}
