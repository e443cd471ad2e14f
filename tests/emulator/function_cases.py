"""Functions of numbers and of bits, regions, assembly, bits under other types, for compare.py."""

import numpy as np

import cases
import operations

COUNT = 256
# Functions of one number by the range of arguments that says something.
RANGES = {
    (-90, 90): ("exp", "exp2", "expm1", "sinh", "cosh", "sigmoid", "tanh"),
    (-37, 37): ("exp10",),
    (0, 1e5): ("log", "log2", "log10", "rsqrt", "sqrt"),
    (-30, 30): ("sin", "cos", "tan", "atan", "asinh", "lgamma"),
    (-1, 1): ("asin", "acos", "atanh", "erfinv"),
    (-0.999, 50): ("log1p",),
    (1, 1e4): ("acosh",),
    (-5, 5): ("erf", "erfc"),
    (-1e5, 1e5): ("cbrt",),
}
WHOLE = ("floor(A)", "ceil(A)", "trunc(A)", "round(A)", "abs(A)")
BOTH = ("copysign(A, B)", "fmod(A, B)")
TESTS = ("isnan(A)", "isinf(A)", "isfinite(A)")
SPECIAL = np.array((0, -0.0, np.nan, np.inf, -np.inf, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 3, 7, 1e-3,
                    100))


def store(values, dtype):
    if dtype == "bf16":
        return operations.bits_of_bf16(values).astype(np.uint16)
    return values.astype(cases.DTYPES[dtype])


def blocks(name, dtype, texts, values):
    """A case whose kernel takes `COUNT` elements at a time."""
    outputs = "".join(f",\n         out y{n}: {dtype}[N]" for n in range(len(texts)))
    body = "".join(f"    y{n}[i +: {COUNT}] = {text}\n" for n, text in enumerate(texts))
    source = f"""kernel k(in a: {dtype}[N]{outputs}) @grid(N // {COUNT}) {{
    let i = program_id(0) * {COUNT}
    let A = a[i +: {COUNT}]
{body}}}"""
    arrays = {"a": store(values, dtype)}
    arrays.update({f"y{n}": cases.zeros(dtype, len(values)) for n in range(len(texts))})
    return cases.Case(name, source, arrays, placements=(cases.ALIGNED,))


def functions(count=COUNT):
    """Each function of one number over its range and at special places."""
    result = []
    for (low, high), names in RANGES.items():
        for dtype in cases.FLOATS:
            random = cases.random_for(f"functions {low} {dtype}")
            values = random.uniform(low, high, count)
            values[: len(SPECIAL)] = SPECIAL
            texts = [f"{name}(A)" for name in names]
            result.append(blocks(f"{dtype} {' '.join(names)}", dtype, texts, values))
    return result


def pairs():
    """Functions of two numbers, exact functions of floats, and bits of integers."""
    result = []
    for dtype in cases.FLOATS:
        random = cases.random_for("pairs " + dtype)
        a = random.standard_normal(COUNT) * 10 ** random.uniform(-2, 3, COUNT)
        b = random.standard_normal(COUNT) * 3
        a[:16], b[:16] = SPECIAL, np.roll(SPECIAL, 3)
        a[16:32], b[16:32] = SPECIAL, SPECIAL
        arrays = {"a": store(a, dtype), "b": store(b, dtype)}
        texts = [(dtype, text) for text in WHOLE + BOTH] + [("i1", text) for text in TESTS]
        result.append(cases.elementwise(f"exact {dtype}", dtype, texts, arrays))
        texts = [(dtype, text) for text in ("atan2(A, B)", "hypot(A, B)", "pow(abs(A), B)",
                                            "pow(A, round(B))")]
        result.append(cases.elementwise(f"two numbers {dtype}", dtype, texts, arrays, exact=False))
    for dtype in cases.INTEGERS:
        random = cases.random_for("bits " + dtype)
        a = cases.corners(dtype, random)
        texts = [(dtype, text) for text in ("mulhi(A, B)", "umulhi(A, B)", "popcount(A)", "clz(A)",
                                            "ctz(A)", "brev(A)", "maximum(maximum(A, B), 0)", "maximum(minimum(A, B), 0)")]
        arrays = {"a": a, "b": random.permutation(a)}
        result.append(cases.elementwise(f"bits {dtype}", dtype, texts, arrays))
    return result


STRICT = """kernel k(in a: f32[256], out y: f32[256], out z: f32[256], out w: f32[256], out v: f32[256])
    @grid(1) @numerics(strict=true) {
    y[:] = exp(a[:])
    z[:] = exp2(a[:])
    w[:] = sigmoid(a[:])
    v[:] = rsqrt(a[:])
}"""
MAP = """fn steps(v, w) {
    var (n, r) = (0, v)
    while r > 1.0 {
        r = r * 0.5
        n += 1
        if n > 40 { break }
    }
    if w < 3 { r = -r } else if n % 2 == 1 { r = r + 1.0 }
    return r, n
}
kernel k(in a: f32[SIDE], in b: i32[SIDE], out y: f32[SIDE], out z: i32[SIDE]) @grid(1) {
    let (r, n) = map_elementwise(steps, a[:], b[:])
    y[:] = r
    z[:] = n.to(i32)
}"""
LARGE_MAP = """fn many(v) {
    var r = v
    for i in static_range(120) {
        if r % 7 == i % 7 { r = r * 3 + i } else { r = r ^ (r >> 3) }
    }
    return r, r > 0
}
kernel k(in a: i32[SIDE], out y: i32[SIDE], out z: i1[SIDE]) @grid(1) {
    let (r, p) = map_elementwise(many, a[:])
    y[:] = r
    z[:] = p
}"""
ASSEMBLY = """kernel k(in a: f32[256], in b: u8[256], in h: f16[256], in p: i64[256], out y: f32[256],
         out z: u8[256], out w: f16[256], out q: i64[256], out s: i32[256]) @grid(1) {
    y[:] = inline_asm_elementwise("sqrt.rn.f32 $0, $1;", "=f,f", a[:], f32, pure=true, reference=sqrt)
    z[:] = inline_asm_elementwise("not.b32 $0, $1;", "=r,r", b[:], u8, pure=true, pack=4,
        reference=fn(v) { return ~v })
    w[:] = inline_asm_elementwise("xor.b32 $0, $1, 0x80008000;", "=r,r", h[:], f16, pack=2,
        reference=fn(v) { return -v })
    let (u, v) = inline_asm_elementwise("add.s64 $0, $2, $2; mul.lo.s32 $1, $3, $3;", "=l,=r,l,r",
        (p[:], b[:].to(i32)), (i64, i32), pure=true,
        reference=fn(x, n) { return x + x, n * n })
    q[:] = u
    s[:] = v
}"""
EXTERN = """kernel k(in a: f32[256], in b: f64[256], out y: f32[256], out z: f64[256]) @grid(1) {
    y[:] = extern_elementwise("__nv_fabsf", a[:], reference=abs)
    z[:] = extern_elementwise("__nv_fma", b[:], b[:], b[:], reference=fn(u, v, w) { return fma(u, v, w) })
}"""
HINTS = """kernel k(in p: *f32, out y: *f32, in n: *i64, out w: i64[1]) @grid(2) {
    let i = multiple_of(load(n + program_id(0)), 64)
    assume(i >= 0)
    assume(i % 16 == 0 && i < 4096)
    let lanes = max_contiguous(multiple_of(i + arange(0, 64), 64), 64)
    store(y + lanes, load(p + lanes) + 1.0)
    if program_id(0) == 0 { w[0] = num_warps() }
}"""
ASSUMED = """kernel k(in x: f32[N], out y: f32[64], i: i64) @grid(1) {
    assume(i % 16 == 0)
    assume(i < 100)
    y[:] = x[i +: 64, fill=3.0]
}"""
# The same bits: from, its type, to, and the axis.
CASTS = (("u32", "i32", ""), ("f32", "u32", ""), ("f64", "i64", ""), ("bf16", "f16", ""),
         ("u8", "f8e4m3fn", ""), ("f16", "u16", ""))
RESHAPED = (("u32", "u8", 4), ("u64", "u16", 4), ("f64", "f32", 2), ("u16", "f8e5m2", 2),
            ("u32", "u4", 8), ("u8", "i4", 2))


def stored(dtype, text):
    return (f"{text}.to(i32)", "i32") if dtype in ("u4", "i4") else (text, dtype)


def bits_of(dtype, *shape):
    random = cases.random_for("bitcast " + dtype)
    size = np.dtype(cases.DTYPES[dtype]).itemsize
    bits = random.integers(0, 256, (*shape, size)).astype(np.uint8)
    bits[..., -1] &= 0x3F  # no NaN, whose bits may change
    return bits.reshape(-1).view(cases.DTYPES[dtype]).reshape(shape)


def bitcasts():
    result = []
    for source, target, _ in CASTS:
        arrays = {"a": bits_of(source, COUNT), "y": cases.zeros(target, COUNT)}
        text = f"""kernel k(in a: {source}[256], out y: {target}[256]) @grid(1) {{
    y[:] = bitcast[{target}](a[:])
}}"""
        result.append(cases.Case(f"{source} as {target}", text, arrays, exact=True))
    for wide, narrow, ratio in RESHAPED:
        for rows, columns, axis, warps in ((8, 16, 1, 4), (4, 8, 0, 1), (3, 5, 1, 4), (64, 32, 0, 4),
                                           (1, 2, 1, 8), (16, 96, 1, 4)):
            sides = [rows, columns]
            sides[axis] *= ratio
            call, kept = stored(narrow, f"bitcast[{narrow}](a[:, :], axis={axis})")
            back = f"bitcast[{wide}](bitcast[{narrow}](a[:, :], axis={axis}), axis={axis})"
            text = f"""kernel k(in a: {wide}[{rows}, {columns}], out y: {kept}[{sides[0]}, {sides[1]}],
         out z: {wide}[{rows}, {columns}]) @grid(1) {{
    y[:, :] = {call}
    z[:, :] = {back}
}}"""
            arrays = {"a": bits_of(wide, rows, columns), "y": cases.zeros(kept, *sides),
                      "z": cases.zeros(wide, rows, columns)}
            result.append(cases.Case(f"{wide} as {narrow} {rows}x{columns} axis {axis}", text, arrays,
                                     options=cases.warps(warps), placements=(cases.ALIGNED,),
                                     exact=True))
    joins = """kernel k(in a: f32[16, 64], out y: u8[16, 32], out z: u32[16]) @grid(1) {
    let q = a[:, :].to(f4e2m1)
    y[:, :] = bitcast[u8](q, axis=1)
    z[:] = sum(bitcast[u32](q, axis=1), axis=1)
}"""
    arrays = {"a": cases.filled(cases.random_for("joins"), "f32", 16, 64), "y": cases.zeros("u8", 16, 32),
              "z": cases.zeros("u32", 16)}
    result.append(cases.Case("f4e2m1 joined", joins, arrays, exact=True))
    return result


MOVED = """kernel k(in a: T[256], in c: i1[256], in x: f32[32, 8], out y: T[256], out z: T[32, 8],
         out m: T[8], n: i64) @grid(1) {
    var t = a[:]
    for i in range(n) { t = where(c[:], t, full(t.dtype.max.to(T), 256)) }
    y[:] = t
    let u = x[:, :].to(T)
    z[:, :] = u
    m[:] = reduce(u, fn(v, w) { return where(v.to(f32) > w.to(f32), v, w) }, axis=0)
}"""
NIBBLES = """kernel k(in x: f32[64, 16], in c: i1[64], out y: f32[64, 16], out m: f32[16], out s: i32[64], n: i64)
    @grid(1) {
    var t = x[:, :].to(f4e2m1)
    for i in range(n) { t = where(c[:][:, None], t, (-t.to(f32)).to(f4e2m1)) }
    y[:, :] = t.to(f32)
    let top = reduce(t, fn(v, w) { return where(v.to(f32) > w.to(f32), v, w) }, axis=0)
    m[:] = top.to(f32)
    let u = x[:, :].to(i4)
    s[:] = reduce(u, fn(v, w) { return (v.to(i32) + w.to(i32)).to(i4) }, axis=1).to(i32)
}"""
POINTERS = """kernel k(in a: **f32, in b: f32[64], out y: f32[64], n: i64) @grid(1) {
    let p = load(a + n)
    let q = load(a + arange(0, 64) % 2)
    y[:] = load(p + arange(0, 64)) + load(q + arange(0, 64)) + b[:]
}"""
SCALARS = """kernel k(in a: f32[4], in b: f8e5m2[4], out y: f8e4m3fn[4], out z: f64[4], out w: i32[4], u: f32)
    @grid(1) {
    y[1] = a[1].to(f8e4m3fn)
    y[2] = b[2].to(f32, round="up").to(f8e4m3fn, round="down")
    z[0] = b[1].to(f64) + pow(u, a[0]).to(f64)
    w[0] = popcount(bitcast[i32](a[3])) + a[2].to(i4).to(i32)
    let t = map_elementwise(fn(v) { if v > 1.0 { return v } return v * u }, a[:])
    w[1] = sum(t, axis=0).to(i32)
}"""


def types():
    """Every type in registers, loops, reductions across lanes and warps, and shared memory."""
    result = []
    for dtype in (*operations.NARROW_FLOATS, "f16", "bf16", "i8", "u16", "i64"):
        random = cases.random_for("types " + dtype)
        source = MOVED.replace("t.dtype.max.to(T)", "x[0, 0].to(T)").replace("T", dtype)
        finite = 0x7A if dtype == "f8e4m3fn" else 0x70
        a = random.integers(0, finite, 256).astype(np.uint8)
        arrays = {"a": a if dtype in operations.NARROW_FLOATS else cases.filled(random, dtype, 256),
                  "c": cases.filled(random, "i1", 256), "x": cases.filled(random, "f32", 32, 8),
                  "y": cases.zeros(dtype, 256), "z": cases.zeros(dtype, 32, 8),
                  "m": cases.zeros(dtype, 8)}
        if dtype == "e8m0":
            arrays["x"] = np.abs(arrays["x"])
        for count in (1, 4):
            result.append(cases.Case(f"{dtype} moved", source, arrays, {"n": 2}, cases.warps(count),
                                     exact=True))
    random = cases.random_for("types")
    arrays = {"x": cases.filled(random, "f32", 64, 16) / 4, "c": cases.filled(random, "i1", 64),
              "y": cases.zeros("f32", 64, 16), "m": cases.zeros("f32", 16), "s": cases.zeros("i32", 64)}
    for count in (1, 4, 8):
        result.append(cases.Case("nibbles", NIBBLES, arrays, {"n": 3}, cases.warps(count), exact=True))
    for count in (1, 4):
        random = cases.random_for("pointers")
        arrays = {"a": [cases.filled(random, "f32", 64) for _ in range(3)], "b": cases.filled(random, "f32", 64), "y": cases.zeros("f32", 64)}
        result.append(cases.Case("pointers", POINTERS, arrays, {"n": 2}, cases.warps(count), exact=True))
    arrays = {"a": np.array((0.5, 300, -1.5, 9), np.float32), "b": np.array((1, 2, 60, 4), np.uint8),
              "y": cases.zeros("f8e4m3fn", 4), "z": cases.zeros("f64", 4), "w": cases.zeros("i32", 4)}
    result.append(cases.Case("scalars", SCALARS, arrays, {"u": 2.0}, placements=(cases.ALIGNED,)))
    return result


def regions():
    """Control flow of its own for each element, assembly, functions of the library, promises."""
    result = []
    for side, count in ((256, 4), (96, 1), (7, 4)):
        random = cases.random_for(f"map {side}")
        arrays = {"a": (random.standard_normal(side) * 100).astype(np.float32),
                  "b": cases.filled(random, "i32", side), "y": cases.zeros("f32", side),
                  "z": cases.zeros("i32", side)}
        result.append(cases.Case(f"map {side}", MAP.replace("SIDE", str(side)), arrays,
                                 options=cases.warps(count), exact=True))
        arrays = {"a": cases.filled(random, "i32", side), "y": cases.zeros("i32", side),
                  "z": cases.zeros("i1", side)}
        result.append(cases.Case(f"large map {side}", LARGE_MAP.replace("SIDE", str(side)), arrays,
                                 options=cases.warps(1), placements=(cases.ALIGNED,)))
    random = cases.random_for("regions")
    values = np.abs(random.standard_normal(256)).astype(np.float32)
    arrays = {"a": values, "b": np.arange(256).astype(np.uint8), "h": values.astype(np.float16),
              "p": cases.filled(random, "i64", 256), "y": cases.zeros("f32", 256),
              "z": cases.zeros("u8", 256), "w": cases.zeros("f16", 256),
              "q": cases.zeros("i64", 256), "s": cases.zeros("i32", 256)}
    result.append(cases.Case("assembly", ASSEMBLY, arrays, exact=True))
    arrays = {"a": -values, "b": values.astype(np.float64), "y": cases.zeros("f32", 256),
              "z": cases.zeros("f64", 256)}
    result.append(cases.Case("extern", EXTERN, arrays, exact=True))
    arrays = {"p": cases.filled(random, "f32", 192), "y": cases.zeros("f32", 192),
              "n": np.array((128, 0), np.int64), "w": cases.zeros("i64", 1)}
    result.append(cases.Case("hints", HINTS, arrays, exact=True, placements=(cases.ALIGNED,)))
    for start in (-16, 0, 32):
        arrays = {"x": cases.filled(random, "f32", 70), "y": cases.zeros("f32", 64)}
        result.append(cases.Case(f"assumed {start}", ASSUMED, arrays, {"i": start}, exact=True))
    arrays = {"a": (random.uniform(-100, 100, 256)).astype(np.float32),
              **{name: cases.zeros("f32", 256) for name in "yzwv"}}
    result.append(cases.Case("strict", STRICT, arrays))
    return result


GROUPS = {function.__name__: function for function in (functions, pairs, bitcasts, regions, types)}
