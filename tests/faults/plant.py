"""Copies the sources and plants every fault of the table in the copy, each as a choice at run time.

    plant.py OUT          the copy, to be built like the sources; TKC_FAULT=17 picks the fault of number 17
    plant.py --check      only: does each line of the table fit the sources at one place?

`old => new` becomes `(tk::fault<17>() ? (new) : (old))`, a statement `{ if (!tk::fault<17>()) { old } }`.
Files that did not change are left alone, so that a second build is short.
"""

import argparse
import os
import shutil
import subprocess
import sys

import table

INCLUDE = '#include "tests/faults/Fault.h"\n'
LIT_CONFIG = "tests/lit.cfg.py"
LIT_ENVIRONMENT = """
for name in ("TKC_FAULT", "TKC_FAULTS_SEEN"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
"""


def choice(old, faults):
    """The text of one place with its faults."""
    for fault in reversed(faults):
        if fault.is_statement:
            other = f" else {{ {fault.new} }}" if fault.new else ""
            old = f"{{ if (!tk::fault<{fault.number}>()) {{ {old} }}{other} }}"
        else:
            old = f"(tk::fault<{fault.number}>() ? ({fault.new}) : ({old}))"
    return old


def planted(source, places):
    for first, end, faults in reversed(places):
        source = source[:first] + choice(source[first:end], faults) + source[end:]
    return INCLUDE + source


def write(path, text):
    """Keeps the file's time when it stays the same."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_sources(root, out, places):
    names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for name in names:
        source, target = os.path.join(root, name), os.path.join(out, name)
        if not os.path.exists(source):
            continue
        if name in places or name == LIT_CONFIG:
            with open(source, encoding="utf-8") as file:
                text = file.read()
            write(target, planted(text, places[name]) if name in places else text + LIT_ENVIRONMENT)
        elif not os.path.exists(target) or os.path.getmtime(target) != os.path.getmtime(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", default=table.ROOT)
    parser.add_argument("--table", default=table.HERE, help="the folder of *.faults")
    options = parser.parse_args()
    if not options.check and not options.out:
        parser.error("a folder for the copy, or --check")
    try:
        faults = table.read(options.table)
        if len({fault.number for fault in faults}) < len(faults):
            raise table.TableError("a fault is planted twice")
        places = table.by_place(faults, options.root)
    except (table.TableError, OSError) as error:
        print(f"plant.py: {error}", file=sys.stderr)
        return 1
    if options.out:
        copy_sources(options.root, os.path.abspath(options.out), places)
    print(f"{len(faults)} faults in {len(places)} files")
    return 0 if faults else 1


if __name__ == "__main__":
    sys.exit(main())
