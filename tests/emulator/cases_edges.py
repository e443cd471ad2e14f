"""Cases that a small mistake changes: combines that do not commute, copies of elements, tiles that lie
in one thread or at odd places of a buffer, indices outside, numbers that sort last."""

import numpy as np

from cases import Case, filled, random_for, warps, zeros
from moves import bracket, place, unary

LINEAR = "fn(f, g) { return (f.0 * g.0, f.1 * g.0 + g.1) }"  # x * a + b, the left one first


def orders():
    """Functions x * a + b one after the other, which do not commute, and the first of equal elements."""
    result = []
    for shape, axis in (((300,), 0), ((64,), 0), ((96,), 0), ((12,), 0), ((5,), 0), ((40, 33), 0), ((40, 33), 1),
                        ((16, 64), 1), ((64, 6), 0), ((1024,), 0), ((4, 8, 6), 1)):
        rest = shape[:axis] + shape[axis + 1 :]
        for count in (1, 4, 8):
            for call, out in (("reduce", rest), ("scan", shape), ("scan reverse", shape)):
                tail = ", reverse=true" if "reverse" in call else ""
                out = out or (256,)  # every thread has the scalar
                source = f"""kernel k(in x: i32{bracket(shape)}, out y: i32{bracket(out)}) @grid(1) {{
    let t = x{place(shape)}
    let (a, b) = {call.split()[0]}((t | 1, t * 3), {LINEAR}, axis={axis}{tail})
    y{place(out)} = zeros[i32]({", ".join(map(str, out))}) + (a * 1000 + b)
}}"""
                random = random_for(f"{call} {shape} {axis}")
                arrays = {"x": filled(random, "i32", *shape), "y": zeros("i32", *out)}
                result.append(Case(f"{call} in order {shape} {axis}", source, arrays, options=warps(count), exact=True,
                                   placements=((0, 0),)))
    for dtype in ("f32", "i8"):
        for shape in ((300,), (96,), (64,)):
            source = f"""kernel k(in x: {dtype}{bracket(shape)}, out y: i32[2]) @grid(1) {{
    let t = minimum(x{place(shape)}, {"5.0" if dtype == "f32" else "5"})
    y[0] = argmax(t, axis=0).to(i32)
    y[1] = argmin(t, axis=0).to(i32)
}}"""
            for count in (1, 4):
                arrays = {"x": filled(random_for("ties"), dtype, *shape), "y": zeros("i32", 2)}
                result.append(Case(f"ties {shape} {dtype}", source, arrays, options=warps(count), exact=True,
                                   placements=((0, 0),)))
    for shape, axis in (((96,), 0), ((48,), 0), ((3, 96), 1), ((96, 3), 0)):
        for count in (1, 4):
            body = f"cumsum(t, {axis})"
            result.append(unary(body, body, "i32", shape, shape, count))
    return result


def counts():
    """Histograms of tiles that several threads hold, with masks and numbers that count nowhere."""
    result = []
    for dtype in ("i32", "u8", "i8", "i64"):
        for shape in ((7,), (1,), (64,), (12,), (300,), (3, 20)):
            for count in (1, 4):
                random = random_for(f"counts {dtype} {shape}")
                values = random.integers(0, 256, shape).astype(zeros(dtype, 1).dtype)
                source = f"""kernel k(in x: {dtype}{bracket(shape)}, in m: i32{bracket(shape)}, out y: i32[2, 200])
    @grid(1)
{{
    let t = x{place(shape)}
    y[0, :] = histogram(t, 200)
    y[1, :] = histogram(t, 200, mask=m{place(shape)} > 0)
}}"""
                arrays = {"x": values, "m": filled(random, "i32", *shape), "y": zeros("i32", 2, 200)}
                result.append(Case(f"histogram {dtype} {shape}", source, arrays, options=warps(count), exact=True,
                                   placements=((0, 0),)))
    return result


def outside():
    """Gathers at indices below and above; scatters of tiles with padding; NaN of both signs in sorts."""
    result = []
    for index in ("i32", "i64"):
        for shape, taken, axis in (((64,), (100,), 0), ((16, 8), (16, 20), 1), ((6, 12), (40, 12), 0)):
            source = f"""kernel k(in x: f32{bracket(shape)}, in i: {index}{bracket(taken)},
         out y: f32{bracket(taken)}) @grid(1) {{
    y{place(taken)} = gather(x{place(shape)}, i{place(taken)}, {axis})
}}"""
            random = random_for(source)
            places = random.integers(-5, shape[axis] + 5, taken).astype(index.replace("i", "int"))
            arrays = {"x": filled(random, "f32", *shape) + 50, "i": places, "y": zeros("f32", *taken)}
            for count in (1, 4):
                result.append(Case(f"gather outside {shape} {index}", source, arrays, options=warps(count), exact=True,
                                   placements=((0, 0),)))
    for side in (12, 5, 96):
        source = f"""kernel k(in x: i32[{side}], in r: i32[{side}], inout y: i32[200], inout p: *i32) @grid(1) {{
    y[r[0 +: {side}]] = x[0 +: {side}]
    store(p + r[0 +: {side}] + arange(0, {side}), x[0 +: {side}])
}}"""
        random = random_for(source)
        arrays = {"x": filled(random, "i32", side), "r": (random.permutation(150)[:side] + 20).astype(np.int32),
                  "y": filled(random, "i32", 200), "p": filled(random, "i32", 400)}
        arrays["r"].sort()
        for count in (1, 4):
            result.append(Case(f"scatter {side}", source, arrays, options=warps(count), exact=True,
                               placements=((0, 0),)))
    return result + sorted_nans() + far_places()


FAR = """kernel k(in x: f32[M, N], in e: i64[16], in z: f32[8, 4], out y: f32[5, 16], out w: f32[9, 4],
         out t: f32[16, 8], i: i64, s: i64) @grid(1) {
    y[0, :] = x[arange(0, 16) + s, 2]
    y[1, :] = x[e[:], 1]
    y[2, :] = x[i, e[:]]
    y[3, :] = x[i + 40, e[:]]
    y[4, :] = x[e[:], i + 40]
    for k in range(0, 9) {
        let row = z[k, :]
        w[k, :] = row + z[k, 1] + z[8 - k, 2]
    }
    var u = z[:, :].reshape(4, 8)
    u[i, :] = full[f32](-7.0, 8)
    u[s, :] = full[f32](-9.0, 8)
    t[0 +: 4, :] = u
    t[4, :] = u[i, :]
    t[5, :] = u[s, :]
}"""


def far_places():
    """Scalars and tiles of indices outside of tensors, and rows outside of tiles."""
    result = []
    for i, s in ((3, -5), (-1, 2), (4, 60), (2**40, 3)):
        random = random_for("far")
        arrays = {"x": filled(random, "f32", 37, 37), "e": random.integers(-4, 45, 16), "z": filled(random, "f32", 8, 4),
                  "y": zeros("f32", 5, 16), "w": zeros("f32", 9, 4), "t": zeros("f32", 16, 8)}
        for count in (1, 4):
            result.append(Case(f"far places {i} {s}", FAR, arrays, {"i": i, "s": s}, warps(count), exact=True))
    return result


def sorted_nans():
    """Numbers that sort last or first."""
    result = []
    for dtype in ("f32", "f16", "f64"):
        for shape in ((40,), (64,), (4, 16)):
            values = filled(random_for("nan"), dtype, *shape)
            flat = values.reshape(-1)
            flat[[3, 11, 30]], flat[[7, 19]], flat[[0, 5]] = np.nan, -np.inf, -0.0
            flat[[11, 17]] = -np.abs(flat[11])  # a NaN with its sign
            flat[8] = np.inf
            for order in ("", ", descending=true"):
                body = f"sort(t, {len(shape) - 1}{order})"
                case = unary(body + " places", "i", dtype, shape, shape, 4, "i32", extra=f"    let (v, i) = {body}\n")
                case.arrays["x"] = values
                result.append(case)
    return result


PARTS = (
    ("t[::2]", (512,), (256,)), ("t[1::3]", (300,), (100,)), ("flip(t, 0)", (125,), (125,)),
    ("t[:, 0:8]", (16, 10), (16, 8)), ("t[:, 1:9]", (16, 12), (16, 8)), ("t[:, 2:6]", (16, 12), (16, 4)),
    ("t[::2, :]", (4, 128), (2, 128)), ("t[1::2, :]", (4, 128), (2, 128)), ("t[1:3, :]", (4, 128), (2, 128)),
    ("flip(t, 0)", (4, 128), (4, 128)), ("permute(t, 1, 0, 2)", (4, 4, 128), (4, 4, 128)),
    ("permute(t, 1, 0, 2)", (2, 4, 128), (4, 2, 128)), ("t.reshape(4, 2, 128)", (2, 4, 128), (4, 2, 128)),
    ("cat(t, t * 2, axis=0)", (2, 128), (4, 128)), ("cat(t, t * 2, axis=0)", (4, 128), (8, 128)),
    ("t[:, 3]", (16, 12), (16,)), ("trans(t)", (8, 8), (8, 8)), ("trans(t)", (128, 4), (4, 128)),
)
CHANGED = (("u[:, 0:6]", (16, 6)), ("u[1::2, :]", (8, 8)), ("u[::3, 2:4]", (6, 2)), ("u[3, :]", (8,)))
CHANGED_ROWS = (("u[1::2, :]", (2, 128)), ("u[1:3, :]", (2, 128)), ("u[::3, :]", (2, 128)))


def parts():
    """Moves within threads, and parts of buffers whose rows are narrow or begin at odd places."""
    result = []
    for dtype in ("f32", "i8", "f16"):
        for body, shape, out in PARTS:
            for count in (1, 4):
                case = unary(body, body, dtype, shape, out, count)
                if len(shape) == 2 and shape[1] < 16:  # rows of 16 bytes or more, which vectors take
                    case.source = case.source.replace(f"x: {dtype}{bracket(shape)}", f"x: {dtype}{bracket((shape[0], 16))}")
                    case.arrays["x"] = filled(random_for(body), dtype, shape[0], 16)
                result.append(case)
    for count in (1, 4):
        for whole, changes in (((16, 8), CHANGED), ((4, 128), CHANGED_ROWS)):
            for part, shape in changes:
                extra = f"    var u = t\n    {part} = full[f32](-1.0, {', '.join(map(str, shape))})\n"
                result.append(unary(part, "u", "f32", whole, whole, count, extra=extra))
        extra = "    var u = t\n    u[:, 0:6] = t[:, 0:4] @ trans(t[0:6, 0:4])\n"
        result.append(unary("a product in a part", "u", "f32", (16, 8), (16, 8), count, extra=extra))
    return result


def wide_products():
    """Products of numbers that one piece of tf32 does not hold, of integers of either sign, and of sides
    whose rows are no multiples of 16 bytes."""
    result = []
    for a_bits, b_bits in ((17, 3), (3, 17)):
        random = random_for(f"pieces {a_bits}")
        a = random.integers(-(1 << a_bits), 1 << a_bits, (32, 16)).astype(np.float32)
        b = random.integers(-(1 << b_bits), 1 << b_bits, (16, 24)).astype(np.float32)
        for count in (1, 4):
            result.append(product(f"pieces {a_bits}", "f32", "f32", "f32", a, b, count))
    for a_type in ("i8", "u8"):
        for b_type in ("i8", "u8"):
            for m, n, k in ((32, 16, 32), (5, 7, 6), (5, 3, 1)):
                random = random_for(a_type + b_type)
                a, b = (random.integers(0, 256, shape).astype(np.uint8).view(zeros(dtype, 1).dtype)
                        for dtype, shape in ((a_type, (m, k)), (b_type, (k, n))))
                result.append(product(f"dot {a_type} {b_type} {m}", a_type, b_type, "i32", a, b, 4))
    for dtype in ("f16", "bf16", "i8", "f32"):
        for m, n, k in ((16, 12, 32), (24, 17, 64), (40, 20, 32)):
            for count in (1, 4):
                random = random_for(f"{m} {n} {k}")
                result.append(product(f"narrow {dtype} {m}x{n}x{k}", dtype, dtype, "i32" if dtype == "i8" else "f32",
                                      filled(random, dtype, m, k), filled(random, dtype, k, n), count))
    for m, n, k in ((16, 16, 16), (5, 3, 4)):
        random = random_for(f"half {m}")
        a, b, c = (filled(random, "f16", *shape) for shape in ((m, k), (k, n), (m, n)))
        case = product(f"dot out=f16 {m}", "f16", "f16", "f16", a, b, 4, "dot({a}, {b}, c{c}, out=f16)", "inout")
        case.arrays["c"] = c
        result.append(case)
        a, b = (random.integers(-(1 << 14), 1 << 14, (m, k)) | 1, random.integers(-4, 4, (k, n)))
        result.append(product(f"dot tf32 {m}", "f32", "f32", "f32", a.astype(np.float32), b.astype(np.float32), 4,
                              'dot({a}, {b}, input="tf32")'))
    return result + scaled_products() + filled_pipelines() + whole_pipelines() + \
        nan_products()


def scaled_products():
    result = []
    for dtype, block in (("f8e4m3fn", 32), ("f8e5m2", 16), ("f16", 32)):
        m, n, k = 8, 12, 64
        source = f"""kernel k(in a: {dtype}[{m}, {k}], in sa: e8m0[{m}, {k // block}], in b: {dtype}[{k}, {n}],
         in sb: e8m0[{k // block}, {n}], out c: f32[{m}, {n}]) @grid(1) {{
    c[:, :] = dot_scaled(a[:, :], sa[:, :], b[:, :], sb[:, :])
}}"""
        random = random_for(source)
        codes = random.integers(0, 64, 2 * m * n * k).astype(np.uint8) if dtype != "f16" else \
            filled(random, "f16", 2 * m * n * k)
        arrays = {"a": codes[: m * k].reshape(m, k), "sa": random.integers(124, 130, (m, k // block)).astype(np.uint8),
                  "b": codes[m * k :][: k * n].reshape(k, n),
                  "sb": random.integers(124, 130, (k // block, n)).astype(np.uint8), "c": zeros("f32", m, n)}
        for count in (1, 4):
            result.append(Case(f"dot_scaled {dtype} {block}", source, arrays, options=warps(count), placements=((0, 0),)))
    return result


FILLED_PIPELINE = """kernel k(in a: f32[M, K], in b: f32[K, N], out c: f32[M, N]) @grid(1) {{
    var acc = zeros[f32]({m}, {n})
    for i in range(0, K, 16) {{
        acc += a[0 +: {m}, i +: 16, fill={fill}] @ b[i +: 16, 0 +: {n}, fill={fill}]
    }}
    c[0 +: {m}, 0 +: {n}] = acc
}}"""


def nan_products():
    """Products of numbers of 8 bits with NaN among them, where the machine converts them and where bits are moved."""
    result = []
    for dtype, nan in (("f8e4m3fn", (0x7F, 0xFF)), ("f8e5m2", (0x7D, 0xFF))):
        random = random_for("nan " + dtype)
        a, b = (random.integers(0, 64, shape).astype(np.uint8) for shape in ((16, 32), (32, 16)))
        a[3, 5], b[7, 2] = nan
        for target in ("sm_80", "sm_90a"):
            case = product(f"NaN in {dtype}", dtype, dtype, "f32", a, b, 1)
            case.target, case.exact = target, False
            result.append(case)
    return result


WHOLE_PIPELINE = """kernel k(in a: f16[32, 64], in b: f16[64, 16], out c: f32[32, 16]) @grid(1) {
    var acc = zeros[f32](32, 16)
    for i in range(0, 64, 16) { acc += a[:, i +: 16] @ b[i +: 16, :] }
    c[:, :] = acc
}"""


def whole_pipelines():
    """Loops along a K that tiles fill: no mask keeps what runs ahead within the arrays."""
    random = random_for("whole pipelines")
    arrays = {"a": filled(random, "f16", 32, 64), "b": filled(random, "f16", 64, 16), "c": zeros("f32", 32, 16)}
    return [Case(f"whole pipeline {stages}", WHOLE_PIPELINE, arrays, options=(*warps(count), f"--stages={stages}"), exact=True,
                 placements=((0, 0),)) for stages in (2, 3, 5) for count in (1, 4)]


def filled_pipelines():
    """Loops along K whose tiles have padding, and read beyond the end what is not zero."""
    result = []
    for m, n in ((16, 20), (12, 24), (32, 16)):
        for fill in ("0.0", "1.0"):
            random = random_for(f"filled {m}")
            arrays = {"a": filled(random, "f32", m, 40), "b": filled(random, "f32", 40, n), "c": zeros("f32", m, n)}
            for stages in (2, 4):
                result.append(Case(f"filled pipeline {m}x{n} {fill} {stages}", FILLED_PIPELINE.format(m=m, n=n, fill=fill),
                                   arrays, options=(*warps(4), f"--stages={stages}"), exact=True,
                                   placements=((0, 0),)))
    return result


def product(name, a_type, b_type, out, a, b, count, form="{a} @ {b}", access="out"):
    (m, k), n = a.shape, b.shape[1]
    places = {name: place(shape) for name, shape in (("a", (m, k)), ("b", (k, n)), ("c", (m, n)))}
    text = form.format(a="a" + places["a"], b="b" + places["b"], c=places["c"])
    source = f"""kernel k(in a: {a_type}[{m}, {k}], in b: {b_type}[{k}, {n}], {access} c: {out}[{m}, {n}]) @grid(1) {{
    c{places["c"]} = {text}
}}"""
    return Case(name, source, {"a": a, "b": b, "c": zeros(out, m, n)}, options=warps(count), exact=True,
                placements=((0, 0),))


NEAR_TIES = """kernel k(in x: {dtype}[64], out h: bf16[64], out f: f16[64], out e: f8e4m3fn[64], out g: f8e5m2[64]) @grid(1) {{
    h[:] = x[:].to(bf16)
    f[:] = x[:].to(f16)
    e[:] = x[:].to(f8e4m3fn)
    g[:] = x[:].to(f8e5m2)
}}"""


def near_ties(dtype):
    """Numbers half way between two of a narrow type, and ones that differ from those by the least that
    f32 does not see: what is rounded twice goes the other way."""
    values = []
    for digits in (2, 3, 7, 10):
        for odd in (1, 3):
            half = (1 << digits + 1) + odd  # one digit too many
            scaled = float(half) if dtype == "f64" else half << 30 - digits - 2 if dtype == "i32" else half << 40
            least = 2.0**-45 * half if dtype == "f64" else 1
            values += [sign * (scaled + step) for sign in (1, -1) for step in (0, least, -least)]
    values = np.array((values + values)[:64], zeros(dtype, 1).dtype)
    arrays = {"x": values, "h": zeros("bf16", 64), "f": zeros("f16", 64), "e": zeros("f8e4m3fn", 64),
              "g": zeros("f8e5m2", 64)}
    return Case(f"near ties of {dtype}", NEAR_TIES.format(dtype=dtype), arrays, exact=True, placements=((0, 0),))


def corners():
    """Numbers near ties, NaN that loses, sorts of large unsigned numbers, the third axis of a grid."""
    result = [near_ties(dtype) for dtype in ("f64", "i32", "i64")]
    special = np.array((0, -0.0, np.nan, 1, np.inf, -np.inf, 2, -3), np.float32)
    source = """kernel k(in a: f32[64], in b: f32[64], out y: f32[64], out z: f32[64]) @grid(1) {
    y[:] = maximum(a[:], b[:], nan="number")
    z[:] = minimum(a[:], b[:], nan="number")
}"""
    arrays = {"a": np.repeat(special, 8), "b": np.tile(special, 8), "y": zeros("f32", 64), "z": zeros("f32", 64)}
    result.append(Case("NaN loses", source, arrays, exact=True))
    for dtype in ("u8", "u16", "u32"):
        random = random_for("large " + dtype)
        case = unary("sort(t, 0)", "v", dtype, (100,), (100,), 4, extra="    let (v, i) = sort(t, 0)\n")
        case.arrays["x"] = random.integers(0, np.iinfo(case.arrays["x"].dtype).max, 100).astype(case.arrays["x"].dtype)
        result.append(case)
    source = """kernel k(out y: f32[4], s: f16, t: bf16, u: i8, b: i1) @grid(1) {
    y[0] = s.to(f32)
    y[1] = t.to(f32)
    y[2] = u.to(f32)
    if b { y[3] = 9.0 }
}"""
    result.append(Case("narrow scalars", source, {"y": zeros("f32", 4)}, {"s": -2.5, "t": 3.0, "u": -7, "b": 1}, warps(1),
                       exact=True))
    source = """kernel k(out y: i64[C, B, A]) @grid(A, B, C) {
    let (a, b, c) = (program_id(0), program_id(1), program_id(2))
    y[c, b, a] = num_programs(0) + 10 * num_programs(1) + 100 * num_programs(2) + 1000 * (a + 2 * b + 3 * c)
}"""
    result.append(Case("grid of three axes", source, {"y": zeros("i64", 5, 3, 2)}, options=warps(1), exact=True))
    return result + half_bytes() + changes()


def half_bytes():
    """Fills of elements of 4 bits, and tiles whose padding lies behind the array."""
    result = []
    for dtype in ("u4", "i4"):
        source = f"""kernel k(in x: {dtype}[N], in z: {dtype}[12], out y: {dtype}[96], out w: {dtype}[12]) @grid(1) {{
    y[0 +: 64] = x[0 +: 64, fill=5]
    y[64 +: 32] = x[s_of(3) +: 32, fill=3]
    w[0 +: 12] = z[0 +: 12]
}}
fn s_of(n) {{ return n }}"""
        random = random_for("half bytes")
        arrays = {"x": random.integers(0, 256, 20).astype(np.uint8), "z": random.integers(0, 256, 6).astype(np.uint8),
                  "y": np.zeros(48, np.uint8), "w": np.zeros(6, np.uint8)}
        for count in (1, 4):
            result.append(Case(f"half bytes {dtype}", source, arrays, options=warps(count), exact=True,
                               placements=((0, 0),)))
    return result


def changes():
    """Atomic changes of one element whose result nobody wants, and results of 64 bits with copies."""
    result = []
    source = """kernel k(inout n: i32[4], inout q: i64[N, 4], out y: i64[8, 4], m: i32) @grid(3) {
    atomic_add(n[0], 3)
    atomic_add(n[1], 5, mask=m > 4)
    atomic_max(n[2], 7 + program_id(0).to(i32), mask=m > 2)
    if program_id(0) == 0 {
        let a = atomic_add(q[0 +: 8, :], 1 << 33)
        y[:, :] = a * 2 + sum(atomic_xor(q[8, 0 +: 3], 1 << 40), axis=0)
    }
}"""
    arrays = {"n": np.array([5, 8, 0, 1], np.int32), "y": zeros("i64", 8, 4),
              "q": np.arange(36).reshape(9, 4).astype(np.int64) << 30}
    for count in (1, 4, 8):
        result.append(Case("changes", source, arrays, {"m": 3}, warps(count), ((0, 0),), exact=True))
    source = """kernel k(inout d: *i32, in x: i32[64]) @grid(1) {
    let i = arange(0, 64)
    store(d + i, load(d + i) * 3 + x[:])
    store(d + 64 + i, load(d + (i ^ 37)) + load(d + 5))
    store(d + i, load(d + 64 + (i ^ 11)), mask=load(d + (63 - i)) > 0)
}"""
    for count in (1, 4):
        arrays = {"d": filled(random_for("in place"), "i32", 128), "x": filled(random_for("in place"), "i32", 64)}
        result.append(Case("pointers in place", source, arrays, {}, warps(count), exact=True))
    return result


GROUPS = {function.__name__: function for function in (orders, counts, outside, parts, wide_products, corners)}
