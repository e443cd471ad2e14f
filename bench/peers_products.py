"""Triton's side of matrix products and attention.

`matmul` is the algorithm of Triton's tutorial 03: tiles of c in groups of GROUP rows, plain
pointers, loads pipelined by the compiler. `attention` is that of tutorial 06, forward: a program a
block of queries, the keys that no mask touches first, exp2 throughout; its tiles come through
tensor descriptors (TMA) or, with DESC=0, plain pointers. Lengths divide by the blocks.
"""

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from peers import Step


@triton.jit
def matmul(a, b, c, m, n, k, a_stride, b_stride, c_stride, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    group = GROUP * tl.cdiv(n, BN)
    first = pid // group * GROUP
    rows = min(tiles_m - first, GROUP)
    tile_m = first + pid % group % rows
    tile_n = pid % group // rows
    row = (tile_m * BM + tl.arange(0, BM)) % m
    column = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_at = a + row[:, None] * a_stride + depth[None, :]
    b_at = b + depth[:, None] * b_stride + column[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        a_tile = tl.load(a_at, mask=depth[None, :] < k - step * BK, other=0.0)
        b_tile = tl.load(b_at, mask=depth[:, None] < k - step * BK, other=0.0)
        acc = tl.dot(a_tile, b_tile, acc)
        a_at += BK
        b_at += BK * b_stride
    row = tile_m * BM + tl.arange(0, BM)
    column = tile_n * BN + tl.arange(0, BN)
    tl.store(c + row[:, None] * c_stride + column[None, :], acc.to(c.dtype.element_ty),
             mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def _rows(source, first, ROWS: tl.constexpr, D: tl.constexpr, DESC: tl.constexpr):
    """Rows of a matrix of D columns, which a descriptor or a pointer stands for."""
    if DESC:
        tile = source.load([first, 0])
    else:
        tile = tl.load(source + (first + tl.arange(0, ROWS))[:, None] * D + tl.arange(0, D)[None, :])
    return tile


@triton.jit
def _keys(acc, l, m, q, k, v, base, first, end, rows, scale, D: tl.constexpr, BN: tl.constexpr,
          MASKED: tl.constexpr, DESC: tl.constexpr):
    """The sums over the keys of a range."""
    for n in range(first, end, BN):
        n = tl.multiple_of(n, BN)
        s = tl.dot(q, _rows(k, base + n, BN, D, DESC).T)
        if MASKED:
            s = s * scale + tl.where(rows[:, None] >= n + tl.arange(0, BN)[None, :], 0, -1.0e6)
            new_m = tl.maximum(m, tl.max(s, 1))
            s -= new_m[:, None]
        else:
            new_m = tl.maximum(m, tl.max(s, 1) * scale)
            s = s * scale - new_m[:, None]
        p = tl.exp2(s)
        alpha = tl.exp2(m - new_m)
        row_sum = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        values = _rows(v, base + n, BN, D, DESC)
        acc = tl.dot(p.to(values.dtype), values, acc)
        l = l * alpha + row_sum
        m = new_m
    return acc, l, m


@triton.jit
def attention(q, k, v, o, lse, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              CAUSAL: tl.constexpr, DESC: tl.constexpr):
    block = tl.program_id(0)
    head = tl.program_id(1)
    base = head * length
    first = block * BM
    rows = first + tl.arange(0, BM)
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    l = tl.full((BM,), 1.0, dtype=tl.float32) - 1.0
    acc = tl.zeros((BM, D), dtype=tl.float32)
    scale *= 1.4426950408889634
    q_tile = _rows(q, base + first, BM, D, DESC)
    free = first if CAUSAL else length
    acc, l, m = _keys(acc, l, m, q_tile, k, v, base, 0, free, rows, scale, D, BN, False, DESC)
    if CAUSAL:
        acc, l, m = _keys(acc, l, m, q_tile, k, v, base, first, first + BM, rows, scale, D, BN, True,
                          DESC)
    acc = acc / l[:, None]
    tl.store(lse + base + rows, m / 1.4426950408889634 + tl.log(l))
    if DESC:
        o.store([base + first, 0], acc.to(o.dtype))
    else:
        at = (base + rows)[:, None] * D + tl.arange(0, D)[None, :]
        tl.store(o + at, acc.to(o.dtype.element_ty))


def _matmul(config, sizes, t):
    m, n, k, meta = sizes["M"], sizes["N"], sizes["K"], dict(config.meta)
    grid = (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)
    return [Step(matmul, grid, [t["a"], t["b"], t["c"], m, n, k, k, n, n])]


def _attention(config, sizes, t):
    meta = dict(config.meta)
    heads, length, depth = sizes["Z"] * sizes["H"], sizes["S"], sizes["D"]

    def rows(name, block):
        if not meta["DESC"]:
            return t[name]
        return TensorDescriptor(t[name], [heads * length, depth], [depth, 1], [block, depth])

    tiles = [rows(name, meta[block]) for name, block in zip("qkvo", ("BM", "BN", "BN", "BM"))]
    return [Step(attention, (length // meta["BM"], heads),
                 [*tiles, t["lse"], length, depth ** -0.5])]


PEERS = {"matmul": _matmul, "attention": _attention}
