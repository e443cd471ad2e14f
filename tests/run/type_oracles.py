"""Conversions and products of tests/run/types against NumPy, in which the small formats are spelt
out bit by bit. Usage: type_oracles.py TKC FOLDER [FILE...]
"""

import numpy as np

from numpy_cases import Case, case, main

# bits of exponent and mantissa, bias, what the highest exponent is: inf and NaN, one NaN, or numbers
FORMATS = {
    "f8e5m2": (5, 2, 15, "inf"),
    "f8e4m3fn": (4, 3, 7, "nan"),
    "f8e5m2fnuz": (5, 2, 16, "fnuz"),
    "f8e4m3fnuz": (4, 3, 8, "fnuz"),
    "f4e2m1": (2, 1, 1, "numbers"),
}


def values_of(name):
    """The number of each bit pattern, in f64."""
    if name == "e8m0":
        return np.append(2.0 ** (np.arange(255) - 127.0), np.nan)
    exponents, mantissas, bias, kind = FORMATS[name]
    bits = np.arange(1 << (1 + exponents + mantissas))
    mantissa = bits & ((1 << mantissas) - 1)
    exponent = bits >> mantissas & ((1 << exponents) - 1)
    top = (1 << exponents) - 1
    size = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias - mantissas),
                    (1 + mantissa / 2.0**mantissas) * 2.0 ** (exponent - bias))
    value = np.where(bits >> (exponents + mantissas) == 1, -size, size)
    if kind == "inf":
        value = np.where(exponent == top, np.where(mantissa == 0, np.copysign(np.inf, value), np.nan), value)
    elif kind == "nan":
        value[(exponent == top) & (mantissa == (1 << mantissas) - 1)] = np.nan
    elif kind == "fnuz":
        value[1 << (exponents + mantissas)] = np.nan
    return value


def nearest(name, x):
    """The numbers of a format nearest to those of x, ties to even bits, the largest at most."""
    table = values_of(name)
    finite = np.flatnonzero(np.isfinite(table) & ~np.signbit(table))
    order = finite[np.argsort(table[finite])]
    grid = table[order]
    size = np.nan_to_num(np.minimum(np.abs(x), grid[-1]))
    above = np.clip(np.searchsorted(grid, size), 1, len(grid) - 1)
    low, high = grid[above - 1], grid[above]
    up = (size - low > high - size) | ((size - low == high - size) & (order[above] % 2 == 0))
    near = np.where(size == high, high, np.where(up, high, low))
    return np.where(np.isnan(x), np.nan, np.copysign(near, x))


def packed(name, bits):
    """Patterns as `tkc run` reads them: two of 4 bits to a byte, low ones first."""
    bits = bits.astype(np.uint8)
    return bits[..., ::2] | bits[..., 1::2] << 4 if name == "f4e2m1" else bits


def decoder(name):
    def decode(got):
        bits = {key: array for key, array in got.items()}
        for key, array in got.items():
            if array.dtype == np.uint8:
                if name == "f4e2m1":
                    array = np.stack([array & 15, array >> 4], axis=-1).reshape(*array.shape[:-1], -1)
                bits[key] = values_of(name)[array]
        return bits

    return decode


# --- storage ----------------------------------------------------------------------------------------


@case("storage", "widened", *FORMATS, "e8m0")
def widened(rng, name):
    table = values_of(name)
    args = dict(x=packed(name, np.arange(len(table))), y="empty:f32:%d" % len(table))
    return Case(args, dict(y=table), ["S=" + name], rtol=0, atol=0)


def patterns(source):
    """Every f16; of wider types numbers near the ties and ends of the narrow formats."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    if source == "f16":
        return halves
    wide = np.append(halves[np.isfinite(halves)][::7], [np.nan, np.inf]).astype(np.float32)
    near = np.nextafter(wide, np.float32(np.inf)), np.nextafter(wide, np.float32(-np.inf))
    wide = np.concatenate([wide, *near]).astype(np.float32)
    return wide if source == "f32" else (wide.view(np.uint32) >> 16).astype(np.uint16)


@case("storage", "narrowed", *[(s, f) for s in ("f16", "bf16", "f32") for f in FORMATS])
def narrowed(rng, size):
    source, name = size
    x = patterns(source)
    x = x[: len(x) // 2 * 2]
    numbers = (x.astype(np.uint32) << 16).view(np.float32) if source == "bf16" else x
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = numbers.astype(np.float64)
    want = nearest(name, numbers)
    if name == "f4e2m1":  # there is no NaN: what it becomes is not said
        keep = ~np.isnan(numbers)
        keep = np.flatnonzero(keep)[: keep.sum() // 2 * 2]
        x, want = x[keep], want[keep]
    if "fnuz" in name:
        want = want + 0.0  # no -0
    made = Case(dict(x=x, y="empty:%s:%d" % (name, len(x))), dict(y=want), ["T=" + source, "S=" + name], rtol=0, atol=0)
    made.decode = decoder(name)
    return made


@case("storage", "beyond", ("f8e5m2", "inf"), ("f8e4m3fn", "nan"), ("f8e4m3fn", "saturate"), ("f8e5m2fnuz", "nan"),
      ("f16", "saturate"), ("i8", "saturate"))
def beyond(rng, size):
    name, overflow = size
    x = np.array([1e6, -1e6, 3.0, np.inf, -np.inf] + [0.0] * 59, np.float32)
    largest = {"f16": 65504.0, "i8": 127.0}.get(name) or np.nanmax(np.where(np.isinf(v := values_of(name)), 0, v))
    high = {"inf": np.inf, "nan": np.nan, "saturate": largest}[overflow]
    low = {"inf": -np.inf, "nan": np.nan, "saturate": -128.0 if name == "i8" else -largest}[overflow]
    want = np.array([high, low, 3.0, high, low] + [0.0] * 59)
    made = Case(dict(x=x, y="empty:%s:64" % name), dict(y=want), ["S=" + name, "OVERFLOW=" + overflow], rtol=0, atol=0)
    if name in FORMATS:
        made.decode = decoder(name)
    return made


@case("storage", "unpacked", ("u4", 0), ("u4", 1), ("i4", 0), ("i4", 1))
def unpacked(rng, size):
    name, axis = size
    words = rng.integers(0, 1 << 32, (8, 8), dtype=np.uint32)
    parts = np.stack([words >> np.uint32(4 * i) & np.uint32(15) for i in range(8)], axis=axis + 1).astype(np.int32)
    parts = parts.reshape((64, 8) if axis == 0 else (8, 64))
    if name == "i4":
        parts = np.where(parts > 7, parts - 16, parts)
    args = dict(x=words, y="empty:i32:%dx%d" % parts.shape, z="empty:u32:8x8")
    return Case(args, dict(y=parts, z=words), ["S=" + name, "AXIS=%d" % axis], rtol=0, atol=0)


# --- products ---------------------------------------------------------------------------------------

SMALL = np.array([-2, -1, 0, 1, 2, 3])


def whole(rng, name, shape):
    """Small whole numbers in a type: as stored, and in f64."""
    numbers = rng.choice(SMALL if name[0] != "u" else SMALL[2:], shape).astype(np.float64)
    if name in FORMATS or name == "e8m0":
        table = values_of(name)
        return packed(name, np.array([np.flatnonzero(table == v)[0] for v in numbers.flat]).reshape(shape)), numbers
    if name == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), numbers
    stored = {"i8": np.int8, "u8": np.uint8, "f16": np.float16, "f32": np.float32, "f64": np.float64}
    return numbers.astype(stored[name]), numbers


PAIRS = [("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32", "f32", "f32"), ("f64", "f64", "f64"),
         ("i8", "i8", "i32"), ("i8", "u8", "i32"), ("u8", "u8", "i32"), ("f8e5m2", "f8e4m3fn", "f32"),
         ("f8e4m3fnuz", "f8e5m2fnuz", "f32")]


@case("products", "product", *[pair + size for pair in PAIRS for size in ((32, 32, 48), (17, 21, 40))],
      ("f16", "f16", "f32", 64, 64, 24), ("i8", "i8", "i32", 32, 32, 2052))
def product(rng, size):
    a_type, b_type, c_type, m, n, k = size
    if k == 2052:  # beyond 2^24, where f32 loses whole numbers
        a, b = np.full((m, k), 127, np.int8), np.full((k, n), 125, np.int8)
        a[:, ::7] = 3
        x, y = a.astype(np.float64), b.astype(np.float64)
    else:
        (a, x), (b, y) = whole(rng, a_type, (m, k)), whole(rng, b_type, (k, n))
    step = {24: 24, 2052: 2}.get(k, 16)
    return Case(dict(a=a, b=b, c="empty:%s:%dx%d" % (c_type, m, n)), dict(c=x @ y),
                ["A=" + a_type, "B=" + b_type, "C=" + c_type, "BK=%d" % step], rtol=0, atol=0)


@case("products", "product_with", ("f8e4m3fn", "f32", "exact"), ("f8e5m2", "f16", "exact"), ("f16", "f16", "exact"),
      *[("f32", "f32", how) for how in ("exact", "tf32", "tf32x3", "bf16x3", "bf16x6")])
def product_with(rng, size):
    a_type, c_type, how = size
    if a_type == "f32":
        x, y = rng.standard_normal((29, 64)), rng.standard_normal((64, 31))
        a, b = x.astype(np.float32), y.astype(np.float32)
        x, y = a.astype(np.float64), b.astype(np.float64)
        error = {"exact": 2e-6, "tf32": 2e-2, "tf32x3": 1e-5, "bf16x3": 1e-3, "bf16x6": 1e-5}[how]
    else:
        (a, x), (b, y) = whole(rng, a_type, (29, 64)), whole(rng, a_type, (64, 31))
        error = 0
    return Case(dict(a=a, b=b, c="empty:%s:29x31" % c_type), dict(c=x @ y),
                ["A=" + a_type, "C=" + c_type, "INPUT=" + how], rtol=0, atol=error)


@case("products", "scaled", ("f4e2m1", "f4e2m1", "e8m0", 32, True), ("f4e2m1", "f4e2m1", "f8e4m3fn", 16, True),
      ("f8e4m3fn", "f4e2m1", "e8m0", 32, False), ("f8e5m2", "f8e4m3fn", "e8m0", 32, True),
      ("bf16", "f4e2m1", "e8m0", 32, True), ("f16", "f8e5m2", "f8e4m3fn", 16, False))
def scaled(rng, size):
    a_type, b_type, s_type, block, both = size
    m, n = 13, 30
    (a, x), (b, y) = whole(rng, a_type, (m, 64)), whole(rng, b_type, (64, n))
    scales = {"e8m0": [1.0, 2.0, 0.5, 16.0], "f8e4m3fn": [1.0, 1.5, 0.5, 12.0]}[s_type]
    sa, sb = rng.choice(scales, (m, 64 // block)), rng.choice(scales, (64 // block, n))
    table = values_of(s_type)
    bits = lambda s: np.array([np.flatnonzero(table == v)[0] for v in s.flat]).reshape(s.shape).astype(np.uint8)
    x = x * np.repeat(sa, block, axis=1)
    y = y * np.repeat(sb, block, axis=0) if both else y
    args = dict(a=a, sa=bits(sa), b=b, sb=bits(sb), c="empty:f32:%dx%d" % (m, n))
    return Case(args, dict(c=x @ y), ["A=" + a_type, "B=" + b_type, "S=" + s_type, "BLOCK=%d" % block,
                                      "BOTH=%s" % str(both).lower()], rtol=1e-6, atol=1e-6)


main()
