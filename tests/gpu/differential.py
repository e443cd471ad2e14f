"""Compares kernels on the GPU with the interpreter: the cases of ../emulator, without the emulator.

    differential.py --tkc=./tkc [--targets=sm_90a,sm_80] [--only=TEXT] [--workers=N] [GROUP...]

Compiles where it runs. A target other than the device's goes through the driver's own compiler, as
PTX. Prints what differs, then one line a group and target; status 1 when anything does.
"""

import argparse
import collections
import ctypes
import json
import multiprocessing
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "emulator"))

import compare  # noqa: E402  pylint: disable=wrong-import-position

MEMORY_BYTES = 1 << 24
GUARD_BYTES = 1024
DYNAMIC_SHARED, NATIVE = 8, "sm_90a"


class Driver:
    """The CUDA driver, and one range of memory."""

    def __init__(self):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context, base = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", ctypes.c_uint(0))
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuMemAlloc_v2", ctypes.byref(base), ctypes.c_size_t(MEMORY_BYTES))
        self.base = base.value

    def call(self, name, *args):
        status = getattr(self._cuda, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(ctypes.c_int(status), ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown error').decode()} ({status})")

    def upload(self, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.base), ctypes.c_void_p(data.ctypes.data),
                  ctypes.c_size_t(data.nbytes))

    def download(self, size):
        self.call("cuCtxSynchronize")
        data = np.empty(size, np.uint8)
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(data.ctypes.data), ctypes.c_uint64(self.base),
                  ctypes.c_size_t(size))
        return data

    def launch(self, image, symbol, grid, threads, shared, parameters):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        self.call("cuFuncSetAttribute", function, ctypes.c_int(DYNAMIC_SHARED), ctypes.c_int(shared))
        pointers = (ctypes.c_void_p * max(len(parameters), 1))(
            *[ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in parameters])
        counts = [ctypes.c_uint(number) for number in (*grid, threads, 1, 1, shared)]
        self.call("cuLaunchKernel", function, *counts, None, pointers, None)
        self.call("cuCtxSynchronize")
        self.call("cuModuleUnload", module)


class DeviceMemory:
    """What ptx.Memory is to the emulator: arrays at addresses, with guards between them."""

    def __init__(self, driver):
        self.driver, self.base = driver, driver.base
        self.data = np.full(MEMORY_BYTES, 0xAB, np.uint8)
        self.valid = np.zeros(MEMORY_BYTES, bool)
        self.used, self.problems = GUARD_BYTES, {}

    def add(self, rows, offset=0):
        data, valid = rows
        start = -(-self.used // 256) * 256 + offset
        self.used = start + data.size + GUARD_BYTES
        if self.used > MEMORY_BYTES:
            raise RuntimeError("the arrays take too much memory")
        self.data[start : start + data.size] = data
        self.valid[start : start + data.size] = valid
        return self.base + start

    def bytes_at(self, address, size):
        return self.data[address - self.base :][:size]

    def upload(self):
        self.driver.upload(self.data[: self.used])

    def download(self):
        after = self.driver.download(self.used)
        touched = (after != self.data[: self.used]) & ~self.valid[: self.used]
        if touched.any():
            self.problems[f"writes outside of the arrays, at {int(np.nonzero(touched)[0][0])}"] = None
        self.data[: self.used] = after


class OnDevice(compare.Comparison):
    """One case on the GPU."""

    def __init__(self, case, tkc, folder, driver, target):
        self.driver, self.target = driver, target
        super().__init__(case, tkc, folder)

    def compile(self):
        kind = "cubin" if self.target == NATIVE else "ptx"
        image = self.file("case." + kind)
        self.call(self.source, "--emit=" + kind, "--target=" + self.target, "-o", image,
                  "--metadata=" + self.file("case.json"), *self.case.options)
        with open(image, "rb") as file:
            data = file.read()
        with open(self.file("case.json"), encoding="utf-8") as file:
            return data + b"\0", json.load(file)["kernels"][0]

    def emulate(self, variant, seed, offset, padding):
        memory = DeviceMemory(self.driver)
        placed, names = self.place(memory, offset, padding)
        if not all(compare.evaluate(condition, names) for condition in variant["when"]):
            return []
        self.runs += 1
        parameters = [parameter_of(item, compare.evaluate(item["value"], names))
                      for item in variant["params"]["list"]]
        grid = [int(compare.evaluate(extent, names)) for extent in variant["grid"]]
        memory.upload()
        self.driver.launch(self.text, variant["symbol"], grid, variant["block"][0],
                           variant["resources"]["shared_dynamic"], parameters)
        memory.download()
        problems = list(memory.problems)
        for name in self.arrays():
            problems += self.differences(name, placed[name].contents(memory))
        return problems


def parameter_of(item, value):
    bits = compare.parameter_bits(item["type"], value)
    return ctypes.c_uint64(bits)


def check(job):
    """(group, target, runs, what is wrong) of a case."""
    group, case, tkc, target = job
    with tempfile.TemporaryDirectory() as folder:
        try:
            comparison = OnDevice(case, tkc, folder, check.driver, target)
            problems = list(comparison.problems(range(1)))
            if not problems and not comparison.runs:
                problems = ["no variant takes these arguments"]
            return group, case, target, comparison.runs, problems
        except Exception as error:  # pylint: disable=broad-except
            return group, case, target, 0, [repr(error)[:2000]]


def begin():
    np.seterr(all="ignore")
    check.driver = Driver()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--targets", default=NATIVE)
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=min(14, os.cpu_count() or 1))
    parser.add_argument("groups", nargs="*", default=sorted(compare.GROUPS))
    arguments = parser.parse_args()
    jobs = [(group, case, os.path.abspath(arguments.tkc), target)
            for target in arguments.targets.split(",") for group in arguments.groups
            for case in compare.GROUPS[group]() if arguments.only in case.name and not case.serial]
    totals, shown = collections.defaultdict(lambda: [0, 0, 0]), 0
    with multiprocessing.get_context("spawn").Pool(arguments.workers, begin, maxtasksperchild=200) as pool:
        for group, case, target, runs, problems in pool.imap_unordered(check, jobs):
            counts = totals[group, target]
            counts[0] += 1
            counts[1] += runs
            counts[2] += bool(problems)
            if problems and shown < 40:
                shown += 1
                print(f"FAILED {group}: {case.name} {' '.join(case.options)} {target}")
                print("\n".join("  " + problem for problem in problems[:3]), flush=True)
    for (group, target), (count, runs, failures) in sorted(totals.items()):
        print(f"{group:12} {target:8} {count:6} cases {runs:6} runs {failures:5} failures")
    failures = sum(counts[2] for counts in totals.values())
    print(f"{sum(c[0] for c in totals.values())} cases, {failures} failures")
    sys.exit(1 if failures or not totals else 0)


if __name__ == "__main__":
    main()
