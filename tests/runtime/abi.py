"""The binary interface of libtkcrt as text: symbols, sizes and offsets, numbers of enumerators.

    abi.py --cc=gcc --include=runtime/include --baseline=abi.txt libtkcrt.so [--write=yes]

compares with the baseline. What is in the baseline must stay as it is; something new is added to it
with --write=yes, which refuses to take anything away.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["runtime.h", "cpu.h"]


def structs(text):
    """(name, [fields]) of each struct in a header, in order; of a union field its members too."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    for match in re.finditer(r"typedef struct (\w+) \{(.*?)\n\} \1;", text, re.S):
        name, body = match.groups()
        inner = re.search(r"union \{(.*)\} (\w+);", body, re.S)
        fields = []
        if inner:
            body = body.replace(inner.group(0), "")
            fields = [inner.group(2)] + ["%s.%s" % (inner.group(2), f) for f in
                                         ("tensor", "pointer", "bits", "f32", "f64")]
        body = re.sub(r"\(\*(\w+)\)\s*\([^;]*\)", r"\1", body)  # a pointer to a function
        for statement in body.split(";"):
            for declarator in statement.split(","):
                words = re.findall(r"\w+", re.sub(r"\[.*?\]", "", declarator))
                if words:
                    fields.append(words[-1])
        yield name, fields


def enumerators(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.findall(r"\b(TKC_\w+) = \d+", text)


def measure(options):
    """Lines of the interface as it is."""
    texts = [(pathlib.Path(options.include) / "tkc" / header).read_text() for header in HEADERS]
    program = ["#include <stdio.h>"] + ["#include <tkc/%s>" % h for h in HEADERS] + ["int main(void) {"]
    for text in texts:
        for name, fields in structs(text):
            program.append('printf("size %s %%zu\\n", sizeof(%s));' % (name, name))
            for field in fields:
                program.append('printf("offset %s.%s %%zu\\n", offsetof(%s, %s));' % (
                    name, field, name, field))
        for name in enumerators(text):
            program.append('printf("enum %s %%d\\n", (int)%s);' % (name, name))
    program.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "abi.c", pathlib.Path(folder) / "abi"
        source.write_text("\n".join(program))
        subprocess.run([options.cc, "-I", options.include, source, "-o", binary], check=True)
        lines = subprocess.run([binary], text=True, capture_output=True, check=True).stdout
    symbols = subprocess.run(["nm", "-D", "--defined-only", options.library], text=True,
                             capture_output=True, check=True).stdout
    return sorted("symbol " + line.split()[-1] for line in symbols.splitlines()) + lines.splitlines()


def main():
    parser = argparse.ArgumentParser()
    for name in ["--cc", "--include", "--baseline", "library"]:
        parser.add_argument(name, **({"required": True} if name[0] == "-" else {}))
    parser.add_argument("--write")
    options = parser.parse_args()
    found = measure(options)
    path = pathlib.Path(options.baseline)
    baseline = path.read_text().splitlines() if path.exists() else []
    gone = [line for line in baseline if line not in found and not line.startswith("size ")]
    sizes = {line.split()[1]: int(line.split()[2]) for line in found if line.startswith("size ")}
    for line in baseline:
        _, name, size = line.split() if line.startswith("size ") else ("", "", "")
        if name and sizes.get(name, 0) < int(size):
            gone.append(line)
    for line in gone:
        print("gone, which breaks callers: " + line)
    if options.write and not gone:
        path.write_text("\n".join(found) + "\n")
        baseline = found
    new = [line for line in found if line not in baseline]
    for line in new:
        print("new: " + line)
    if new:
        print("run with --write=yes when that is meant")
    if not new and not gone:
        print("%d lines of interface as before" % len(found))
    sys.exit(bool(new or gone))


main()
