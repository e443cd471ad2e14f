"""The programs of examples/apps and the Python package with torch, out of the folder of bundle.py.

    python3 apps.py [--device=cuda] [--device=cpu]

Each program computes on the device that it is told and checks the result itself; the tests of the
package (tests/python) run with the torch, CuPy and compiler of this machine. run.py --only=apps calls
this. Status 1 when something fails.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import unpack

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("gpu_app_c", "gpu_app_cpp", "gpu_app_rust")
TREE = os.path.join(FOLDER, "tree")
TARGETS = "sm_80,sm_90a,cpu"


class Runner:
    def __init__(self):
        self.problems = []

    def run(self, what, command, wanted=(), environment=None, limit=200):
        """Prints what a command says; it must end well and say all that is wanted."""
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  errors="replace", timeout=limit, env={**os.environ, **(environment or {})})
            text, status = done.stdout, done.returncode
        except (OSError, subprocess.TimeoutExpired) as error:
            text, status = str(error), "none"
        print(text.rstrip())
        problem = f"status {status}" if status else next((f"`{w}` was not said" for w in wanted if w not in text), None)
        print(f"{'FAILED ' if problem else ''}{what}: {problem or 'good'}, {time.monotonic() - start:.1f} s", flush=True)
        if problem:
            self.problems.append(f"{what}: {problem}")


def run_programs(runner, device):
    for name in PROGRAMS:
        path = os.path.join(FOLDER, "apps", name)
        if os.path.exists(path):
            runner.run(f"{name} {device}", [path, device], [f"axpy on {device}", ": 0 of 100000 wrong"])
        else:
            runner.problems.append(f"{name}: the folder does not have it")


def run_python(runner, tkc, device):
    apps = os.path.join(TREE, "examples", "apps")
    with tempfile.TemporaryDirectory() as folder:
        bundle = os.path.join(folder, "kernels.tkb")
        runner.run("tkc kernels.tk", [tkc, os.path.join(apps, "kernels.tk"), f"--target={TARGETS}", "-o", bundle])
        runner.run(f"main.py {device}", [sys.executable, os.path.join(apps, "python", "main.py"), bundle, device],
                   [": 0 of 100000 wrong", f"softmax on {device}"],
                   {"PYTHONPATH": FOLDER, "LD_LIBRARY_PATH": _libraries()})


def _libraries():
    """The folder first: libtkccpu lies there, the package has libtkcrt alone."""
    return ":".join(filter(None, [FOLDER, os.environ.get("LD_LIBRARY_PATH")]))


def run_package(runner, device):
    tests = os.path.join(TREE, "tests", "python")
    words = ["-W", "ignore"]
    runner.run("frameworks.py", [sys.executable, *words, os.path.join(tests, "frameworks.py"), f"--folder={FOLDER}"], ["OK"])
    runner.run(f"on_device.py {device}", [sys.executable, *words, os.path.join(tests, "on_device.py"),
                                          f"--folder={FOLDER}", f"--backend={device}"], ["OK"])


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", choices=("cpu", "cuda"))
    devices = parser.parse_args(words).device or ["cpu", "cuda"]
    tkc, runner = unpack.tool(FOLDER, "tkc"), Runner()
    for device in devices:
        run_programs(runner, device)
        run_python(runner, tkc, device)
    run_package(runner, devices[-1])
    for problem in runner.problems:
        print(f"FAILED {problem}")
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
