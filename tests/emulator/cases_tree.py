"""Kernels marked @deterministic: reductions and scans of real numbers give the interpreter's bits."""

import numpy as np

from cases import ALIGNED, MISALIGNED, Case, random_for, warps, zeros
from moves import bracket, place

WELFORD = """fn(a, b) {
        let d = b.0 - a.0
        let n = a.2 + b.2
        return a.0 + d * b.2 / n, a.1 + b.1 + d * d * a.2 * b.2 / n, n
    }"""
FADES = "fn(a, b) { return a * 0.75 + b }"
SIDES = (1, 3, 5, 64, 144, 1000, 4096)
AXES = (((40, 33), 0), ((40, 33), 1), ((12, 144), 0), ((144, 12), 0), ((16, 64), 1), ((3, 1000), 1), ((64, 64), 0),
        ((4, 8, 6), 0), ((4, 8, 6), 1), ((4, 8, 6), 2), ((3, 5, 16), 1))


def real(name, dtype, *shape):
    """Numbers whose sums are rounded, and differently in each order."""
    values = random_for(name).standard_normal(shape) + 0.5
    return values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])


def tree(name, body, arrays, count, placements=(ALIGNED,), options=(), scalars=None):
    """A kernel of `body`, of a parameter for each array: what it writes is called out..."""
    params = ", ".join(f"{'out' if key.startswith('out') else 'in'} {key}: "
                       f"{str(array.dtype).replace('float', 'f').replace('int', 'i')}{bracket(array.shape)}"
                       for key, array in arrays.items())
    source = f"kernel k({params}{''.join(f', {key}: i64' for key in scalars or {})}) @grid(1) @deterministic {{\n    {body}\n}}"
    return Case(name, source, arrays, scalars or {}, (*warps(count), *options), placements, exact=True)


def reduction(call, dtype, shape, axis, count):
    """`call` of the tiles x and y."""
    rest = shape[:axis] + shape[axis + 1 :]
    out = rest or (1,)
    name = f"{call.split('(')[0]} {dtype} {shape} {axis}"
    body = f"let x = a{place(shape)}\n    let y = b{place(shape)}\n    out{place(rest) if rest else '[0]'} = " + \
        call.format(axis=axis)
    result = "f64" if dtype == "f64" else "f32"
    arrays = {"a": real(name + "a", dtype, *shape), "b": real(name + "b", dtype, *shape), "out": zeros(result, *out)}
    return tree(name, body, arrays, count)


REDUCTIONS = (("sum(x, axis={axis})", "f32"), ("sum(x * y, axis={axis})", "f32"), ("sum(x, axis={axis})", "f16"),
              ("prod(x, axis={axis})", "f32"), ("reduce(x + y, " + FADES.replace("{", "{{").replace("}", "}}") + ", axis={axis})", "f32"))


def trees():
    """Reductions of one tile along one axis."""
    result = []
    for number, (shape, axis) in enumerate([((side,), 0) for side in SIDES] + list(AXES)):
        for count in (1, 2, 4, 8):
            for turn, (call, dtype) in enumerate(REDUCTIONS):
                if turn < 2 or (number + count + turn) % 3 == 0:
                    result.append(reduction(call, dtype, shape, axis, count))
    for side in SIDES:
        for count in (1, 4):
            arrays = {"a": real(f"welford {side}", "f32", side), "out": zeros("f32", 3)}
            result.append(tree(f"several values {side}", f"""let t = a{place((side,))}
    let (m, s, n) = reduce((t, zeros_like(t), full_like(t, 1)), {WELFORD}, axis=0)
    out[0] = m
    out[1] = s
    out[2] = n""", arrays, count))
    return result


def tree_loops():
    """Reductions in loops whose loads are under way some trips before, of products too; two that are merged."""
    result = []
    for count in (1, 2, 8):
        for stages in (1, 3):
            arrays = {"a": real("loops a", "f32", 16, 640), "b": real("loops b", "f32", 640), "out": zeros("f32", 16)}
            result.append(tree(f"products in a loop, stages {stages}", """var acc = zeros[f32](16)
    for i in range(n) { acc = acc + sum(a[:, i * 64 +: 64] * b[i * 64 +: 64][None, :], axis=1) * 0.75 }
    out[:] = acc""", arrays, count, (ALIGNED, MISALIGNED), (f"--stages={stages}",), {"n": 10}))
            arrays = {"a": real("loops", "f16", 144, 320), "out": zeros("f32", 2, 144)}
            result.append(tree(f"two in a loop, stages {stages}", """var s = zeros[f32](144)
    var q = zeros[f32](144)
    for i in range(n) {
        let t = a[:, i * 32 +: 32].to(f32)
        s = s + sum(t, axis=1)
        q = q + sum(t * t, axis=1)
    }
    out[0, :] = s
    out[1, :] = q""", arrays, count, (ALIGNED,), (f"--stages={stages}",), {"n": 10}))
    return result


def tree_scans():
    """Scans from both ends."""
    result = []
    for number, (shape, axis) in enumerate([((side,), 0) for side in SIDES[:-1]] + list(AXES)):
        for count in (1, 2, 4, 8):
            for turn, call in enumerate(("cumsum(x, {axis}{tail})", "scan(x, " + FADES.replace("{", "{{").replace("}", "}}") +
                                         ", axis={axis}{tail})", "cumprod(x, {axis}{tail})")):
                if (number + count + turn) % 3 != 0:
                    continue
                for tail in ("", ", reverse=true"):
                    name = f"{call.split('(')[0]} {shape} {axis}{tail}"
                    body = f"let x = a{place(shape)}\n    out{place(shape)} = " + call.format(axis=axis, tail=tail)
                    result.append(tree(name, body, {"a": real(name, "f32", *shape), "out": zeros("f32", *shape)}, count))
    return result


def tree_strips():
    """Tiles that are worked through piece by piece: as many pieces as a power of two, and 3 and 5 times as many."""
    result = []
    for block, counts in ((8192, (1, 2)), (12288, (1, 2)), (10240, (1,)), (8200, (2,)), (16384, (4,))):
        for count in counts:
            arrays = {"a": real("strips a", "f32", block), "b": real("strips b", "f32", block), "out": zeros("f32", 4)}
            result.append(tree(f"strips {block}", f"""let x = a[0 +: {block}]
    let y = b[0 +: {block}]
    out[0] = sum(x * y, axis=0)
    out[1] = sum(x, axis=0)
    out[2] = reduce(x - y, {FADES}, axis=0)
    out[3] = max(x, axis=0)""", arrays, count))
    for shape, axis in (((8, 1024), 1), ((64, 144), 0), ((4, 3072), 1)):
        rest = shape[:axis] + shape[axis + 1 :]
        arrays = {"a": real("strips", "f16", *shape), "out": zeros("f32", *rest)}
        result.append(tree(f"strips {shape} {axis}", f"out[:] = sum(a{place(shape)}.to(f32) * 1.1, axis={axis})", arrays, 1))
    arrays = {"a": real("strips scan", "f32", 4096), "out": zeros("f32", 4096)}
    result.append(tree("strips with a scan", "out[:] = cumsum(a[:] * 1.1, 0)", arrays, 1))
    return result


GROUPS = {function.__name__: function for function in (trees, tree_loops, tree_scans, tree_strips)}
