"""A sample of the kernels of ../emulator on the GPU in one process, for compute-sanitizer (bench/sanitize.sh).

    sanitized.py --tkc=./tkc [--seconds=60] [--per-group=N] [--only=TEXT] [--emulated [--spoil]]

Each array has an allocation of its own that ends where the array ends, so that memcheck sees the first byte beyond. Results are
compared with the interpreter's as well. All is compiled first; after so many seconds no further kernel begins. --emulated:
the driver is the emulator of PTX. Prints what differs, then one line; status 1 when anything does.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile
import time

import numpy as np

import differential
from differential import compare

# Of each group so many cases, evenly over it: what uses shared memory, barriers, atomics or several stages.
GROUPS = {"pipelines": 8, "products": 6, "wide_products": 4, "scans": 5, "reductions": 5, "atomics": 5, "exchanges": 5,
          "ragged_examples": 34, "layouts": 3, "orders": 4, "sorts": 3, "counts": 2, "gathers": 2, "odd_sides": 3, "batches": 2,
          "fp8_products": 3, "scaled_products": 3, "byte_chains": 2, "strips": 3, "loops": 4, "shapes": 3, "parts": 2,
          "packed": 3, "regions": 2, "reports_loops": 3, "reports_products": 3, "reports_atomics": 4, "tables": 2}


class Allocations:
    """What ptx.Memory is to the emulator: arrays, each in an allocation of its own."""

    def __init__(self, driver):
        self.driver, self.held, self.problems = driver, [], []

    def add(self, rows, offset=0, packed=False):
        """The byte behind an odd last one of `packed` elements is part of the allocation."""
        data, valid = rows
        size = offset + data.size
        image = np.full(size + (packed and size % 2), 0xAB, np.uint8)
        inside = np.zeros(image.size, bool)
        image[offset:size], inside[offset:size] = data, valid
        self.held.append((self.driver.allocate(image.size), image, inside))
        return self.held[-1][0] + offset

    def bytes_at(self, address, size):
        for base, image, _ in self.held:
            if base <= address and address + size <= base + max(image.size, 1):
                return image[address - base :][:size]
        raise LookupError(f"no array at {address:#x}")

    def upload(self):
        for base, image, _ in self.held:
            self.driver.upload(base, image)

    def download(self):
        for base, image, inside in self.held:
            after = self.driver.download(base, image.size)
            touched = np.nonzero((after != image) & ~inside)[0]
            if touched.size:
                self.problems.append(f"writes outside of an array, at {int(touched[0])} of its allocation")
            image[:] = after

    def faults(self):
        return self.problems

    def free(self):
        for base, _, _ in self.held:
            self.driver.free(base)
        self.held.clear()


class Sanitized(differential.OnDevice):
    """One case, whose memory is given back after each launch."""

    held = None

    def memory(self):
        self.held = Allocations(self.driver)
        return self.held

    def emulate(self, variant, seed, offset, padding):
        try:
            return super().emulate(variant, seed, offset, padding)
        finally:
            self.held.free()


class EmulatedDriver:
    """A driver whose device is the emulator of PTX."""

    def __init__(self, spoil):
        self.memory, self.used, self.spoil = None, 0, spoil

    def kind(self, _):
        return "ptx"

    def allocate(self, size):
        if not self.used:
            self.memory = compare.ptx.Memory("global", compare.ptx.GLOBAL_BASE, compare.MEMORY_BYTES)
        self.used += 1
        return self.memory.add((np.zeros(size, np.uint8), np.ones(size, bool)))

    def free(self, _):
        self.used -= 1

    def upload(self, address, data):
        self.memory.bytes_at(address, data.size)[:] = data

    def download(self, address, size):
        return self.memory.bytes_at(address, size).copy()

    def launch(self, image, symbol, grid, threads, shared, parameters):
        program = compare.ptx.Program(image.rstrip(b"\0").decode(), symbol)
        machine = compare.ptx.Machine(program, self.memory, shared, 0)
        machine.launch([parameter.value for parameter in parameters], grid, threads)
        if self.memory.faults():
            raise RuntimeError(self.memory.faults()[0])
        if self.spoil:
            self.memory.data ^= self.memory.valid


def sample(per_group, only):
    """Cases of all groups in turn, so that those that there is no time for are not all of one kind."""
    picked = []
    for group, count in GROUPS.items():
        cases = [case for case in compare.GROUPS[group]() if only in case.name
                 and case.target == differential.NATIVE and not case.serial]
        count = min(per_group or count, len(cases))
        picked += [(number / count, group, cases[number * len(cases) // count]) for number in range(count)]
    return [(group, case) for _, group, case in sorted(picked, key=lambda item: item[0])]


def prepared(case, tkc, folder, driver):
    """The case compiled and interpreted, or what goes wrong."""
    os.makedirs(folder)
    try:
        comparison = Sanitized(case, tkc, folder, case.target, driver)
        comparison.interpret()
        return comparison
    except Exception as error:  # pylint: disable=broad-except
        return repr(error)[:2000]


def problems_of(comparison):
    if isinstance(comparison, str):
        return [comparison]
    try:
        problems = list(comparison.problems_of_runs(range(1)))
    except Exception as error:  # pylint: disable=broad-except
        return [repr(error)[:2000]]
    return problems if problems or comparison.runs else ["no variant takes these arguments"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--per-group", type=int, default=0, help="so many cases of each group")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--spoil", action="store_true", help="with --emulated: errors in every result")
    arguments = parser.parse_args()
    np.seterr(all="ignore")
    driver = EmulatedDriver(arguments.spoil) if arguments.emulated else differential.the_driver()
    cases = sample(arguments.per_group, arguments.only)
    done = failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            jobs = [pool.submit(prepared, case, arguments.tkc, os.path.join(folder, str(number)), driver)
                    for number, (_, case) in enumerate(cases)]
            comparisons = [job.result() for job in jobs]
        end = time.monotonic() + arguments.seconds
        for (group, case), comparison in zip(cases, comparisons):
            if time.monotonic() > end:
                break
            problems = problems_of(comparison)
            done, failures, runs = done + 1, failures + bool(problems), runs + getattr(comparison, "runs", 0)
            if problems:
                print(f"FAILED {group}: {case.name} {' '.join(case.options)}")
                print("\n".join("  " + problem for problem in problems[:3]), flush=True)
    print(f"{done} cases, {runs} launches, {failures} failures, {len(cases) - done} left out")
    sys.exit(1 if failures or not done else 0)


if __name__ == "__main__":
    main()
