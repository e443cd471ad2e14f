"""Matrix products: every type, ragged sizes, batches, input rules."""

import numpy as np

from oracle import DTYPES, Array, Case, Ulp, Within, random_array, round_to

F16, BF16, F32, F64 = (DTYPES[n] for n in ("f16", "bf16", "f32", "f64"))
SIZES = [1, 2, 3, 5, 8, 16, 24, 33, 48]
# operand, accumulator
PAIRS = [(F16, F32), (F16, F16), (BF16, F32), (F32, F32), (F64, F64)]


def random_sizes(rng):
    batch = [(), (), (2,), (2, 3)][rng.integers(4)]
    m, n, k = (int(s) for s in rng.choice(SIZES, 3))
    return batch, m, n, k


def dot_text(a, b, c, flags=""):
    return f"%r = tk.dot %a, %b, %c{flags} : {a.type}, {b.type}, {c.type}"


def name_of(a, b, c, what=""):
    return f"dot {a.dtype} {a.shape} {b.shape} to {c.dtype} {what}".strip()


def exact_product(a, b, c):
    """acc + a @ b in long doubles (64 digits, enough for products of f32 and their sums here)."""
    return c.values.astype(np.longdouble) + a @ b


def chain_rule(a, b, c):
    """k fused steps, each rounded to half a unit of a partial sum."""
    size = np.abs(a.values) @ np.abs(b.values) + np.abs(c.values)
    return Within((a.shape[-1] + 1) * 2.0**-53 * size)


def floats(rng):
    for turn in range(40):
        dtype, accumulator = PAIRS[turn % len(PAIRS)]
        batch, m, n, k = random_sizes(rng)
        a = random_array(rng, dtype, (*batch, m, k), "normal")
        b = random_array(rng, dtype, (*batch, k, n), "normal")
        c = random_array(rng, accumulator, (*batch, m, n), "normal")
        wide = [x.values.astype(np.longdouble) for x in (a, b)]
        want = exact_product(*wide, c)
        rule = chain_rule(a, b, c) if dtype is F64 else Ulp(0.5001)
        yield Case(name_of(a, b, c), [a, b, c], dot_text(a, b, c), [(accumulator, c.shape, want)], rule)
        # Whole numbers: every order gives the same bits.
        a, b, c = (random_array(rng, x.dtype, x.shape, "small") for x in (a, b, c))
        want = Array.of(accumulator, exact_product(a.values, b.values, c))
        yield Case.exact(name_of(a, b, c, "whole"), [a, b, c], dot_text(a, b, c), want)


def fused_chain(rng):
    """f64 in the very order, with exact arithmetic between the roundings."""
    from fractions import Fraction

    a = random_array(rng, F64, (3, 9), "normal")
    b = random_array(rng, F64, (9, 4), "normal")
    c = random_array(rng, F64, (3, 4), "normal")
    want = c.stored.copy()
    for i, j in np.ndindex(3, 4):
        for k in range(9):
            step = Fraction(a.stored[i, k]) * Fraction(b.stored[k, j]) + Fraction(want[i, j])
            want[i, j] = float(step)  # Python rounds fractions to nearest even
    yield Case.exact("dot f64 is a chain of fused steps", [a, b, c], dot_text(a, b, c), c.like(want))


def integers(rng):
    for turn in range(16):
        batch, m, n, k = random_sizes(rng)
        left, right = (["i8", "u8"][turn >> bit & 1] for bit in (0, 1))
        a = random_array(rng, DTYPES[left], (*batch, m, k))
        b = random_array(rng, DTYPES[right], (*batch, k, n))
        c = random_array(rng, DTYPES["i32"], (*batch, m, n))
        want = a.stored.astype(np.int64) @ b.stored.astype(np.int64) + c.stored
        flags = (" a_unsigned" if left == "u8" else "") + (" b_unsigned" if right == "u8" else "")
        yield Case.exact(
            name_of(a, b, c, flags), [a, b, c], dot_text(a, b, c, flags),
            Array.of("i32", want.astype(np.uint32).astype(np.int32)),
        )


def tf32(rng):
    """Operands rounded to eleven digits, to nearest even."""
    digits = type("Tf32", (), {"digits": 11, "least": -126, "most": 127})
    for m, n, k in [(16, 8, 8), (5, 3, 33), (48, 48, 24)]:
        a = random_array(rng, F32, (m, k), "normal")
        b = random_array(rng, F32, (k, n), "normal")
        c = random_array(rng, F32, (m, n), "normal")
        a.stored[0, 0] = 1 + 2**-11  # ties
        a.stored[-1, -1] = 1 + 3 * 2**-11
        rounded = [round_to(digits, x.values) for x in (a, b)]
        for rule, operands in [("tf32", rounded), ("tf32x3", None), ("bf16x3", None), ("bf16x6", None)]:
            operands = operands or [x.values.astype(np.longdouble) for x in (a, b)]
            want = exact_product(*operands, c)
            yield Case(
                name_of(a, b, c, rule), [a, b, c], dot_text(a, b, c, f" input {rule}"),
                [(F32, c.shape, want)], Ulp(0.5001),
            )


def special(rng):
    """Infinities and NaN as IEEE has them; NaN only where an operand has one."""
    for dtype, accumulator in PAIRS:
        a = random_array(rng, dtype, (8, 5), "normal")
        b = random_array(rng, dtype, (5, 8), "normal")
        c = random_array(rng, accumulator, (8, 8), "normal")
        for array, places in [(a, [((1, 2), np.inf), ((2, 3), np.nan), ((3, 0), -np.inf)]),
                              (c, [((4, 4), np.inf), ((5, 5), np.nan)])]:  # fmt: skip
            values = array.values.copy()
            for place, value in places:
                values[place] = value
            array.stored[...] = Array.of(array.dtype, values).stored
        b.stored[...] = Array.of(dtype, np.where(b.values == 0, 1, b.values)).stored
        want = exact_product(a.values, b.values, c)
        yield Case(
            name_of(a, b, c, "special"), [a, b, c], dot_text(a, b, c),
            [(accumulator, c.shape, want)], chain_rule(a, b, c) if dtype is F64 else Ulp(0.5001),
        )
    for values, reason in [((np.inf, 0.0), "inf, 0"), ((0.0, -np.inf), "0, -inf")]:
        a = Array("f32", np.full((2, 3), values[0]))
        b = Array("f32", np.full((3, 2), values[1]))
        c = Array("f32", np.zeros((2, 2)))
        yield Case(
            f"dot makes a NaN of {reason}", [a, b, c], dot_text(a, b, c),
            [(F32, c.shape, np.full((2, 2), np.nan))], Ulp(0),
            says=rf"TK5010: program \(0, 0, 0\) makes a NaN at \[0, 0\] of {reason}",
        )


def overflow(rng):
    """Sums that pass the accumulator's range on the way, and at the end."""
    a = Array("f16", np.array([[60000, 60000, -60000, -60000.0]] * 2))
    b = Array("f16", np.ones((4, 3)))
    c = Array("f16", np.zeros((2, 3)))
    yield Case.exact("dot f16 passes the range", [a, b, c], dot_text(a, b, c), c)
    a = a.like(np.abs(a.stored))
    yield Case.exact("dot f16 overflows", [a, b, c], dot_text(a, b, c),
                     c.like(np.full((2, 3), np.inf)))  # fmt: skip


def cases(rng):
    for group in [floats, fused_chain, integers, tf32, special, overflow]:
        yield from group(rng)
