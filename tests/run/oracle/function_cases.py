"""Functions of one and two numbers, of bits, and per-element regions."""

import math
from statistics import NormalDist

import numpy as np

from oracle import (
    DTYPES, FLOATS, INTEGERS, Array, Case, Ulp, Within, random_array, unit_of,
)

LD = np.longdouble
# The interpreter rounds what a wider type gives: half a unit, and what the wider type may miss.
NEAREST = Ulp(0.5001)

INTERESTING = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 10, -10, 88, -88, 100, -104, 1e-3,
               -1e-3, 1e-8, 2**-24, 2**-133, -(2**-149), 2**-1060, 1e5, -1e5, 1e30, np.inf, -np.inf,
               np.nan]  # fmt: skip


def numbers(rng, dtype, low=None, high=None):
    """Random ones of all sizes, or in a range, and the interesting ones."""
    wide = rng.standard_normal(400) * np.exp(rng.uniform(-8, 8, 400))
    if low is not None:
        wide = rng.uniform(low, high, 600)
    return Array.of(dtype, np.concatenate([wide, np.array(INTERESTING, dtype=LD)]))


def erf_of(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def erfinv_of(x):
    """Bisection on erf and erfc, which needs no derivative and no start."""

    def solve(v):
        if not abs(v) < 1:
            return math.copysign(math.inf, v) if abs(v) == 1 else math.nan
        if abs(v) < 1e-6:
            return v * math.sqrt(math.pi) / 2 * (1 + math.pi / 12 * v * v)
        low, high = 0.0, 6.0
        for _ in range(70):
            middle = (low + high) / 2
            above = math.erf(middle) > abs(v) if abs(v) < 0.5 else math.erfc(middle) < 1 - abs(v)
            low, high = (low, middle) if above else (middle, high)
        return math.copysign(low, v)

    return np.vectorize(solve, otypes=[float])(x)


def lgamma_of(x):
    def solve(v):
        if v != v or v == math.inf:
            return v
        if v == -math.inf or (v <= 0 and v == math.floor(v)):
            return math.inf
        return math.lgamma(v)

    return np.vectorize(solve, otypes=[float])(x)


def half_even(x):
    return np.copysign(np.rint(x), x)


# name: (NumPy's function, range of random arguments or None)
UNARY = {
    "exp": (np.exp, (-110, 95)),
    "exp2": (np.exp2, (-160, 130)),
    "exp10": (lambda x: np.power(LD(10), x), (-46, 39)),
    "expm1": (np.expm1, (-20, 20)),
    "log": (np.log, None),
    "log2": (np.log2, None),
    "log10": (np.log10, None),
    "log1p": (np.log1p, None),
    "sqrt": (np.sqrt, None),
    "rsqrt": (lambda x: 1 / np.sqrt(x), None),
    "sin": (np.sin, (-1000, 1000)),
    "cos": (np.cos, (-1000, 1000)),
    "tan": (np.tan, (-100, 100)),
    "sinh": (np.sinh, (-95, 95)),
    "cosh": (np.cosh, (-95, 95)),
    "tanh": (np.tanh, None),
    "asin": (np.arcsin, (-1, 1)),
    "acos": (np.arccos, (-1, 1)),
    "atan": (np.arctan, None),
    "asinh": (np.arcsinh, None),
    "acosh": (np.arccosh, (0.9, 100)),
    "atanh": (np.arctanh, (-1, 1)),
    "cbrt": (np.cbrt, None),
    "sigmoid": (lambda x: np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))), (-120, 120)),
    "erf": (erf_of, (-4, 4)),
    "erfc": (np.vectorize(math.erfc, otypes=[float]), (-4, 11)),
    "erfinv": (erfinv_of, (-1, 1)),
    "lgamma": (lgamma_of, (-6, 60)),
}
EXACT_UNARY = {
    "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": half_even,
}
# Functions that Python's own library computes in double only.
DOUBLE_ONLY = {"erf", "erfc", "erfinv", "lgamma"}


def unary(rng):
    for dtype in FLOATS:
        for name, (function, span) in UNARY.items():
            a = numbers(rng, dtype, *(span or ()))
            wide = a.values if name in DOUBLE_ONLY else a.values.astype(LD)
            want = function(wide)
            rule = Ulp(4 if dtype.name == "f64" and name in DOUBLE_ONLY else 0.501)
            if name == "lgamma":  # Python's own series, whose error near its zeros is absolute
                rule = Within(0.501 * unit_of(dtype, want) + 4e-14 * (1 + np.abs(a.values)))
            yield Case(
                f"unary {name} {dtype}", [a], f"%r = tk.unary {name} %a : {a.type}",
                [(dtype, a.shape, want)], rule, makes_nan=True,
            )
        for name, function in EXACT_UNARY.items():
            a = numbers(rng, dtype)
            yield Case.exact(
                f"unary {name} {dtype}", [a], f"%r = tk.unary {name} %a : {a.type}",
                Array.of(dtype, function(a.values)),
            )


def pairs(rng, dtype):
    a, b = numbers(rng, dtype), numbers(rng, dtype)
    special = Array.of(dtype, np.array(INTERESTING, dtype=LD)).stored
    left = np.concatenate([a.stored, np.repeat(special, len(special))])
    right = np.concatenate([rng.permutation(b.stored), np.tile(special, len(special))])
    return Array(dtype, left), Array(dtype, right)


BINARY = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}


def binary(rng):
    for dtype in FLOATS:
        for name, function in BINARY.items():
            a, b = pairs(rng, dtype)
            want = function(a.values.astype(LD), b.values.astype(LD))
            yield Case(
                f"binary {name} {dtype}", [a, b], f"%r = tk.binary {name} %a, %b : {a.type}",
                [(dtype, a.shape, want)], Ulp(0.501), makes_nan=True,
            )
        a, b = pairs(rng, dtype)
        yield Case.exact(
            f"binary fmod {dtype}", [a, b], f"%r = tk.binary fmod %a, %b : {a.type}",
            Array.of(dtype, np.fmod(a.values, b.values)), makes_nan=True,
        )
        a, b = pairs(rng, dtype)
        bits = f"u{dtype.bits}"
        sign = np.array(1 << (dtype.bits - 1), dtype=DTYPES[bits].storage)
        raw = [x.stored.view(DTYPES[bits].storage) for x in (a, b)]
        want = ((raw[0] & ~sign) | (raw[1] & sign)).view(dtype.storage)
        yield Case.exact(
            f"binary copysign {dtype}", [a, b], f"%r = tk.binary copysign %a, %b : {a.type}",
            Array(dtype, want),
        )


def mulhi(rng):
    for dtype in INTEGERS:
        a, b = (random_array(rng, dtype, (300,)) for _ in range(2))
        products = a.stored.astype(object) * b.stored.astype(object)
        want = np.array([p >> dtype.bits for p in products], dtype=dtype.storage)
        sign = " unsigned" if dtype.name[0] == "u" else ""
        yield Case.exact(
            f"binary mulhi {dtype}", [a, b], f"%r = tk.binary mulhi %a, %b{sign} : {a.type}",
            Array(dtype, want),
        )


def bits(rng):
    for dtype in [d for d in INTEGERS if d.name[0] == "i"] + [DTYPES["i1"]]:
        a = random_array(rng, dtype, (300,))
        a.stored[:3] = 0
        texts = [format(int(x) & ((1 << dtype.bits) - 1), f"0{dtype.bits}b") for x in a.stored]
        wanted = {
            "popcount": [t.count("1") for t in texts],
            "clz": [len(t) - len(t.lstrip("0")) for t in texts],
            "ctz": [len(t) - len(t.rstrip("0")) for t in texts],
            "brev": [int(t[::-1], 2) for t in texts],
        }
        for name, values in wanted.items():
            r = Array(dtype, np.array(values, dtype=np.uint64).astype(dtype.storage))
            yield Case.exact(
                f"bits {name} {dtype}", [a], f"%r = tk.bits {name} %a : {a.type}", r
            )


COLLATZ = """%r, %s = tk.map %a, %b : {t}, {t} -> {t}, {t} {{
^bb0(%x: i32, %y: i32):
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %n, %k = scf.while (%m = %x, %c = %zero) : (i32, i32) -> (i32, i32) {{
    %more = arith.cmpi sgt, %m, %one : i32
    scf.condition(%more) %m, %c : i32, i32
  }} do {{
  ^bb0(%m: i32, %c: i32):
    %bit = arith.andi %m, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %next = scf.if %odd -> i32 {{
      %p = arith.muli %m, %three : i32
      %q = arith.addi %p, %one : i32
      scf.yield %q : i32
    }} else {{
      %h = tk.div %m, %two : i32
      scf.yield %h : i32
    }}
    %d = arith.addi %c, %one : i32
    scf.yield %next, %d : i32, i32
  }}
  %e = arith.addi %k, %y : i32
  %f = arith.addi %e, %outer : i32
  tk.yield %e, %f : i32, i32
}}"""


def collatz(n):
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def maps(rng):
    for shape in [(1,), (7,), (48, 3), (2, 3, 16)]:
        a = Array("i32", rng.integers(0, 500, shape))
        b = random_array(rng, DTYPES["i32"], shape)
        steps = np.vectorize(collatz, otypes=[np.int32])(a.stored) + b.stored
        body = "%outer = arith.constant 11 : i32\n" + COLLATZ.format(t=a.type)
        yield Case.exact(
            f"map with loops {shape}", [a, b], body, b.like(steps), b.like(steps + 11)
        )
        f = random_array(rng, DTYPES["f32"], shape, "normal")
        body = f"""%outer = arith.constant 0.5 : f32
%r, %s = tk.map %a, %b : {f.type}, {b.type} -> {f.type}, {b.type} {{
^bb0(%x: f32, %n: i32):
  %c = arith.constant 2.0 : f32
  %y = arith.mulf %x, %c : f32
  %z = arith.addf %y, %outer : f32
  tk.yield %z, %n : f32, i32
}}"""
        yield Case.exact(f"map without control flow {shape}", [f, b], body,
                         f.like(f.stored * np.float32(2) + np.float32(0.5)), b)  # fmt: skip


def references(rng):
    for shape in [(), (5,), (4, 48)]:
        a = random_array(rng, DTYPES["f32"], shape, "normal")
        want = np.exp2(a.values)
        for op in [
            'tk.asm "ex2.approx.f32 $0, $1;" constraints "=f,f" pack 1 pure (%a)',
            'tk.extern "__nv_exp2f"(%a)',
        ]:
            body = f"""%r = {op} : ({a.type}) -> {a.type} reference {{
^bb0(%e: f32):
  %y = tk.unary exp2 %e : f32
  tk.yield %y : f32
}}"""
            name = op.split()[0]
            yield Case(f"{name} {shape}", [a], body, [("f32", shape, want)], NEAREST)
    a = random_array(rng, DTYPES["f32"], (4,))
    yield Case(
        "extern without a reference", [a],
        f'%r = tk.extern "__nv_j0f"(%a) : ({a.type}) -> {a.type} reference {{\n}}', [],
        says="TK5060: `__nv_j0f` has no reference to run on the CPU",
    )


def cases(rng):
    for group in [unary, binary, mulhi, bits, maps, references]:
        yield from group(rng)
