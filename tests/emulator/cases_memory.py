"""The kernels about memory that compare.py runs: places, views, hints, half bytes, atomic operations."""

import numpy as np

from cases import ALIGNED, MISALIGNED, PADDED, Case, filled, random_for, warps, zeros


def places():
    """Tiles of indices, in tensors of several ranks; indices may lie outside."""
    result = []
    gathers = (
        ("x[r[:], 0 +: 32]", "x: f32[M, N]", (20, 40), (16, 32)),
        ("x[3, r[:]]", "x: f32[M, N]", (20, 40), (16,)),
        ("x[r[:], r[:] // 2]", "x: f32[M, N]", (20, 40), (16,)),
        ("x[4 +: 8, r[:], fill=7.0]", "x: f32[M, N]", (20, 40), (8, 16)),
        ("x[r[:], 1, r[:] % 3, 0 +: 4]", "x: f32[A, B, C, D]", (18, 2, 3, 4), (16, 4)),
        ("x[2 + arange(0, 16), 4 +: 16]", "x: f32[M, N]", (17, 40), (16, 16)),
        ("x[(r[:][:, None] + arange(0, 2)[None, :]), 5]", "x: f32[M, N]", (20, 40), (16, 2)),
    )
    for text, parameter, shape, sides in gathers:
        colons = ", ".join(":" for _ in sides)
        source = f"""kernel k(in {parameter}, in r: i32[16], out y: f32[{', '.join(map(str, sides))}])
    @grid(1) {{ y[{colons}] = {text} }}"""
        random = random_for(text)
        arrays = {"x": filled(random, "f32", *shape),
                  "r": random.integers(-3, 24, 16).astype(np.int32), "y": zeros("f32", *sides)}
        placements = (ALIGNED, MISALIGNED, PADDED) if len(shape) == 2 else (ALIGNED, MISALIGNED)
        for count in (1, 4):
            result.append(Case(text, source, arrays, {}, warps(count), placements, exact=True))
    scatter = """kernel k(in x: i32[16, 32], in r: i32[16], inout y: i32[M, 40], n: i32) @grid(1) {
    y[r[:], 4 +: 32, mask=(r[:] < n)[:, None]] = x[:, :]
}"""
    random = random_for("scatter")
    arrays = {"x": filled(random, "i32", 16, 32), "y": filled(random, "i32", 12, 40),
              "r": (random.permutation(16) - 2).astype(np.int32)}
    result.append(Case("scatter", scatter, arrays, {"n": 9}, placements=(ALIGNED, PADDED), exact=True))
    high = """kernel k(in x: f32[2, 3, 2, 2, 2, 2, 2, N], out y: f32[3, 2, 2, 2, 2, 2, 4]) @grid(1) {
    y[:, :, :, :, :, :, :] = x[1, :, :, :, :, :, :, 1 +: 4]
}"""
    arrays = {"x": filled(random, "f32", 2, 3, 2, 2, 2, 2, 2, 5), "y": zeros("f32", 3, 2, 2, 2, 2, 2, 4)}
    result.append(Case("rank 8", high, arrays, exact=True))
    grid = """kernel k(in x: f32[A, B, C, D], out y: f32[A, B, C, D]) @grid(D, C, B, A) {
    let (d, c, b, a) = (program_id(0), program_id(1), program_id(2), program_id(3))
    y[a, b, c, d] = x[a, b, c, d] + (num_programs(3) * a).to(f32)
}"""
    arrays = {"x": filled(random, "f32", 2, 3, 4, 2), "y": zeros("f32", 2, 3, 4, 2)}
    result.append(Case("grid of four axes", grid, arrays, options=warps(1), exact=True))
    return result


PARTS = """kernel k(in a: f32[T, N], inout c: f32[T, N], in offs: i32[_], out e: i64[8, 4]) @grid(8) {
    let g = program_id(0)
    let (lo, hi) = (offs[g], offs[g + 1])
    let (part, result) = (view(a[lo:hi, 3:]), view(c[lo:hi, :]))
    for i in range(0, part.shape[0], 4) { result[i +: 4, 0 +: 32] = part[i +: 4, 0 +: 32] * 2.0 }
    let row = view(part[1, :])
    result[0, 0] = row[2] + sum(row[0 +: 16], axis=0)
    let cell = view(row[g])
    e[g, 0] = part.shape[0]
    e[g, 1] = row.shape[0]
    e[g, 2] = part.stride(1)
    e[g, 3] = cell[].to(i64)
}"""
ADDRESSES = """kernel k(in p: *f32, inout d: *f32, m: i32, k: i64) @grid(1) {
    let v = view(p + 1, [m, k], strides=[k + 1, 1])
    let w = view(d, [m, k], strides=[1, m + 1])
    w[0 +: 8, 0 +: 16] = v[0 +: 8, 0 +: 16]
    w[1, -1 +: 4] = v[2, -1 +: 4] + view(v[1:3, 2])[1]
}"""
TABLES = """kernel k(in t: **f32, in rows: i32[G], out y: f32[G, 16]) @grid(G) {
    let g = program_id(0)
    let a = view(load(t + g), [rows[g], 16])
    y[g, :] = a[0, :] + a[rows[g] - 1, :] + load(load(t + g) + 1)
}"""
OPTIONAL = """kernel k(in x: f32[M, N], in b: f32[N]?, in s: *f32?, out y: f32[M, N]) @grid(M) {
    let i = program_id(0)
    var v = x[i, 0 +: 64]
    if b { v = v + b[0 +: 64] }
    if s { v = v * load(s) }
    y[i, 0 +: 64] = v
}"""


def views():
    """Parts of tensors, and tensors at addresses."""
    result = []
    random = random_for("views")
    for rows, columns in ((40, 40), (33, 37)):
        offs = np.array([0, 5, 5, 12, 13, 14, 30, 100, 90], np.int32)
        arrays = {"a": filled(random, "f32", rows, columns), "c": filled(random, "f32", rows, columns),
                  "offs": offs, "e": zeros("i64", 8, 4)}
        for count in (1, 4):
            result.append(Case(f"parts of {rows}", PARTS, arrays, {}, warps(count),
                               (ALIGNED, MISALIGNED, PADDED), exact=True))
    for m, k in ((8, 16), (5, 11), (0, 16), (9, 20)):
        arrays = {"p": filled(random, "f32", 256), "d": filled(random, "f32", 256)}
        result.append(Case(f"addresses {m} {k}", ADDRESSES, arrays, {"m": m, "k": k}, exact=True))
    return result


def tables():
    """Tables of pointers, and arguments that may be absent."""
    result = []
    random = random_for("tables")
    arrays = [filled(random, "f32", rows, 16) for rows in (1, 3, 2)]
    arrays = {"t": arrays, "rows": np.array([1, 3, 2], np.int32), "y": zeros("f32", 3, 16)}
    result.append(Case("tables", TABLES, arrays, placements=(ALIGNED,), exact=True))
    for bias, scale in ((True, True), (True, False), (False, True), (False, False)):
        arrays = {"x": filled(random, "f32", 3, 60), "b": filled(random, "f32", 60) if bias else None,
                  "s": filled(random, "f32", 1) if scale else None, "y": zeros("f32", 3, 60)}
        result.append(Case(f"optional {bias} {scale}", OPTIONAL, arrays, exact=True))
    return result


def hints():
    """Hints change no result; volatile loads give every thread the same."""
    source = """kernel k(in x: f32[N], inout z: i32[N], in p: *f32, out y: f32[N], out w: f32[8]) @grid(cdiv(N, 128)) {
    let i = program_id(0) * 128
    prefetch(x[i + 128 +: 128], evict="last")
    prefetch(p + arange(0, 8))
    let a = load(x[i +: 128], evict="first")
    let b = load(x[i +: 128], cache="cg")
    let d = load(p + arange(0, 8), volatile=true)
    let c = load(p + arange(0, 8), cache="ca", evict="last")
    store(y[i +: 128], a + b, evict="first")
    store(w[:], c + d + load(p, cache="cs"), cache="wt")
    store(y[i], load(z[i], volatile=true).to(f32), cache="cs")
    let v = load(z[i +: 16], volatile=true)
    if load(z[i + 1], volatile=true) > 0 { store(y[i + 1], sum(v, axis=0).to(f32)) }
}"""
    result = []
    for extent in (256, 200):
        random = random_for("hints")
        arrays = {"x": filled(random, "f32", extent), "z": filled(random, "i32", extent),
                  "p": filled(random, "f32", 8), "y": zeros("f32", extent), "w": zeros("f32", 8)}
        for count in (1, 4):
            result.append(Case(f"hints {extent}", source, arrays, {}, warps(count), exact=True))
    return result


def packed():
    """Elements of 4 bits: whole bytes, odd starts, and halves next to those of others."""
    result = []
    random = random_for("packed")
    for dtype in ("u4", "i4"):
        copy = f"""kernel k(in x: {dtype}[M, N], inout y: {dtype}[M, N], s: i64, n: i32) @grid(M) {{
    let m = program_id(0)
    let lanes = arange(0, 32)
    y[m, s +: 32, mask=lanes < n] = x[m, 2 * s +: 32]
    y[m, 40] = x[m, 41]
    view(y[m, 43:])[0 +: 4] = view(x[m, 3:])[1 +: 4]
}}"""
        for start, count in ((0, 32), (1, 32), (2, 7), (3, 6), (-1, 20), (24, 40)):
            arrays = {"x": random.integers(0, 256, (3, 26)).astype(np.uint8),
                      "y": random.integers(0, 256, (3, 26)).astype(np.uint8)}
            result.append(Case(f"{dtype} from {start}", copy, arrays, {"s": start, "n": count},
                               warps(1), (ALIGNED, (0, 4)), exact=True))
    halves = """kernel k(in x: u4[M, N], inout y: u4[M, N]) @grid(M) {
    let m = program_id(0)
    y[m, 25] = x[m, 3]
    y[m, 0] = x[m, 24]
}"""
    arrays = {name: random.integers(0, 256, (3, 13)).astype(np.uint8) for name in ("x", "y")}
    result.append(Case("an odd last byte", halves, arrays, placements=(ALIGNED,), exact=True))
    whole = """kernel k(in x: u4[M, 128], in r: i32[8], out y: u4[8, 128]) @grid(1) {
    y[:, :] = x[r[:], :]
}"""
    arrays = {"x": random.integers(0, 256, (5, 64)).astype(np.uint8),
              "r": random.integers(-1, 6, 8).astype(np.int32), "y": np.zeros((8, 64), np.uint8)}
    result.append(Case("whole rows", whole, arrays, placements=(ALIGNED,), exact=True))
    return result + packed_vectors()


def packed_vectors():
    """Elements of 4 bits of which a thread has several: what parts them may lie between two of a byte."""
    result = []
    for dtype in ("u4", "i4", "f4e2m1"):
        value = "x[0 +: 256, mask=lanes < n]"
        sums = f"""kernel k(in x: {dtype}[N], inout y: {dtype}[N], out s: f32[1], n: i32) @grid(1) {{
    let lanes = arange(0, 256)
    s[0] = sum({value}.to(f32), axis=0)
    y[0 +: 256, mask=lanes < n] = x[0 +: 256]
}}"""
        rows = f"""kernel k(in x: {dtype}[M, N], inout y: {dtype}[M, N; *, 1], n: i32) @grid(M) {{
    let m = program_id(0)
    for i in range(0, N, 512) {{ y[m, i +: 512, mask=arange(0, 512) < n - i.to(i32)] = x[m, i +: 512] }}
}}"""
        for count in (1, 4):
            random = random_for(f"packed vectors {dtype}")
            for n in (99, 100, 128, 255):
                arrays = {"x": random.integers(0, 256, 128).astype(np.uint8),
                          "y": random.integers(0, 256, 128).astype(np.uint8), "s": np.zeros(1, np.float32)}
                result.append(Case(f"sums of {n} {dtype}", sums, arrays, {"n": n}, warps(count), (ALIGNED, (2, 0)), exact=True))
            arrays = {"x": random.integers(0, 256, (3, 300)).astype(np.uint8), "y": random.integers(0, 256, (3, 300)).astype(np.uint8)}
            result.append(Case(f"rows of {dtype}", rows, arrays, {"n": 577}, warps(count), (ALIGNED, (2, 0), (0, 2)), exact=True))
    return result


CHANGES = ("atomic_add", "atomic_max", "atomic_min", "atomic_xchg", "atomic_and", "atomic_or",
           "atomic_xor")
TICKETS = """kernel k(in x: f32[N], @zeroed inout lock: i32[1], @zeroed inout count: i32[],
         @zeroed inout total: f32[64], out mean: f32[]) @grid(8) {
    let i = program_id(0)
    atomic_poll(lock[0], i.to(i32))
    total[:] = total[:] + x[i * 64 +: 64]
    atomic_store(lock[0], i.to(i32) + 1)
    if atomic_add(count[], 1, sem="acq_rel") == 7 { mean[] = sum(total[:], axis=0) }
}"""
SCALARS = """kernel k(inout n: i32[4], inout q: i64[4], out y: i64[G, 4]) @grid(G) {
    let g = program_id(0)
    let a = atomic_add(n[0], 3, sem="relaxed")
    let b = atomic_cas(n[1], a, 100 + g.to(i32), sem="acquire")
    let c = atomic_max(q[0], (a * 7 % 11).to(i64), sem="release", scope="sys")
    atomic_add(n[9], 1)
    if b > 0 { atomic_xchg(n[2], a, scope="cta") }
    atomic_store(q[1 + g], c, sem="relaxed")
    y[g, 0] = a.to(i64)
    y[g, 1] = b.to(i64)
    y[g, 2] = c
    y[g, 3] = atomic_load(q[1 + g]) + clock() * 0 + globaltimer() * 0 + smid() * 0
    barrier()
    grid_wait()
    grid_launch_dependents()
}"""


def odd_changes():
    """Tiles whose sides are no powers of two: lanes and warps hold copies, and padding."""
    result = []
    for side, dtype in ((96, "i32"), (130, "bf16"), (7, "f32"), (1, "i32")):
        source = f"""kernel k(inout z: {dtype}[N], in x: {dtype}[N], out y: {dtype}[{side}],
         out w: {dtype}[3, {side}]) @grid(1) {{
    let a = atomic_add(z[3 +: {side}], x[0 +: {side}], mask=x[0 +: {side}] > 0)
    let b = atomic_max(z[0 +: {side}], x[0 +: {side}], sem="relaxed")
    let c = load(z[0 +: {side}], volatile=true)
    let d = atomic_xchg(z[0 +: {side}], b)
    y[:] = a + b + c
    w[:, :] = d[None, :] + c[None, :] + zeros[{dtype}](3, {side})
}}"""
        random = random_for(source)
        arrays = {"z": filled(random, dtype, side + 1), "x": filled(random, dtype, side + 1),
                  "y": zeros(dtype, side), "w": zeros(dtype, 3, side)}
        result += [Case(f"odd {side} {dtype}", source, arrays, {}, warps(count), (ALIGNED,), exact=True)
                   for count in (1, 4, 32)]
    return result


def atomics():
    """Every change in every type, with results and without, where threads hold copies and not."""
    result = []
    for dtype in ("i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"):
        for name in CHANGES[: 4 if "f" in dtype else 7]:
            source = f"""kernel k(in x: {dtype}[64], in r: i32[64], inout z: {dtype}[80],
         inout w: {dtype}[64], out y: {dtype}[64]) @grid(2) {{
    let i = program_id(0)
    if i == 0 {{ y[:] = {name}(w[:], x[:], mask=x[:] > 0) }}
    {"if i == 0 { " if name == "atomic_xchg" else ""}{name}(z[{"arange(0, 64)" if name == "atomic_xchg" else "r[:]"}], x[:], sem="relaxed")
    {"}" if name == "atomic_xchg" else ""}
}}"""
            random = random_for(name + dtype)
            arrays = {"x": filled(random, dtype, 64), "r": random.integers(-2, 90, 64).astype(np.int32),
                      "z": filled(random, dtype, 80), "w": filled(random, dtype, 64),
                      "y": zeros(dtype, 64)}
            for count in (1, 4):
                result.append(Case(f"{name} {dtype}", source, arrays, {}, warps(count), (ALIGNED,),
                                   exact=True))
    random = random_for("atomics")
    tickets = {"x": filled(random, "f32", 512), "lock": zeros("i32", 1), "count": zeros("i32"),
               "total": zeros("f32", 64), "mean": zeros("f32")}
    for count in (1, 4):
        result.append(Case("tickets", TICKETS, tickets, {}, warps(count), (ALIGNED,), exact=True))
        arrays = {"n": np.array([5, 8, 0, 1], np.int32), "q": np.array([1, 2, 3, 4], np.int64),
                  "y": zeros("i64", 3, 4)}
        result.append(Case("scalars", SCALARS, arrays, {}, warps(count), (ALIGNED,), exact=True,
                           serial=True))
    copies = """kernel k(inout z: i32[N, 4], out y: i32[8, 4]) @grid(1) {
    let a = atomic_add(z[0 +: 8, :], 1) + atomic_cas(z[0 +: 8, :], 3, 40)
    let b = atomic_load(z[2, :])
    y[:, :] = a * 2 + b[None, :] + sum(atomic_xor(z[1, 0 +: 3], 5), axis=0)
}"""
    arrays = {"z": filled(random, "i32", 9, 4), "y": zeros("i32", 8, 4)}
    for count in (1, 2, 8):
        result.append(Case("copies", copies, arrays, {}, warps(count), (ALIGNED,), exact=True))
    # ptxas 13.0 forgets who writes `z` where a load like these is in a loop.
    unused = """kernel k(inout z: i32[G, N], in x: i16[M, 48], out s: i64[G]) @grid(G) {
    let i = program_id(0)
    var v = x[0, -1 +: 48]
    z[i, 0 +: 1] += full[i32](1, 1)
    for j in range(0, 3 - i) {
        let old = atomic_load(z[i, 0 +: 1])
        let all = atomic_load(z[i, :])
        let one = atomic_load(z[i, 0])
        v = sort(maximum(x[1, 0 +: 48], v), axis=0).0 * (atomic_load(z[i, 1]) * 0 + 1).to(i16)
    }
    z[i, 0 +: 2] += full[i32](5, 2)
    s[i] = sum(v.to(i64))
}"""
    for count, columns in ((1, 2), (4, 2), (4, 16), (16, 3)):
        arrays = {"z": filled(random, "i32", 3, columns), "x": filled(random, "i16", 2, 48), "s": zeros("i64", 3)}
        result.append(Case(f"unused {columns}", unused.replace("z[i, :]", f"z[i, 0 +: {columns}]"), arrays, {}, warps(count),
                           (ALIGNED,), exact=True))
    return result + odd_changes()


SUMS = """kernel k(in x: {dtype}[_, N], inout z: {dtype}[_, N], inout q: {dtype}[_, N; 1, *], inout p: {dtype}[_, N]) @grid(2) {{
    let i = program_id(0)
    let t = x[0 +: 8, 0 +: {side}]
    atomic_add(z[i * 5 +: 8, 0 +: {side}], t, sem="relaxed")
    atomic_add(z[0 +: 8, i * 4 +: {side}], t, mask=t > 0, sem="relaxed")
    atomic_add(z[3 +: 8, 0 +: {side}], t, mask=(arange(0, 8) < 5)[:, None] & (arange(0, {side}) >= 0)[None, :], sem="relaxed")
    atomic_add(q[0 +: 8, 0 +: {side}], t, sem="relaxed", scope="sys")
    atomic_max(p[0 +: 4, 0 +: 16], x[2, 0 +: 16][None, :] + zeros[{dtype}](4, 1), sem="relaxed")
    let total = sum(t, axis=0).to({dtype})
    atomic_add(p[4, 0 +: {side}], total, sem="relaxed")
    atomic_add(p[5, 0 +: {side}], total)
}}"""
PRODUCTS = """kernel k(in x: f16[M, 32], in y: f16[32, N], inout z: {dtype}[M, N]) @grid(cdiv(M, 32)) {{
    let i = program_id(0)
    for j in range(0, N, 32) {{
        atomic_add(z[i * 32 +: 32, j +: 32], (x[i * 32 +: 32, :] @ y[:, j +: 32]).to({dtype}), sem="relaxed")
    }}
    for j in range(0, N, 32) {{
        atomic_add(z[i * 32 +: 32, j +: 32], (x[i * 32 +: 32, :] @ y[:, j +: 32]).to({dtype}), sem="relaxed")
        let old = z[i * 32 +: 32, j +: 32]
        z[i * 32 +: 32, j +: 32] = old - 1.0
    }}
}}"""


def sums():
    """Sums into memory of which nobody reads what was there before: several elements at once where the target can, the
    elements lie side by side and the mask is theirs alike."""
    result = []
    for dtype, target, (side, columns, count) in (
            ("f32", "sm_90a", (32, 32, 4)), ("f32", "sm_90a", (16, 13, 1)), ("f32", "sm_90a", (24, 40, 8)), ("f32", "sm_80", (32, 32, 4)),
            ("f16", "sm_90a", (32, 32, 2)), ("f16", "sm_90a", (24, 40, 8)), ("f16", "sm_80", (32, 27, 4)), ("bf16", "sm_90a", (32, 32, 2)),
            ("bf16", "sm_90a", (16, 13, 4)), ("bf16", "sm_80", (16, 16, 1)), ("f64", "sm_90a", (16, 16, 4)), ("i32", "sm_90a", (32, 32, 4))):
        random = random_for(dtype + target + str(side))
        arrays = {"x": filled(random, dtype, 7, columns), "z": filled(random, dtype, 12, columns),
                  "q": filled(random, dtype, 6, columns), "p": filled(random, dtype, 6, columns)}
        result.append(Case(f"sums {dtype} {target} {side}", SUMS.format(dtype=dtype, side=side), arrays, {}, warps(count),
                           (ALIGNED, MISALIGNED, PADDED, (0, 8)), exact=True, target=target, transposed=("q",)))
    for dtype, (rows, columns), count in (("f32", (32, 32), 4), ("f32", (45, 38), 1), ("f16", (32, 40), 2), ("bf16", (32, 64), 4)):
        random = random_for(dtype + str(rows))
        arrays = {"x": random.integers(-2, 3, (rows, 32)).astype(np.float16), "z": filled(random, dtype, rows, columns),
                  "y": random.integers(-1, 2, (32, columns)).astype(np.float16)}
        result.append(Case(f"sums of products {dtype} {rows}", PRODUCTS.format(dtype=dtype), arrays, {}, warps(count),
                           exact=True))
    return result


GROUPS = {function.__name__: function for function in (places, views, tables, hints, packed, atomics, sums)}
