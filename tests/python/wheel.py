"""The wheel of the Python package, from source to a launch: built as pyproject.toml says, installed where nothing else is.

    wheel.py --root=REPOSITORY --build=FOLDER           the test; status 77 when PyPI is needed and can't be reached
    wheel.py --root=REPOSITORY --build=FOLDER --fetch   takes what the test needs from PyPI, no more; status 1 when that fails

What was fetched stays in the build folder: the test itself then asks no network.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import venv

PACKAGES = ("scikit-build-core>=0.10", "numpy")  # to build the wheel; whose arrays the kernel is given
SKIPPED = 77
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
KERNEL = """kernel scale[BLOCK: int = 256](in x: f32[N], out y: f32[N], s: f32 = 2.0) @grid(cdiv(N, BLOCK))
{
    let i = program_id(0) * BLOCK
    y[i +: BLOCK] = x[i +: BLOCK] * s
}
"""
LAUNCH = """import sys
import numpy as np
import tkcrt

assert tkcrt.__file__.startswith(sys.prefix), tkcrt.__file__
scale = tkcrt.Module(sys.argv[1], backend="cpu").kernel("scale")
x, y = np.arange(1000, dtype=np.float32), np.empty(1000, np.float32)
scale(x, y, 3.0)
assert (y == 3 * x).all(), y
try:
    scale(x, y[1:])
except tkcrt.Error as error:
    assert error.status == "TKC_E_EXTENT", error
else:
    raise AssertionError("a launch on too short an array")
"""


def run(*words, **options):
    """Runs a command; its output is shown when it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"status {done.returncode}: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


def fetch(packages):
    """None, or why the packages can't be had. The folder appears when all of them are there."""
    if packages.exists():
        return None
    part = packages.with_name(packages.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        done = subprocess.run([*PIP, "download", "--quiet", "--only-binary=:all:", "--retries=1", "--timeout=15",
                               "--dest", str(part), *PACKAGES], capture_output=True, text=True, check=False)
    except OSError as error:
        return repr(error)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"pip: status {done.returncode}"
    part.rename(packages)
    return None


def build_wheel(options, packages, out):
    """The wheel, with the CPU device in it; its build requirements come out of the folder of packages."""
    shutil.rmtree(out, ignore_errors=True)
    settings = {"build-dir": options.build / "wheel" / "build",
                "cmake.define.TKCRT_CPU_LIBRARY": options.build / "lib" / "libtkccpu.so.1",
                "cmake.define.CMAKE_CXX_FLAGS_RELEASE": "-O0"}  # a third of the time, nothing of what is tested
    if shutil.which("ccache"):
        settings["cmake.define.CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    run(*PIP, "wheel", options.root / "runtime", "--no-deps", "--no-index", f"--find-links={packages}", "-w", out,
        *(f"--config-settings={name}={value}" for name, value in settings.items()))
    wheels = list(out.glob("*.whl"))
    if len(wheels) != 1 or not wheels[0].name.startswith("tkcrt-"):
        sys.exit(f"not one wheel of tkcrt: {wheels}")
    return wheels[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--fetch", action="store_true")
    options = parser.parse_args()
    folder = options.build / "wheel"
    packages = folder / "packages"
    folder.mkdir(exist_ok=True)
    why = fetch(packages)
    if why or options.fetch:
        what = "error" if options.fetch else "skipped"
        print(f"{what}: {', '.join(PACKAGES)} can't be had from PyPI: {why}" if why else f"{packages} is there")
        sys.exit((1 if options.fetch else SKIPPED) if why else 0)
    wheel = build_wheel(options, packages, folder / "made")
    shutil.rmtree(folder / "venv", ignore_errors=True)
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    run(*PIP, f"--python={python}", "install", "--no-index", f"--find-links={packages}", wheel, "numpy")
    (folder / "scale.tk").write_text(KERNEL, encoding="utf-8")
    run(options.build / "bin" / "tkc", folder / "scale.tk", "--target=cpu", "-o", folder / "scale.tkb")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_"))}
    run(python, "-c", LAUNCH, folder / "scale.tkb", cwd=folder, env=clean)
    print(f"{wheel.name}: built, installed, launched")


main()
