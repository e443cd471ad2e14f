"""Indices at the very ends of the intervals, and addresses at the very multiples, that the compiler
takes for known: one more or one less, and it is wrong."""

import numpy as np

from cases import ALIGNED, Case, filled, random_for, warps, zeros
from moves import place

EIGHTH = """kernel k(in x: f32[64], in z: f32[8], in s: f32[7], out y: f32[8, 16], out w: f32[64], inout v: f32[60], i: i64)
    @grid(1)
{
    let l = arange(0, 16)
    y[0, :] = s[l % 8]
    y[1, :] = z[(l - 5) % 8]
    y[2, :] = z[where(x[0 +: 16] > 0.0, l % 4, l % 4 + 7)]
    y[3, :] = z[l + 2147483640]
    y[4, :] = z[minimum(l, 9)] + z[maximum(l - 9, 0 - 3)]
    y[5, :] = z[l // 2] - z[(l + 1) // 2]
    y[6, :] = z[7 - l]
    assume(i <= 64 && i >= 0)
    w[i] = 5.0
    for k in range(4) { v[k * 16 +: 16] = x[k * 16 +: 16] }
    for k in range(9) { w[k * 8] = z[k] }
}"""
STARTS = """kernel k(in x: f32[64], inout y: f32[64]) @grid(4) {
    let i = 24 - program_id(0) * 16
    y[i +: 16] = x[i +: 16, fill=2.0] + 1.0
}"""
LINES = (
    ("arange(0, 64) + (n - 95)", "f32"), ("arange(2, 66)", "f32"), ("arange(4, 68)", "u8"), ("5 + arange(0, 64)", "f32"),
    ("arange(0, 64) + 5", "f32"), ("64 - arange(0, 64)", "f32"), ("arange(0, 64) + (n + 32) % 5", "f32"), ("arange(0, 64) + (n >> 5)", "f32"),
    ("arange(0, 64) + n // 32 * 3", "f32"), ("arange(0, 64) + n * 16 % 21", "f32"), ("arange(0, 64) * 1 + minimum(n, 3)", "f32"),
    ("arange(0, 16)[:, None] + arange(0, 4)[None, :]", "f32"),
    ("arange(0, 4)[:, None] * 33 + arange(0, 16)[None, :]", "f32"), ("arange(0, 16)[:, None] + arange(0, 4)[None, :] * 16", "f32"),
    ("arange(0, 4)[:, None] * 34 + arange(0, 16)[None, :]", "f16"), ("(arange(0, 64) + 0 * n) * 2", "f16"),
)


def ranges():
    result = []
    for i in (0, 63, 64):
        random = random_for("ranges")
        arrays = {"x": filled(random, "f32", 64), "z": filled(random, "f32", 8), "s": filled(random, "f32", 7),
                  "y": zeros("f32", 8, 16), "w": zeros("f32", 64), "v": filled(random, "f32", 60)}
        for count in (1, 4):
            result.append(Case(f"eighth {i}", EIGHTH, arrays, {"i": i}, warps(count), exact=True))
    arrays = {"x": filled(random_for("starts"), "f32", 64), "y": filled(random_for("starts"), "f32", 64)}
    result.append(Case("falling starts", STARTS, arrays, exact=True))
    for index, dtype in LINES:
        one = "1" if dtype[0] == "u" else "1.0"
        source = f"""kernel k(in x: *{dtype}, out y: *{dtype}, n: i64) @grid(1) {{
    let i = {index}
    store(y + i, load(x + i) + {one}.to({dtype}))
}}""".replace("1.0.to(f32)", "1.0").replace("1.0.to(f16)", "(1.0).to(f16)").replace("1.to(u8)", "(1).to(u8)")
        arrays = {"x": filled(random_for(index), dtype, 256), "y": zeros(dtype, 256)}
        for count in (1, 2):
            result.append(Case(f"line {index} {dtype}", source, arrays, {"n": 96}, warps(count), exact=True))
    rows = """kernel k(in x: f32[M, 33], inout y: f32[M, 34]) @grid(M) {
    let m = program_id(0)
    y[m, 0 +: 32] = x[m, 0 +: 32] + 1.0
}"""
    arrays = {"x": filled(random_for("rows"), "f32", 3, 33), "y": filled(random_for("rows"), "f32", 3, 34)}
    result.append(Case("odd rows", rows, arrays, exact=True))
    return result + orders_of_changes() + shared_sums()


def orders_of_changes():
    """Changes of the same elements by other threads, of kinds that do not commute, and reads between."""
    result = []
    source = """kernel k(inout z: i32[128], in x: i32[128], out y: i32[128], inout u: i32[1]) @grid(1) {
    let i = arange(0, 128)
    atomic_add(z[i], x[:])
    atomic_max(z[127 - i], x[:] * 3)
    atomic_xor(z[i ^ 64], x[:])
    let a = atomic_add(z[127 - i], 1)
    atomic_add(z[i ^ 32], 5)
    y[:] = a + z[i ^ 96]
    for k in range(3) {
        z[i] = z[127 - i] + x[:]
        z[0 +: 64] = z[0 +: 64] * 2
    }
    if x[0] > 100 { barrier() }
    z[127 - i] = z[i] + 1
    u[0] = z[77]
}"""
    for count in (2, 4, 8):
        random = random_for("order of changes")
        arrays = {"z": filled(random, "i32", 128), "x": filled(random, "i32", 128), "y": zeros("i32", 128),
                  "u": zeros("i32", 1)}
        result.append(Case("order of changes", source, arrays, {}, warps(count), (ALIGNED,), exact=True))
    return result


def shared_sums():
    """Products that share an accumulator but no K, and histograms beside other uses of shared memory."""
    result = []
    source = f"""kernel k(in a: f16[32, 16], in b: f16[16, 16], in c: f16[32, 64], in d: f16[64, 16], out y: f32[32, 16],
         out h: i32[8], out g: i32[32]) @grid(1) {{
    let s = a{place((32, 16))} @ b{place((16, 16))}
    y{place((32, 16))} = dot(c{place((32, 64))}, d{place((64, 16))}, s)
    let v = s.to(i32)
    h[:] = histogram(v.reshape(512), 8)
    g[:] = histogram(v.reshape(512), 32) + sum(v, axis=1)
}}"""
    for count in (1, 4):
        random = random_for("shared sums")
        arrays = {"a": filled(random, "f16", 32, 16), "b": filled(random, "f16", 16, 16),
                  "c": filled(random, "f16", 32, 64), "d": filled(random, "f16", 64, 16), "y": zeros("f32", 32, 16),
                  "h": zeros("i32", 8), "g": zeros("i32", 32)}
        result.append(Case("shared sums", source, arrays, {}, warps(count), (ALIGNED,), exact=True))
    return result


GROUPS = {"ranges": ranges}
