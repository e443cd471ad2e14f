"""The types of <tkc/runtime.h> against the baseline, by libabigail's abidiff.

A small library with debug information that exports every function of the header stands for the
real one, so that the baseline holds the interface's types and nothing of the inside. Exit status
77: libabigail is not installed. --write=yes makes a new baseline.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def stubs(header):
    """A definition of each function that the header declares."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    lines = ["#include <tkc/runtime.h>"]
    for result, name, parameters in re.findall(
            r"TKC_API (const char \*|\w+ ?)(tkc_\w+)\(([^;]*)\);", text):
        kinds = [p.strip() for p in parameters.replace("\n", " ").split(",")]
        if kinds == ["void"]:
            named = "void"
        else:
            named = ", ".join(
                "%s a%d" % (re.sub(r"\b[a-z_]+$", "", kind) if re.search(r"[ *][a-z_]+$", kind)
                            and not kind.endswith("_t") and kind != "tkc_status" else kind, i)
                for i, kind in enumerate(kinds))
        body = "" if result.strip() == "void" else "return 0;"
        lines.append("%s%s(%s) { %s }" % (result, name, named, body))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ["--cc", "--include", "--baseline"]:
        parser.add_argument(name, required=True)
    parser.add_argument("--write")
    options = parser.parse_args()
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        print("skipped: abidw and abidiff are not installed (Debian: abigail-tools)")
        sys.exit(77)
    header = (pathlib.Path(options.include) / "tkc" / "runtime.h").read_text()
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder) / "stubs.c", pathlib.Path(folder) / "libtkcrt.so"
        source.write_text(stubs(header))
        subprocess.run([options.cc, "-w", "-g", "-gdwarf-4", "-shared", "-fPIC", "-I",
                        options.include, source, "-Wl,-soname,libtkcrt.so.1", "-o", library],
                       check=True)
        if options.write:
            text = subprocess.run(
                ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", library],
                text=True, capture_output=True, check=True).stdout
            pathlib.Path(options.baseline).write_text(
                re.sub(r" (path|comp-dir-path)='[^']*'", "", text))
            return
        # Additions are fine, removals and changes of what is there are not.
        result = subprocess.run(["abidiff", "--no-added-syms", options.baseline, library],
                                text=True, capture_output=True)
    # Bit 2: an incompatible change. Bits 0 and 1: it did not run.
    print(result.stdout + result.stderr)
    sys.exit(1 if result.returncode & 0b1011 else 0)


main()
