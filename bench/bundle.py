"""Makes the folder that is taken to a machine with a GPU: `cmake --build ... --target gpu-bundle`.

    bundle.py --tkc=PATH --fuzz=PATH --library=libtkcrt.so --host-launch=PATH --out=build/gpu

It holds the compiler, the generator of random programs, the loader, every kernel that run.py and the checks launch, what the
interpreter computes for the checks, and the scripts. What is there already and would come out the
same (the compiler, the source and the command are the same) is kept.
"""

import argparse
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests", "gpu")]

import cases  # noqa: E402
import numerics  # noqa: E402
import plan  # noqa: E402

SCRIPTS = {
    "bench": ["run.py", "plan.py", "harness.py", "peers.py", "families.py", "report.py", "host.py",
              "dryrun.py", "host_launch.c", "configs.json", "sanitize.sh"],
    "tests/gpu": ["checks.py", "cases.py", "checks_add.py", "checks_cases.py", "checks_loader.py", "checks_rows.py",
                  "checks_sass.py", "device.py", "fake_cuda.py", "numerics.py", "support.py",
                  "ulp.py"],
    "runtime/python": ["tkcrt.py"],
}
# What differential.py and random_programs.py need, as it lies in the repository.
TREES = {"tests/emulator": ".py", "tests/gpu": ".py", "tests/run": ".py", "examples": ".tk"}
# Files beside the cubins: what is compiled there, for the compile time and by ulp.py.
SOURCES = ["examples/01_vector_add.tk", "tests/gpu/functions.tk"]
_LIMIT_BYTES = 64 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--fuzz", required=True, help="tk-fuzz")
    parser.add_argument("--library", required=True, help="libtkcrt.so")
    parser.add_argument("--host-launch", help="the program of host_launch.c")
    parser.add_argument("--out", required=True)
    return parser.parse_args()


def digest_of(*paths, words=()):
    state = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            state.update(file.read())
    for word in words:
        state.update(word.encode() + b"\0")
    return state.hexdigest()


def pack_tool(tool, name, out, digest):
    """NAME.xz, unless it is this program already."""
    stamp = os.path.join(out, name + ".sha256")
    if os.path.exists(stamp) and os.path.exists(os.path.join(out, name + ".xz")):
        with open(stamp, encoding="utf-8") as file:
            if file.read().strip() == digest:
                return
    with open(tool, "rb") as source, lzma.open(os.path.join(out, name + ".xz"), "wb",
                                               preset=6) as target:
        shutil.copyfileobj(source, target)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(digest + "\n")


class Stamps:
    """Which digest each product was made from."""

    def __init__(self, path):
        self.path, self.made, self.used = path, {}, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.made = json.load(file)

    def is_current(self, name, digest):
        self.used[name] = digest
        return self.made.get(name) == digest

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.used, file, indent=0, sort_keys=True)


def compile_specs(specs, tkc, tkc_digest, folder):
    """Compiles one after the other. [file name: message] of those that fail."""
    os.makedirs(folder, exist_ok=True)
    stamps, failed, made = Stamps(os.path.join(folder, "stamps.json")), {}, 0
    for spec in specs:
        target = os.path.join(folder, spec.file_name)
        command = spec.command(tkc, ROOT, target)
        digest = digest_of(os.path.join(ROOT, spec.source), words=[tkc_digest, *command[1:]])
        if stamps.is_current(spec.file_name, digest) and os.path.exists(target + ".json"):
            continue
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        made += 1
        if done.returncode:
            failed[spec.file_name] = done.stderr.strip() or f"status {done.returncode}"
            stamps.used.pop(spec.file_name)
            remove_files(target, target + ".json")
    stamps.save()
    remove_others(folder, [n for s in specs for n in (s.file_name, s.file_name + ".json")])
    print(f"{len(specs)} kernels, {made} compiled, {len(failed)} failed")
    for name, message in failed.items():
        print(f"FAILED {name}: {message}", file=sys.stderr)
    return failed


def remove_files(*paths):
    """An earlier bundle's product must not stand in for one that could not be made."""
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def remove_others(folder, names):
    """What an earlier bundle left and this one does not know."""
    for name in set(os.listdir(folder)) - set(names) - {"stamps.json"}:
        os.remove(os.path.join(folder, name))


def has_interpreter(tkc):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [tkc, "run", os.path.join(ROOT, cases.ADD), "-k", "vector_add", "x=ones:f32:4",
             "y=ones:f32:4", "z=empty:f32:4", "--out", f"z=@{folder}/z.npy"],
            capture_output=True, text=True, check=False)
        return done.returncode == 0


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


def interpret_all(tkc, tkc_digest, folder):
    """Expected results of the checks. {file name: message} of the runs that fail."""
    os.makedirs(folder, exist_ok=True)
    stamps, failed, runs = Stamps(os.path.join(folder, "stamps.json")), {}, cases.interpreted()
    rules = digest_of(cases.__file__, os.path.join(ROOT, "tests/gpu/numerics.py"))
    for run in runs:
        target = os.path.join(folder, run.file_name)
        digest = digest_of(os.path.join(ROOT, run.source), words=[tkc_digest, rules])
        if stamps.is_current(run.file_name, digest) and os.path.exists(target):
            continue
        message = interpret(run, tkc, target)
        if message:
            failed[run.file_name] = message
            stamps.used.pop(run.file_name)
            remove_files(target)
    stamps.save()
    remove_others(folder, [run.file_name for run in runs])
    print(f"{len(runs)} runs of the interpreter, {len(failed)} failed")
    for name, message in list(failed.items())[:8]:
        print(f"FAILED {name}: {message}", file=sys.stderr)
    return failed


def prepare_cases(tkc, folder):
    """The cases of tests/emulator, by a process of its own. {what: message} of what fails."""
    script = os.path.join(ROOT, "tests/gpu/prepare_cases.py")
    done = subprocess.run([sys.executable, script, f"--tkc={tkc}", f"--out={folder}"], check=False)
    return {"cases": f"status {done.returncode}"} if done.returncode else {}


def copy_files(options, out):
    for folder, names in SCRIPTS.items():
        for name in names:
            shutil.copy2(os.path.join(ROOT, folder, name), os.path.join(out, name))
    for folder, ending in TREES.items():
        target = os.path.join(out, "tree", folder)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(ending):
                shutil.copy2(os.path.join(ROOT, folder, name), target)
    os.makedirs(os.path.join(out, "sources"), exist_ok=True)
    for source in SOURCES:
        shutil.copy2(os.path.join(ROOT, source), os.path.join(out, "sources"))
    shutil.copy2(os.path.join(ROOT, "runtime/include/tkc/runtime.h"), out)
    shutil.copyfile(options.library, os.path.join(out, "libtkcrt.so.1"))
    if options.host_launch:
        shutil.copy2(options.host_launch, os.path.join(out, "host_launch"))


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


def main():
    options = parse_arguments()
    out, start = os.path.abspath(options.out), time.perf_counter()
    os.makedirs(out, exist_ok=True)
    copy_files(options, out)
    with tempfile.TemporaryDirectory() as folder:
        tkc = shutil.copy2(options.tkc, folder)  # it may be rebuilt meanwhile
        digest = digest_of(tkc)
        pack_tool(tkc, "tkc", out, digest)
        pack_tool(options.fuzz, "tk-fuzz", out, digest_of(options.fuzz))
        specs = plan.specs_of(plan.load_cases(os.path.join(ROOT, "bench/configs.json")))
        specs = list(dict.fromkeys([*cases.all_specs(), *specs]))
        failed = compile_specs(specs, tkc, digest, os.path.join(out, "cubins"))
        interpreter = has_interpreter(tkc)
        if interpreter:
            failed.update(interpret_all(tkc, digest, os.path.join(out, "expected")))
            failed.update(prepare_cases(tkc, os.path.join(out, "emulated")))
        else:
            shutil.rmtree(os.path.join(out, "expected"), ignore_errors=True)
            print("this tkc has no interpreter: the checks compare with NumPy alone")
    manifest = {"tkc_sha256": digest, "kernels": len(specs), "failed": failed,
                "interpreter": interpreter}
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    size = folder_bytes(out)
    print(f"{out}: {size / 2**20:.1f} MiB in {time.perf_counter() - start:.0f} s")
    return 1 if failed or size > _LIMIT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
