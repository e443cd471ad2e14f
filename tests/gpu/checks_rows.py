"""Softmax and RMS normalisation over ragged rows.

One row a block, several, and a loop over rows; rows shorter than the tile by one and by much, tiles
narrower than the warps, row strides that are dense, odd and padded, rows with constants, wide
ranges, zeros and -inf. A result must lie within
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


def _reference(tile, dtype, arrays):
    """(f64 result, roundings of f32 on the way to it)."""
    wide = {name: numerics.widen(a, dtype).astype(np.float64) for name, a in arrays.items()}
    # At worst one lane of each of the warps that share a row adds up its part, then they combine.
    rows = dict(tile.extra).get("ROWS", 1)
    depth = tile.block * rows // (32 * tile.warps) + 16
    x = wide["x"]
    if tile.is_softmax:
        shifted = np.where(np.isfinite(x), x.max(axis=1, keepdims=True) - x, 0.0)
        steps = 2.0 * shifted + 2.0 * shifted.max(axis=1, keepdims=True) + depth + 16.0
        return fake_cuda.softmax_rows(x), steps
    return fake_cuda.rms_norm_rows(x, wide["w"], float(np.float32(cases.EPS))), depth + 12.0


def _outside(got, reference, bound, dtype):
    """Where a result is farther from the reference than the bound, or not a number."""
    difference = np.abs(numerics.widen(got, dtype).astype(np.float64) - reference)
    return ~(difference <= bound)


def _compare(bench, tile, dtype, length, got, arrays):
    """None, or how the result is out of bounds."""
    reference, steps = _reference(tile, dtype, arrays)
    bounds = {"f64": (reference, numerics.output_bound(reference, dtype, steps))}
    stored = bench.expected(cases.interpreted_rows(tile, dtype, length))
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


def _check_one(bench, tile, dtype, length, row_stride):
    """(problem or None, whether the fast variant ran)."""
    spec = cases.tile_spec(tile, dtype)
    loaded, description = bench.kernel(spec), bench.metadata(spec)
    arrays = cases.row_inputs(tile.is_softmax, dtype, length)
    shape = (cases.ROWS, length)
    tensors = [bench.tensor(dtype, shape, row_stride=row_stride, data=arrays["x"])]
    if "w" in arrays:
        tensors.append(bench.tensor(dtype, (length,), data=arrays["w"]))
    tensors.append(bench.tensor(dtype, shape, row_stride=row_stride))
    got, problem, variant = launch(loaded, tensors, tensors[-1], sms=tile.sms)
    wanted = expected_variant(description, launch_names(description, tensors))
    if problem is None and variant != wanted:
        problem = f"variant {variant} ran, the guards admit {wanted}"
    if problem is None:
        problem = _compare(bench, tile, dtype, length, got, arrays)
    for tensor in tensors:
        tensor.free()
    return problem, description["variants"][variant]["default_rank"] == 0


def _run_kernel(bench, kernel):
    score = Score(f"{kernel}, within bounds")
    fast = 0
    tiles = [tile for tile in cases.ROW_TILES
             if tile.kernel == kernel and (tile.is_small or not bench.small)]
    for dtype in cases.ROW_DTYPES:
        for tile in tiles:
            for length in tile.lengths:
                for stride in cases.row_strides(length):
                    problem, is_fast = _check_one(bench, tile, dtype, length, stride)
                    score.record(problem, f"{dtype} {tile.label} N={length} row stride {stride}")
                    fast += is_fast
    total = score.passed + len(score.failures)
    score.note(f"fast variant {fast} times of {total}")
    return score


def run(bench):
    return [_run_kernel(bench, kernel)
            for kernel in dict.fromkeys(tile.kernel for tile in cases.ROW_TILES)]
