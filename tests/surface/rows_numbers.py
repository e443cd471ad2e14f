"""Operations: indexing, arithmetic, functions, reductions, scans, random numbers."""

from row import Row

INDEXING = [
    Row("`where(c, a, b)`", "`where(c, a, b)`", "memberwise on tuples and structures",
        """
let t = where(k > 4, (k, s), (0, 0.0))
assert(t.0 == 5)
assert(where(x[0, :] > 3.0, 1, 0) == (x[0, :] > 3.0).to(i32))
""", "frontend/lower-builtins.tk"),
    Row("`gather(src, index, axis)`", "`gather(x, index, axis=0)`", "out of range gives 0, and the interpreter reports it",
        """
assert(gather(x[0, :], 15 - arange(0, 16), axis=0) == flip(x[0, :]))
""", "frontend/lower-collectives.tk"),
    Row("`swizzle2d(i, j, size_i, size_j, size_g)`", "`swizzle2d(id, rows, columns, group)`", "takes the linear id",
        """
let (r, col) = swizzle2d(k, 4, 3, 2)
assert(r == 1 && col == 2)
""", "frontend/lower-modules.tk"),
]

ARITHMETIC = [
    Row("`+ - * / // % & | ^ ~ << >>` and comparisons", "the same", "`//` and `%` of integers, `/` of floats",
        """
assert((k + 1) * 2 - 3 == 9 && k % 3 << 2 == 8 && (k & 4 | 3 ^ 1) == 6)
assert(~n[0, :] == -1 - n[0, :])
""", "run/integer-corners.tk", "//"),
    Row("`add`, `sub`, `mul`", "`+`, `-`, `*`", "",
        """
assert(x[0, :] + x[0, :] - x[0, :] * 2.0 == 0.0)
""", "frontend/lower-math.tk", "+"),
    Row("`minimum`, `maximum` with `propagate_nan=PropagateNan.ALL`", "`minimum(a, b)`, `maximum(a, b, nan=\"number\")`",
        "NaN propagates unless told otherwise",
        """
let bad = full[f32](nan, 4)
assert(isnan(maximum(bad, 1.0)) & (maximum(bad, 1.0, nan="number") == 1.0))
assert(minimum(k, 3) == 3)
""", "frontend/lower-math.tk", "nan="),
    Row("`clamp(x, min, max)`", "`clamp(x, low, high)`", "",
        """
assert(clamp(x[0, :], 2.0, 5.0) == minimum(maximum(x[0, :], 2.0), 5.0))
""", "frontend/lower-builtins.tk"),
    Row("`cdiv`", "`cdiv(a, b)`", "",
        """
assert(cdiv(k, 2) == 3)
""", "frontend/lower-builtins.tk"),
    Row("`fma`", "`fma(a, b, c)`", "",
        """
assert(fma(s, 2.0, 1.0) == 6.0)
""", "frontend/lower-builtins.tk", "fma"),
    Row("`fdiv(ieee_rounding)`, `fdiv(approx)` (3.9), `div_rn`", "`fdiv(a, b)`, `div_rn(a, b)`, `/`", "all three rounded correctly",
        """
assert(fdiv(s, 3.0) == s / 3.0 && div_rn(s, 3.0) == s / 3.0)
""", "frontend/lower-math.tk"),
    Row("`umulhi`", "`umulhi(a, b)`, `mulhi(a, b)`", "without and with sign",
        """
assert(umulhi(n[0, :].to(u32) + 4294967280, 4294967295) > 4294967270)
assert(mulhi(n[0, :] - 20, 2) == -1)
""", "run/oracle/function_cases.py", "mulhi"),
]

FUNCTIONS = [
    Row("`abs exp exp2 log log2 sin cos sqrt rsqrt erf floor ceil`", "the same names", "f16 and bf16 directly",
        """
let v = abs(x[0, :]) + 1.0
assert(abs(log2(exp2(v)) - v) < 0.001)
assert(abs(log(exp(v.to(f16)).to(f32)) - v) < 0.1, "", mask=v < 10.0)
assert(abs(sin(v) * sin(v) + cos(v) * cos(v) - 1.0) < 0.001)
assert(abs(sqrt(v) * rsqrt(v) - 1.0) < 0.001)
assert((floor(s) == 2.0) & (ceil(s) == 3.0) & (erf(v) > 0.8))
""", "run/oracle/function_cases.py", "erf"),
    Row("`sqrt_rn`", "`sqrt(x)`, `sqrt_rn(x)`", "both rounded correctly",
        """
assert(sqrt_rn(x[0, :] * x[0, :]) == x[0, :])
assert(sqrt(s * s) == s)
""", "frontend/lower-math.tk", "sqrt_rn"),
    Row("`sigmoid`", "`sigmoid(x)`", "",
        """
assert(sigmoid(x[0, 0]) == 0.5)
""", "run/oracle/function_cases.py", "sigmoid"),
    Row("`softmax(x, dim)`", "`softmax(x, axis=-1)`", "right for every axis",
        """
assert(abs(sum(softmax(x[:, :], axis=0), axis=0) - 1.0) < 1.0e-5)
""", "run/std/nn.tk"),
    Row("`libdevice`: `tanh pow round trunc tan sinh cosh asin acos atan asinh acosh atanh atan2 hypot fmod copysign`",
        "the same names", "no import; `round` to even",
        """
let v = x[0, :] * 0.0625
assert(abs(tanh(v) - sinh(v) / cosh(v)) < 1.0e-5)
assert(abs(asin(sin(v)) + acos(cos(v)) + atan(tan(v)) - 3.0 * v) < 1.0e-4)
assert(abs(asinh(sinh(v)) + atanh(tanh(v)) + acosh(cosh(v)) - 3.0 * v) < 1.0e-2)
assert(abs(hypot(v, v) - pow(2.0, 0.5) * v) < 1.0e-5)
assert((round(s) == 2.0) & (trunc(-s) == -2.0) & (copysign(s, -1.0) == -2.5))
assert(abs(atan2(v, 1.0) - atan(v)) < 1.0e-6)
""", "run/oracle/function_cases.py", "atan2"),
    Row("`libdevice`: `exp10 expm1 log10 log1p cbrt erfc erfinv lgamma`", "the same names", "",
        """
assert(abs(log10(exp10(s)) - s) < 1.0e-5 && abs(log1p(expm1(s)) - s) < 1.0e-5)
assert(abs(cbrt(s * s * s) - s) < 1.0e-5 && abs(erfc(0.5 * s) + erf(0.5 * s) - 1.0) < 1.0e-5)
assert(abs(erfinv(erf(0.25 * s)) - 0.25 * s) < 1.0e-5 && abs(lgamma(s + 0.5) - LN2) < 1.0e-5)
""", "run/oracle/function_cases.py", "lgamma"),
    Row("`libdevice`: `isnan isinf finitef popc clz brev mulhi`",
        "`isnan isinf isfinite popcount clz ctz brev mulhi`", "",
        """
assert(isnan(full[f32](nan, 2)) & isinf(full[f32](inf, 2)) & isfinite(s))
assert((popcount(n[0, 5]) == 2) & (clz(n[0, 1]) == 31) & (ctz(n[0, 4]) == 2))
assert(brev(n[0, 1].to(u32)) == 2147483648)
""", "run/oracle/function_cases.py", "popcount"),
    Row("`libdevice`: `fdim saturatef signbitf rcbrt rhypot norm3d normcdf sinpi cospi ffs hadd rhadd sad`",
        "`math.fdim(x, y)` and the like", "`import std.math`; also `rotl`, `rotr`",
        """
import std.math
---
assert(math.fdim(s, 1.0) == 1.5 && math.saturate(s) == 1.0 && !math.signbit(s) && math.ffs(k) == 1)
assert(abs(math.sinpi(s) - 1.0) < 1.0e-6 && math.hadd(k, 2) == 3 && math.sad(k, 8, 1) == 4)
""", "run/std/math.tk", "math.fdim("),
    Row("`libdevice`: other names, `extern_elementwise`",
        "`extern_elementwise(\"__nv_j0f\", x, dtype=f32)`", "`reference=` says what the interpreter runs",
        """
assert(extern_elementwise("__nv_fdimf", s, 1.0, dtype=f32, reference=fn(a, b) { return maximum(a - b, 0.0) }) == 1.5)
""", "frontend/lower-collectives.tk"),
    Row("`inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)`",
        "`inline_asm_elementwise(asm, constraints, a, f32, pure=true, reference=exp2)`",
        "the reference is what the interpreter runs",
        """
let v = inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", x[0, 0 +: 4], f32, pure=true, reference=exp2)
assert(abs(v - exp2(x[0, 0 +: 4])) < 0.001)
""", "frontend/lower-collectives.tk"),
    Row("`map_elementwise(fn, *args, pack)`", "`map_elementwise(f, a, b)`", "branches and loops for each element alone",
        """
let steps = map_elementwise(fn(v) {
    var left = v
    var count = 0
    while left > 1 {
        left = left // 2
        count += 1
    }
    return count
}, n[0, :])
assert(steps[8] == 3 && steps[1] == 0)
""", "frontend/lower-collectives.tk"),
]

REDUCTIONS = [
    Row("`reduce(x, axis, fn, keep_dims)`", "`reduce(x, f, axis=0, keep_dims=true)`",
        "tuples too; no axis: all elements; the lower index on the left",
        """
assert(reduce(x[:, :], fn(a, b) { return maximum(a, b) }, axis=1, keep_dims=true) == x[:, 15][:, None])
""", "frontend/lower-reductions.tk"),
    Row("`sum(x, axis, keep_dims, dtype)`", "`sum(x.to(f64), axis=1)`",
        "i8, i16, i1 sum in i32, f16 and bf16 in f32",
        """
static_assert(sum(x[0, :].to(f16)).dtype == f32)
assert(sum(x[:, :].to(f64), axis=1) == 256.0 * arange(0, 16).to(f64) + 120.0)
""", "run/oracle/collective_cases.py", "sum"),
    Row("`max`, `min` with `return_indices`, `return_indices_tie_break_left`",
        "`max(x, axis=1, return_indices=true)`, `min(x, axis=1)`", "ties to the lowest index",
        """
let (v, at) = max(x[:, :], axis=1, return_indices=true)
assert((at == 15) & (v - min(x[:, :], axis=1) == 15.0))
""", "frontend/lower-reductions.tk"),
    Row("`argmax`, `argmin` with `tie_break_left`", "`argmax(x, axis=1)`, `argmin(x, axis=1)`",
        "ties to the lowest index; NaN is beyond every number",
        """
assert(argmax(where(x[0, :] == 3.0, nan, x[0, :]), axis=0) == 3 && argmin(x[0, :], axis=0) == 0)
""", "frontend/lower-reductions.tk"),
    Row("`xor_sum`", "`xor_sum(x, axis=0)`", "also `prod`, `any`, `all`",
        """
assert(xor_sum(n[0, 0 +: 8], axis=0) == 0 && any(x[0, :] > 3.0) && !all(x[0, :] > 3.0))
""", "frontend/lower-reductions.tk"),
    Row("`reduce_or`", "`reduce_or(x, axis=0)`, `or_sum(x, axis=0)`", "",
        """
assert(reduce_or(n[0, 0 +: 8], axis=0) == 7 && or_sum(n[0, 0 +: 8]) == 7)
""", "frontend/lower-reductions.tk"),
]

SCANS = [
    Row("`associative_scan(x, axis, fn, reverse)`", "`scan(x, f, axis=0, reverse=true)`",
        "`associative_scan` too; tuples",
        """
let up = scan(x[0, :], fn(a, b) { return a + b }, axis=0)
assert(up == cumsum(x[0, :]))
assert(associative_scan(up, fn(a, b) { return maximum(a, b) }) == up)
""", "frontend/lower-reductions.tk", "associative_scan"),
    Row("`cumsum(x, axis, reverse, dtype)`, `cumprod`", "`cumsum(x, axis=0)`, `cumprod(x, axis=0)`",
        "i1 counts in i32; also `cummax`, `cummin`",
        """
assert(cumsum(x[0, :] >= 0.0) == arange(1, 17))
assert(cumprod(full(2, 5)) == 2 << arange(0, 5))
assert(cummax(flip(x[0, :])) == 15.0)
""", "frontend/lower-reductions.tk"),
    Row("`histogram(x, num_bins, mask)`", "`histogram(x, 16, mask=m)`", "other values count nowhere; any integers, any rank",
        """
assert(histogram(n[0, :] // 4, 3) == 4)
""", "run/oracle/collective_cases.py", "histogram"),
    Row("`sort(x, dim, descending)`", "`sort(x, axis=-1, descending=true)`", "gives (values, indices), stable, any axis",
        """
let (v, at) = sort(x[0, :], descending=true)
assert((v == flip(x[0, :])) & (at == 15 - arange(0, 16)))
""", "frontend/lower-collectives.tk"),
    Row("`topk(x, k, dim, descending)`", "`topk(x, 3, axis=-1)`", "gives (values, indices), any k from 1",
        """
assert(topk(x[0, :], 3).1 == 15 - arange(0, 3))
assert(topk(x[0, :], 1, axis=-1, descending=false).0 == 0.0)
""", "frontend/lower-collectives.tk"),
    Row("`bitonic_merge`", "`sort(x)`", "",
        """
assert(sort(cat(x[0, :], flip(x[0, :]))).0[::2] == x[0, :])
""", "run/oracle/collective_cases.py", "sort"),
]

RANDOM = [
    Row("`philox(seed, c0, c1, c2, c3, n_rounds)`, `philox_impl`", "`philox(seed, c0, c1, c2, c3)`", "the same numbers",
        """
let zero = zeros[u32](4)
assert(philox(0, zero, zero, zero, zero).0 == 0x6627e8d5)
""", "run/philox-known-answers.tk"),
    Row("`randint`, `randint4x`", "`randint(seed, offset)`, `randint4x(seed, offset)`", "counters of 64 bits",
        """
assert(randint(7, arange(0, 8)) == randint4x(7, arange(0, 8)).0)
""", "run/std/random.tk"),
    Row("`rand`, `rand4x`", "`rand(seed, offset)`, `rand4x(seed, offset)`", "`rand_open` leaves out 0",
        """
let u = rand(7, arange(0, 8))
assert((u >= 0.0) & (u < 1.0) & (u == rand4x(7, arange(0, 8)).0) & (rand_open(7, arange(0, 8)) > 0.0))
""", "run/philox-known-answers.tk"),
    Row("`randn`, `randn4x`", "`randn(seed, offset)`, `randn4x(seed, offset)`", "",
        """
assert(randn(7, arange(0, 8)) == randn4x(7, arange(0, 8)).0)
""", "run/std/random.tk"),
    Row("`uint_to_uniform_float`, `pair_uniform_to_normal`",
        "`uint_to_uniform_float(bits)`, `pair_uniform_to_normal(u, v)`", "",
        """
let (a, z) = pair_uniform_to_normal(full[f32](0.5, 2), full[f32](0.0, 2))
assert((uint_to_uniform_float(zeros[u32](2)) == 0.0) & (abs(a - sqrt(2.0 * LN2)) < 1.0e-5) & (z == 0.0))
""", "run/std/random.tk", "pair_uniform_to_normal"),
]
