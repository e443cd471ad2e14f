"""Triton's side of additions, softmax and RMS norm.

`softmax_persistent` is the kernel of Triton's tutorial 02 with the number of programs computed as
there; its arithmetic is f32 for every type, as Triton's exp asks for. The row kernels hold a row
in a program. All use the same mathematics as tkc's examples.
"""

import torch
import triton
import triton.language as tl

from peers import Step


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    total = tl.load(x + offsets, mask=inside) + tl.load(y + offsets, mask=inside)
    tl.store(z + offsets, total, mask=inside)


@triton.jit
def softmax_row(y, x, y_stride, x_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    v = tl.load(x + row * x_stride + columns, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    result = e / tl.sum(e, axis=0)
    tl.store(y + row * y_stride + columns, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def softmax_persistent(y, x, y_stride, x_stride, rows, n, BLOCK: tl.constexpr,
                       STAGES: tl.constexpr):
    first = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(first, rows, step, num_stages=STAGES):
        columns = tl.arange(0, BLOCK)
        inside = columns < n
        v = tl.load(x + row * x_stride + columns, mask=inside, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=0))
        result = e / tl.sum(e, axis=0)
        tl.store(y + row * y_stride + columns, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def rms_norm_row(y, x, w, y_stride, x_stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    v = tl.load(x + row * x_stride + columns, mask=inside, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * y_stride + columns, (v * scale * weight).to(y.dtype.element_ty),
             mask=inside)


def _vector_add(config, sizes, t):
    grid = (triton.cdiv(sizes["N"], dict(config.meta)["BLOCK"]),)
    return [Step(vector_add, grid, [t["x"], t["y"], t["z"], sizes["N"]])]


def _softmax_row(_, sizes, t):
    n = sizes["N"]
    return [Step(softmax_row, (sizes["M"],), [t["y"], t["x"], n, n, n])]


def _persistent_programs(compiled, config, rows):
    """Programs that fit the chip at once, as tutorial 02 counts them."""
    properties = triton.runtime.driver.active.utils.get_device_properties(
        torch.cuda.current_device())
    compiled._init_handles()
    occupancy = properties["max_num_regs"] // (compiled.n_regs * properties["warpSize"]
                                               * config.warps)
    if compiled.metadata.shared:
        occupancy = min(occupancy, properties["max_shared_mem"] // compiled.metadata.shared)
    return min(properties["multiprocessor_count"] * max(occupancy, 1), rows)


def _softmax_persistent(config, sizes, t):
    n, rows = sizes["N"], sizes["M"]
    return [Step(softmax_persistent, lambda compiled: (_persistent_programs(compiled, config, rows),),
                 [t["y"], t["x"], n, n, rows, n])]


def _rms_norm_row(_, sizes, t):
    n = sizes["N"]
    return [Step(rms_norm_row, (sizes["M"],), [t["y"], t["x"], t["w"], n, n, n, 1e-5])]


PEERS = {"vector_add": _vector_add, "softmax_row": _softmax_row,
         "softmax_persistent": _softmax_persistent, "rms_norm_row": _rms_norm_row}
