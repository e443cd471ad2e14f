#!/usr/bin/python3
"""The corpora of the fuzzers, as text: one input a line, with \\n, \\t, \\\\ and \\xHH for what is no
printable character of ASCII.

  corpus.py replay PROGRAM FILE    runs PROGRAM on all inputs of FILE
  corpus.py unpack FILE FOLDER     writes each as a file, as libFuzzer wants them
  corpus.py pack FOLDER FILE       the way back, sorted: the smallest first
  corpus.py seeds ROOT FOLDER      writes what FUZZ-TEXT begins with: the sources of this repository
"""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

ESCAPES = {0x0A: "\\n", 0x09: "\\t", 0x5C: "\\\\"}
UNESCAPES = {"n": b"\n", "t": b"\t", "\\": b"\\"}
FENCE = re.compile(r"^```tk[^\n]*\n(.*?)^```", re.M | re.S)


def escape(data):
    return "".join(
        ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else "\\x%02x" % byte)
        for byte in data)


def unescape(line):
    parts = re.findall(r"\\x([0-9a-f]{2})|\\(.)|([^\\]+)", line)
    return b"".join(bytes.fromhex(byte) if byte else UNESCAPES[mark] if mark else text.encode()
                    for byte, mark, text in parts)


def name_of(data):
    return hashlib.sha1(data).hexdigest()


def write_all(inputs, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / name_of(data)).write_bytes(data)


def read_packed(path):
    return [unescape(line) for line in path.read_text("ascii").split("\n") if line]


def pack(folder, path):
    inputs = {file.read_bytes() for file in folder.iterdir()} - {b""}
    ordered = sorted(inputs, key=lambda data: (len(data), data))
    path.write_text("".join(escape(data) + "\n" for data in ordered), "ascii")


def sources(root):
    for file in sorted(root.glob("*/**/*.tk")):
        if "build" not in file.relative_to(root).parts[:1]:
            yield file.read_bytes()
    for page in sorted(root.glob("docs/**/*.md")) + [root / "README.md"]:
        for fence in FENCE.findall(page.read_text()):
            yield fence.encode()


def replay(program, path):
    inputs = read_packed(path)
    with tempfile.TemporaryDirectory() as folder:
        write_all(inputs, pathlib.Path(folder))
        run = subprocess.run([program, folder])
    sys.exit(run.returncode if inputs else "no inputs in %s" % path)


def main():
    action, first, second = sys.argv[1:]
    if action == "replay":
        replay(first, pathlib.Path(second))
    elif action == "unpack":
        write_all(read_packed(pathlib.Path(first)), pathlib.Path(second))
    elif action == "pack":
        pack(pathlib.Path(first), pathlib.Path(second))
    elif action == "seeds":
        write_all(sources(pathlib.Path(first)), pathlib.Path(second))
    else:
        sys.exit(__doc__)


main()
