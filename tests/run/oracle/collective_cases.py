"""Reductions, scans, sorts and histograms."""

import numpy as np

from oracle import ALL, DTYPES, FLOATS, INTEGERS, Array, Case, Within, random_array, random_shape

F32 = DTYPES["f32"]


def region(dtypes, body):
    """A combine of (a..., b...) that yields; `body` uses %a0, %a1, %b0, ..."""
    arguments = [f"%{side}{i}: {d.mlir}" for side in "xy" for i, d in enumerate(dtypes)]
    return f"{{\n^bb0({', '.join(arguments)}):\n{body}\n}}"


def sum_region(dtype):
    op = "arith.addf" if dtype.is_float else "arith.addi"
    return region([dtype], f"%z = {op} %x0, %y0 : {dtype.mlir}\ntk.yield %z : {dtype.mlir}")


def pick_shape(rng, most=6000):
    shape = random_shape(rng, int(rng.integers(1, 5)), most)
    return shape, int(rng.integers(len(shape)))


def without(shape, axis):
    return shape[:axis] + shape[axis + 1 :]


def op_text(op, arrays, axis, wanted, combine, order="any", reverse=False):
    names = ", ".join(f"%{'abcd'[i]}" for i in range(len(arrays)))
    results = ", ".join(f"%{'rstu'[i]}" for i in range(len(wanted)))
    types = ", ".join(a.type for a in arrays)
    gives = ", ".join(w.type for w in wanted)
    back = " reverse" if reverse else ""
    return f"{results} = tk.{op} {names} axis {axis}{back} order {order} : {types} -> {gives} {combine}"


# --- Orders the documentation promises ---------------------------------------------------------


def tree(values, combine):
    """Balanced, split after the largest power of two below n; `values` along the first axis."""
    n = len(values)
    if n == 1:
        return values[0]
    half = 1 << ((n - 1).bit_length() - 1)
    return combine(tree(values[:half], combine), tree(values[half:], combine))


def prefixes(values, combine, reverse):
    """One after the other; the lower index always on the left."""
    n = len(values)
    out = [None] * n
    for step in range(n):
        i = n - 1 - step if reverse else step
        if step == 0:
            out[i] = values[i]
        elif reverse:
            out[i] = combine(values[i], out[i + 1])
        else:
            out[i] = combine(out[i - 1], values[i])
    return out


def rounded_add(dtype):
    """Addition in the type: f16 and bf16 in f32, rounded once."""

    def add(x, y):
        if dtype.name in ("f16", "bf16"):
            wide = Array(dtype, x).values.astype(np.float32) + Array(dtype, y).values.astype(np.float32)
            return Array.of(dtype, wide).stored
        return x + y

    return add


def sums(rng):
    """Sums by tree and by prefix, in the very order: equal bits."""
    for turn in range(60):
        dtype = (FLOATS + INTEGERS)[turn % 12]
        shape, axis = pick_shape(rng)
        a = random_array(rng, dtype, shape, "normal")
        along = list(np.moveaxis(a.stored, axis, 0))
        add = rounded_add(dtype)
        r = Array(dtype, tree(along, add))
        name = f"{dtype} {shape} axis {axis}"
        yield Case.exact(f"reduce sum {name}", [a], op_text("reduce", [a], axis, [r], sum_region(dtype)), r)
        back = bool(turn // 12 % 2)
        s = Array(dtype, np.stack(prefixes(along, add, back), axis))
        yield Case.exact(
            f"scan sum {name}{' reverse' if back else ''}", [a],
            op_text("scan", [a], axis, [s], sum_region(dtype), reverse=back), s,
        )


# --- Combines that are no plain sums -----------------------------------------------------------

# x + c * y: neither associative nor commutative, so any other order is seen.
def skewed(rng):
    body = """%c = arith.constant 3 : i32
%d = arith.muli %y0, %c : i32
%e = arith.xori %x0, %d : i32
%f = arith.addi %e, %x0 : i32
tk.yield %f : i32"""
    i32 = DTYPES["i32"]

    def combine(x, y):
        return (x ^ (y * np.int32(3))) + x

    for turn in range(24):
        shape, axis = pick_shape(rng, 3000)
        a = random_array(rng, i32, shape)
        along = list(np.moveaxis(a.stored, axis, 0))
        r = Array(i32, tree(along, combine))
        text = op_text("reduce", [a], axis, [r], region([i32], body), "indexed")
        yield Case.exact(f"reduce skewed {shape} axis {axis}", [a], text, r)
        back = bool(turn % 2)
        s = Array(i32, np.stack(prefixes(along, combine, back), axis))
        text = op_text("scan", [a], axis, [s], region([i32], body), "indexed", back)
        yield Case.exact(f"scan skewed {shape} axis {axis}{' reverse' if back else ''}", [a], text, s)


# The larger value with its index and a float payload, by control flow: several types at once.
CHOOSE = """%gt = arith.cmpf ogt, %y0, %x0 : f32
%v, %i, %p = scf.if %gt -> (f32, i32, f64) {
  scf.yield %y0, %y1, %y2 : f32, i32, f64
} else {
  scf.yield %x0, %x1, %x2 : f32, i32, f64
}
tk.yield %v, %i, %p : f32, i32, f64"""
SELECT = """%gt = arith.cmpf ogt, %y0, %x0 : f32
%v = arith.select %gt, %y0, %x0 : f32
%i = arith.select %gt, %y1, %x1 : i32
%p = arith.select %gt, %y2, %x2 : f64
tk.yield %v, %i, %p : f32, i32, f64"""


def tuples(rng):
    dtypes = [F32, DTYPES["i32"], DTYPES["f64"]]

    def combine(x, y):
        greater = y[0] > x[0]
        return [np.where(greater, after, before) for before, after in zip(x, y)]

    for turn in range(24):
        shape, axis = pick_shape(rng, 1500)
        arrays = [random_array(rng, F32, shape, "small")]
        arrays += [random_array(rng, d, shape, "normal") for d in dtypes[1:]]
        along = [[np.moveaxis(a.stored, axis, 0)[i] for a in arrays] for i in range(shape[axis])]
        body = [CHOOSE, SELECT][turn % 2]
        back = bool(turn // 2 % 2)
        wanted = [Array(d, w) for d, w in zip(dtypes, tree(along, combine))]
        name = f"{['branch', 'select'][turn % 2]} {shape} axis {axis}"
        text = op_text("reduce", arrays, axis, wanted, region(dtypes, body), "indexed")
        yield Case.exact(f"reduce argmax {name}", arrays, text, *wanted)
        rows = prefixes(along, combine, back)
        wanted = [Array(d, np.stack([r[i] for r in rows], axis)) for i, d in enumerate(dtypes)]
        text = op_text("scan", arrays, axis, wanted, region(dtypes, body), "indexed", back)
        yield Case.exact(f"scan argmax {name}{' reverse' if back else ''}", arrays, text, *wanted)


def outside_values(rng):
    """A combine that uses what is defined outside of it, with one lane and with many."""
    for shape, axis in [((7,), 0), ((48,), 0), ((3, 16), 1), ((3, 16), 0)]:
        a = random_array(rng, DTYPES["i32"], shape)
        b = Array("i32", np.array(5))
        body = """%d = arith.muli %y0, %b : i32
%e = arith.addi %x0, %d : i32
tk.yield %e : i32"""

        def combine(x, y):
            return x + y * np.int32(5)

        along = list(np.moveaxis(a.stored, axis, 0))
        for op in ["reduce", "scan"]:
            w = tree(along, combine) if op == "reduce" else np.stack(prefixes(along, combine, False), axis)
            r = a.like(w)
            text = op_text(op, [a], axis, [r], region([a.dtype], body), "indexed")
            yield Case.exact(f"{op} with an outside value {shape} axis {axis}", [a, b], text, r)


# --- Sort and histogram ------------------------------------------------------------------------


def sort_key(a):
    """Order of the language as integers: -0 below +0, NaN above all."""
    if not a.dtype.is_float:
        return a.stored.astype(np.int64 if a.dtype.name[0] == "i" else np.uint64)
    bits = a.stored.view(f"u{a.dtype.storage.itemsize}").astype(np.uint64)
    sign = np.uint64(1) << np.uint64(a.dtype.bits - 1)
    magnitude = (bits & (sign - np.uint64(1))).astype(object)
    key = np.where(bits & sign != 0, -magnitude - 1, magnitude)
    return np.where(np.isnan(a.values), 1 << 70, key)


def sorts(rng):
    for turn in range(70):
        dtype = ALL[turn % len(ALL)]
        shape, axis = pick_shape(rng, 3000)
        # Few different values, so that ties are many; any bits, so that NaNs and zeros occur.
        pool = random_array(rng, dtype, (max(2, shape[axis] // 3),))
        if dtype.is_float:
            pool = Array.of(dtype, np.concatenate([pool.values[2:], [0.0, -0.0, np.nan, np.inf]]))
        a = Array(dtype, rng.choice(pool.stored, shape))
        down = bool(turn % 2)
        taken = int(rng.integers(1, shape[axis] + 1)) if turn % 3 else shape[axis]
        key = sort_key(a)
        order = np.argsort(np.vectorize(lambda k: -int(k), otypes=[object])(key) if down else key, axis,
                           kind="stable").take(range(taken), axis)  # fmt: skip
        r, s = a.like(np.take_along_axis(a.stored, order, axis)), Array("i32", order)
        flags = (" descending" if down else "") + (" unsigned" if dtype.name[0] == "u" else "")
        yield Case.exact(
            f"sort {dtype} {shape} axis {axis}{flags} take {taken}", [a],
            f"%r, %s = tk.sort %a axis {axis}{flags} : {a.type} -> {r.type}, {s.type}", r, s,
        )


def histograms(rng):
    for turn in range(36):
        dtype = (INTEGERS + [DTYPES["i1"]])[turn % 9]
        shape, _ = pick_shape(rng)
        bins = int(rng.integers(1, 40))
        a = random_array(rng, dtype, shape)
        if turn % 2 and dtype.name != "i1":
            a = Array.of(dtype, rng.integers(0 if dtype.name[0] == "u" else -3, bins + 3, shape))
        values = a.stored.astype(object).reshape(-1)
        mask, text, inputs = np.ones(shape, bool), "", [a]
        if turn % 4 == 3:
            mask = rng.integers(0, 2, shape).astype(bool)
            inputs.append(Array("i1", mask))
            text = f" mask %b : {inputs[1].type}"
        counts = np.zeros(bins, np.int32)
        for value, counted in zip(values, mask.reshape(-1)):
            if counted and 0 <= int(value) < bins:
                counts[int(value)] += 1
        sign = " unsigned" if dtype.name[0] == "u" else ""
        r = Array("i32", counts)
        yield Case.exact(
            f"histogram {dtype} {shape} {bins} bins{text and ' masked'}", inputs,
            f"%r = tk.histogram %a{text}{sign} : {a.type} -> {r.type}", r,
        )


def log_add_exp(rng):
    """A scan whose combine calls functions: near NumPy's logaddexp, within a few units a step."""
    body = """%m = tk.max %x0, %y0 : f32
%p = arith.subf %x0, %m : f32
%q = arith.subf %y0, %m : f32
%u = tk.unary exp %p : f32
%v = tk.unary exp %q : f32
%w = arith.addf %u, %v : f32
%l = tk.unary log %w : f32
%z = arith.addf %m, %l : f32
tk.yield %z : f32"""
    for shape, axis in [((1024,), 0), ((3, 192), 1), ((96, 5), 0)]:
        a = random_array(rng, F32, shape, "normal")
        want = np.logaddexp.accumulate(a.values, axis)
        bound = np.cumsum(np.full(shape, 4e-7), axis) * (1 + np.abs(want))
        text = op_text("scan", [a], axis, [a], region([F32], body), "indexed")
        yield Case(f"scan logaddexp {shape} axis {axis}", [a], text, [(F32, shape, want)], Within(bound))


def cases(rng):
    for group in [sums, skewed, tuples, outside_values, sorts, histograms, log_add_exp]:
        yield from group(rng)
