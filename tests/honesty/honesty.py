"""What the checks of this folder share.

A check is a script: `CHECK.py ROOT [options]` looks at the repository at ROOT, prints one line for
each fault and exits with 1 when there is one. CHECK.test runs it twice: over the repository, where
it must find nothing, and over a small bad sample, where it must find exactly what is wrong.
"""

import argparse
import pathlib
import re
import sys

CODE_FOLDERS = ["ir", "frontend", "passes", "backends", "bundle", "driver", "runtime"]


def parse_arguments(*options):
    """ROOT, -v, and the options named, each of which takes a value."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("-v", action="store_true", help="print what was counted")
    for option in options:
        parser.add_argument("--" + option)
    return parser.parse_args()


def files(root, folders, suffixes):
    """The files below `folders` of `root` with one of `suffixes`, sorted."""
    found = []
    for folder in folders:
        found += [p for p in (root / folder).rglob("*") if p.suffix in suffixes and p.is_file()]
    return sorted(found)


def without_comments(text):
    """C++ or TableGen text with comments blanked, line numbers kept."""
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'

    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return re.sub(pattern, blank, text, flags=re.S)


def fences(text, languages):
    """(language, rest of the info string, body, line) for each fence of a page in `languages`."""
    pattern = r"^([ \t]*)```(%s)\b([^\n]*)\n(.*?)^[ \t]*```[ \t]*$" % "|".join(languages)
    for match in re.finditer(pattern, text, re.M | re.S):
        indent, language, info, body = match.groups()
        body = re.sub("^" + indent, "", body, flags=re.M)
        yield language, info.strip(), body, text.count("\n", 0, match.start()) + 1


def report(faults, checked, what):
    """Prints the faults and ends the script. Nothing to check is a fault too."""
    for fault in faults:
        print(fault)
    if not checked:
        print("nothing to check: no %s" % what)
    elif not faults:
        print("%d %s good" % (checked, what))
    sys.exit(1 if faults or not checked else 0)
