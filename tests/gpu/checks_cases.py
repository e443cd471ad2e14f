"""The cases of tests/emulator on the GPU: conversions between all types in every mode, functions,
bits under other types, regions with control flow, assembly. prepare_cases.py made the folder.

Exact results agree with the interpreter's bit by bit (NaNs are all the same), others within the bound
that it computed. Large arrays are compared by the checksums of blocks of 256 elements.
"""

import json
import os

import numpy as np

import numerics
from support import Score


SMALL = 1 << 13  # elements of the arrays of a case that is run under compute-sanitizer


def _load(bench, name):
    with np.load(os.path.join(bench.folder, "emulated", name)) as file:
        return {key: file[key] for key in file}


def _wrong(got, expected, dtype):
    """Which elements, or blocks, differ."""
    if "digests" in expected:
        return numerics.digests(got, dtype) != expected["digests"]
    wanted = expected["values"]
    wrong = numerics.canonical(got, dtype) != numerics.canonical(wanted, dtype)
    if "bound" in expected:
        left, right = (numerics.widen(a, dtype).astype(np.float64) for a in (got, wanted))
        with np.errstate(invalid="ignore"):
            wrong &= ~(np.abs(left - right) <= expected["bound"])
    return wrong


def _compare(got, expected, dtype):
    wrong = _wrong(got, expected, dtype)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    unit = "elements"
    detail = ""
    if "digests" in expected:
        unit = f"blocks of {numerics.BLOCK} elements"
    else:
        detail = f": {numerics.widen(got, dtype)[place]!r}, expected " \
                 f"{numerics.widen(expected['values'], dtype)[place]!r}"
    return f"{int(wrong.sum())} of {wrong.size} {unit} differ, first at {place}{detail}"


def _tensors(bench, entry, offset, padding):
    result = {}
    for array in entry["arrays"]:
        data = _load(bench, array["input"])["values"]
        stride = data.shape[1] + padding if data.ndim == 2 else None
        result[array["name"]] = bench.tensor(array["dtype"], data.shape, offset=offset,
                                             row_stride=stride, data=data)
    return result


def _run_once(bench, entry, module, placement):
    """What is wrong, or None."""
    tensors = _tensors(bench, entry, *placement)
    kernel = module.kernel(entry["kernel"])
    arguments = [tensors[arg["name"]].view if arg["name"] in tensors
                 else entry["scalars"].get(arg["name"])  # None: an argument that is absent
                 for arg in module.metadata["kernels"][0]["args"]]
    bound = kernel.bind(*arguments)
    problem = None
    if bench.emulator is None:
        bound()
        for array in entry["arrays"]:
            got, is_rest_untouched = tensors[array["name"]].read()
            found = _compare(got, _load(bench, array["expected"]), array["dtype"])
            if found or not is_rest_untouched:
                problem = f"{array['name']} {array['dtype']}: {found or 'wrote outside of it'}"
                break
    for tensor in tensors.values():
        tensor.free()
    return problem


def run(bench):
    score = Score("cases of the emulator, against the interpreter")
    path = os.path.join(bench.folder, "emulated", "index.json")
    if not os.path.exists(path):
        score.note("no cases in this bundle")
        return [score]
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    if bench.small:
        kept = [entry for entry in entries if entry["elements"] <= SMALL]
        score.note(f"{len(entries) - len(kept)} large cases left out")
        entries = kept
    for entry in entries:
        module = bench.module(os.path.join(bench.folder, "emulated", entry["id"] + ".cubin"))
        for placement in entry["placements"]:
            problem = _run_once(bench, entry, module, placement)
            score.record(problem, f"{entry['name']}, offset {placement[0]}, padding {placement[1]}")
    if bench.emulator is not None:
        score.name += " (loaded and bound, not run)"
    return [score]
