"""Statements and functions: the part of Python that Triton accepts, and what it refuses."""

from row import Row

STATEMENTS = [
    Row("`for i in range(a, b, s)`", "`for i in range(a, b, s) { }`",
        "a negative or run-time step counts as written",
        """
var total = 0
for i in range(k, -1, -2) { total += i }
assert(total == 5 + 3 + 1)
""", "run/negative-run-time-step.tk"),
    Row("`tl.range(num_stages=, loop_unroll_factor=)`", "`@pipeline(stages=3)`, `@unroll(4)`",
        "before the loop; `@pipeline` copies tiles ahead, `@unroll` has no effect yet",
        """
var total = zeros[f32](16)
@pipeline(stages=3) @unroll(4)
for i in range(k) { total += x[i, :] }
assert(total == sum(x[0 +: 5, :], axis=0))
""", "run/store-then-load-in-nest.tk", "@pipeline"),
    Row("`tl.range(flatten=, warp_specialize=, disable_licm=)`",
        "`@flatten`, `@warp_specialize`, `@no_licm`", "take a truth value, so a configuration can choose; kept, without effect yet",
        """
var count = 0
@flatten
for i in range(k) {
    for j in range(i) { count += 1 }
}
@warp_specialize @no_licm
for i in range(k) { count += 1 }
assert(count == 15)
""", "run/flattened-empty-inner-loop.tk", "@flatten"),
    Row("`tl.range(disallow_acc_multi_buffer=)`", "none", "the compiler decides"),
    Row("`static_range`", "`static_range(a, b)`", "up to 4096 trips",
        """
var total = 0
for i in static_range(4) { total += len(full(1, i + 1).shape) }
assert(total == 4)
""", "run/unrolled-run-time-guard.tk"),
    Row("`while`, `tl.condition`", "`while c { }`", "`@no_licm while c { }`",
        """
var left = k
while left > 1 { left = left // 2 }
assert(left == 1)
""", "run/while-values-change-places.tk", "while"),
    Row("`if`, `elif`, `else`", "`if c { } else if d { } else { }`", "",
        """
var kind = 0
if k > 7 { kind = 1 } else if k > 4 { kind = 2 } else { kind = 3 }
assert(kind == 2)
""", "frontend/lower-control.tk", "else if"),
    Row("`a if c else b`", "`if c { a } else { b }`", "",
        """
assert((if k > 4 { s } else { 0.0 }) == 2.5)
""", "frontend/lower-control.tk", "else {"),
    Row("`return` in a top-level `if`", "`return` anywhere", "in loops too",
        """
fn first_above(t: f32[M, N], low) {
    for i in range(N) {
        if t[0, i] > low { return i }
    }
    return -1
}
---
assert(first_above(x, s) == 3)
""", "run/early-exits.tk", "return"),
    Row("no `break`, no `continue`", "`break`, `continue`", "",
        """
var total = 0
for i in range(100) {
    if i % 2 == 0 { continue }
    if i > k { break }
    total += i
}
assert(total == 9)
""", "run/early-exits.tk", "break"),
    Row("names bound first in a loop are gone after it", "the same", "",
        """
if k > 4 { let inner = 1 }
assert(inner == 1)
""", "frontend/sema-errors-names.tk", "TK2001", error="TK2001"),
    Row("a name may change its type before a loop", "a `var` keeps its type", "`let` may be hidden in an inner block",
        """
var a = s
a = n[0, :]
assert(a == 0.0)
""", "frontend/sema-errors-numbers.tk", "TK2021", error="TK2021"),
    Row("`x += y`, `x: tl.float32 = y`", "`x += y`, `var x: f32 = y`", "",
        """
var v: f64 = s.to(f64)
v += 1.0
assert(v == 3.5)
""", "run/functions.tk", "+="),
    Row("multi-target assignment is refused", "`let (q, r) = divmod(a, b)`", "a pattern; one target otherwise",
        """
let (q, r) = divmod(k, 3)
assert(q == 1 && r == 2)
""", "run/masked-load-without-fill.tk", "divmod"),
    Row("members of tuples and attributes do not change", "`t.0 = v`, `s.total = v` of a `var`", "",
        """
var t = (k, s)
t.0 += 1
assert(t.0 == 6)
""", "run/structs.tk", "state.total +="),
    Row("`assert`", "`assert(c, \"text\")`", "",
        """
assert(k == 5, "k is what was given")
""", "run/promises-errors.tk"),
    Row("f-strings of constexprs", "`static_print(a, b)`, `print(\"text\", a)`", "no text is computed",
        """
static_print("tile", x[0, :].shape)
print("k = ", k)
assert(k == 5)
""", "frontend/lower-debug.tk"),
    Row("tuples, list literals", "`(a, b)`, `[a, b]`", "",
        """
var total = 0
for (at, weight) in [(1, 2), (3, 4)] { total += at * weight }
assert(total == 14)
""", "run/early-exits.tk", "in ["),
    Row("list comprehension over a static sequence", "`for v in [1, 2, 4] { }` unrolls", "there are no lists to append to",
        """
var total = 0
for v in [1, 2, 4] { total += sum(full(v, v)) }
assert(total == 21)
""", "frontend/lower-exits.tk", " in ["),
    Row("default and keyword arguments, keyword-only ones (3.9)",
        "`fn f(x, scale: f32 = 1.0)`, `f(x, scale=2.0)`", "any parameter may be named, none must be",
        """
fn f(x, scale: f32 = 1.0) { return x * scale }
---
assert(f(s) == 2.5 && f(s, scale=2.0) == 5.0)
""", "frontend/lower-functions.tk", "fn "),
    Row("`f(*args)`", "a tuple as one parameter", "`args.0`, `args[i]`, `len(args)`",
        """
fn total(args) {
    var sum = 0.0
    for i in static_range(len(args)) { sum += args[i] }
    return sum
}
---
assert(total((s, 1.0, s)) == 6.0)
""", "frontend/lower-compile-time.tk", "len("),
    Row("calls of other `@jit` functions, `noinline`", "`fn`", "always inlined",
        """
fn twice(v) { return v + v }
---
assert(twice(x[0, :]) == 2.0 * x[0, :])
""", "run/functions.tk", "fn "),
    Row("recursion with another specialization", "recursion that ends at compile time", "64 calls deep",
        """
fn power(v, const n: int) { return if n == 0 { v / v } else { v * power(v, n - 1) } }
---
assert(power(s, 3) == 15.625)
""", "frontend/lower-functions.tk", "n - 1"),
    Row("`constexpr_function`", "any pure `fn` whose arguments are known", "no Python of the host",
        """
fn lg(n) {
    var bits = 0
    while (1 << bits) < n { bits += 1 }
    return bits
}
const BITS = lg(64)
---
assert(full(1, BITS).shape == (6,))
""", "frontend/lower-compile-time.tk", "const "),
    Row("nested `def` and `lambda` are refused", "`fn(a, b) { return a + b }`", "closures see the names around them",
        """
let shift = fn(v) { return v + s }
assert(shift(1.0) == 3.5)
""", "frontend/lower-closures.tk", "fn("),
    Row("`and`, `or`, `not` on scalars", "`&&`, `||`, `!`", "`&`, `|`, `!` on tiles",
        """
assert(k > 4 && !(k > 5 || s < 0.0))
assert((x[0, :] >= 0.0) & !(x[0, :] > 15.0))
""", "frontend/lower-control.tk", "&&"),
    Row("`is None`, `is not None` on constexpr", "`bias: f32[N]?`, `if bias { }`", "an absent tensor or pointer",
        """
kernel row(in x: f32[N], in bias: f32[N]?) @grid(1) {
    var v = x[0]
    if bias { v += bias[0] }
    assert(v == 1.0)
}
""", "frontend/lower-optional.tk", "]?", args="x=ones:4"),
    Row("chained comparisons (3.9)", "`a <= v < b`", "also on tiles",
        """
assert(0 <= k < 6)
assert(0.0 <= x[0, :] < 16.0)
""", "frontend/parse-grammar.tk", "<"),
    Row("`x[None, :]`, no other slices", "`t[None, :]`, `t[2:4, ::2]`, `t[3, :]`", "parts of a `var` tile are assigned",
        """
let t = x[:, :]
assert(t[2:4, ::2].shape == (2, 8) && sum(t[3, :][None, :]) == 48.0 * 16.0 + 120.0)
""", "frontend/lower-subscripts.tk", "None"),
    Row("`try`, dictionaries, sets, `with`", "none", "refused by both; contexts are for Gluon and Proton"),
    Row("globals must be `constexpr`", "`const N = 4`", "also of functions and structures",
        """
const N = 4
---
assert(full(1.0, N) == 1.0)
""", "frontend/lower-compile-time.tk", "const "),
    Row("`import` of Python modules", "`import \"nn.tk\"`, `import std.nn`", "found beside the file or by `-I`",
        """
import std.nn
---
assert(nn.relu(x[0, :] - 3.0) >= 0.0)
""", "frontend/lower-modules.tk", "import"),
]
