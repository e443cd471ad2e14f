"""The peers in Triton: how their kernels are compiled and launched.

The kernels are what somebody who knows Triton would write, and its tutorials': peers_rows.py,
peers_norm.py, peers_products.py. A name of configs.json stands for a function of a configuration,
sizes and tensors that gives the steps of one launch.
"""

import concurrent.futures
import dataclasses
import importlib
import multiprocessing

import torch
from triton.runtime.jit import MockTensor

TORCH_DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
                "i32": torch.int32}
_FILES = ("peers_rows", "peers_norm", "peers_products")


@dataclasses.dataclass
class Step:
    """A kernel, its grid (or a function of what was compiled that gives it) and its run-time
    arguments; `options` stand instead of the configuration's own. `before` runs ahead of it."""

    kernel: object
    grid: object
    args: list
    options: dict = None
    before: object = None


def _peer(name):
    for file in _FILES:
        peers = importlib.import_module(file).PEERS
        if name in peers:
            return peers[name]
    raise KeyError(f"no peer {name}")


def _options(config):
    stages = {"num_stages": config.stages} if config.stages else {}
    return {**dict(config.meta), "num_warps": config.warps, **stages}


def _steps(config, sizes, tensors):
    """(step, options) in order."""
    steps = _peer(config.kernel)(config, sizes, tensors)
    return [(s, _options(config) if s.options is None else s.options) for s in steps]


def warm_up(config, case):
    """Compiles a configuration without launching it, into Triton's cache on disk."""
    mocks = {t.name: MockTensor(TORCH_DTYPES[t.dtype], t.shape) for t in case.tensors}
    return [step.kernel.warmup(*step.args, grid=(1,), **options)
            for step, options in _steps(config, case.sizes, mocks)]


def _compile_job(config, case):
    try:
        warm_up(config, case)
    except Exception as error:  # what Triton can't compile is left out, with the reason
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return None


def precompile(cases, workers, limit_s):
    """Compiles all Triton configurations of the cases in processes of their own.

    {(case's name, configuration's label): reason} of those that can't be used, compile that took
    beyond the limit included.
    """
    jobs = {(case.name, config.label): (config, case) for case in cases for config in case.triton}

    # The slowest first: those with the most elements in a thread.
    def weight(key):
        meta = dict(jobs[key][0].meta)
        return meta.get("BLOCK", meta.get("BM", 0) * meta.get("BN", 0)) / jobs[key][0].warps

    pool = concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"))
    futures = {pool.submit(_compile_job, *jobs[key]): key
               for key in sorted(jobs, key=weight, reverse=True)}
    done, late = concurrent.futures.wait(futures, timeout=limit_s)
    refused = {futures[f]: f"did not compile within {limit_s} s" for f in late}
    for future in done:
        problem = str(future.exception()) if future.exception() else future.result()
        if problem:
            refused[futures[future]] = problem
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=not late, cancel_futures=True)
    for process in processes if late else []:
        process.kill()
    return refused


def _runner(step, options):
    """A callable that launches a step; compiled when it comes back."""
    compiled = step.kernel.warmup(*step.args, grid=(1,), **options)
    grid = step.grid(compiled) if callable(step.grid) else step.grid
    kernel, args = step.kernel[grid], step.args
    if step.before is None:
        return lambda: kernel(*args, **options)

    def launch():
        step.before()
        kernel(*args, **options)
    return launch


def make_launch(config, sizes, tensors):
    """A callable that launches a configuration on tensors."""
    runners = [_runner(step, options) for step, options in _steps(config, sizes, tensors)]
    if len(runners) == 1:
        return runners[0]

    def launch():
        for runner in runners:
            runner()
    return launch
