"""Vector addition, bit by bit.

By places and by pointers, over eight element types, ragged and round sizes, aligned pointers and
such that are off by one element. The result must be the correctly rounded sum: of the interpreter
where the bundle has it, and of NumPy. The variant that the loader takes must be the one that the
JSON's guards admit first, the fast one whenever everything is a multiple of 16.
"""

import collections

import numpy as np

import cases
import numerics
from support import Score, expected_variant, launch, launch_names


def _bits_differ(got, wanted):
    size = got.dtype.itemsize
    return np.ascontiguousarray(got).view(f"u{size}") != np.ascontiguousarray(wanted).view(
        f"u{size}")


def _compare(bench, by, dtype, count, got, x, y):
    """None, or what differs from NumPy's or the interpreter's result."""
    wanted = {"NumPy": numerics.exact_sum(x, y, dtype)}
    stored = bench.expected(cases.interpreted_add(by, dtype, count))
    if stored is not None:
        wanted["the interpreter"] = stored[0]
    for whose, values in wanted.items():
        bad = _bits_differ(got, values)
        if bad.any():
            return f"against {whose}: " + numerics.describe_mismatch(got, values, dtype, bad)
    return None


def _check_one(bench, by, dtype, count, offset):
    """(problem or None, id of the variant that ran)."""
    spec = cases.add_spec(by, dtype)
    kernel, description = bench.kernel(spec), bench.metadata(spec)
    x, y = (numerics.make_addends(dtype, count, name) for name in "xy")
    tensors = [bench.tensor(dtype, (count,), offset=offset, data=data) for data in (x, y, None)]
    scalars = () if by == "places" else (count,)
    got, problem, variant = launch(kernel, tensors, tensors[2], scalars)
    names = launch_names(description, tensors, {"n": count})
    wanted = expected_variant(description, names)
    if problem is None and variant != wanted:
        problem = f"variant {variant} ran, the guards admit {wanted}"
    is_fast = description["variants"][variant]["default_rank"] == 0
    must_be_fast = offset == 0 and count % 16 == 0
    if problem is None and must_be_fast != is_fast and (must_be_fast or offset):
        problem = f"variant {description['variants'][variant]['id']} ran"
    if problem is None:
        problem = _compare(bench, by, dtype, count, got, x, y)
    for tensor in tensors:
        tensor.free()
    return problem, description["variants"][variant]["id"]


def run(bench):
    score = Score("vector add, bit-equal")
    counts = cases.ADD_COUNTS_SMALL if bench.small else cases.ADD_COUNTS
    ran = collections.Counter()
    for by in ("places", "pointers"):
        for dtype in cases.ADD_DTYPES:
            for count in counts:
                for offset in (0, 1):
                    problem, variant = _check_one(bench, by, dtype, count, offset)
                    where = "aligned" if offset == 0 else "off by one element"
                    score.record(problem, f"{by} {dtype} N={count} {where}")
                    ran[f"{where}{', 16 | N' if count % 16 == 0 else ''}: {variant}"] += 1
    for line, times in sorted(ran.items()):
        score.note(f"{line}, {times} launches")
    return [score]
