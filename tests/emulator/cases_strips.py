"""Kernels whose tiles do not fit the registers: they are worked through in strips."""

import numpy as np

from cases import ALIGNED, MISALIGNED, PADDED, Case, filled, random_for, warps, zeros

SOFTMAX = """kernel k({access} x: {dtype}[M, N]{out}) @grid(M) @require({block} >= N) {{
    let row = program_id(0)
    let v = x[row, 0 +: {block}, fill=-inf].to(f32)
    let e = exp2(v * LOG2E - max(v, axis=0) * LOG2E)
    {target}[row, 0 +: {block}] = (e * (1.0 / sum(e, axis=0))).to({dtype})
}}"""
LAYER_NORM = """kernel k(in x: f32[M, N], in w: f32[N], in b: f32[N], out y: f32[M, N], out mean: f32[M])
        @grid(M) @require({block} >= N) {{
    let row = program_id(0)
    let exists = arange(0, {block}) < N.to(i32)
    let v = x[row, 0 +: {block}]
    let middle = sum(v, axis=0) / N.to(f32)
    let d = where(exists, v - middle, 0.0)
    let scale = 1.0 / sqrt(sum(d * d, axis=0) / N.to(f32) + 1e-5)
    mean[row] = middle
    y[row, 0 +: {block}] = d * scale * w[0 +: {block}] + b[0 +: {block}]
}}"""
ELEMENTWISE = """kernel k(in x: {dtype}[N], in y: {dtype}[N], out z: {dtype}[N], out i: i32[N]) @grid(cdiv(N, {block})) {{
    let first = program_id(0) * {block}
    let place = arange(0, {block})
    z[first +: {block}] = x[first +: {block}] * 3 + y[first +: {block}]
    i[first +: {block}] = place * 2 + first.to(i32)
}}"""
EXTREMES = """kernel k(in x: {dtype}[N], out y: i32[4], out z: {dtype}[2]) @grid(1) {{
    let v = x[0 +: {block}]
    let (best, at) = max(v, axis=0, return_indices=true)
    y[0] = argmax(v, axis=0)
    y[1] = argmin(v, axis=0)
    y[2] = at
    y[3] = sum((v == best).to(i32), axis=0)
    z[0] = best
    z[1] = min(v, axis=0)
}}"""
POINTERS = """kernel k(in x: *f32, inout y: *f32, n: i32) @grid(2) {{
    let i = program_id(0).to(i32) * {block} + arange(0, {block})
    let inside = i < n
    store(y + i, load(x + i, mask=inside) + load(y + i, mask=inside), mask=inside)
}}"""
ORDER = """kernel k(inout x: i32[N], in s: i32[N], out y: i32[N]) @grid(1) {{
    let old = x[0 +: {block}]
    x[1 +: {block}] = old + s[0 +: {block}]
    y[0 +: {block}] = x[0 +: {block}] * 2
    x[0 +: {block}] = x[0 +: {block}] + 1
}}"""
MATRICES = """kernel k(in x: i32[M, N], in w: i32[N], out y: i32[N, M], out z: i32[M, N], out s: i32[M]) @grid(1) {{
    let v = x[0 +: {rows}, 0 +: {columns}, fill=0]
    y[0 +: {columns}, 0 +: {rows}] = trans(v)
    let total = sum(v, axis=1)
    z[0 +: {rows}, 0 +: {columns}] = v * w[0 +: {columns}][None, :] - total[:, None]
    s[0 +: {rows}] = total + max(v, axis=1)
}}"""
COMBINE = """kernel k(in x: i32[N], out y: i32[2], out z: i32[N]) @grid(1) {{
    let v = x[0 +: {block}]
    let affine = reduce((v & 3 | 1, v), fn(a, b) {{ return (a.0 * b.0, a.1 * b.0 + b.1) }}, axis=0)
    y[0] = affine[0]
    y[1] = affine[1]
    if sum(v, axis=0) > 0 {{ z[0 +: {block}] = v * 2 }} else {{ z[0 +: {block}] = v }}
}}"""
SCANS = """kernel k(in x: i32[N], in m: i32[32, 256], out y: i32[N], out z: i32[N], out u: i32[32, 256], out v: i32[32, 256]) @grid(1) {{
    let t = x[0 +: {block}]
    y[0 +: {block}] = cumsum(t, axis=0)
    z[0 +: {block}] = scan(t, fn(a, b) {{ return where(b != 0, b, a) }}, axis=0)
    u[:, :] = cumsum(m[:, :], axis=0)
    v[:, :] = cumsum(m[:, :], axis=1) - sum(m[:, :], axis=1)[:, None]
}}"""
BRANCHES = """kernel k(in x: f32[N], in b: f32[N]?, out y: f32[N], n: i32) @grid(1) {{
    var t = x[0 +: {block}]
    if b {{ t += b[0 +: {block}] }}
    if n > 3 {{ t = t * 2.0 }} else {{ t = t - x[1 +: {block}] }}
    y[0 +: {block}] = t
}}"""
GATHER = """kernel k(in x: f32[N], in t: i32[M], out y: f32[M]) @grid(1) {{
    y[0 +: {block}] = x[t[0 +: {block}]] + 1.0
}}"""


RESHAPED = """kernel k(in x: f32[N], in w: f32[{columns}], out y: f32[{rows}], out z: f32[{rows}, {columns}]) @grid(1) {{
    let v = x[0 +: {rows} * {columns}].reshape({rows}, {columns})
    y[:] = sum(v * w[:][None, :], axis=1)
    z[:, :] = v + w[:][None, :]
}}"""


WEIGHTED = """kernel k(in x: f32[{rows}, {columns}], in w: f32[{columns}], in u: f32[{rows}], out y: f32[{rows}],
         out z: f32[{columns}]) @grid(1) {{
    let v = x[:, :]
    y[:] = sum(v * w[:][None, :], axis=1)
    z[:] = sum(v * u[:][:, None], axis=0)
}}"""


NUMBERS = """kernel k(in x: f32[N], in u: u32[N], out y: f32[2], out z: u32[2]) @grid(1) {{
    let v = x[0 +: {block}]
    let w = u[0 +: {block}]
    y[0] = reduce(v, fn(a, b) {{ return maximum(a, b, nan="number") }}, axis=0)
    y[1] = reduce(v, fn(a, b) {{ return minimum(a, b, nan="number") }}, axis=0)
    z[0] = max(w, axis=0)
    z[1] = min(w, axis=0)
}}"""
POINTER_BRANCHES = """kernel k(in p: *f32, out y: f32[N], n: i32) @grid(1) {{
    let i = arange(0, {block})
    var t = zeros[f32]({block})
    if n > 3 {{ t = load(p + (i + {block})) }} else {{ t = load(p + (i + {block} // 2), mask=i < {block} // 2) * 2.0 }}
    y[0 +: {block}] = t + 1.0
}}"""


def softmax(dtype, shape, block, count, in_place=False):
    source = SOFTMAX.format(access="inout" if in_place else "in", dtype=dtype, block=block,
                            out="" if in_place else f", out y: {dtype}[M, N]",
                            target="x" if in_place else "y")
    values = random_for(f"strips {shape}").standard_normal(shape)
    arrays = {"x": values.astype(np.float16 if dtype == "f16" else np.float32)}
    if not in_place:
        arrays["y"] = zeros(dtype, *shape)
    name = f"softmax {'in place ' if in_place else ''}{dtype} {shape} {block} w{count}"
    return Case(name, source, arrays, options=warps(count), placements=(ALIGNED, PADDED))


def one(name, template, arrays, count, scalars=None, placements=(ALIGNED,), exact=True, **sizes):
    label = " ".join(str(size) for size in sizes.values())
    return Case(f"{name} {label} w{count}", template.format(**sizes), arrays, scalars or {},
                warps(count), placements, exact)


def strips():
    """Elementwise code, reductions and what follows from them, in place and not."""
    random = random_for("strips")
    result = [softmax("f32", (2, 7001), 8192, 1), softmax("f16", (1, 8000), 8192, 1),
              softmax("f32", (1, 30000), 32768, 4), softmax("f32", (2, 7001), 8192, 1, True),
              softmax("f32", (1, 32768), 32768, 4, True)]
    for extent, block, count in ((8192, 8192, 1), (12000, 8192, 1), (33000, 32768, 4)):
        for dtype in ("f32", "i8"):
            result.append(one("elementwise " + dtype, ELEMENTWISE,
                              {"x": filled(random, dtype, extent), "y": filled(random, dtype, extent),
                               "z": zeros(dtype, extent), "i": zeros("i32", extent)},
                              count, placements=(ALIGNED, MISALIGNED), block=block, dtype=dtype))
    values = random.standard_normal((2, 9001)).astype(np.float32)
    result.append(one("layer norm", LAYER_NORM,
                      {"x": values, "w": filled(random, "f32", 9001), "b": filled(random, "f32", 9001),
                       "y": zeros("f32", 2, 9001), "mean": zeros("f32", 2)},
                      1, placements=(ALIGNED, PADDED), exact=False, block=16384))
    for dtype in ("f32", "i32"):
        for count in (1, 4):
            block = 8192 * count
            result.append(one("extremes " + dtype, EXTREMES,
                              {"x": filled(random, dtype, block), "y": zeros("i32", 4), "z": zeros(dtype, 2)},
                              count, block=block, dtype=dtype))
    result.append(one("pointers", POINTERS, {"x": filled(random, "f32", 16384), "y": filled(random, "f32", 16384)},
                      1, {"n": 15000}, (ALIGNED, MISALIGNED), block=8192))
    result.append(one("order", ORDER, {"x": filled(random, "i32", 8192), "s": filled(random, "i32", 8192),
                                       "y": zeros("i32", 8192)}, 1, block=8192))
    for rows, columns in ((64, 128), (8, 1024), (512, 16)):
        m, n = rows - 3, columns - 5
        result.append(one("matrices", MATRICES,
                          {"x": filled(random, "i32", m, n), "w": filled(random, "i32", n), "y": zeros("i32", n, m),
                           "z": zeros("i32", m, n), "s": zeros("i32", m)},
                          1, placements=(ALIGNED, PADDED), rows=rows, columns=columns))
    for rows, columns in ((64, 128), (4, 2048)):
        result.append(one("reshaped", RESHAPED,
                          {"x": filled(random, "f32", rows * columns), "w": filled(random, "f32", columns),
                           "y": zeros("f32", rows), "z": zeros("f32", rows, columns)},
                          1, exact=False, rows=rows, columns=columns))
        result.append(one("weighted", WEIGHTED,
                          {"x": filled(random, "f32", rows, columns), "w": filled(random, "f32", columns),
                           "u": filled(random, "f32", rows), "y": zeros("f32", rows), "z": zeros("f32", columns)},
                          1, exact=False, rows=rows, columns=columns))
    result.append(one("odd pieces", ELEMENTWISE,
                      {"x": filled(random, "f32", 8200), "y": filled(random, "f32", 8200), "z": zeros("f32", 8200),
                       "i": zeros("i32", 8200)}, 1, block=8200, dtype="f32"))
    for value in (1, -1):
        result.append(one(f"combine {value}", COMBINE,
                          {"x": np.abs(filled(random, "i32", 8192)) * value, "y": zeros("i32", 2),
                           "z": zeros("i32", 8192)}, 1, block=8192))
    result.append(one("scans", SCANS, {"x": filled(random, "i32", 8192), "m": filled(random, "i32", 32, 256),
                                       "y": zeros("i32", 8192), "z": zeros("i32", 8192),
                                       "u": zeros("i32", 32, 256), "v": zeros("i32", 32, 256)}, 1, block=8192))
    for values in (np.full(8192, np.nan, np.float32), filled(random, "f32", 8192)):
        result.append(one("numbers", NUMBERS,
                          {"x": values, "u": random.integers(5, 9, 8192).astype(np.uint32), "y": zeros("f32", 2),
                           "z": zeros("u32", 2)}, 1, block=8192))
    for n, there in ((3, 1), (4, 2)):
        result.append(one(f"pointer branches {n}", POINTER_BRANCHES,
                          {"p": filled(random, "f32", 8192 * there), "y": zeros("f32", 8192)}, 1, {"n": n}, block=8192))
    for n in (3, 4):
        result.append(one(f"branches {n}", BRANCHES,
                          {"x": filled(random, "f32", 8192), "b": filled(random, "f32", 8192),
                           "y": zeros("f32", 8192)}, 1, {"n": n}, block=8192))
    result.append(one("gather", GATHER, {"x": filled(random, "f32", 100),
                                         "t": random.integers(-5, 110, 8192).astype(np.int32),
                                         "y": zeros("f32", 8192)}, 1, block=8192))
    return result


def big_strips():
    """Tiles of 32768 and 65536 elements in one warp and in several: minutes in the emulator."""
    random = random_for("big strips")
    result = []
    for block in (32768, 65536):
        for count in (1, 4, 16):
            extent = block - 77
            result.append(softmax("f32", (3, extent), block, count))
            result.append(softmax("f16", (3, extent), block, count))
            result.append(softmax("f32", (3, extent), block, count, True))
            result.append(one("elementwise", ELEMENTWISE,
                              {"x": filled(random, "f32", extent), "y": filled(random, "f32", extent),
                               "z": zeros("f32", extent), "i": zeros("i32", extent)},
                              count, placements=(ALIGNED, MISALIGNED), block=block, dtype="f32"))
            result.append(one("extremes", EXTREMES, {"x": filled(random, "f32", block), "y": zeros("i32", 4),
                                                     "z": zeros("f32", 2)}, count, block=block, dtype="f32"))
    for count in (1, 8):
        m, n = 253, 251
        result.append(one("matrices", MATRICES,
                          {"x": filled(random, "i32", m, n), "w": filled(random, "i32", n), "y": zeros("i32", n, m),
                           "z": zeros("i32", m, n), "s": zeros("i32", m)},
                          count, placements=(ALIGNED, PADDED), rows=256, columns=256))
    return result


GROUPS = {function.__name__: function for function in (strips, big_strips)}
