"""The standard library against NumPy in f64, at sizes that divide by the tiles and sizes that do not.
Usage: std_oracles.py TKC FOLDER [FILE...]
"""

from math import erf, erfc

import numpy as np

from numpy_cases import Case, case, main

# Relative and absolute error of one rounding and a few steps in each type.
ERRORS = {"f16": (4e-3, 4e-3), "bf16": (3e-2, 3e-2), "f32": (4e-6, 2e-6), "f64": (1e-12, 1e-12)}


def stored(name, x):
    """x as an argument, and the numbers that the argument holds, in f64."""
    if name == "bf16":
        bits = (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    x = x.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[name])
    return x, x.astype(np.float64)


# --- nn ---------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x: np.where(x > 0, x, x / 8),
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "softplus": lambda x: np.logaddexp(x, 0),
    "softcap": lambda x: 2 * np.tanh(x / 2),
    "sigmoid": sigmoid,
}


@case("nn", "elementwise", *[(t, f, n) for t in ERRORS for f in FUNCTIONS for n in (256, 300)])
def elementwise(rng, size):
    name, function, n = size
    x, numbers = stored(name, np.append(rng.standard_normal(n - 4) * 3, [0.0, 60.0, -60.0, 20.0]))
    rtol, atol = ERRORS[name]
    return Case(dict(x=x, y="empty:%s:%d" % (name, n)), dict(y=FUNCTIONS[function](numbers)),
                ["T=" + name, "NAME=" + function], rtol=rtol, atol=atol)


@case("nn", "softmaxes", *[(t, axis, shape) for t in ERRORS for axis in (0, 1) for shape in ((64, 64), (37, 50))])
def softmaxes(rng, size):
    name, axis, shape = size
    x, numbers = stored(name, rng.standard_normal(shape) * 4)
    d = numbers - numbers.max(axis=axis, keepdims=True)
    total = np.exp(d).sum(axis=axis, keepdims=True)
    rtol, atol = ERRORS[name]
    text = "empty:%s:%dx%d" % (name, *shape)
    return Case(dict(x=x, y=text, z=text), dict(y=np.exp(d) / total, z=d - np.log(total)),
                ["T=" + name, "AXIS=%d" % axis, "BLOCK=64"], rtol=rtol, atol=8 * atol)


@case("nn", "moments", *[(t, shape) for t in ("f16", "bf16", "f32") for shape in ((4, 256), (5, 200))])
def moments(rng, size):
    name, (m, n) = size
    x, numbers = stored(name, rng.standard_normal((m, n)) + 1000 * (name == "f32"))
    want = dict(mean=numbers.mean(axis=1), variance=numbers.var(axis=1),
                scale=1 / np.sqrt((numbers**2).mean(axis=1, keepdims=True) + 1e-5))
    args = dict(x=x, mean="empty:f32:%d" % m, variance="empty:f32:%d" % m, scale="empty:f32:%dx1" % m)
    return Case(args, want, ["T=" + name, "BLOCK=256"], rtol=2e-4, atol=1e-5)


@case("nn", "streaming", (32, 128), (21, 77))
def streaming(rng, size):
    m, n = size
    x = (rng.standard_normal(size) * 5).astype(np.float32)
    v = rng.standard_normal((n, 8)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    lse = np.log(e.sum(axis=1)) + x.max(axis=1)
    args = dict(x=x, v=v, o="empty:f32:%dx8" % m, lse="empty:f32:%d" % m)
    return Case(args, dict(o=e @ v / e.sum(axis=1, keepdims=True), lse=lse), rtol=1e-5, atol=1e-5)


# --- math -------------------------------------------------------------------------------------------

MATH = {
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "saturate": lambda x, y: np.clip(x, 0, 1),
    "rcbrt": lambda x, y: 1 / np.cbrt(x),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "norm3d": lambda x, y: np.sqrt(x * x + y * y + 4),
    "normcdf": lambda x, y: np.vectorize(lambda v: 0.5 * erfc(-v / np.sqrt(2)))(x),
    "sinpi": lambda x, y: np.sin(np.pi * np.fmod(x, 2)),
    "cospi": lambda x, y: np.cos(np.pi * np.fmod(x, 2)),
}


@case("math", "floats", *[(t, f, n) for t in ("f16", "f32", "f64") for f in MATH for n in (256, 300)])
def math_floats(rng, size):
    name, function, n = size
    x, wide_x = stored(name, rng.standard_normal(n) * 3)
    y, wide_y = stored(name, rng.standard_normal(n) * 3)
    rtol, atol = ERRORS[name]
    return Case(dict(x=x, y=y, z="empty:%s:%d" % (name, n)), dict(z=MATH[function](wide_x, wide_y)),
                ["T=" + name, "NAME=" + function], rtol=rtol, atol=0 if function == "normcdf" and name == "f64" else atol)


@case("math", "special", 1)
def special(rng, _):
    x = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 0.25, -3], np.float32)
    args = dict(x=x, sign="empty:i1:8", in_range="empty:f32:8", difference="empty:f32:8")
    want = dict(sign=np.signbit(x), in_range=np.array([0, 0, 0, 0, 1, 0, 0.25, 0]),
                difference=np.array([0, 0, np.nan, np.nan, np.inf, 0, 0, 0]))
    return Case(args, want, rtol=0, atol=0)


@case("math", "integers", ("i8", 128), ("u8", 100), ("i32", 128), ("u64", 77))
def math_integers(rng, size):
    name, n = size
    kind = np.dtype({"i": "int", "u": "uint"}[name[0]] + name[1:])
    a, b = (rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, n, kind, endpoint=True) for _ in range(2))
    a[0] = 0
    x, y = a.astype(object), b.astype(object)
    wrapped = lambda values: np.array([int(v) & np.iinfo("u" + kind.name.lstrip("u")).max for v in values],
                                      np.uint64).astype("u" + kind.name.lstrip("u")).view(kind)
    want = dict(first=[(int(v) & -int(v)).bit_length() for v in x], low=(x + y) // 2, high=-(-(x + y) // 2),
                apart=wrapped(abs(x - y) + 1))
    want = {key: np.array(values, kind) for key, values in want.items()}
    text = "empty:%s:%d" % (name, n)
    return Case(dict(a=a, b=b, first=text, low=text, high=text, apart=text), want, ["T=" + name], rtol=0, atol=0)


@case("math", "turned", ("u8", 256), ("u32", 200), ("u64", 256))
def turned(rng, size):
    name, n = size
    bits = int(name[1:])
    kind = np.dtype("uint" + name[1:])
    a = rng.integers(0, np.iinfo(kind).max, n, kind, endpoint=True)
    places = (np.arange(n) % bits).astype(kind)
    turn = lambda v, k: (int(v) << k | int(v) >> (bits - k)) & ((1 << bits) - 1)
    up = np.array([turn(v, int(k)) for v, k in zip(a, places)], kind)
    down = np.array([turn(v, (bits - int(k)) % bits) for v, k in zip(a, places)], kind)
    text = "empty:%s:%d" % (name, n)
    return Case(dict(a=a, n=places, up=text, down=text), dict(up=up, down=down), ["T=" + name], rtol=0, atol=0)


# --- order ------------------------------------------------------------------------------------------


@case("order", "grouped", (8, 4, 4), (7, 5, 3), (2, 9, 8))
def grouped(rng, size):
    m, n, group = size
    tiles = []
    for first in range(0, m, group):
        tiles += [(r, c) for c in range(n) for r in range(first, min(m, first + group))]
    row, column = np.array(tiles).T
    text = "empty:i64:%d" % (m * n)
    return Case(dict(row=text, column=text, m=m, n=n, group=group), dict(row=row, column=column), rtol=0, atol=0)


def hilbert_cell(k, d):
    """By recursion: four quarters, of which the first and the last lie turned over."""
    if k == 0:
        return 0, 0
    half = 1 << (k - 1)
    quarter, rest = divmod(d, half * half)
    x, y = hilbert_cell(k - 1, rest)
    return [(y, x), (x, y + half), (x + half, y + half), (2 * half - 1 - y, half - 1 - x)][quarter]


@case("order", "hilbert", 0, 1, 2, 5)
def hilbert(rng, k):
    x, y = np.array([hilbert_cell(k, d) for d in range(4**k)]).T
    steps = np.abs(np.diff(x)) + np.abs(np.diff(y))
    assert (steps == 1).all() and len(set(zip(x, y))) == 4**k
    return Case(dict(x="empty:i64:%d" % 4**k, y="empty:i64:%d" % 4**k), dict(x=x, y=y), ["K=%d" % k], rtol=0, atol=0)


def parts(tiles, programs):
    ends = np.cumsum([len(part) for part in np.array_split(np.arange(tiles), programs)])
    return dict(first=np.concatenate([[0], ends[:-1]]), last=ends)


@case("order", "persistent", (64, 8), (67, 8), (3, 8))
def persistent(rng, size):
    tiles, programs = size
    text = "empty:i64:%d" % programs
    return Case(dict(first=text, last=text, tiles=tiles), parts(tiles, programs), rtol=0, atol=0)


@case("order", "stream_k", (8, 4, 8), (7, 5, 4))
def stream_k(rng, size):
    tiles, steps, programs = size
    text = "empty:i64:%d" % programs
    return Case(dict(first=text, last=text, tiles=tiles, steps=steps), parts(tiles * steps, programs), rtol=0, atol=0)


# --- mask -------------------------------------------------------------------------------------------


@case("mask", "masks", (32, 64, 8), (21, 45, 1), (40, 33, 100))
def masks(rng, size):
    m, n, window = size
    rows, cols = np.arange(m)[:, None], np.arange(n)[None, :]
    row_id, col_id = np.sort(rng.integers(0, 4, m)).astype(np.int32), np.sort(rng.integers(0, 4, n)).astype(np.int32)
    causal = cols <= rows
    text = "empty:i1:%dx%d" % (m, n)
    return Case(dict(row_id=row_id, col_id=col_id, causal=text, local=text, same=text, window=window),
                dict(causal=causal, local=causal & (rows - cols < window), same=row_id[:, None] == col_id[None, :]),
                rtol=0, atol=0)


# --- random -----------------------------------------------------------------------------------------


def philox(seed, offset):
    """Philox 4x32-10 of 64-bit counters: four words."""
    low = np.uint64(0xFFFFFFFF)
    offset = offset.astype(np.uint64)
    x = [offset & low, offset >> np.uint64(32), offset * np.uint64(0), offset * np.uint64(0)]
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        p, q = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(q >> np.uint64(32)) ^ x[1] ^ k[0], q & low, (p >> np.uint64(32)) ^ x[3] ^ k[1], p & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return np.stack(x)


def uniform_of(words):
    x = words.astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(x < 0, -x - 1, x) * 2.0**-31


@case("random", "words", ("i32", 256), ("i64", 300), ("u32", 77), ("u64", 128))
def words(rng, size):
    name, n = size
    at = rng.integers(0, 1 << (31 if name[1:] == "32" else 60), n).astype({"i": "int", "u": "uint"}[name[0]] + name[1:])
    seed = 0x123456789ABCDEF
    return Case(dict(at=at, y="empty:u32:4x%d" % n, seed=seed), dict(y=philox(seed, at)), ["O=" + name], rtol=0, atol=0)


@case("random", "uniform", 4096, 5000)
def uniform(rng, n):
    at = np.arange(n, dtype=np.int64) * 3
    bits = philox(99, at)
    y = uniform_of(bits)
    assert abs(y.mean() - 0.5) < 0.01 and abs(y.var() - 1 / 12) < 0.005
    z = ((bits[0] >> np.uint64(9)).astype(np.float64) + 0.5) * 2.0**-23
    return Case(dict(at=at, y="empty:f32:4x%d" % n, z="empty:f32:%d" % n, seed=99), dict(y=y, z=z), rtol=2e-7, atol=1e-9)


@case("random", "normal", 4096, 5000)
def normal(rng, n):
    at = np.arange(n, dtype=np.int32)
    u = uniform_of(philox(5, at))
    want = []
    for a, b in ((u[0], u[1]), (u[2], u[3])):
        radius = np.sqrt(-2 * np.log(np.maximum(a, 1e-7)))
        want += [radius * np.cos(2 * np.pi * b), radius * np.sin(2 * np.pi * b)]
    want = np.stack(want)
    assert abs(want.mean()) < 0.02 and abs(want.var() - 1) < 0.03
    return Case(dict(at=at, y="empty:f32:4x%d" % n, seed=5), dict(y=want), rtol=1e-5, atol=1e-5)


@case("random", "pairs", 256, 100)
def pairs(rng, n):
    u, v = rng.random(n).astype(np.float32), rng.random(n).astype(np.float32)
    u[0] = 0
    radius = np.sqrt(-2 * np.log(np.maximum(u.astype(np.float64), 1e-7)))
    args = dict(u=u, v=v, a="empty:f32:%d" % n, b="empty:f32:%d" % n)
    return Case(args, dict(a=radius * np.cos(2 * np.pi * v), b=radius * np.sin(2 * np.pi * v)), rtol=1e-5, atol=2e-6)


# --- quant ------------------------------------------------------------------------------------------


def nibbles(words, axis):
    count = words.dtype.itemsize * 2
    parts = [words >> words.dtype.type(4 * i) & words.dtype.type(15) for i in range(count)]
    stacked = np.stack(parts, axis=axis + 1).astype(np.float64)
    m, n = words.shape
    return stacked.reshape((m * count, n) if axis == 0 else (m, n * count))


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@case("quant", "words4", ("f16", 0), ("f32", 1), ("bf16", 0))
def words4(rng, size):
    name, axis = size
    w = rng.integers(0, 1 << 32, (8, 16), dtype=np.uint32)
    b = rng.integers(0, 256, (16, 16)).astype(np.uint8)
    u, f = nibbles(w, axis), nibbles(b, axis).astype(int)
    want = dict(u=(u - 8) * 0.5, i=np.where(u > 7, u - 16, u) * 0.25, f=np.where(f > 7, -1, 1) * FP4[f % 8])
    args = dict(w=w, bytes=b, **{k: "empty:%s:%dx%d" % (name, *v.shape) for k, v in want.items()})
    return Case(args, want, ["T=" + name, "AXIS=%d" % axis], rtol=0, atol=0)


def to_float(x, mantissa, low, largest):
    """Nearest number with that many bits of mantissa and exponents from `low`, ties to even."""
    exponent = np.maximum(np.floor(np.log2(np.maximum(np.abs(x), 1e-30))), low)
    step = 2.0 ** (exponent - mantissa)
    return np.clip(np.round(x / step) * step, -largest, largest)


def rounded(name, x):
    return {"f8e4m3fn": lambda: to_float(x, 3, -6, 448), "f8e5m2": lambda: to_float(x, 2, -14, 57344),
            "f4e2m1": lambda: to_float(x, 1, 0, 6), "i8": lambda: np.round(x), "i4": lambda: np.round(x)}[name]()


LARGEST = {"f8e4m3fn": 448, "f8e5m2": 57344, "i8": 127, "i4": 7}


@case("quant", "rows", *[(t, q, n) for t in ("f32", "f16", "bf16") for q in LARGEST for n in (128, 100)])
def rows(rng, size):
    name, kind, n = size
    numbers = rng.standard_normal((5, n)) * 3
    numbers[2] = 0
    x, numbers = stored(name, numbers)
    single = numbers.astype(np.float32)
    scale = np.maximum(np.abs(single).max(axis=1, keepdims=True) / np.float32(LARGEST[kind]), np.float32(1e-12))
    y = rounded(kind, (single / scale).astype(np.float64)) * scale
    args = dict(x=x, y="empty:f32:5x%d" % n, scale="empty:f32:5x1")
    return Case(args, dict(y=y, scale=scale), ["T=" + name, "Q=" + kind, "BLOCK=128"], rtol=1e-6, atol=1e-12)


@case("quant", "blocks", *[(f, m) for f in ("mxfp8", "mxfp4", "nvfp4") for m in (32, 21)])
def blocks(rng, size):
    name, m = size
    x = (rng.standard_normal((m, 128)) * np.exp(rng.standard_normal((m, 1)) * 4)).astype(np.float32)
    x[1, :64] = 0
    block = 16 if name == "nvfp4" else 32
    parts = x.astype(np.float64).reshape(m, 128 // block, block)
    top = np.abs(parts).max(axis=2)
    if name == "nvfp4":
        scale = rounded("f8e4m3fn", np.maximum((top.astype(np.float32) / np.float32(6)).astype(np.float64), 2.0**-9))
    else:
        power = np.floor(np.log2(np.maximum(top, 2.0**-149)))
        scale = 2.0 ** np.where(top == 0, -127, np.maximum(power - (8 if name == "mxfp8" else 2), -127))
    y = rounded("f8e4m3fn" if name == "mxfp8" else "f4e2m1", parts / scale[:, :, None]) * scale[:, :, None]
    args = dict(x=x, y="empty:f32:%dx128" % m, scale="empty:f32:%dx%d" % scale.shape)
    return Case(args, dict(y=y.reshape(m, 128), scale=scale), ["FORMAT=" + name, "B=%d" % block], rtol=1e-6, atol=0)


# --- prelude ----------------------------------------------------------------------------------------


@case("prelude", "rounded_down", ("i8", 128), ("i32", 100), ("i64", 77), ("u16", 100))
def rounded_down(rng, size):
    name, n = size
    low = 0 if name[0] == "u" else -100
    a, b = rng.integers(low, 100, n), rng.integers(1, 20, n) * (1 if low == 0 else rng.choice([-1, 1], n))
    kind = {"i": "int", "u": "uint"}[name[0]] + name[1:]
    args = dict(a=a.astype(kind), b=b.astype(kind), q="empty:%s:%d" % (name, n), r="empty:%s:%d" % (name, n))
    return Case(args, dict(q=a // b, r=a % b), ["T=" + name], rtol=0, atol=0)


@case("prelude", "powers", 1)
def powers(rng, _):
    n = np.array([-5, 0, 1, 2, 3, 4, 5, 1023, 1024, 1025, 1 << 40, (1 << 40) + 1, 1 << 61])
    want = [1 if k < 1 else 1 << (int(k) - 1).bit_length() for k in n]
    return Case(dict(n=n, y="empty:i64:%d" % len(n)), dict(y=np.array(want)), rtol=0, atol=0)


main()
