"""Compiles cases of tests/emulator for a GPU and saves what the interpreter makes of them.

    prepare_cases.py --tkc=PATH --out=DIR [GROUP...]

DIR gets a cubin with its description a case, arrays in `data` and `index.json`, which
checks_cases.py reads. bundle.py calls this. What is there already and would come out the same is kept.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "emulator"))

import compare  # noqa: E402
import conversion_cases  # noqa: E402
import function_cases  # noqa: E402
import numerics  # noqa: E402

TARGET = "sm_90a"
EVERY_CODE = 1 << 16
SAMPLES = 1 << 13


def gpu_groups():
    """Groups by name. Conversions get all codes of 16 bits, and as many samples of wider types."""
    groups = {name: group for name, group in compare.GROUPS.items() if "conversions" not in name}
    groups["conversions"] = lambda: conversion_cases.everything(EVERY_CODE)
    groups["functions"] = lambda: function_cases.functions(SAMPLES)
    return groups


DEFAULT_GROUPS = ("conversions", "functions")  # differential.py runs the others


def has_tables(case):
    """Whether it takes tables of pointers, which checks_cases.py does not make."""
    return any(isinstance(value, list) for value in case.arrays.values())


def given(case):
    """The arrays that are there: one that may be absent is None then."""
    return {name: array for name, array in case.arrays.items() if array is not None}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("groups", nargs="*", default=DEFAULT_GROUPS)
    return parser.parse_args()


class Folder:
    """Where everything goes; equal arrays are one file."""

    def __init__(self, path, tkc):
        self.path, self.tkc = path, tkc
        with open(tkc, "rb") as file:
            self.tool = hashlib.sha256(file.read()).hexdigest()
        os.makedirs(os.path.join(path, "data"), exist_ok=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def save(self, **arrays):
        state = hashlib.sha256()
        for name, array in arrays.items():
            state.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        name = f"data/{state.hexdigest()[:20]}.npz"
        if not os.path.exists(self.file(name)):
            np.savez_compressed(self.file(name), **arrays)
        return name

    def digest_of(self, case):
        words = [self.tool, case.source, case.path, repr(case.scalars), repr(case.options)]
        state = hashlib.sha256("\0".join(words).encode())
        for name, array in given(case).items():
            state.update(name.encode() + array.tobytes())
        return state.hexdigest()[:20]

    def prepare(self, case):
        """The entry of a case in the index; a text when it fails."""
        digest = self.digest_of(case)
        kept = self.file(digest + ".entry.json")
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                return json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            try:
                comparison = compare.Comparison(case, self.tkc, folder)
                comparison.interpret()
                comparison.call(comparison.source, f"--target={TARGET}", *case.options, "-o",
                                self.file(digest + ".cubin"))
            except RuntimeError as error:
                return f"{case.name}: {error}"
            entry = self.entry_of(case, comparison, digest)
        with open(kept + ".part", "w", encoding="utf-8") as file:
            json.dump(entry, file)
        os.replace(kept + ".part", kept)
        return entry

    def entry_of(self, case, comparison, digest):
        arrays = []
        for name, array in given(case).items():
            dtype = comparison.dtype(name)
            storage = numerics.STORAGE[dtype]
            expected = comparison.expected[name].view(storage)
            if case.exact and expected.size > SAMPLES:
                saved = self.save(digests=numerics.digests(expected, dtype))
            elif case.exact:
                saved = self.save(values=expected)
            else:
                saved = self.save(values=expected, bound=np.asarray(comparison.bounds[name]))
            arrays.append({"name": name, "dtype": dtype, "input": self.save(values=array.view(storage)),
                           "expected": saved})
        elements = max(array.size for array in given(case).values())
        return {"name": case.name, "id": digest, "elements": elements, "kernel": comparison.kernel["kernel"],
                "scalars": case.scalars, "placements": case.placements, "arrays": arrays}

    def remove_others(self, entries):
        """What an earlier run left and this one does not know."""
        known = {name for entry in entries for array in entry["arrays"]
                 for name in (array["input"], array["expected"])}
        for entry in entries:
            known |= {entry["id"] + end for end in (".cubin", ".cubin.json", ".entry.json")}
        for place in ("", "data/"):
            for name in os.listdir(self.file(place)):
                if place + name not in known and os.path.isfile(self.file(place + name)):
                    os.remove(self.file(place + name))


def main():
    options = parse_arguments()
    folder = Folder(os.path.abspath(options.out), os.path.abspath(options.tkc))
    groups = gpu_groups()
    cases = [case for group in options.groups for case in groups[group]() if not has_tables(case)]
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        results = list(pool.map(folder.prepare, cases))
    failed = [result for result in results if isinstance(result, str)]
    entries = [result for result in results if not isinstance(result, str)]
    folder.remove_others(entries)
    with open(folder.file("index.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file)
    print(f"{len(cases)} cases compiled and interpreted, {len(failed)} failed")
    for text in failed:
        print("FAILED " + text, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
