"""Triton's side of layer normalisation, forward and backward.

Backward is the algorithm of Triton's tutorial 05: a program a row; GROUP buffers of partial
gradients of w and b, of the type of the inputs, added to under locks; a second kernel adds the
buffers up. Rows are held in a program, which the tutorial's own sizes allow.
"""

import triton
import triton.language as tl

from peers import Step

EPS = 1e-5


@triton.jit
def layer_norm_row(y, x, w, b, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    v = tl.load(x + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mu = tl.sum(v, axis=0) / n
    d = tl.where(inside, v - mu, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(b + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * stride + columns, (d * r * weight + bias).to(y.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_dx(dx, dy, dw, db, x, w, mean, rstd, locks, stride, n, GROUP: tl.constexpr,
                  BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    at = row.to(tl.int64) * stride + columns
    v = tl.load(x + at, mask=inside, other=0).to(tl.float32)
    up = tl.load(dy + at, mask=inside, other=0).to(tl.float32)
    weight = tl.load(w + columns, mask=inside, other=0).to(tl.float32)
    r = tl.load(rstd + row)
    h = tl.where(inside, (v - tl.load(mean + row)) * r, 0.0)
    g = tl.where(inside, weight * up, 0.0)
    mean_gh = tl.sum(h * g, axis=0) / n
    mean_g = tl.sum(g, axis=0) / n
    tl.store(dx + at, ((g - (h * mean_gh + mean_g)) * r).to(dx.dtype.element_ty), mask=inside)

    part_w = (up * h).to(w.dtype.element_ty)
    part_b = up.to(w.dtype.element_ty)
    buffer = row % GROUP
    lock = locks + buffer
    is_used = locks + GROUP + buffer
    dw_at = dw + buffer * n + columns
    db_at = db + buffer * n + columns
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(is_used) == 0:
        tl.atomic_xchg(is_used, 1)
    else:
        part_w += tl.load(dw_at, mask=inside)
        part_b += tl.load(db_at, mask=inside)
    tl.store(dw_at, part_w, mask=inside)
    tl.store(db_at, part_b, mask=inside)
    tl.debug_barrier()  # all threads have stored before the lock is free
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_dwdb(part_w, part_b, dw, db, rows, n, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    sum_w = tl.zeros((BM, BN), dtype=tl.float32)
    sum_b = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, rows, BM):
        row = first + tl.arange(0, BM)
        inside = (row[:, None] < rows) & (columns[None, :] < n)
        at = row[:, None] * n + columns[None, :]
        sum_w += tl.load(part_w + at, mask=inside, other=0.0)
        sum_b += tl.load(part_b + at, mask=inside, other=0.0)
    tl.store(dw + columns, tl.sum(sum_w, axis=0), mask=columns < n)
    tl.store(db + columns, tl.sum(sum_b, axis=0), mask=columns < n)


def _forward(_, sizes, t):
    n = sizes["N"]
    args = [t["y"], t["x"], t["w"], t["b"], t["mean"], t["rstd"], n, n, EPS]
    return [Step(layer_norm_row, (sizes["M"],), args)]


def _backward(config, sizes, t):
    """The locks are zeroed ahead of each launch, which belongs to the algorithm."""
    m, n, group = sizes["M"], sizes["N"], dict(config.meta)["GROUP"]
    rows = Step(layer_norm_dx, (m,),
                [t["dx"], t["dy"], t["group_dw"], t["group_db"], t["x"], t["w"], t["mean"], t["rstd"],
                 t["locks"], n, n], before=lambda: t["locks"].zero_())
    sums = Step(layer_norm_dwdb, (triton.cdiv(n, 128),),
                [t["group_dw"], t["group_db"], t["dw"], t["db"], min(group, m), n],
                {"BM": 32, "BN": 128, "num_warps": 4})
    return [rows, sums]


PEERS = {"layer_norm_row": _forward, "layer_norm_locks": _backward}
