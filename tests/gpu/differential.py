"""Compares kernels on the GPU with the interpreter: the cases of ../emulator, without the emulator.

    differential.py --tkc=./tkc [--targets=sm_90a,sm_80] [--grid] [--only=TEXT] [--workers=N]
                    [--limit=SECONDS] [--part=I/N] [GROUP...]

Compiles where it runs. With --grid each case runs with every number of warps of WARPS, and where it has
a loop with every number of STAGES too; what then does not fit is counted as left out. A target other than the device's goes through the driver's own compiler, as
PTX. After --limit no more cases begin, and those left are counted; --part takes every Nth case alone, from the Ith on
(1/2 and 2/2 are all). Prints what differs, then one line a group and target; status 1 when anything does.
"""

import argparse
import collections
import ctypes
import dataclasses
import functools
import itertools
import json
import multiprocessing
import os
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "emulator"))

import compare  # noqa: E402  pylint: disable=wrong-import-position
import device  # noqa: E402  pylint: disable=wrong-import-position

MEMORY_BYTES = 1 << 24
GUARD_BYTES = 1024
NATIVE = "sm_90a"
WARPS, STAGES = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 5)
TOO_MUCH = ("TK4001", "TK4002")  # shared memory, registers
AS_THEY_ARE = ("whole_examples",)  # also with --grid, where the ragged ones stand for them


class Driver(device.CudaMemory):
    """The CUDA driver, and one range of memory."""

    def __init__(self):
        super().__init__()
        self.base = self.allocate(MEMORY_BYTES)

    def kind(self, target):
        """What it is given to launch: code of another chip it compiles itself."""
        return "cubin" if target == NATIVE else "ptx"


@functools.lru_cache(maxsize=None)
def the_driver():
    """This process's."""
    return Driver()


class DeviceMemory:
    """What ptx.Memory is to the emulator: arrays at addresses, with guards between them."""

    def __init__(self, size=MEMORY_BYTES):
        self.driver = the_driver()
        self.base = self.driver.base
        self.data = np.full(min(size, MEMORY_BYTES), 0xAB, np.uint8)
        self.valid = np.zeros(self.data.size, bool)
        self.used, self.problems = GUARD_BYTES, {}

    def add(self, rows, offset=0, packed=False):  # pylint: disable=unused-argument
        """As ptx.Memory has it; here all that counts is whether what lies behind has changed."""
        data, valid = rows
        start = -(-self.used // 256) * 256 + offset
        self.used = start + data.size + GUARD_BYTES
        if self.used > self.data.size:
            raise RuntimeError("the arrays take too much memory")
        self.data[start : start + data.size] = data
        self.valid[start : start + data.size] = valid
        return self.base + start

    def faults(self):
        return list(self.problems)

    def bytes_at(self, address, size):
        return self.data[address - self.base :][:size]

    def upload(self):
        self.driver.upload(self.base, self.data[: self.used])

    def download(self):
        after = self.driver.download(self.base, self.used)
        touched = (after != self.data[: self.used]) & ~self.valid[: self.used]
        if touched.any():
            self.problems[f"writes outside of the arrays, at {int(np.nonzero(touched)[0][0])}"] = None
        self.data[: self.used] = after


class OnDevice(compare.Comparison):
    """One case on the GPU."""

    def __init__(self, case, tkc, folder, target, driver=None):
        self.driver, self.target = driver or the_driver(), target
        super().__init__(case, tkc, folder)

    def memory(self):
        return DeviceMemory()

    def compile(self):
        kind = self.driver.kind(self.target)
        image = self.file("case." + kind)
        self.call(self.source, "--emit=" + kind, "--target=" + self.target, "-o", image,
                  "--metadata=" + self.file("case.json"), *self.case.options)
        with open(image, "rb") as file:
            data = file.read()
        with open(self.file("case.json"), encoding="utf-8") as file:
            return data + b"\0", json.load(file)["kernels"][0]

    def emulate(self, variant, seed, offset, padding):
        memory = self.memory()
        placed, names = self.place(memory, offset, padding)
        if not self.takes(variant, names, (offset, padding)):
            return []
        parameters = [parameter_of(item, compare.evaluate(item["value"], names))
                      for item in variant["params"]["list"]]
        grid = [int(compare.evaluate(extent, names)) for extent in variant["grid"]]
        memory.upload()
        self.driver.launch(self.text, variant["symbol"], grid, variant["block"][0],
                           variant["resources"]["shared_dynamic"], parameters)
        memory.download()
        problems = memory.faults()
        for name in self.arrays():
            problems += self.differences(name, placed[name].contents(memory))
        return problems


def parameter_of(item, value):
    bits = compare.parameter_bits(item["type"], value)
    return ctypes.c_uint64(bits)


def grid_of(cases):
    """The cases with every number of warps and stages, each once."""
    result = {}
    for case in cases:
        rest = tuple(word for word in case.options if not word.startswith(("--warps", "--stages")))
        has_loop = case.path or any(word in case.source for word in ("for ", "while "))
        counts = itertools.product(WARPS, STAGES) if has_loop else ((count, 3) for count in WARPS)
        for warps, stages in counts:
            made = dataclasses.replace(case, options=(*rest, f"--warps={warps}", f"--stages={stages}"))
            shapes = [getattr(array, "shape", None) for array in made.arrays.values()]
            result.setdefault(repr((made.source or made.name, made.options, made.scalars, made.target, shapes)), made)
    return list(result.values())


def check(job):
    """(group, target, runs, what is wrong) of a case; no runs where it does not fit."""
    group, case, tkc, target, may_exceed = job
    with tempfile.TemporaryDirectory() as folder:
        try:
            comparison = OnDevice(case, tkc, folder, target)
            problems = list(comparison.problems(range(1)))
            if not problems and not comparison.runs:
                problems = ["no variant takes these arguments"]
            return group, case, target, comparison.runs, problems
        except Exception as error:  # pylint: disable=broad-except
            if may_exceed and any(code in str(error) for code in TOO_MUCH):
                return group, case, target, 0, []
            return group, case, target, 0, [repr(error)[:2000]]


def check_in_time(deadline, job):
    """None once it is too late."""
    return check(job) if time.time() < deadline else None


def begin():
    np.seterr(all="ignore")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--targets", default=NATIVE)
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=min(14, os.cpu_count() or 1))
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("groups", nargs="*", default=sorted(compare.GROUPS))
    return parser.parse_args()


def jobs_of(arguments):
    """What is asked for, as `check` takes it."""
    jobs = []
    for target, group in itertools.product(arguments.targets.split(","), arguments.groups):
        cases = [case for case in compare.GROUPS[group]() if arguments.only in case.name and not case.serial]
        jobs += [(group, case, os.path.abspath(arguments.tkc), target, arguments.grid or target != NATIVE)
                 for case in (grid_of(cases) if arguments.grid and group not in AS_THEY_ARE else cases)]
    first, step = map(int, arguments.part.split("/"))
    return jobs[first - 1 :: step]


def main():
    deadline, arguments = time.time(), parse_arguments()
    deadline += arguments.limit
    jobs = jobs_of(arguments)
    late, totals, shown = 0, collections.defaultdict(lambda: [0, 0, 0, 0]), 0
    with multiprocessing.get_context("spawn").Pool(arguments.workers, begin, maxtasksperchild=200) as pool:
        for result in pool.imap_unordered(functools.partial(check_in_time, deadline), jobs):
            if result is None:
                late += 1
                continue
            group, case, target, runs, problems = result
            counts = totals[group, target]
            counts[0] += 1
            counts[1] += runs
            counts[2] += bool(problems)
            counts[3] += not runs and not problems
            if problems and shown < 40:
                shown += 1
                print(f"FAILED {group}: {case.name} {' '.join(case.options)} {target}")
                print("\n".join("  " + problem for problem in problems[:3]), flush=True)
    for (group, target), (count, runs, failures, left_out) in sorted(totals.items()):
        print(f"{group:13} {target:8} {count:6} cases {runs:6} runs {failures:5} failures {left_out:5} left out")
    failures = sum(counts[2] for counts in totals.values())
    print(f"{sum(c[0] for c in totals.values())} cases, {failures} failures, {late} cases not begun")
    sys.exit(1 if failures or not totals else 0)


if __name__ == "__main__":
    main()
