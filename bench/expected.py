"""Has the interpreter compute what the checks compare with, on the machine where they run.

    expected.py --tkc=PATH --out=DIR [--workers=N]

DIR/expected gets the results of `cases.interpreted()`, DIR/emulated the cases of tests/emulator
with their kernels (prepare_cases.py). What this compiler made already is kept.
"""

import argparse
import concurrent.futures
import hashlib
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests", "gpu")]

import cases  # noqa: E402
import numerics  # noqa: E402


def interpret(run, tkc, target):
    """One run of the interpreter into an .npz; a message when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        words = [tkc, "run", os.path.join(ROOT, run.source), "-k", run.kernel, f"-DT={run.dtype}",
                 *(f"-D{name}={value}" for name, value in run.defines)]
        for name, array in run.inputs().items():
            np.save(os.path.join(folder, name + ".npy"), array)
            words.append(f"{name}=@{folder}/{name}.npy")
        extents = "x".join(str(extent) for extent in run.output_shape())
        words.append(f"{run.output}=empty:{run.dtype}:{extents}")
        if run.source == cases.ADD_PTR:
            words.append(f"n={run.length}")
        words += ["--out", f"{run.output}=@{folder}/out.npy"]
        if not run.is_add:
            words += ["--bound", f"{run.output}=@{folder}/bound.npy"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip() or f"status {done.returncode}"
        arrays = {"out": np.load(os.path.join(folder, "out.npy"))}
        if not run.is_add:
            bound = np.load(os.path.join(folder, "bound.npy"))
            arrays["bound"] = numerics.pack_bound(bound)
        np.savez_compressed(target, **arrays)
    return None


def digest_of(*paths):
    state = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            state.update(file.read())
    return state.hexdigest()


def interpret_all(tkc, folder, workers):
    """The number of runs that fail."""
    runs = cases.interpreted()
    sources = sorted({os.path.join(ROOT, run.source) for run in runs})
    digest = digest_of(tkc, cases.__file__, numerics.__file__, *sources)
    stamp = os.path.join(folder, digest[:20])
    if os.path.exists(stamp):
        return 0
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))

    def one(run):
        return interpret(run, tkc, os.path.join(folder, run.file_name))

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        messages = list(filter(None, pool.map(one, runs)))
    print(f"{len(runs)} runs of the interpreter, {len(messages)} failed")
    for message in messages[:8]:
        print("FAILED " + message, file=sys.stderr)
    if not messages:
        with open(stamp, "w", encoding="utf-8"):
            pass
    return len(messages)


def prepare_cases(tkc, folder, workers):
    """The cases of tests/emulator, by a process of its own; its status."""
    script = os.path.join(ROOT, "tests/gpu/prepare_cases.py")
    return subprocess.run([sys.executable, script, f"--tkc={tkc}", f"--out={folder}",
                           f"--workers={workers}"], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tkc, out = os.path.abspath(options.tkc), os.path.abspath(options.out)
    failed = interpret_all(tkc, os.path.join(out, "expected"), options.workers)
    status = prepare_cases(tkc, os.path.join(out, "emulated"), options.workers)
    return 1 if failed or status else 0


if __name__ == "__main__":
    sys.exit(main())
