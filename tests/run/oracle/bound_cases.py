"""Error bounds: engines that use what the language allows them stay within them.

Operands with an error come from `cbrt`, which may be off by 2 units: another engine gets other
operands, then makes errors of its own.
"""

import numpy as np

from function_cases import DOUBLE_ONLY, UNARY
from oracle import DTYPES, Array, Bounded, Case, random_array, round_to, unit_of

F16, BF16, F32, F64 = (DTYPES[n] for n in ("f16", "bf16", "f32", "f64"))
LD = np.longdouble

# Ulps allowed by docs/language.md; 2 where nothing is said.
ULPS = {"sqrt": 0.5, "exp2": 3, "erfc": 5, "erfinv": 5, "lgamma": 6}
ULPS.update(dict.fromkeys(
    "tan sinh cosh tanh asinh acosh atanh sigmoid pow atan2 hypot".split(), 4))  # fmt: skip
DOMAIN = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "erfinv": (-0.95, 0.95),
          "acosh": (1.001, 40), "log": (0.01, 40), "log2": (0.01, 40), "log10": (0.01, 40),
          "log1p": (-0.99, 40), "sqrt": (0, 40), "rsqrt": (0.01, 40), "tan": (-1.5, 1.5),
          "lgamma": (0.1, 20), "exp": (-9, 9), "exp10": (-4, 4), "exp2": (-12, 12)}  # fmt: skip


def operand(rng, dtype, low, high, count=300):
    """What cbrt is applied to, and what other engines may get from it. The bound of the operand is
    that of two engines: four units."""
    wanted = rng.uniform(low, high, count)
    a = Array.of(dtype, wanted**3)
    exact = np.cbrt(a.values.astype(LD))

    def other():
        off = exact + unit_of(dtype, exact) * rng.choice([-1.5, 0, 1.5], count)
        return round_to(dtype, np.where(exact == 0, exact, off))  # zeros keep their sign

    others = [other() for _ in range(3)]
    return a, others


def off_by(rng, dtype, exact, ulps):
    """What an engine may give: off by less than `ulps`, then in the type."""
    off = np.where(exact == 0, 0, rng.choice([-1, 0, 1], exact.shape) * max(ulps - 0.5, 0))
    return round_to(dtype, exact + unit_of(dtype, exact) * off)


def unary(rng):
    for dtype in (F16, F32):
        for name, (function, _) in UNARY.items():
            a, others = operand(rng, dtype, *DOMAIN.get(name, (-5, 5)))
            kept = [np.clip(o, *DOMAIN[name]) if name in DOMAIN else o for o in others]
            ulps = ULPS.get(name, 2)

            def at(x):
                return np.asarray(function(x.astype(float) if name in DOUBLE_ONLY else x), dtype=LD)

            engines = [off_by(rng, dtype, at(x), ulps) for x in kept]
            middle = np.cbrt(a.values.astype(LD))
            ends = [at(middle + sign * 5 * unit_of(dtype, middle)) for sign in (-1, 1)]
            idle = 1.5 * np.abs(ends[1] - ends[0]) + 5 * ulps * unit_of(dtype, at(middle))
            idle += (0 if name != "lgamma" else 50 * 2.0**-dtype.digits) + 3 * 2.0**dtype.least
            body = f"%x = tk.unary cbrt %a : {a.type}\n%r = tk.unary {name} %x : {a.type}"
            yield Case(f"bound of {name} {dtype}", [a], body, [(dtype, a.shape, engines[0])],
                       Bounded(engines, idle, 0.5 if name in ("sin", "cos") else 0.1), makes_nan=True)  # fmt: skip


def binary(rng):
    for name, function, domain in [("pow", np.power, (0.1, 8)), ("atan2", np.arctan2, (-5, 5)),
                                   ("hypot", np.hypot, (-5, 5)), ("fmod", np.fmod, (-40, 40)),
                                   ("copysign", np.copysign, (-5, 5))]:  # fmt: skip
        for dtype in (F16, F32):
            a, left = operand(rng, dtype, *domain)
            b, right = operand(rng, dtype, *domain)
            engines = [
                off_by(rng, dtype, function(x, y), ULPS.get(name, 0)) for x, y in zip(left, right)
            ]
            body = "".join(f"%{n} = tk.unary cbrt %{m} : {a.type}\n" for n, m in ("xa", "yb"))
            body += f"%r = tk.binary {name} %x, %y : {a.type}"
            yield Case(f"bound of {name} {dtype}", [a, b], body, [(dtype, a.shape, engines[0])],
                       Bounded(engines))  # fmt: skip


def sums(rng):
    """Prefixes in other orders; sorted operands with errors."""
    for count in (5, 60):
        a, others = operand(rng, F32, -3, 3, count)
        engines = []
        for x in others:
            x = x.astype(np.float32)
            engine = []
            for i in range(count):
                total = np.float32(0)
                for value in rng.permutation(x[: i + 1]):
                    total += value
                engine.append(total)
            engines.append(np.array(engine))
        head = f"%x = tk.unary cbrt %a : {a.type}\n"
        region = "{\n^bb0(%p: f32, %q: f32):\n  %s = arith.addf %p, %q : f32\n  tk.yield %s : f32\n}"
        size = np.cumsum(np.abs(others[0])) * (np.arange(count) + 8) * 2.0**-22
        yield Case(
            f"bound of a scan of {count}", [a],
            head + f"%r = tk.scan %x axis 0 order any : {a.type} -> {a.type} {region}",
            [(F32, a.shape, engines[0])], Bounded(engines, size),
        )
        # Exact numbers among those with errors, so close that they change places.
        b = Array.of(F32, np.cbrt(a.values) * (1 + 2.0**-23 * rng.integers(-1, 2, count)))
        both, indices = (f"tensor<{2 * count}x{t}>" for t in ("f32", "i32"))
        for down in (False, True):
            engines = [np.sort(np.concatenate([x, b.values])) for x in others]
            engines = [e[::-1] for e in engines] if down else engines
            flag = " descending" if down else ""
            yield Case(
                f"bound of sorted {count}{flag}", [a, b],
                head + f"""%y = tk.cat %x, %b axis 0 : {a.type}, {a.type} -> {both}
%r, %i = tk.sort %y axis 0{flag} : {both} -> {both}, {indices}""",
                [(F32, (2 * count,), engines[0])], Bounded(engines, 8 * unit_of(F32, 3.1)),
            )


# --- Matrix units ------------------------------------------------------------------------------


def cut(values, step):
    """Toward zero to multiples of `step`."""
    return np.trunc(values / step) * step


def unit_product(a, b, c, group, digits, output):
    """acc + a @ b as a matrix unit has it: `group` products and the accumulator are cut toward zero
    `digits` below the largest of them and added; the sum is rounded by `output`.

    After "Recovering the arithmetic of matrix units", Khattak and Mikaitis, and probes on an H200.
    """
    m, k = a.shape
    total = c.astype(np.float64)
    exponents = lambda x: np.where(x == 0, -9999, np.frexp(x)[1] - 1)
    for begin in range(0, k, group):
        left, right = a[:, begin : begin + group], b[begin : begin + group]
        products = left[:, None, :] * right.T[None, :, :]
        largest = (exponents(left)[:, None, :] + exponents(right).T[None, :, :])
        largest = np.where(products == 0, -9999, largest).max(axis=2)
        largest = np.maximum(largest, exponents(total))
        step = np.ldexp(1.0, np.maximum(largest, -1000) - digits)
        total = output(cut(products, step[:, :, None]).sum(axis=2) + cut(total, step))
    return total


def to_f32_down(x):
    """Toward zero in f32."""
    near = x.astype(np.float32)
    over = np.abs(near.astype(np.float64)) > np.abs(x)
    return np.where(over, np.nextafter(near, np.float32(0)), near).astype(np.float64)


def to_nearest(dtype):
    return lambda x: round_to(dtype, x).astype(np.float64)


def chain(a, b, c):
    """Fused steps in f32, in a random order of k; products of f32 are exact in double."""
    total = c.astype(np.float32)
    for k in np.random.default_rng(3).permutation(a.shape[1]):
        total = (a[:, k, None] * b[None, k, :] + total.astype(np.float64)).astype(np.float32)
    return total.astype(np.float64)


def pieces(x, digits, count):
    piece_type = type("Piece", (), {"digits": digits, "least": -126, "most": 127})
    out = []
    for _ in range(count):
        out.append(round_to(piece_type, x).astype(np.float64))
        x = x - out[-1]
    return out


def by_pieces(a, b, c, digits, pairs, unit):
    left, right = (pieces(x, digits, 3) for x in (a, b))
    total = c
    for i, j in pairs:
        total = unit(left[i], right[j], total)
    return total


HOPPER = lambda a, b, c: unit_product(a, b, c, 16, 25, to_f32_down)
AMPERE = lambda a, b, c: unit_product(a, b, c, 8, 24, to_f32_down)
AMPERE_TF32 = lambda a, b, c: unit_product(a, b, c, 4, 24, to_f32_down)
HALF = lambda a, b, c: unit_product(a, b, c, 8, 24, to_nearest(F16))
TWO, THREE = [(1, 0), (0, 1), (0, 0)], [(2, 0), (0, 2), (1, 1), (1, 0), (0, 1), (0, 0)]


def dots(rng):
    """Data of one sign, where cutting toward zero adds up, and of both."""
    exact = lambda a, b, c: a @ b + c
    engines = {
        ("f16", "f32", "exact"): [HOPPER, AMPERE, chain, exact],
        ("bf16", "f32", "exact"): [HOPPER, AMPERE, chain, exact],
        ("f16", "f16", "exact"): [HALF, exact],
        ("f64", "f64", "exact"): [exact],
        ("f32", "f32", "exact"): [
            chain, exact, lambda a, b, c: by_pieces(a, b, c, 11, TWO, AMPERE_TF32),
        ],
        ("f32", "f32", "tf32"): [
            lambda a, b, c: AMPERE_TF32(pieces(a, 11, 1)[0], pieces(b, 11, 1)[0], c),
        ],
        ("f32", "f32", "tf32x3"): [lambda a, b, c: by_pieces(a, b, c, 11, TWO, AMPERE_TF32)],
        ("f32", "f32", "bf16x3"): [lambda a, b, c: by_pieces(a, b, c, 8, TWO, AMPERE)],
        ("f32", "f32", "bf16x6"): [lambda a, b, c: by_pieces(a, b, c, 8, THREE, AMPERE)],
    }
    for (operand_type, accumulator, rule), functions in engines.items():
        for k in (1, 16, 200):
            for one_sign in (False, True):
                shapes = [(operand_type, (7, k)), (operand_type, (k, 9)), (accumulator, (7, 9))]
                a, b, c = (random_array(rng, t, s, "normal") for t, s in shapes)
                if one_sign:
                    a, b, c = (Array.of(x.dtype, np.abs(x.values)) for x in (a, b, c))
                numbers = [f(a.values, b.values, c.values) for f in functions]
                size = np.abs(a.values) @ np.abs(b.values) + np.abs(c.values)
                half_unit = 2.0 ** -c.dtype.digits
                rest = {"bf16x3": 2.0**-13, "exact": 2.0**-18, "tf32x3": 2.0**-18}.get(rule, 0)
                idle = ((26 if rule == "bf16x6" else 16) * (k + 2) * half_unit + rest) * size + 1e-300
                flag = "" if rule == "exact" else f" input {rule}"
                yield Case(
                    f"bound of dot {operand_type} to {accumulator} {rule} k={k}", [a, b, c],
                    f"%r = tk.dot %a, %b, %c{flag} : {a.type}, {b.type}, {c.type}",
                    [(c.dtype, c.shape, numbers[0])], Bounded(numbers, idle),
                )


def exact_dots(rng):
    """Data that every unit sums exactly has no bound."""
    for operand_type, accumulator in [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64")]:
        a, b, c = (
            random_array(rng, t, s, "small")
            for t, s in [(operand_type, (5, 100)), (operand_type, (100, 6)), (accumulator, (5, 6))]
        )
        want = a.values @ b.values + c.values
        yield Case(
            f"bound of whole numbers dot {operand_type}", [a, b, c],
            f"%r = tk.dot %a, %b, %c : {a.type}, {b.type}, {c.type}",
            [(c.dtype, c.shape, want)], Bounded([want], 0.0),
        )


def moved(rng):
    """Bounds go where the elements go; bits of floats that differ are anything."""
    a, others = operand(rng, F32, -3, 3, 24)
    head = f"%x = tk.unary cbrt %a : {a.type}\n%m = tk.reshape %x : {a.type} -> tensor<4x6xf32>\n"
    grids = [np.asarray(o).reshape(4, 6) for o in others]
    few = 16 * unit_of(F32, 3.1)
    index = "%i = arith.constant 2 : i64\n"
    gathered = "%g = arith.constant dense<3> : tensor<4x2xi32>\n"
    for name, text, shape, function in [
        ("permute", "%r = tk.permute %m [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>", (6, 4), lambda g: g.T),
        ("flip", "%r = tk.flip %m axis 1 : tensor<4x6xf32>", (4, 6), lambda g: g[:, ::-1]),
        ("cat", "%r = tk.cat %m, %m axis 0 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<8x6xf32>", (8, 6),
         lambda g: np.concatenate([g, g])),
        ("slice", "%r = tk.slice %m offsets [1, 0] strides [2, 3] : tensor<4x6xf32> -> tensor<2x2xf32>", (2, 2),
         lambda g: g[1::2, ::3]),
        ("pick", index + "%r = tk.pick %m[%i] axis 1 : tensor<4x6xf32> -> tensor<4xf32>", (4,), lambda g: g[:, 2]),
        ("gather", gathered + "%r = tk.gather %m[%g] axis 1 : tensor<4x6xf32>, tensor<4x2xi32> -> tensor<4x2xf32>",
         (4, 2), lambda g: g[:, [3, 3]]),
    ]:  # fmt: skip
        engines = [function(g) for g in grids]
        yield Case(f"bound of {name}", [a], head + text, [(F32, shape, engines[0])], Bounded(engines, few))
    text = """%b = tk.bitcast %a : tensor<24xf32> -> tensor<24xi32>
%r = tk.bitcast %b : tensor<24xi32> -> tensor<24xf32>"""
    yield Case("bound of bits", [a], text, [(F32, (24,), a.values)], Bounded([a.values], 0.0))


def cases(rng):
    for group in [unary, binary, sums, dots, exact_dots, moved]:
        yield from group(rng)
