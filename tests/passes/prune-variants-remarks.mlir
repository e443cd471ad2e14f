// RUN: tk-opt %s --tk-prune-variants --verify-diagnostics

// Once for the fact, not for each of its two variants.
#facts = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {},
    variants = [{index = 0, expr = ["divides", 2, "n"], text = "n % 2 == 0"}, {index = 1, expr = ["divides", 4, "n"], text = "n % 4 == 0"}]}>
// expected-remark @+1 {{TK4112: no variant of k is made for `n % 2 == 0`: nothing in its code rests on that fact of @variants}}
tk.kernel @k__fact0(%n: i64) attributes {contract = #facts, variant_of = "k", fact = 0 : i64, specialized = [],
    facts = [["divides", 2, "n"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @k__fact0__any(%n: i64) attributes {contract = #facts, variant_of = "k", fact = 0 : i64, specialized = [],
    facts = [["divides", 2, "n"]], tkg.used_facts = []} {
  tk.return
}
tk.kernel @k__fact1(%n: i64) attributes {contract = #facts, variant_of = "k", fact = 1 : i64, specialized = [],
    facts = [["divides", 4, "n"]], tkg.used_facts = [["divides", 4, "n"]]} {
  %code = arith.constant 4 : i64
  tk.return
}
tk.kernel @k(%n: i64) attributes {contract = #facts, variant_of = "k"} {
  tk.return
}
