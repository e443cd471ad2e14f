"""What the tests of tkcrt share: the libraries of a build, and kernels compiled for the CPU device."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

_options = None


def start():
    """Reads the command line, `--root=REPOSITORY --build=FOLDER`, and makes `tkcrt` importable."""
    global _options
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("rest", nargs="*")
    _options = parser.parse_args()
    sys.path.insert(0, str(_options.root / "runtime" / "python"))
    import tkcrt  # pylint: disable=import-outside-toplevel
    tkcrt.load_library(str(_options.build / "runtime" / "libtkcrt.so.1"))
    tkcrt.load_cpu_library(str(_options.build / "lib" / "libtkccpu.so.1"))
    return _options


def tkc():
    return str(_options.build / "bin" / "tkc")


def build(source, *words):
    """The bytes of a bundle for the CPU device."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "k.tk")
        path.write_text(source)
        out = path.with_suffix(".tkb")
        subprocess.run([tkc(), str(path), "--target=cpu", "-o", str(out), *words], check=True)
        return out.read_bytes()


def main():
    """Runs the tests of the script that calls it."""
    start()
    unittest.main(argv=sys.argv[:1], verbosity=0)
