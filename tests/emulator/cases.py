"""The kernels that compare.py runs, in groups: the functions in GROUPS give lists of cases."""

import dataclasses
import os
import sys
import zlib

import numpy as np

import operations

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path.append(os.path.join(HERE, "..", "run"))
import random_control  # pylint: disable=wrong-import-position
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.uint16,
          "i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         **dict.fromkeys(operations.NARROW_FLOATS, np.uint8)}
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
SUM_TYPES = {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32", "f16": "f32", "bf16": "f32"}
ALIGNED, MISALIGNED, PADDED = (0, 0), (1, 0), (0, 3)


@dataclasses.dataclass
class Case:
    """A kernel with arguments. `placements` says how many elements off alignment the arrays
    begin and how many elements of padding follow each row; `exact` asks for the same bits."""

    name: str
    source: str
    arrays: dict
    scalars: dict = dataclasses.field(default_factory=dict)
    options: tuple = ()
    placements: tuple = (ALIGNED, MISALIGNED)
    exact: bool = False
    path: str = ""
    target: str = "sm_90a"
    transposed: tuple = ()  # names of arrays of two axes that lie in memory column by column
    taken: tuple = ()  # for each placement: what the variant that a launch takes is for, as its id says
    serial: bool = False  # the result depends on the order of the instances, which a GPU does not keep
    backwards: bool = False  # instances wait for later ones: one after the other, the last has to come first


def random_for(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def filled(random, dtype, *shape):
    """Small whole numbers, the same in every dtype but for the sign."""
    values = random.integers(0 if dtype[0] == "u" else -20, 20, shape)
    if dtype == "i1":
        return (values > 0).astype(np.uint8)
    if dtype == "bf16":
        return operations.bits_of_bf16(values).astype(np.uint16)
    return values.astype(DTYPES[dtype])


def zeros(dtype, *shape):
    return np.zeros(shape, DTYPES[dtype])


def warps(number):
    return (f"--warps={number}",)


def example(file, kernel, shape, options=(), dtype="f32", **scalars):
    """A case of an example whose arrays have one shape, but for the weights `w`."""
    random = random_for(kernel)

    def normal(*extents):
        values = random.standard_normal(extents)
        return operations.bits_of_bf16(values).astype(np.uint16) if dtype == "bf16" \
            else values.astype(DTYPES[dtype])

    arrays = {"x": normal(*shape)}
    if file.startswith("01"):
        arrays.update(y=normal(*shape), z=zeros(dtype, *shape))
    else:
        arrays["y"] = zeros(dtype, *shape)
    if file.startswith("05"):
        arrays["w"] = normal(shape[-1])
    placements = (ALIGNED, MISALIGNED, PADDED) if len(shape) == 2 else (ALIGNED, MISALIGNED)
    return Case(f"{kernel} {shape} {dtype}", "", arrays, scalars, ("-k", kernel, *options),
                placements, path=os.path.join(EXAMPLES, file))


def attention(length, block, keys, warps_of_block):
    """Causal, with a tail of rows and of keys."""
    random = random_for("attention")
    arrays = {name: random.standard_normal((1, 2, length, 32)).astype(np.float16) for name in "qkv"}
    arrays.update(o=zeros("f16", 1, 2, length, 32), lse=zeros("f32", 1, 2, length))
    options = ("-k", "attention", "-D", "D=32", "-D", f"BM={block}", "-D", f"BN={keys}", "-D", "CAUSAL=true")
    return Case(f"attention {length} {block} {keys}", "", arrays, {"scale": 0.2}, (*options, *warps(warps_of_block)),
                path=os.path.join(EXAMPLES, "06_attention.tk"))


def examples():
    result = [attention(50, 32, 16, 2), attention(40, 16, 32, 1)]
    for extent in (33, 1000, 2048):
        result.append(example("01_vector_add.tk", "vector_add", (extent,)))
        result.append(example("01_vector_add.tk", "vector_add_ptr", (extent,), n=extent))
    for rows, block, shape, count in ((32, 32, (40, 30), 4), (64, 64, (64, 64), 4),
                                      (16, 16, (20, 12), 1), (4, 96, (6, 90), 4)):
        options = ("-D", f"ROWS={rows}", "-D", f"BLOCK={block}", *warps(count))
        result.append(example("02_softmax.tk", "softmax_rows", shape, options))
        result.append(example("05_rms_norm.tk", "rms_norm_rows", shape, options, eps=1e-5))
    for dtype, shape in (("f32", (1, 781)), ("f32", (1, 256)), ("bf16", (1, 200))):
        for file, kernel, scalars in (("02_softmax.tk", "softmax", {}),
                                      ("02_softmax.tk", "softmax_stream", {}),
                                      ("05_rms_norm.tk", "rms_norm", {"eps": 1e-5})):
            shape = (5, shape[1]) if kernel == "softmax_stream" else shape
            options = ("-D", f"T={dtype}", "-D", f"BLOCK={1024 if shape[1] > 256 else 256}")
            result.append(example(file, kernel, shape, options, dtype, **scalars))
    return result


def layouts():
    """Tiles with equal sides, where one index is easily taken for the other."""
    result = []
    for side, counts in ((12, (1, 8)), (32, (1, 4)), (48, (4,)), (64, (8,)), (96, (4,))):
        for count in counts:
            random = random_for(f"layouts {side}")
            result.append(Case(
                f"outer {side}",
                f"""kernel k(in x: i32[{side}], out y: i32[{side}, {side}]) @grid(1) {{
    let t = arange(0, {side}) * 3 + 1
    let u = x[:]
    y[:, :] = t[:, None] * 7 + t[None, :] + u[None, :] * 3 - u[:, None]
}}""", {"x": filled(random, "i32", side), "y": zeros("i32", side, side)}, options=warps(count)))
            result.append(Case(
                f"plus {side}",
                f"""kernel k(in x: f32[N], out y: f32[N, N]) @grid(1) {{
    let u = x[0 +: {side}]
    y[0 +: {side}, 0 +: {side}] = u[:, None] + u[None, :]
}}""", {"x": filled(random, "f32", side), "y": zeros("f32", side, side)},
                options=warps(count), exact=True))
        for dtype in ("f32", "i8"):
            if side == 48:
                continue
            result.append(Case(
                f"copy {side} {dtype}",
                f"""kernel k(in x: {dtype}[M, N], out y: {dtype}[M, N]) @grid(1) {{
    y[0 +: {side}, 0 +: {side}] = x[0 +: {side}, 0 +: {side}] + 1
}}""", {"x": filled(random, dtype, side, side), "y": zeros(dtype, side, side)},
                placements=(ALIGNED, MISALIGNED, PADDED), exact=True))
    return result


def reduction(shape, axis, operation, dtype, count):
    """One reduction of an array of small whole numbers, whose sums are exact."""
    rest = shape[:axis] + shape[axis + 1 :] or (1,)
    result = SUM_TYPES.get(dtype, dtype) if operation == "sum" else dtype
    place = ", ".join(":" for _ in rest) if len(shape) > 1 else "0"
    source = f"""kernel k(in x: {dtype}[{', '.join(map(str, shape))}],
         out y: {result}[{', '.join(map(str, rest))}]) @grid(1) {{
    y[{place}] = {operation}(x[{', '.join(':' for _ in shape)}], axis={axis})
}}"""
    name = f"{operation} of {shape} {dtype} axis {axis}"
    arrays = {"x": filled(random_for(name), dtype, *shape), "y": zeros(result, *rest)}
    return Case(name, source, arrays, options=warps(count), placements=(ALIGNED,), exact=True)


def reductions():
    result = []
    shapes = ((7 * 128,), (130,), (96,), (48,), (12,), (7,), (1,), (1000,), (3, 48),
              (48, 3), (96, 96), (12, 12), (130, 4), (5, 1), (1, 1536),
              (7, 7, 7), (2, 3, 5))
    for number, shape in enumerate(shapes):
        for axis in range(len(shape)):
            for count in (1, 4, 8):
                turn = number + axis + count
                dtype = ("f32", "i8", "bf16", "i16", "u8", "i64")[turn % 6]
                result.append(reduction(shape, axis, ("sum", "max", "min")[turn % 3], dtype, count))
    result.append(reduction((1408,), 0, "sum", "f32", 32))
    return result


LOOP_HEAD = """fn until(t, limit, i) {
    var u = t
    for k in range(i, 12) {
        u = u + limit
        if sum(u, axis=0) > 50 { return u, k }
        while max(u, axis=0) > 30 {
            u = u - 5
            if k > 8 { return u * 2, k * k }
        }
    }
    return u, -1
}
""" + "kernel k(in x: i32[128], inout z: i32[128], out y: i32[128], n: i64) @grid(1) {\n"
LOOPS = {
    "while reads what it writes": """var s = 0
    while z[0] < 4 {
        z[0] = z[0] + 1
        s = s * 3 + sum(x[:] + z[1 +: 128], axis=0).to(i64)
    }
    z[0] = -100
    y[:] = x[:] + s.to(i32)""",
    "while sums what it writes": """var s: i32 = 0
    while sum(z[:], axis=0) < 500 {
        z[:] = z[:] + 3
        s = s * 3 + max(z[0 +: 64], axis=0)
    }
    y[:] = x[:] + s""",
    "while in for": """var total = 0
    for j in range(n) {
        var s = 0
        while sum(x[:] * j.to(i32), axis=0).to(i64) + s * 40 < 90 {
            s = s + 1 + sum(x[:] * 0, axis=0).to(i64)
        }
        total = total * 3 + s
    }
    y[:] = x[:] + total.to(i32)""",
    "shift down in place": """for i in range(n) { z[i +: 64] = z[i + 1 +: 64] + x[i +: 64] }
    y[:] = z[:]""",
    "shifts in place": """z[0 +: 128] = z[0 +: 128] + 1
    z[1 +: 64] = z[0 +: 64] + x[0 +: 64]
    z[0 +: 96] = z[32 +: 96]
    y[:] = z[:]""",
    "scalars and tiles": """z[5] = 7
    y[:] = z[:] + z[5]
    z[6] = z[5] * 2
    if z[6] > 13 { z[6] = 3 }
    y[3] = z[6]
    y[4 +: 8] = x[0 +: 8]""",
    "running sum": """for i in range(1, 20) { z[i] = z[i - 1] + x[i] }
    y[:] = z[:]""",
    "reduce in loop": """var s: i32 = 0
    for i in range(n) {
        s = s * 3 + sum(x[i +: 32], axis=0) * max(z[0 +: 128], axis=0) + sum(z[0 +: 64], axis=0)
    }
    y[:] = full(s, 128)""",
    "reduce in branches": """var s: i32 = 0
    for i in range(n) {
        if sum(x[i +: 64], axis=0) > 0 { s = s + sum(z[:], axis=0) }
        else { s = s - max(x[:], axis=0) }
    }
    y[:] = full(s, 128)""",
    "reduce both axes in nested loops": """var t = x[:][:, None] + z[0 +: 48][None, :]
    for i in range(n) {
        for j in range(2) { t = t - max(t, axis=1)[:, None] }
        let m = sum(t, axis=0)
        t = t + m[None, :]
    }
    y[:] = sum(t, axis=1)""",
    "swap": """var a = x[:]
    var b = z[:]
    for i in range(n) {
        let t = a
        a = b + 1
        b = t * 2
    }
    y[:] = a - b""",
    "steps": """var t = x[:]
    for i in range(n, -3, -2) { t = t * 3 + i.to(i32) }
    for i in range(20, 0, n - 8) { t = t * 3 + i.to(i32) }
    y[:] = t""",
    "collatz": """var m = n + 1
    var t = x[:]
    while m != 1 {
        if m % 2 == 0 {
            m = m // 2
            t = t + z[:]
        } else {
            m = 3 * m + 1
            t = t * 3
        }
    }
    y[:] = t""",
    "break and continue": """var t = x[:]
    for i in range(20) {
        let v = sum(x[i +: 32], axis=0)
        if v % 3 == 0 { continue }
        t = t * 3 + v
        if i > n * 2 { break }
        z[i +: 64] = z[i +: 64] + v
    }
    y[:] = t + z[:]""",
    "return out of a loop": """y[:] = x[:] * 2
    for i in range(40) {
        for j in range(n) {
            z[j +: 64] = z[j +: 64] + max(x[i +: 16], axis=0)
            if sum(z[0 +: 64], axis=0) % 7 == j.to(i32) { return }
        }
        y[i +: 32] = z[0 +: 32] + i.to(i32)
    }
    y[:] = 0""",
    "break and return in while": """var t = x[:]
    var i = 0
    while z[i] < 40 && sum(t, axis=0) != 12345 {
        i += 1
        if i == n { t = t + 1; continue }
        if z[i] == 17 { break }
        if i > 60 {
            y[:] = t
            return
        }
        t = t + z[i +: 128]
    }
    y[:] = t + i.to(i32)""",
    "inlined return of tiles": """var t = x[:]
    for i in range(n) {
        let (u, k) = until(t, z[i], i)
        t = u - k.to(i32)
    }
    y[:] = t""",
    "unrolled with run-time exits": """var t = x[:]
    for i in static_range(6) {
        if i == n { continue }
        if sum(t, axis=0) < -3000 { break }
        t = t * 2 - z[i]
    }
    for (k, f) in [(1, 3), (2, n.to(i32))] { t = t * f + k }
    y[:] = t""",
    "lazy conditions": """var t = x[:]
    if n > 3 && x[n] > 0 || n == 0 { t = t + 1 }
    y[:] = t""",
    "masks": """let m = (x[:] > 0) ^ (z[:] > 3)
    y[:] = where(!m, x[:], 7) + sum(m, axis=0)""",
}


def loops():
    result = []
    for name, body in LOOPS.items():
        for count in (4,):
            for trips in (3,):
                random = random_for(name)
                arrays = {"x": filled(random, "i32", 128), "z": filled(random, "i32", 128),
                          "y": zeros("i32", 128)}
                result.append(Case(name, LOOP_HEAD + "    " + body + "\n}", arrays, {"n": trips},
                                   warps(count), (ALIGNED,)))
    carried = """kernel k(in x: bf16[N], out y: bf16[N], n: i64) @grid(1) {
    var t = x[0 +: 256]
    for i in range(n) { t = (t.to(f32) * 1.5 + 0.25).to(bf16) }
    y[0 +: 256] = t
}"""
    for trips in (0, 1, 5):
        arrays = {"x": filled(random_for("bf16"), "bf16", 200), "y": zeros("bf16", 200)}
        result.append(Case("carried bf16", carried, arrays, {"n": trips}, exact=True))
    return result


def control():
    """Programs of random control flow."""
    result = []
    for seed in range(300, 310):
        program = random_control.Program(seed, 3)
        program.write()
        for n, m in ((4, 2), (0, 5)):
            result.append(Case(f"random control {seed}", "\n".join(program.tk) + "\n",
                               {"z": zeros("i64", 8), "u": np.arange(64)}, {"n": n, "m": m},
                               warps(1), (ALIGNED,), exact=True))
    return result


def corners(dtype, random, count=256):
    """Numbers of a dtype, its extremes among them."""
    if dtype == "i1":
        return random.integers(0, 2, count).astype(np.uint8)
    if dtype in INTEGERS:
        info = np.iinfo(DTYPES[dtype])
        values = random.integers(info.min, info.max, count, DTYPES[dtype], endpoint=True)
        values[20:90] = random.integers(0 if info.min == 0 else -9, 10, 70)
        values[:8] = (info.min, info.max, 0, 1, 2, 7, info.min + 1, info.max - 1)
        if info.min < 0:
            values[8:11] = (-1, -7, -2)
        return values
    values = random.standard_normal(count) * 10 ** random.uniform(-3, 6, count)
    values[:20] = (0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 1e-40, 65504, 1e10, 3e9,
                   -3e9, 127.5, 128.5, -128.5, 255.5, 2**31, 1.5)
    if dtype == "bf16":
        return operations.bits_of_bf16(values).astype(np.uint16)
    return values.astype(DTYPES[dtype])


def elementwise(name, dtype, expressions, arrays, exact=True):
    """Tiles A and B go through each expression into an array of its own; `expressions` are pairs
    of a result type and a text."""
    outputs = "".join(f",\n         out y{number}: {result}[256]"
                      for number, (result, _) in enumerate(expressions))
    body = "".join(f"    y{number}[:] = {text}\n" for number, (_, text) in enumerate(expressions))
    inputs = ", ".join(f"in {key}: {dtype}[256]" for key in arrays)
    tiles = "".join(f"    let {key.upper()} = {key}[:]\n" for key in arrays)
    arrays = {**arrays, **{f"y{number}": zeros(result, 256)
                           for number, (result, _) in enumerate(expressions)}}
    return Case(name, f"kernel k({inputs}{outputs}) @grid(1) {{\n{tiles}{body}}}", arrays,
                exact=exact)


def scalars():
    """Every cast, integer operations at their corners, and floats with NaN and zeros."""
    result = []
    texts = ("A // B", "A % B", "A << B", "A >> B", "maximum(A, B)", "minimum(A, B)", "A * B + A",
             "abs(A)", "A // 7", "A % 7", "A % 8", "A // 8", "-A", "~A", "clamp(A, B, B)",
             "where(A < B, A, B)", "A ^ B | A & B", "cdiv(A, B)")
    for dtype in INTEGERS:
        random = random_for(dtype)
        first = corners(dtype, random)
        arrays = {"a": first, "b": random.permutation(first)}
        result.append(elementwise(f"integers {dtype}", dtype, [(dtype, text) for text in texts],
                                  arrays))
    everything = INTEGERS + FLOATS + ("i1",)
    for dtype in everything:
        casts = [(to, f"A.to({to})") for to in everything if to != dtype]
        arrays = {"a": corners(dtype, random_for("cast " + dtype))}
        result.append(elementwise(f"casts from {dtype}", dtype, casts, arrays))
    texts = ("maximum(A, B)", "minimum(A, B)", "where(A < B, A, B)", "where(A != B, A, B)",
             "where(A >= B, A, B)", "A / B", "A - B", "fma(A, B, A)", "sqrt(A)", "floor(A)",
             "ceil(A)", "abs(A)")
    special = np.array((0, -0.0, np.nan, 1, np.inf, -np.inf, 2, -3, 0.1, 7, 1e4, -1e-3, 5, 0, 3, 9))
    for dtype in ("f16", "f32", "f64"):
        arrays = {"a": np.repeat(special, 16).astype(DTYPES[dtype]),
                  "b": np.tile(special, 16).astype(DTYPES[dtype])}
        result.append(elementwise(f"floats {dtype}", dtype, [(dtype, text) for text in texts],
                                  arrays))
    texts = ("exp2(A)", "exp(A)", "rsqrt(A)", "sigmoid(A)")
    for dtype in ("f16", "f32"):
        arrays = {"a": (np.linspace(-30, 30, 256)).astype(DTYPES[dtype])}
        result.append(elementwise(f"functions {dtype}", dtype, [(dtype, text) for text in texts],
                                  arrays, exact=False))
    far = np.array((2**32 + 1, 2**32, 2**33 + 3, -(2**32) + 2, 63, 64, -1, 1) * 32, np.int64)
    arrays = {"a": np.array((1, -7, 5, 3) * 64, np.int64), "b": far}
    texts = [("i64", "A << B"), ("i64", "A >> B"), ("u64", "A.to(u64) >> B.to(u64)"),
             ("u64", "A.to(u64) << B.to(u64)")]
    result.append(elementwise("far shifts", "i64", texts, arrays))
    return result


def starts():
    """Tiles that begin before their array, within it and past its end."""
    result = []
    for start in ("s", "s - 7", "s * 16 - 16", "program_id(0) * 64 - s"):
        grid = 2 if "program_id" in start else 1
        source = f"""kernel k(in x: f32[N], out y: f32[N], s: i64) @grid({grid}) {{
    let i = {start}
    y[i +: 64] = x[i +: 64, fill=3.0] + 1.0
}}"""
        for extent in (16, 37, 128):
            for value in (0, -16, 4, 1, 100000, -(2**62), 2**63 - 1):
                arrays = {"x": filled(random_for(start), "f32", extent), "y": zeros("f32", extent)}
                result.append(Case(f"start {start} of {extent}, s {value}", source, arrays,
                                   {"s": value}, ("--warps=1",), exact=True))
    for shape, tile in (((5, 100), (4, 64)), ((8, 128), (4, 48)), ((7, 33), (2, 16))):
        rows, columns = tile
        for dtype in ("f32", "i8"):
            for row, column in ((0, 0), (1, -16), (-2, 3)):
                source = f"""kernel k(in x: {dtype}[M, N], out y: {dtype}[M, N], r0: i64, c0: i32)
    @grid(cdiv(M, {rows}), cdiv(N, {columns})) {{
    let r = program_id(0) * {rows} + r0
    let c = program_id(1) * {columns} + c0
    y[r +: {rows}, c +: {columns}] = x[r +: {rows}, c +: {columns}, fill=1]
}}"""
                arrays = {"x": filled(random_for(dtype), dtype, *shape), "y": zeros(dtype, *shape)}
                result.append(Case(f"start in 2d {shape} {dtype}", source, arrays,
                                   {"r0": row, "c0": column}, exact=True,
                                   placements=(ALIGNED, MISALIGNED, PADDED)))
    return result


MASKS = (
    ("i32", "program_id(0) * 64 + arange(0, 64)", "i < n", 100),
    ("i32", "program_id(0).to(i32) * 64 + arange(0, 64)", "i < n", 100),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "i < n", 96),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "n > i", 100),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "i <= n - 1", 96),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "(i < n) & (i >= 16)", 96),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "(i < n) & (i > 16)", 96),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "(i < n) & (i != 16)", 96),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "i == n", 96),
    ("i64", "program_id(0) * 64 + (63 - arange(0, 64))", "i < n", 96),
    ("i64", "program_id(0) * 48 + arange(0, 48)", "i < n", 96),
    ("i64", "n - 1 - arange(0, 64) + program_id(0) * 64", "i >= 0", 64),
    ("i64", "program_id(0) * 64 + (arange(0, 64) ^ 1)", "i < n", 97),
    ("i64", "arange(4, 68) * 1 + program_id(0) * 64", "i < n", 96),
    ("i64", "(arange(0, 64) + n) - n + program_id(0) * 64", "i < n", 96),
    ("i32", "arange(0, 64) + program_id(0).to(i32) * 64", "i < 98", 96),
    ("i32", "program_id(0).to(i32) * 64 + arange(0, 64)", "i < 98", 96),
    ("i32", "program_id(0).to(i32) * 64 + arange(0, 64)", "(i != 18) & (i < 96)", 96),
    ("i32", "arange(0, 64) + program_id(0).to(i32) * 0", "i + 1 < 64", 96),
    ("i64", "(64 - arange(0, 64)) + program_id(0) * 64", "i < n", 112),
    ("i64", "arange(0, 64) + arange(0, 64) + program_id(0) * 0", "i < n", 112),
    ("i64", "arange(0, 4)[:, None] * 33 + arange(0, 16)[None, :] + program_id(0) * 0", "i < n", 112),
    ("i64", "arange(0, 16)[None, :] + arange(0, 4)[:, None] * 36 + program_id(0) * 0", "i < n", 112),
    ("i64", "arange(0, 16)[None, :] + arange(0, 4)[:, None] * 36 + program_id(0) * 0", "i < 111", 112),
    ("i64", "(arange(0, 64) ^ 4) + program_id(0) * 64", "(i & 4) == 0", 112),
    ("i32", "program_id(0) * 64 + arange(0, 64)", "i < n.to(i64) - arange(0, 64)", 100),
    ("i32", "program_id(0) * 64 + arange(0, 64)", "n.to(i64) - i >= arange(0, 64) * 2 - 9", 90),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "i < n", -(2**63)),
    ("i64", "program_id(0) * 64 + arange(0, 64)", "(i - 64 < n) & (i < 96)", 2**63 - 1),
)


def addresses():
    """Pointers with masks, extents without a name, and memory of i1."""
    result = []
    for dtype, index, mask, count in MASKS:
        source = f"""kernel k(in x: *f32, out y: *f32, n: {dtype}) @grid(2) {{
    let i = {index}
    let inside = {mask}
    store(y + i, load(x + i, mask=inside, fill=2.0) + 1.0, mask=inside)
}}"""
        arrays = {"x": filled(random_for(mask), "f32", 128), "y": zeros("f32", 128)}
        result += [Case(f"{index}, {mask}", source, arrays, {"n": count}, warps(number), exact=True)
                   for number in (1, 4)]  # with one warp a thread has two elements, and a vector
    unnamed = """kernel k(in x: f32[_], in w: f32[_, _], out y: f32[_]) @grid(1) {
    y[0 +: 128] = x[0 +: 128] + w[1, 2 +: 128]
}"""
    for extent in (100, 128, 96):
        random = random_for("unnamed")
        arrays = {"x": filled(random, "f32", extent), "w": filled(random, "f32", 2, 71),
                  "y": zeros("f32", extent)}
        result.append(Case(f"unnamed extents {extent}", unnamed, arrays, exact=True))
    bits = """kernel k(in x: i1[N], in z: i32[N], out y: i1[N], out w: i32[N]) @grid(cdiv(N, 128)) {
    let i = program_id(0) * 128
    let b = x[i +: 128]
    y[i +: 128] = b ^ (z[i +: 128] > 2)
    w[i +: 128] = b.to(i32) + z[i +: 128]
}"""
    for extent in (256, 200, 37):
        random = random_for("bits")
        arrays = {"x": filled(random, "i1", extent), "z": filled(random, "i32", extent),
                  "y": zeros("i1", extent), "w": zeros("i32", extent)}
        result.append(Case(f"i1 in memory {extent}", bits, arrays))
    return result


GROUPS = {function.__name__: function for function in
          (examples, layouts, reductions, loops, control, scalars, starts, addresses)}
