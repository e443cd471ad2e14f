"""No source file has more than 600 lines, no function at file level more than 60, README.md no
more than 100.

A function at file level is what stands between a line that opens a brace and the `}` in column one
that closes it, as clang-format lays it out; methods inside classes are short by habit.
"""

import re

import honesty

LINES_OF_FILE, LINES_OF_FUNCTION, LINES_OF_README = 600, 60, 100
NO_FUNCTION = re.compile(r"^\s*(template\s*<.*>\s*)?(struct|class|union|enum)\b|=\s*\{$")


def function_faults(path, lines):
    statement = []  # the lines at column one that lead to a brace
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            if not line or line[0] in "#/}":
                statement = []
                continue
            statement.append(line)
            if line.endswith("{"):
                text = " ".join(statement)
                if "namespace" in text or "extern \"C\"" in text:
                    statement = []
                else:
                    start = 0 if NO_FUNCTION.search(text) else number - len(statement) + 1
            elif line.endswith((";", "}")):
                statement = []
        elif line.startswith("}"):
            if start and number - start + 1 > LINES_OF_FUNCTION:
                yield "%s:%d: a function has %d lines, more than %d" % (
                    path, start, number - start + 1, LINES_OF_FUNCTION)
            start, statement = None, []


def main():
    root = honesty.parse_arguments().root
    sources = honesty.files(
        root, honesty.CODE_FOLDERS + ["tests/unit", "tests/tools", "tests/honesty", "std", "cmake"],
        {".cpp", ".h", ".td", ".def", ".py", ".tk", ".cmake"})
    faults = []
    for path in sources:
        lines = path.read_text().splitlines()
        name = path.relative_to(root)
        if len(lines) > LINES_OF_FILE:
            faults.append("%s: %d lines, more than %d" % (name, len(lines), LINES_OF_FILE))
        if path.suffix in {".cpp", ".h"} and "tests" not in name.parts:
            faults += function_faults(name, lines)
    readme = root / "README.md"
    if readme.exists() and len(readme.read_text().splitlines()) > LINES_OF_README:
        faults.append("README.md: more than %d lines" % LINES_OF_README)
    honesty.report(faults, len(sources), "source files")


main()
