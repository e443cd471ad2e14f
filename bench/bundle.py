"""Makes the folder that is taken to a machine with a GPU: `cmake --build ... --target gpu-bundle`.

    bundle.py --tkc=PATH --fuzz=PATH --library=libtkcrt.so --loader-suite=PATH --out=build/gpu
              [--tune-library=libtkctune.so] [--cpu-library=libtkccpu.so] [--app=PATH ...] [--planted=PATH]

It holds the compiler, the generator of random programs, the loader, the tuner, the programs of
examples/apps, every kernel that run.py and the checks launch, and the scripts; what the interpreter computes for the checks is left to the
other machine (expected.py), which takes less time there than its bytes would to get there. Kernels
are compiled into OUT-parts; what is there already and would come out the same (the compiler, the
source and the command are the same) is kept.
"""

import argparse
import concurrent.futures
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests", "gpu"),
                os.path.join(ROOT, "tests", "gpu", "runtime")]

import cases  # noqa: E402
import loader_files  # noqa: E402
import plan  # noqa: E402

SCRIPTS = {
    "bench": ["run.py", "plan.py", "harness.py", "peers.py", "peers_norm.py", "peers_products.py",
              "peers_rows.py", "families.py", "families_norm.py", "families_products.py",
              "family.py", "report.py", "host.py", "apps.py", "unpack.py", "dryrun.py",
              "configs.json", "sanitize.sh"],
    "tests/gpu": ["checks.py", "cases.py", "checks_add.py", "checks_cases.py", "checks_loader.py", "checks_rows.py",
                  "checks_sass.py", "device.py", "fake_cuda.py", "numerics.py", "support.py",
                  "ulp.py"],
}
# What differential.py, random_programs.py, hunt.py and expected.py need, as it lies in the repository.
TREES = {"tests/emulator": (".py",), "tests/gpu": (".py", ".tk"), "tests/run": (".py", ".tk"),
         "tests/python": (".py",), "examples": (".tk",), "examples/apps": (".tk",),
         "examples/apps/python": (".py",), "tests/faults": (".py", ".faults"),
         "bench": ("plan.py", "expected.py")}
# Files beside the cubins: what is compiled there, for the compile time and by ulp.py.
SOURCES = ["examples/01_vector_add.tk", "tests/gpu/functions.tk"]
# What unpack.py makes in the folder, which does not travel.
UNPACKED = ("cubins", "tools", "expected", "emulated")
_LIMIT_BYTES = 50 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--fuzz", required=True, help="tk-fuzz")
    parser.add_argument("--planted", help="the tkc of what tests/faults/plant.py made; left out where there is none")
    parser.add_argument("--library", required=True, help="libtkcrt.so")
    parser.add_argument("--tune-library", help="libtkctune.so")
    parser.add_argument("--cpu-library", help="libtkccpu.so")
    parser.add_argument("--app", action="append", default=[], help="a program of examples/apps; repeatable")
    parser.add_argument("--loader-suite", help="the program of tests/gpu/runtime")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", action="append", metavar="FAMILY",
                        help="kernels of these families alone, and none of the checks; `runtime`: the loader's suite")
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


def compile_one(command, target):
    """None, or what the compiler says when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    remove_files(target, target + ".json")
    return done.stderr.strip() or f"status {done.returncode}"


def compile_specs(specs, tkc, tkc_digest, folder):
    """Compiles what is not there yet. {file name: message} of those that fail."""
    os.makedirs(folder, exist_ok=True)
    stamps, jobs = Stamps(os.path.join(folder, "stamps.json")), {}
    for spec in specs:
        target = os.path.join(folder, spec.file_name)
        command = spec.command(tkc, ROOT, target)
        digest = digest_of(os.path.join(ROOT, spec.source), words=[tkc_digest, *command[1:]])
        if not stamps.is_current(spec.file_name, digest) or not os.path.exists(target + ".json"):
            jobs[spec.file_name] = (command, target)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        messages = list(pool.map(compile_one, *zip(*jobs.values()))) if jobs else []
    failed = {name: message for name, message in zip(jobs, messages) if message}
    for name in failed:
        stamps.used.pop(name)
    stamps.save()
    remove_others(folder, [n for s in specs for n in (s.file_name, s.file_name + ".json")])
    print(f"{len(specs)} kernels, {len(jobs)} compiled, {len(failed)} failed")
    for name, message in failed.items():
        print(f"FAILED {name}: {message}", file=sys.stderr)
    return failed


def pack_kernels(folder, out):
    """One archive of the kernels: they have most of their bytes in common."""
    with tarfile.open(os.path.join(out, "cubins.tar.xz"), "w:xz") as archive:
        for name in sorted(set(os.listdir(folder)) - {"stamps.json"}):
            archive.add(os.path.join(folder, name), name)


def remove_files(*paths):
    """An earlier bundle's product must not stand in for one that could not be made."""
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def remove_others(folder, names):
    """What an earlier bundle left and this one does not know."""
    for name in set(os.listdir(folder)) - set(names) - {"stamps.json"}:
        os.remove(os.path.join(folder, name))


def copy_files(options, out):
    for folder, names in SCRIPTS.items():
        for name in names:
            shutil.copy2(os.path.join(ROOT, folder, name), os.path.join(out, name))
    for folder, endings in TREES.items():
        target = os.path.join(out, "tree", folder)
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(endings):
                shutil.copy2(os.path.join(ROOT, folder, name), target)
    os.makedirs(os.path.join(out, "sources"), exist_ok=True)
    for source in SOURCES:
        shutil.copy2(os.path.join(ROOT, source), os.path.join(out, "sources"))
    package = os.path.join(out, "tkcrt")
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "runtime/python/tkcrt"), package,
                    ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, out):  # for Python, and for loader_suite
        shutil.copyfile(options.library, os.path.join(folder, "libtkcrt.so.1"))
    for path, name in ((options.loader_suite, "loader_suite"), (options.tune_library, "libtkctune.so.1"),
                       (options.cpu_library, "libtkccpu.so.1")):
        if path:
            shutil.copyfile(path, os.path.join(out, name))
            shutil.copymode(path, os.path.join(out, name))
    shutil.rmtree(os.path.join(out, "apps"), ignore_errors=True)
    for path in options.app:
        os.makedirs(os.path.join(out, "apps"), exist_ok=True)
        shutil.copy2(path, os.path.join(out, "apps"))


def make_loader_files(only, tkc, folder):
    """What loader_suite opens; without it an earlier bundle's is not left behind."""
    shutil.rmtree(folder, ignore_errors=True)
    if not only or "runtime" in only:
        loader_files.make(tkc, folder)


def folder_bytes(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


def main():
    options = parse_arguments()
    out, start = os.path.abspath(options.out), time.perf_counter()
    os.makedirs(out, exist_ok=True)
    for name in UNPACKED:
        shutil.rmtree(os.path.join(out, name), ignore_errors=True)
    copy_files(options, out)
    with tempfile.TemporaryDirectory() as folder:
        tkc = shutil.copy2(options.tkc, folder)  # it may be rebuilt meanwhile
        digest = digest_of(tkc)
        pack_tool(tkc, "tkc", out, digest)
        pack_tool(options.fuzz, "tk-fuzz", out, digest_of(options.fuzz))
        if options.planted and os.path.exists(options.planted):
            pack_tool(options.planted, "tkc-planted", out, digest_of(options.planted))
        specs = plan.specs_of(plan.load_cases(os.path.join(ROOT, "bench/configs.json"),
                                              only=options.only))
        specs = list(dict.fromkeys([*([] if options.only else cases.all_specs()), *specs]))
        parts = os.path.join(out + "-parts", "cubins")
        failed = compile_specs(specs, tkc, digest, parts)
        pack_kernels(parts, out)
        make_loader_files(options.only, tkc, os.path.join(out, "loader"))
    manifest = {"tkc_sha256": digest, "kernels": len(specs), "failed": failed}
    with open(os.path.join(out, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    size = folder_bytes(out)
    print(f"{out}: {size / 2**20:.1f} MiB in {time.perf_counter() - start:.0f} s")
    return 1 if failed or size > _LIMIT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
