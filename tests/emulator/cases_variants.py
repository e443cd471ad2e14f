"""Kernels with @variants: each fact's code, on arguments for which it holds and for which it does not."""

import os

import numpy as np

from cases import ALIGNED, EXAMPLES, MISALIGNED, PADDED, Case, filled, random_for, warps, zeros


def matrices(options, first, **how):
    """Example 20, a product of matrices with any strides: (m, n, k) and which of them lie by columns."""
    result = []
    for m, n, k in ((64, 64, 64), (50, 40, 33)):
        for bias in ((True, False) if m == 64 else (True,)):
            random = random_for(f"variants {m}")
            arrays = {"a": random.integers(-3, 4, (m, k)).astype(np.float16),
                      "b": random.integers(-3, 4, (k, n)).astype(np.float16),
                      "res": random.integers(-3, 4, (m, n)).astype(np.float16) if bias else None,
                      "c": zeros("f16", m, n)}
            taken = (first, first, first) if isinstance(first, str) else first[m % 8 != 0]
            result.append(Case(f"strides {m} {n} {k} {how.get('transposed', ())} {'with' if bias else 'no'} bias", "", arrays, {}, options,
                               (ALIGNED, MISALIGNED, PADDED), exact=True, path=os.path.join(EXAMPLES, "20_strides.tk"), taken=taken, **how))
    return result


def layouts_of_products():
    """Both facts of example 20, and neither."""
    result = []
    for count in (1, 4):
        options = ("-k", "gemm_any", *warps(count))
        rows = (("fact0", "fact0-any", "fact0-any"), ("fact0-any", "fact0-any", "fact0-any"))
        columns = (("fact1", "fact1-any", "fact1-any"), ("fact1-any", "fact1-any", "fact1-any"))
        result += matrices(options, rows)
        result += matrices(options, columns, transposed=("b",))
        result += matrices(options, "aligned", transposed=("a",))
        result += matrices(options, "aligned", transposed=("a", "b", "c"))
    return result


NUMBERS = """kernel k(in x: f32[M, N], in bias: f32[N]?, out y: f32[M, N], n: i32, twice: i1) @grid(cdiv(M, 4), cdiv(N, 64))
    @variants([N == 64 && n == 3, !bias, twice && N % 32 == 0, N <= 100])
{
    let (i, j) = (program_id(0) * 4, program_id(1) * 64)
    var t = x[i +: 4, j +: 64]
    if bias { t += bias[j +: 64][None, :] }
    for step in range(0, n) { t = t * 2.0 + step.to(f32) }
    if twice { t *= 2.0 }
    y[i +: 4, j +: 64] = t
}
"""


def numbers():
    """Facts about extents, scalars, truth values and optional tensors, as they hold and fail together."""
    result = []
    for columns, n, bias, twice, taken in ((64, 3, True, 1, "fact0"), (64, 2, False, 1, "fact1"), (128, 2, True, 1, "fact2"),
                                           (128, 3, False, 0, "fact1"), (99, 3, True, 0, ""), (200, 0, True, 0, ""),
                                           (65, 1, True, 1, "")):
        random = random_for(f"numbers {columns}")
        arrays = {"x": filled(random, "f32", 6, columns), "bias": filled(random, "f32", columns) if bias else None,
                  "y": zeros("f32", 6, columns)}
        for count in (1, 4):
            result.append(Case(f"numbers {columns} {n}", NUMBERS, arrays, {"n": n, "twice": twice}, warps(count), (ALIGNED, MISALIGNED, PADDED),
                               exact=True, taken=(taken,) if taken else ()))
    return result


FLAGS = """kernel k(in x: f32[N], out y: f32[N], flag: i1, u: u64, m: u32, s: i32) @grid(cdiv(N, 1024))
    @variants([flag != 2, !(flag == 2), u == 3, u % 4 == 0, m == 4294967295, s == -3 && 0 != flag, -9 <= s && s <= 9])
{
    let i = program_id(0) * 1024
    var t = x[i +: 1024]
    if flag { t = t + 1.0 }
    if u == 3 { t = t * 2.0 }
    if m + 1 == 0 { t = t + 16.0 }
    y[i +: 1024] = t + s.to(f32)
}
"""


def flags():
    """Truth values beside numbers that they are not, numbers that i64 does not hold, negative ones."""
    result = []
    for flag, u, m, s, taken in ((1, 3, 1, 0, ""), (0, 9223372036854775813, 4294967295, 5, "fact4"), (1, 4, 7, -3, "fact5"),
                                 (0, 4, 7, -3, ""), (1, 0, 4294967295, -3, "fact4")):
        x = filled(random_for("flags"), "f32", 64)
        result.append(Case(f"flags {flag} {u} {m} {s}", FLAGS, {"x": x, "y": zeros("f32", 64)}, {"flag": flag, "u": u, "m": m, "s": s},
                           warps(4), (ALIGNED, MISALIGNED), exact=True, taken=(taken,) if taken else ()))
    return result


ASKED = """kernel k(in x: f32[M, N], out y: f32[M, N], out s: i64[2]) @grid(1) @variants([x.stride(0) == 20, !(x.stride(0) != 24)]) {
    y[0 +: 8, 0 +: 16] = x[0 +: 8, 0 +: 16]
    s[0] = x.stride(0)
    s[1] = view(x[0:1, 0:16]).stride(0)
}
"""


def asked_strides():
    """A stride that the program asks for is what it is, also of an axis of one element."""
    result = []
    for rows, columns in ((1, 16), (1, 20), (3, 20), (1, 24), (5, 16), (1, 1)):
        x = filled(random_for("asked"), "f32", rows, columns)
        result.append(Case(f"asked {rows} {columns}", ASKED, {"x": x, "y": zeros("f32", rows, columns), "s": zeros("i64", 2)}, {},
                           warps(1), (ALIGNED,), exact=True))
    return result


def variants():
    return layouts_of_products() + numbers() + flags() + asked_strides()


GROUPS = {"variants": variants}
