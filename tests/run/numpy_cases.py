"""Kernels against oracles in NumPy: cases by kernel, and how they are run.

A file of cases registers functions with `case` and calls `main`. Each case is one `tkc run` on
inputs made there; what the kernel wrote is compared with what the case wants.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

CASES = {}


def case(file, kernel, *sizes):
    """Registers a function(rng, size) -> Case for each size."""

    def register(make):
        CASES[file, kernel] = (make, sizes)
        return make

    return register


class Case:
    """Arguments by name: an array, a number, or a string for `tkc run`; and what must come out."""

    def __init__(self, args, want, defines=(), rtol=1e-3, atol=1e-3, options=()):
        self.args, self.want, self.defines = args, want, defines
        self.rtol, self.atol, self.options = rtol, atol, options


def argument(folder, name, value):
    """The value as a word of `tkc run`; arrays go through files."""
    if isinstance(value, list):
        return "[" + ",".join(argument(folder, "%s%d" % (name, i), v) for i, v in enumerate(value)) + "]"
    if isinstance(value, np.ndarray):
        path = folder / (name + ".in.npy")
        turned = value.ndim > 1 and not value.flags.c_contiguous
        np.save(path, np.ascontiguousarray(value) if turned else value)
        return "@%s%s" % (path, ":T" if turned else "")  # T: columns in a row in memory
    return str(value)


def load(path, want):
    out = np.load(path)
    if out.dtype.itemsize == 2 and out.dtype.kind in "uV" and want.dtype.kind == "f":  # bf16 as bits
        out = (out.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return out


def fault_of(tkc, folder_of_files, file, kernel, case_):
    """What is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [tkc, "run", str(folder_of_files / (file + ".tk")), "-k", kernel]
        command += [word for define in case_.defines for word in ("-D", define)]
        command += list(case_.options)
        command += ["%s=%s" % (n, argument(folder, n, v)) for n, v in case_.args.items()]
        outputs = []
        for n, want in case_.want.items():
            parts = ["%s[%d]" % (n, i) for i in range(len(want))] if isinstance(want, list) else [n]
            for i, part in enumerate(parts):
                outputs.append((part, folder / ("%s.%d.out.npy" % (n, i)), want[i] if isinstance(want, list) else want))
        command += [w for part, path, _ in outputs for w in ("--out", "%s=@%s" % (part, path))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return "status %d: %s" % (done.returncode, done.stderr.strip()[:600])
        got = {part: load(path, np.asarray(want)) for part, path, want in outputs}
        got = getattr(case_, "decode", lambda out: out)(got)
        for part, _, want in outputs:
            have, want = got[part].astype(np.float64), np.asarray(want, np.float64)
            if have.shape != want.shape:
                return "%s has shape %s, not %s" % (part, have.shape, want.shape)
            bad = ~np.isclose(have, want, rtol=case_.rtol, atol=case_.atol, equal_nan=True)
            if bad.any():
                at = tuple(np.argwhere(bad)[0])
                return "%s: %d of %d differ, first at %s: %r, not %r" % (
                    part, bad.sum(), bad.size, list(map(int, at)), have[at], want[at])
    return None


def kernels_without_case(folder, files):
    kernels = {line.split()[1].split("[")[0].split("(")[0]
               for path in folder.glob("*.tk") if not files or path.stem in files
               for line in path.read_text().splitlines() if line.startswith("kernel ")}
    return sorted(kernels - {kernel for _, kernel in CASES})


def main():
    """SCRIPT TKC FOLDER [FILE...]: all cases, or those of some files of the folder."""
    tkc, folder, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    ran = failed = 0
    for (file, kernel), (make, sizes) in CASES.items():
        if wanted and file not in wanted and kernel not in wanted:
            continue
        for i, size in enumerate(sizes):
            ran += 1
            fault = fault_of(tkc, folder, file, kernel, make(np.random.default_rng(i), size))
            if fault:
                failed += 1
                print("%s %s %s: %s" % (file, kernel, size, fault))
    missing = kernels_without_case(folder, wanted)
    if missing:
        failed += 1
        print("kernels without an oracle: %s" % ", ".join(missing))
    print("%d cases, %d wrong" % (ran, failed))
    sys.exit(failed != 0 or ran == 0)
