"""What the tests of tkcrt share: the libraries of a build, and kernels compiled for the CPU device."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

_options = None


def start():
    """Reads the command line, `--root=REPOSITORY --build=FOLDER` or `--folder=FOLDER` of
    bench/bundle.py, and makes `tkcrt` importable."""
    global _options
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("rest", nargs="*")
    _options = parser.parse_args()
    package, loader, cpu = _places(_options)
    sys.path.insert(0, str(package))
    import tkcrt  # pylint: disable=import-outside-toplevel
    tkcrt.load_library(str(loader))
    tkcrt.load_cpu_library(str(cpu))
    return _options


def _places(options):
    """Where the package and the two libraries are."""
    if options.folder:
        return options.folder, options.folder / "libtkcrt.so.1", options.folder / "libtkccpu.so.1"
    return (options.root / "runtime" / "python", options.build / "runtime" / "libtkcrt.so.1",
            options.build / "lib" / "libtkccpu.so.1")


def backend():
    """Of those tests that run on any device."""
    return _options.backend


def tkc():
    if _options.folder:
        return str(_options.folder / "tools" / "tkc")
    return str(_options.build / "bin" / "tkc")


def build(source, *words, target="cpu"):
    """The bytes of a bundle, for the CPU device unless `target` says otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "k.tk")
        path.write_text(source)
        out = path.with_suffix(".tkb")
        subprocess.run([tkc(), str(path), "--target=" + target, "-o", str(out), *words], check=True)
        return out.read_bytes()


def main():
    """Runs the tests of the script that calls it."""
    start()
    unittest.main(argv=sys.argv[:1], verbosity=2 if _options.folder else 0)
