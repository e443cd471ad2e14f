"""The kernels of ../reports, faults that users of other compilers have reported, compiled for several numbers of
warps and stages: taken from ../run, where the interpreter alone runs them.
"""

import os

import numpy as np

from cases import ALIGNED, DTYPES, HERE, MISALIGNED, PADDED, Case, random_for, zeros

RUN = os.path.join(HERE, "..", "run")
FEW, MANY = (1, 4), (1, 2, 4, 8)
UNALIGNED = (ALIGNED, MISALIGNED)


def runs(stem, arrays, scalars=None, kernel="", counts=FEW, stages=(0,), placements=(ALIGNED,), exact=True,
         serial=False, **constants):
    """A case for each number of warps and of stages; 0 stages are what the file says."""
    options = [word for name, value in constants.items() for word in ("-D", f"{name}={value}")]
    options += ["-k", kernel] if kernel else []
    name = " ".join([stem, kernel, *(f"{key}={value}" for key, value in {**constants, **(scalars or {})}.items())])
    return [Case(name, "", arrays, scalars or {},
                 (*options, f"--warps={count}", *([f"--stages={depth}"] if depth else [])), placements, exact,
                 path=os.path.join(RUN, stem + ".tk"), serial=serial)
            for count in counts for depth in stages]


def integers(name, dtype, low, high, *shape):
    return random_for(name).integers(low, high, shape).astype(DTYPES[dtype])


def normal(name, dtype, *shape):
    return random_for(name).standard_normal(shape).astype(DTYPES[dtype])


def ramp(dtype, *shape):
    return np.arange(np.prod(shape)).astype(DTYPES[dtype]).reshape(shape)


def layouts():
    """Tiles that change their layout between operations."""
    def square(name):
        return integers(name, "f16", -2, 3, 64, 64)

    result = runs("scaled-product-plus-itself",
                  {"y": square("y"), "x": square("x"), "alpha": integers("alpha", "f16", 1, 4, 64),
                   "out_": zeros("f16", 64, 64)}, counts=MANY)
    for rows, columns in ((16, 16), (9, 10)):
        result += runs("sum-of-two-trailing-axes",
                       {"x": integers("windows", "f32", -9, 9, rows, columns), "y": zeros("f32", 8, 8)},
                       counts=MANY)
    result += runs("sum-of-two-trailing-axes",
                   {"x": integers("windows", "f32", -9, 9, 13, 21), "y": zeros("f32", 4, 16)},
                   counts=MANY, H=4, W=16, K=8)
    sides = {name: integers(name, "i8", -1, 2, 32, 32) for name in "qkv"}
    result += runs("chained-byte-products", {**sides, "o": zeros("i32", 32, 32), "turned": zeros("i32", 32, 32)},
                   counts=MANY)
    result += runs("carried-negated-sum", {"x": integers("negated", "f32", -9, 9, 2, 16, 256), "acc": zeros("f32", 16)},
                   counts=MANY, stages=(1, 3), placements=UNALIGNED)
    result += runs("maximum-of-a-narrow-tile",
                   {"q": integers("q", "f16", -9, 9, 16), "k": integers("k", "f16", -9, 9, 16, 16),
                    "m": zeros("f32", 1), "total": zeros("f32", 1), "flat": zeros("f32", 1), "kept": zeros("f32", 16)},
                   counts=MANY)
    result += runs("histogram-of-nearest",
                   {"p": integers("p", "f32", -9, 10, 64, 16), "c": integers("c", "f32", -9, 10, 16, 16),
                    "h": zeros("i32", 16), "nearest": zeros("i32", 64)}, counts=MANY)
    return result


def products():
    """Products in loops, pipelined and not."""
    result = []
    for step, depth in ((24, 24), (40, 40), (56, 56), (24, 50)):
        result += runs("product-of-odd-depth",
                       {"a": integers("a", "f16", -2, 3, 64, depth), "b": integers("b", "f16", -2, 3, depth, 64),
                        "c": zeros("f32", 64, 64)}, counts=FEW, stages=(1, 3), BK=step)
    for first in ("true", "false"):
        result += runs("order-of-independent-statements",
                       {"a": integers("a", "f16", -2, 3, 256, 64), "b": integers("b", "f16", -2, 3, 256, 64),
                        "ab": zeros("f32", 64, 64), "total": zeros("f32", 64)}, counts=FEW, stages=(1, 2, 4),
                       FIRST=first)
    result += runs("pointer-operand-beside-a-tensor",
                   {"x": integers("x", "f16", -2, 3, 6400), "y": integers("y", "f16", -2, 3, 80, 70),
                    "c": zeros("f16", 80, 70)}, {"n": 80}, counts=FEW, stages=(1, 3))
    for step in (1, 2, 4):
        result += runs("byte-products-in-small-steps",
                       {"a": integers("a", "i8", 100, 128, 32, 52), "b": integers("b", "i8", 100, 128, 52, 32),
                        "c": zeros("i32", 32, 32)}, BK=step)
    random = random_for("packed")  # compare.py places no array whose first axis is packed: `batched` alone
    result += runs("packed-along-rows-and-columns",
                   {"a": random.integers(0, 256, (2, 16, 16), np.uint8), "sa": random.integers(125, 130, (2, 16, 1), np.uint8),
                    "b": random.integers(0, 256, (2, 32, 8), np.uint8), "c": zeros("f32", 2, 16, 16)},
                   kernel="batched", counts=MANY, exact=False)
    return result


def times_product(side, counts):
    return runs("cumulative-sum-times-product",
                {name: integers(name, "f32", 0, 4, side, side) for name in "aqk"} | {"y": zeros("f32", side, side)},
                counts=counts, N=side)


def sweep():
    """A cumulative sum times a product, of all sizes and numbers of warps."""
    return [case for side in (16, 24, 32, 48, 64) for case in times_product(side, (1, 2, 4, 8, 16))]


def wide_sweep():
    """The same; one warp has too few registers for it: ../backends/report-registers-errors.test."""
    return times_product(128, (2, 4, 8, 16))


def scans():
    """Cumulative sums in loops, of truth values and of more than a wave."""
    result = []
    for side, n in ((8, 8), (32, 32), (32, 20)):
        result += runs("cumulative-sum-in-one-trip", {"y": zeros("i32", side)}, {"n": n}, counts=(1, 8), B=side)
    for values in ([5, 1, 7, 12], [5, -1, -7, 12]):
        result += runs("cumulative-sum-of-truth-values",
                       {"x": np.array(values, np.int32), "y": np.full(4, -1, np.int32)}, N=4)
    permuted = random_for("permuted").permutation(128).astype(np.int32) - 30
    result += runs("cumulative-sum-of-truth-values", {"x": permuted, "y": np.full(128, -1, np.int32)},
                   counts=MANY, N=128)
    for columns, sizes in ((70, {}), (40, {"R": 7, "X": 16})):
        result += runs("cumulative-sum-of-long-columns",
                       {"x": integers("columns", "f32", -9, 9, 100, columns), "y": zeros("f32", 100, columns)},
                       stages=(1, 3), placements=(ALIGNED, PADDED), **sizes)
    result += runs("scan-longer-than-a-wave",
                   {"x": normal("waves", "f32", 4, 1024), "y": zeros("f32", 4, 1024), "z": zeros("f32", 4, 1024)},
                   counts=MANY, exact=False)
    return result


def loops():
    """Nests, loops that make no trip, and what a loop carries."""
    result = []
    for kernel in ("strides", "of_one"):
        for first, later, out in ((1, 1, 1), (1, 2, 1), (2, -1, 1)):
            result += runs("reassigned-stride",
                           {"a": ramp("i32", 18), "b": ramp("i32", 32), "out": zeros("i32", 8)},
                           {"a0": first, "b0": later, "o0": out}, kernel, stages=(1, 3))
    for start, stop, step in ((88, -1, -8), (5, 10, -3), (5, 10, 3), (10, 5, 3)):
        result += runs("negative-run-time-step", {"x": ramp("f32", 96), "acc": zeros("f32", 1), "trips": zeros("i64", 1)},
                       {"start": start, "stop": stop, "step": step}, stages=(1, 3))
    for end in (3, 5, 7):
        result += runs("flattened-empty-inner-loop", {"acc": zeros("i32", 1), "plain": zeros("i32", 1)}, {"ub": end},
                       stages=(1, 3))
    result += runs("store-then-load-in-nest", {"buf": zeros("f32", 8, 4096), "diff": np.full((8, 4096), -1, np.float32)},
                   stages=(1, 2, 4))
    for trips, values in ((3, ramp("i32", 8)), (0, np.full(8, 5, np.int32)), (9, np.full(8, 5, np.int32))):
        result += runs("unrolled-run-time-guard",
                       {"pos": np.array([trips], np.int32), "vals": values, "acc": zeros("i32", 128),
                        "broken": zeros("i32", 128)})
    return result


def addresses():
    """Indices, masks, fills and the ends of arrays."""
    result = runs("unsigned-index-stays-unsigned",
                  {"x": ramp("f32", 320), "v": ramp("f32", 320), "y": zeros("f32", 256), "z": zeros("f32", 256)},
                  counts=MANY, placements=UNALIGNED)
    for kernel in ("rotate", "rotate_in_place", "rotate_either"):
        arrays = {"x": normal("rotary", "f32", 8, 128)}
        if kernel != "rotate_in_place":
            arrays["y"] = zeros("f32", 8, 128)
        result += runs("rotary-in-place", arrays, kernel=kernel, counts=MANY, placements=(ALIGNED, MISALIGNED, PADDED),
                       exact=False)
    result += runs("masked-load-without-fill", {"x": normal("neighbours", "f16", 64), "y": zeros("f32", 8, 8)},
                   counts=MANY, placements=UNALIGNED)
    for kernel in ("by_view", "by_pointer", "with_nan"):
        shape = (1024,) if kernel == "by_pointer" else (32, 32)
        result += runs("short-rows-read-the-fill", {"x": integers("short", "f32", 0, 9, *shape), "s": zeros("f32", 32)},
                       kernel=kernel, counts=MANY, placements=UNALIGNED)
    for dtype, width in (("i8", 466), ("i16", 470), ("i32", 466)):
        result += runs("store-stops-at-the-inner-extent", {"p": np.full(16384, 99, DTYPES[dtype])},
                       counts=MANY, placements=UNALIGNED, T=dtype, W=width)
    result += runs("strided-read-outside-errors",
                   {"vals": ramp("i32", 4), "bins": ramp("i32", 7), "y": zeros("i32", 4)}, kernel="by_view")
    for kernel in ("narrow", "wide"):
        result += runs("product-wraps-before-it-is-widened", {"y": zeros("i64", 1)},
                       {"batch": 319, "stride": 7864320}, kernel)
    result += runs("offset-that-wraps-and-comes-back", {"x": integers("wrap", "u8", 0, 256, 256), "y": zeros("u8", 1024)},
                   counts=MANY, placements=UNALIGNED)
    result += runs("fill-of-zero-is-a-fill",
                   {"x": integers("fill", "f32", -9, 9, 16), "y": zeros("f32", 4), "flags": zeros("i1", 8),
                    "z": zeros("f32", 32), "t": zeros("f32", 8, 8)}, counts=MANY, placements=UNALIGNED)
    return result


def atomics():
    """Locks and compare-and-swap."""
    result = []
    for constants in ({}, {"BARRIER": "true"}):
        result += runs("spin-lock-guards-its-data", {"lock": zeros("i32", 1), "data": zeros("f32", 256)},
                       kernel="locked", counts=MANY, **constants)
    for values in ([1] * 8, [1, 2, 1, -1, 1, 1, 0x100000001, 1]):
        result += runs("compare-and-swap-of-wide-tiles", {"x": np.array(values, np.int64), "old": zeros("i64", 8)},
                       counts=MANY)
    return result


def values():
    """Numbers at the edge: division by zero, subnormals, NaN, the widths of counts."""
    result = []
    for dtype in ("f32", "i32", "f16"):
        arrays = {"x": integers("top", dtype, -99, 99, 13, 8), "top": zeros(dtype, 13, 1), "low": zeros(dtype, 13, 1),
                  "at": zeros("i32", 13, 1)}
        result += runs("top-one-of-each-row", arrays, T=dtype)
    result += runs("remainder-beside-a-quotient",
                   {"x": np.array([2, -2, 0, 7, -7], np.int32), "y": np.array([0, 0, 0, 2, 2], np.int32),
                    **{name: zeros("i32", 5) for name in ("alone", "q", "r")}})
    result += runs("power-of-two-keeps-subnormals",
                   {"s": np.array([-126, -127, -149, -150, 3, -1000], np.float32), "e": zeros("f32", 6),
                    "p": zeros("f32", 6)}, exact=False)
    result += runs("soft-cap-saturates",
                   {"s": np.array([1, 100, 1000, 3000, 5000, 10000, -1, -10000, 4400], np.float32),
                    "y": zeros("f32", 9), "z": zeros("f32", 9)}, exact=False)
    result += runs("histogram-counts-in-words", {"x": ramp("i32", 512), "h": zeros("i32", 4)}, kernel="many", counts=MANY)
    result += runs("histogram-counts-in-words",
                   {"x": np.array([0, 1, 2, 3, 4, 4, 5, -1], np.int8), "h": zeros("i32", 4)}, kernel="few", counts=MANY)
    nan = np.nan
    result += runs("largest-of-rows-with-nan",
                   {"x": np.array([[nan, 6, 8, 0], [1, nan, nan, 9], [nan] * 4, [3, 1, 2, 3]], np.float32),
                    "high": zeros("i32", 4), "low": zeros("i32", 4), "most": zeros("f32", 4), "least": zeros("f32", 4)},
                   counts=MANY)
    return result


GROUPS = {"reports_" + function.__name__: function
          for function in (layouts, products, sweep, wide_sweep, scans, loops, addresses, atomics,
                          values)}
