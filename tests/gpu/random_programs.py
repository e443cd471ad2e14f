"""Compares random programs on the GPU with the interpreter, bit for bit.

    random_programs.py --tkc=./tkc --fuzz=./tk-fuzz [--seed=1] [--count=1000] [--workers=N]

tk-fuzz makes the programs, their data and what the interpreter leaves in it; all are exact, so that
neither the number of warps nor the order of sums matters. Each program runs in every configuration
of CONFIGURATIONS, in each of its variants that takes the data. Status 1 when anything differs.
"""

import argparse
import collections
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np

import differential
from differential import compare

CONFIGURATIONS = (("sm_90a", "--warps=4"), ("sm_90a", "--warps=1", "--stages=1"), ("sm_90a", "--warps=8", "--stages=4"),
                  ("sm_90a", "--warps=2", "-O0"), ("sm_80", "--warps=16"))
PACKED = compare.PACKED
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
STATE = {}


class Program:
    """One generated program and its data."""

    def __init__(self, stem):
        with open(stem + ".json", encoding="utf-8") as file:
            description = json.load(file)
        self.source, self.tensors, self.scalars = stem + ".tk", description["tensors"], description["scalars"]
        self.before = np.fromfile(stem + ".before", np.uint8)
        self.after = np.fromfile(stem + ".after", np.uint8)

    def reason_left_out(self):
        for tensor in self.tensors:
            if tensor["dtype"] in PACKED:
                return "packed elements"
        return ""


def place(program, kernel, memory):
    """The arrays in memory; returns where each lies and the names of the JSON's expressions."""
    names = {"sms": 132, **{scalar["name"]: scalar["value"] for scalar in program.scalars}}
    placed = {}
    for tensor in program.tensors:
        data = program.before[tensor["at"] : tensor["at"] + tensor["bytes"]]
        name, size = tensor["name"], max(1, numerics_bytes(tensor["dtype"]))
        address = memory.add((data, np.ones(data.size, bool))) if data.size else memory.base
        argument = next((arg for arg in kernel["args"] if arg["name"] == name), {})
        absent = tensor["absent"]
        placed[name] = (address, data.size)
        names[f"{name}.ptr"] = 0 if absent else address + tensor["origin"] * size
        for axis, (extent, stride) in enumerate(zip(tensor["extents"], tensor["strides"])):
            for suffix, value, key in (("e", extent, "extents"), ("s", stride, "strides")):
                value = 0 if absent else value
                names[f"{name}.{suffix}{axis}"] = value
                expression = argument.get(key, ())
                if axis < len(expression) and isinstance(expression[axis], str):
                    names.setdefault(expression[axis], value)
    return placed, names


def numerics_bytes(dtype):
    digits = "".join(letter for letter in dtype if letter.isdigit())
    return {"i1": 1, "bf16": 2}.get(dtype) or (1 if dtype.startswith("f8") else int(digits) // 8)


def differences(program, memory, placed):
    for tensor in program.tensors:
        if tensor["absent"] or tensor["scratch"]:
            continue
        address, size = placed[tensor["name"]]
        got = memory.bytes_at(address, size)
        wanted = program.after[tensor["at"] : tensor["at"] + size]
        if np.array_equal(got, wanted):
            continue
        if tensor["dtype"] in FLOATS:
            kind = FLOATS[tensor["dtype"]]
            a, b = got.copy().view(kind), wanted.copy().view(kind)
            if (((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all():
                continue
        wrong = np.nonzero(got != wanted)[0]
        yield f"{tensor['name']}: {wrong.size} of {size} bytes differ, the first at {wrong[0]}"


def run_variants(program, kernel, image):
    ran = 0
    for variant in kernel["variants"]:
        memory = differential.DeviceMemory(STATE["driver"])
        placed, names = place(program, kernel, memory)
        if not all(compare.evaluate(condition, names) for condition in variant["when"]):
            continue
        parameters = [differential.parameter_of(item, compare.evaluate(item["value"], names))
                      for item in variant["params"]["list"]]
        grid = [int(compare.evaluate(extent, names)) for extent in variant["grid"]]
        memory.upload()
        if all(grid):
            STATE["driver"].launch(image, variant["symbol"], grid, variant["block"][0],
                                   variant["resources"]["shared_dynamic"], parameters)
        memory.download()
        ran += 1
        for problem in [*memory.problems, *differences(program, memory, placed)]:
            yield f"{variant['id']}: {problem}"
    if not ran:
        yield "no variant takes these arguments"


def check(job):
    """(stem, configuration, what is wrong or why it was left out)."""
    stem, configuration, tkc = job
    program = Program(stem)
    left_out = program.reason_left_out()
    if left_out:
        return stem, configuration, [], left_out
    with tempfile.TemporaryDirectory() as folder:
        target, *options = configuration
        kind = "cubin" if target == differential.NATIVE else "ptx"
        image = os.path.join(folder, "k." + kind)
        done = subprocess.run([tkc, program.source, "--emit=" + kind, "--target=" + target, "-o", image,
                               "--metadata=" + image + ".json", *options], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line]
            if any("TK4001" in line for line in lines):
                return stem, configuration, [], "more shared memory than there is"
            return stem, configuration, lines[:2] or ["no message"], ""
        with open(image, "rb") as file:
            data = file.read() + b"\0"
        with open(image + ".json", encoding="utf-8") as file:
            kernel = json.load(file)["kernels"][0]
        try:
            return stem, configuration, list(run_variants(program, kernel, data)), ""
        except Exception as error:  # pylint: disable=broad-except
            return stem, configuration, [repr(error)[:300]], ""


def begin():
    np.seterr(all="ignore")
    STATE["driver"] = differential.Driver()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--fuzz", default="tk-fuzz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=min(14, os.cpu_count() or 1))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.fuzz, f"--seed={arguments.seed}", f"--count={arguments.count}", "--front-end-only",
                        f"--threads={arguments.workers}", "--save=" + folder], check=True)
        jobs = [(os.path.join(folder, str(arguments.seed + i)), configuration, os.path.abspath(arguments.tkc))
                for i in range(arguments.count) for configuration in CONFIGURATIONS]
        counts, left_out, failed, shown = collections.Counter(), collections.Counter(), set(), 0
        with multiprocessing.get_context("spawn").Pool(arguments.workers, begin, maxtasksperchild=400) as pool:
            for stem, configuration, problems, reason in pool.imap_unordered(check, jobs, 4):
                counts["left out" if reason else "wrong" if problems else "right"] += 1
                if reason:
                    left_out[reason] += 1
                if not problems:
                    continue
                failed.add(stem)
                if shown < 25:
                    shown += 1
                    print(f"FAILED seed {os.path.basename(stem)} {' '.join(configuration)}: {problems[0][:300]}", flush=True)
    print(f"{arguments.count} programs, {len(jobs)} runs: {dict(counts)}; left out {dict(left_out)};"
          f" {len(failed)} programs differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
