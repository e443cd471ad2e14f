"""Cases of operations that move elements between threads: shapes, scans, sorts, gathers, products."""

from cases import Case, filled, random_for, warps, zeros


def bracket(shape):
    return f"[{', '.join(map(str, shape))}]"


def place(shape):
    return f"[{', '.join(f'0 +: {side}' for side in shape)}]"


def unary(name, body, dtype, shape, result, count, result_dtype=None, exact=True, extra=""):
    """`body` of the tile `t`, whole."""
    out = result_dtype or dtype
    source = f"""kernel k(in x: {dtype}{bracket(shape)}, out y: {out}{bracket(result)}) @grid(1) {{
    let t = x{place(shape)}
{extra}    y{place(result)} = {body}
}}"""
    arrays = {"x": filled(random_for(name + dtype), dtype, *shape), "y": zeros(out, *result)}
    return Case(f"{name} {shape} {dtype}", source, arrays, options=warps(count), exact=exact,
                placements=((0, 0),))


SHAPES = (
    ("t.reshape(32, 64)", (64, 32), (32, 64)), ("t.reshape(96)", (4, 24), (96,)),
    ("t.reshape(3, 32)", (96,), (3, 32)), ("t.reshape(5, 4, 3)", (12, 5), (5, 4, 3)),
    ("ravel(t)", (16, 16), (256,)), ("trans(t)", (64, 32), (32, 64)), ("trans(t)", (17, 40), (40, 17)),
    ("permute(t, 2, 0, 1)", (4, 8, 16), (16, 4, 8)), ("permute(t, 1, 0, 2)", (3, 5, 7), (5, 3, 7)),
    ("flip(t, 0)", (64, 3), (64, 3)), ("flip(t, 1)", (6, 33), (6, 33)), ("flip(t, 0)", (128,), (128,)),
    ("t[::2, 3:10]", (48, 20), (24, 7)), ("t[16:32]", (64,), (16,)), ("t[:, 32:64]", (8, 64), (8, 32)),
    ("cat(t, t * 2, axis=0)", (20,), (40,)), ("cat(t, t, t, axis=1)", (8, 16), (8, 48)),
    ("join(t, t * 3)", (64,), (64, 2)), ("interleave(t, t * 3)", (33,), (66,)),
    ("t[5, :]", (16, 24), (24,)),
)


def shapes():
    result = []
    for dtype in ("f32", "i8", "i64", "f16"):
        for body, shape, out in SHAPES:
            for count in (1, 4):
                result.append(unary(body, body, dtype, shape, out, count))
    for index in (0, 15):
        for count in (1, 4):
            result.append(Case(f"run-time row {index}", """kernel k(in x: f32[16, 24], out y: f32[24], out z: f32[16, 24], i: i64)
    @grid(1)
{
    var t = x[0 +: 16, 0 +: 24]
    let row = t[i, :]
    y[0 +: 24] = row
    t[15 - i, :] = row + 1.0
    z[0 +: 16, 0 +: 24] = t
}""", {"x": filled(random_for("rows"), "f32", 16, 24), "y": zeros("f32", 24), "z": zeros("f32", 16, 24)},
                               {"i": index}, options=warps(count), exact=True, placements=((0, 0),)))
    return result


COMBINES = (("cumsum(t, {a})", ""), ("cumsum(t, {a}, reverse=true)", ""), ("cumprod(t, {a})", ""))


def scans():
    result = []
    for dtype in ("f32", "i32"):
        for shape, axis in (((300,), 0), ((64,), 0), ((1,), 0), ((40, 33), 0), ((40, 33), 1),
                            ((4, 8, 6), 1), ((1024,), 0)):
            for body, extra in COMBINES:
                if "prod" in body and dtype == "f32":
                    continue
                for count in (1, 4, 8):
                    result.append(unary(body, body.format(a=axis), dtype, shape, shape, count, extra=extra))
    return result


def sorts():
    result = []
    for dtype in ("f32", "i32", "u8", "f16", "i64"):
        for shape, axis in (((100,), 0), ((64,), 0), ((5, 40), 1), ((24, 6), 0)):
            for count in (1, 4):
                for order in ("", ", descending=true"):
                    body = f"sort(t, {axis}{order})"
                    result.append(unary(body, "v", dtype, shape, shape, count, extra=f"    let (v, i) = {body}\n"))
                    result.append(unary(body + " places", "i", dtype, shape, shape, count, "i32",
                                        extra=f"    let (v, i) = {body}\n"))
    for shape in ((300,), (64,)):
        result.append(unary("topk", "i", "f32", shape, (8,), 4, "i32", extra="    let (v, i) = topk(t, 8)\n"))
    return result


def gathers():
    result = []
    for dtype, index in (("f32", "i32"), ("i8", "i64"), ("f64", "i32")):
        for shape, taken, axis in (((64,), (200,), 0), ((16, 64), (16, 8), 1), ((16, 12), (40, 12), 0)):
            for count in (1, 4):
                name = f"gather {dtype} {shape} {axis}"
                source = f"""kernel k(in x: {dtype}{bracket(shape)}, in i: {index}{bracket(taken)},
         out y: {dtype}{bracket(taken)}) @grid(1) {{
    y{place(taken)} = gather(x{place(shape)}, i{place(taken)}, {axis})
}}"""
                places = random_for(name).integers(0, shape[axis], taken).astype(index.replace("i", "int"))
                arrays = {"x": filled(random_for(name), dtype, *shape), "i": places, "y": zeros(dtype, *taken)}
                result.append(Case(name, source, arrays, options=warps(count), exact=True, placements=((0, 0),)))
    for dtype, shape in (("i32", (300,)), ("u8", (300,)), ("i64", (20, 30))):
        result.append(unary("histogram", "histogram(t, 10)", dtype, shape, (10,), 4, "i32"))
    return result


def products():
    """Whole numbers, whose sums are exact in any order."""
    result = []
    for dtype, out in (("f32", "f32"), ("f16", "f32"), ("bf16", "f32"), ("i8", "i32"), ("f64", "f64")):
        for m, n, k in ((16, 16, 16), (33, 17, 20), (1, 64, 5), (64, 64, 32), (128, 8, 64), (5, 3, 1)):
            for count in (1, 4):
                name = f"dot {dtype} {m}x{n}x{k}"
                random = random_for(name)
                source = f"""kernel k(in a: {dtype}[{m}, {k}], in b: {dtype}[{k}, {n}], out c: {out}[{m}, {n}])
    @grid(1)
{{
    c[0 +: {m}, 0 +: {n}] = a[0 +: {m}, 0 +: {k}] @ b[0 +: {k}, 0 +: {n}]
}}"""
                arrays = {"a": filled(random, dtype, m, k), "b": filled(random, dtype, k, n),
                          "c": zeros(out, m, n)}
                result.append(Case(name, source, arrays, options=warps(count), exact=True, placements=((0, 0),)))
    for dtype in ("f16", "f32", "i8", "f64"):
        for form, a_shape, b_shape in (("trans(x) @ y", (32, 48), (32, 24)), ("x @ trans(y)", (48, 32), (24, 32)),
                                       ("trans(x) @ trans(y)", (32, 48), (24, 32))):
            for count in (1, 8):
                out = "i32" if dtype == "i8" else "f64" if dtype == "f64" else "f32"
                name = f"{form} {dtype}"
                random = random_for(name)
                source = f"""kernel k(in a: {dtype}{bracket(a_shape)}, in b: {dtype}{bracket(b_shape)}, out c: {out}[48, 24])
    @grid(1)
{{
    let x = a{place(a_shape)}
    let y = b{place(b_shape)}
    c[0 +: 48, 0 +: 24] = {form}
}}"""
                arrays = {"a": filled(random, dtype, *a_shape), "b": filled(random, dtype, *b_shape),
                          "c": zeros(out, 48, 24)}
                result.append(Case(name, source, arrays, options=warps(count), exact=True, placements=((0, 0),)))
    chained = """kernel k(in a: f16[64, 32], in b: f16[32, 64], in d: f16[64, 32], out c: f32[64, 32], out s: f32[64])
    @grid(1)
{
    let p = a[0 +: 64, 0 +: 32] @ b[0 +: 32, 0 +: 64]
    s[0 +: 64] = max(p, axis=1)
    var acc = full[f32](1.0, 64, 32)
    for i in range(2) {
        acc = acc * 2.0 + (p / 512.0).to(f16) @ d[0 +: 64, 0 +: 32]
    }
    c[0 +: 64, 0 +: 32] = acc
}"""
    for count in (1, 4):
        random = random_for("chained")
        arrays = {"a": filled(random, "f16", 64, 32), "b": filled(random, "f16", 32, 64),
                  "d": filled(random, "f16", 64, 32), "c": zeros("f32", 64, 32), "s": zeros("f32", 64)}
        result.append(Case("chained dot", chained, arrays, options=warps(count), placements=((0, 0),)))
    source = """kernel k(in a: f16[3, 16, 20], in b: f16[3, 20, 24], out c: f32[3, 16, 24]) @grid(1) {
    c[0 +: 3, 0 +: 16, 0 +: 24] = a[0 +: 3, 0 +: 16, 0 +: 20] @ b[0 +: 3, 0 +: 20, 0 +: 24]
}"""
    random = random_for("batched")
    arrays = {"a": filled(random, "f16", 3, 16, 20), "b": filled(random, "f16", 3, 20, 24),
              "c": zeros("f32", 3, 16, 24)}
    result.append(Case("batched dot", source, arrays, exact=True, placements=((0, 0),)))
    return result


def exchanges():
    """Conversions: within one warp, of elements of all widths; through memory, in one piece and in several."""
    result = []
    for dtype in ("f32", "i8", "i64", "f16", "i1"):
        for shape in ((8, 8), (4, 32), (64, 2), (16, 12)):
            result.append(unary("trans(t)", "trans(t)", dtype, shape, shape[::-1], 1))
        result.append(unary("trans(t) then sum", "trans(t) + sum(trans(t), 0)[None, :]", dtype, (8, 16), (16, 8), 1)
                      if dtype in ("f32", "i64") else
                      unary("permute", "permute(t, 2, 0, 1)", dtype, (2, 8, 8), (8, 2, 8), 2))
    for dtype, shape, count in (("f32", (128, 64), 4), ("f16", (128, 128), 8), ("i8", (64, 96), 4), ("i64", (48, 64), 2)):
        result.append(unary("trans(t)", "trans(t)", dtype, shape, shape[::-1], count))
    result.append(unary("in pieces", "permute(t, 0, 2, 1)", "f32", (8, 32, 32), (8, 32, 32), 4))
    return result


MATMUL = """kernel k(in a: {t}[M, K], in b: {t}[K, N], out c: {o}[M, N]) @grid(cdiv(M, {bm}), cdiv(N, {bn}))
{{
    let m = program_id(0) * {bm}
    let n = program_id(1) * {bn}
    var acc = zeros[{o}]({bm}, {bn})
    for i in range(0, K, {bk}) {{
        acc += a[m +: {bm}, i +: {bk}] @ b[i +: {bk}, n +: {bn}]
    }}
    c[m +: {bm}, n +: {bn}] = acc
}}"""


def pipelines():
    """Products along K in a loop, with as many stages as there may be."""
    result = []
    for dtype, out in (("f16", "f32"), ("f32", "f32"), ("i8", "i32")):
        for stages in (1, 2, 3, 5):
            for (m, n, k), (bm, bn, bk), count in (((64, 64, 128), (32, 32, 32), 4), ((48, 64, 80), (16, 32, 32), 2),
                                                   ((32, 32, 16), (32, 32, 32), 1), ((17, 33, 49), (16, 16, 16), 4)):
                if stages in (2, 5) and (dtype != "f16" or count == 1):
                    continue
                source = MATMUL.format(t=dtype, o=out, bm=bm, bn=bn, bk=bk)
                name = f"matmul {dtype} {m}x{n}x{k} stages {stages}"
                random = random_for(name)
                arrays = {"a": filled(random, dtype, m, k), "b": filled(random, dtype, k, n), "c": zeros(out, m, n)}
                result.append(Case(name, source, arrays, options=(*warps(count), f"--stages={stages}"), exact=True,
                                   placements=((0, 0),)))
    return result


GROUPS = {function.__name__: function for function in (shapes, scans, sorts, gathers, products, exchanges, pipelines)}
