"""The peers' kernels in Triton: what somebody who knows Triton would write, and its tutorials'.

`softmax_persistent` is the kernel of Triton's tutorial 02 with the number of programs computed as
there; its arithmetic is f32 for every type, as Triton's exp asks for. The row kernels hold a row
in a program. All use the same mathematics as tkc's examples.
"""

import concurrent.futures
import multiprocessing
import time

import torch
import triton
import triton.language as tl

TORCH_DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


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


KERNELS = {"vector_add": vector_add, "softmax_row": softmax_row,
           "softmax_persistent": softmax_persistent, "rms_norm_row": rms_norm_row}


def call_arguments(kernel, sizes, tensors):
    """A kernel's run-time arguments; `tensors` has tensors by name, or dtypes for a warm-up."""
    n = sizes["N"]
    if kernel == "vector_add":
        return [tensors["x"], tensors["y"], tensors["z"], n]
    if kernel == "softmax_row":
        return [tensors["y"], tensors["x"], n, n, n]
    if kernel == "softmax_persistent":
        return [tensors["y"], tensors["x"], n, n, sizes["M"], n]
    return [tensors["y"], tensors["x"], tensors["w"], n, n, n, tensors["eps"]]


def _options(config):
    return {**dict(config.meta), "num_warps": config.warps}


def warm_up(config, sizes, dtype):
    """Compiles a configuration without launching it, into Triton's cache on disk."""
    names = dict.fromkeys("wxyz", TORCH_DTYPES[dtype])
    arguments = call_arguments(config.kernel, sizes, {**names, "eps": 1e-5})
    return KERNELS[config.kernel].warmup(*arguments, grid=(1,), **_options(config))


def _compile_job(job):
    config, sizes, dtype = job
    begin = time.perf_counter()
    try:
        warm_up(config, sizes, dtype)
        problem = None
    except Exception as error:  # what Triton can't compile is left out, with the reason
        problem = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return job, problem, time.perf_counter() - begin


def precompile(cases, workers, limit_s):
    """Compiles all Triton configurations of the cases in processes of their own.

    {(family, shape text, dtype, config label): reason} of those that can't be used, compile that
    took beyond the limit included.
    """
    jobs = {}
    for case in cases:
        for config in case.triton:
            key = (case.family, case.shape_text, case.dtype, config.label)
            jobs[key] = (config, case.sizes, case.dtype)
    # The slowest first: those with the most elements in a thread.
    order = sorted(jobs, key=lambda k: -dict(jobs[k][0].meta).get("BLOCK", 0) / jobs[k][0].warps)
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"))
    futures = {pool.submit(_compile_job, jobs[key]): key for key in order}
    done, late = concurrent.futures.wait(futures, timeout=limit_s)
    refused = {futures[f]: f"did not compile within {limit_s} s" for f in late}
    for future in done:
        problem = str(future.exception()) if future.exception() else future.result()[1]
        if problem:
            refused[futures[future]] = problem
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=not late, cancel_futures=True)
    for process in processes if late else []:
        process.kill()
    return refused


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


def make_launch(config, sizes, tensors):
    """A callable that launches a configuration on tensors; compiled when it comes back."""
    kernel, options = KERNELS[config.kernel], _options(config)
    arguments = call_arguments(config.kernel, sizes, tensors)
    if config.kernel == "vector_add":
        grid = (triton.cdiv(sizes["N"], options["BLOCK"]),)
    elif config.kernel == "softmax_persistent":
        compiled = kernel.warmup(*arguments, grid=(1,), **options)
        grid = (_persistent_programs(compiled, config, sizes["M"]),)
    else:
        grid = (sizes["M"],)
    runner = kernel[grid]
    return lambda: runner(*arguments, **options)
