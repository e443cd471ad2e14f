"""Unpacks what the bundle carries packed: the kernels and the compiler's tools.

    python3 unpack.py       both, and what the interpreter computes for the checks (expected.py)

run.py and checks.py call this; what is unpacked already stays.
"""

import hashlib
import lzma
import os
import shutil
import subprocess
import sys
import tarfile

KERNELS, TOOLS = "cubins", ("tkc", "tk-fuzz")


def _is_new(archive, stamp):
    """Whether the archive differs from what was unpacked last; (is new, its digest)."""
    with open(archive, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            return file.read() != digest, digest
    return True, digest


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def kernels(folder):
    """The folder of the kernels, unpacked."""
    archive, target = os.path.join(folder, KERNELS + ".tar.xz"), os.path.join(folder, KERNELS)
    stamp = os.path.join(target, "unpacked")
    is_new, digest = _is_new(archive, stamp)
    if is_new:
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        with tarfile.open(archive) as packed:
            packed.extractall(target)
        _write(stamp, digest)
    return target


def tool(folder, name):
    """The path of one of TOOLS, unpacked."""
    archive, target = os.path.join(folder, name + ".xz"), os.path.join(folder, "tools", name)
    is_new, digest = _is_new(archive, target + ".sha256")
    if is_new or not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with lzma.open(archive) as source, open(target, "wb") as file:
            shutil.copyfileobj(source, file)
        os.chmod(target, 0o755)
        _write(target + ".sha256", digest)
    return target


def expect(folder):
    """Has the interpreter compute what the checks compare with. The status of expected.py."""
    script = os.path.join(folder, "tree", "bench", "expected.py")
    words = [sys.executable, script, "--tkc=" + tool(folder, "tkc"), "--out=" + folder]
    return subprocess.run(words, check=False).returncode


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    kernels(folder)
    return expect(folder)


if __name__ == "__main__":
    sys.exit(main())
