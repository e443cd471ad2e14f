"""Softmax and RMS normalisation over ragged rows.

Rows shorter than the tile by one and by much, blocks narrower than the warps, row strides that are
dense, odd and padded, rows with constants, wide ranges, zeros and -inf. A result must lie within
the bound that the interpreter computed for it, where the bundle has one, and always within a bound
around the f64 result: 2^-24 for each f32 rounding on the way, with exp's 2 ulp, its argument's
error (2^-24 of the largest difference to the maximum) and the depth of the sum, and one rounding to
the output's type.
"""

import numpy as np

import cases
import fake_cuda
import numerics
from support import Score, expected_variant, launch, launch_names


def _reference(kernel, dtype, arrays, block, warps):
    """(f64 result, roundings of f32 on the way to it)."""
    wide = {name: numerics.widen(a, dtype).astype(np.float64) for name, a in arrays.items()}
    depth = block // (32 * warps) + 16
    x = wide["x"]
    if kernel == "softmax":
        shifted = np.where(np.isfinite(x), x.max(axis=1, keepdims=True) - x, 0.0)
        steps = 2.0 * shifted + 2.0 * shifted.max(axis=1, keepdims=True) + depth + 16.0
        return fake_cuda.softmax_rows(x), steps
    return fake_cuda.rms_norm_rows(x, wide["w"], float(np.float32(cases.EPS))), depth + 12.0


def _outside(got, reference, bound, dtype):
    """Where a result is farther from the reference than the bound, or not a number."""
    difference = np.abs(numerics.widen(got, dtype).astype(np.float64) - reference)
    return ~(difference <= bound)


def _compare(bench, kernel, dtype, tile, length, got, arrays):
    """None or the problem, and the largest share of the bound that was used."""
    block, warps = tile
    reference, steps = _reference(kernel, dtype, arrays, block, warps)
    bounds = {"f64": (reference, numerics.output_bound(reference, dtype, steps))}
    stored = bench.expected(cases.Interpreted(kernel, dtype, block, length))
    if stored is not None:
        bounds["the interpreter"] = numerics.widen(stored[0], dtype).astype(np.float64), stored[1]
    for whose, (center, bound) in bounds.items():
        bad = _outside(got, center, bound, dtype)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            value = numerics.widen(got, dtype)[first]
            return f"{int(bad.sum())} of {bad.size} elements are out of bounds against {whose}, " \
                   f"first at {first}: {value!r}, expected {center[first]!r} within " \
                   f"{bound[first]:.3g}"
    return None


def _check_one(bench, kernel, dtype, tile, length, row_stride):
    spec = cases.row_spec(kernel, dtype, *tile)
    loaded, description = bench.kernel(spec), bench.metadata(spec)
    arrays = cases.row_inputs(kernel, dtype, length)
    shape = (cases.ROWS, length)
    tensors = [bench.tensor(dtype, shape, row_stride=row_stride, data=arrays["x"])]
    if "w" in arrays:
        tensors.append(bench.tensor(dtype, (length,), data=arrays["w"]))
    tensors.append(bench.tensor(dtype, shape, row_stride=row_stride))
    got, problem, variant = launch(loaded, tensors, tensors[-1])
    wanted = expected_variant(description, launch_names(description, tensors))
    if problem is None and variant != wanted:
        problem = f"variant {variant} ran, the guards admit {wanted}"
    if problem is None:
        problem = _compare(bench, kernel, dtype, tile, length, got, arrays)
    for tensor in tensors:
        tensor.free()
    return problem, description["variants"][variant]["default_rank"] == 0


def _run_kernel(bench, kernel):
    score = Score(f"{kernel}, within bounds")
    fast = 0
    for dtype in cases.ROW_DTYPES:
        for block, warps, lengths in cases.ROW_TILES_SMALL if bench.small else cases.ROW_TILES:
            for length in lengths:
                for stride in cases.row_strides(length):
                    problem, is_fast = _check_one(bench, kernel, dtype, (block, warps), length,
                                                  stride)
                    score.record(problem, f"{dtype} BLOCK={block} w{warps} N={length} "
                                          f"row stride {stride}")
                    fast += is_fast
    total = score.passed + len(score.failures)
    score.note(f"fast variant {fast} times of {total}")
    return score


def run(bench):
    return [_run_kernel(bench, "softmax"), _run_kernel(bench, "rms_norm")]
