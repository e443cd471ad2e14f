"""Every diagnostic has a code of its own in the section that fits, is emitted somewhere
(`diag::Name`), and is tested somewhere under tests/: by its code, by its name in a unit test, or by
its text in an `expected-...` comment.
"""

import re

import honesty

ENTRY = re.compile(r'^DIAG\((\w+),\s*(\d+),\s*(\w+),\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', re.M)
SECTION = re.compile(r"^// --- (\d)xxx")
EXPECTED = re.compile(r"(?:expected-\w+|CHECK)[^\n]*")


def entries(text):
    """(name, code, text, line) of each DIAG, and faults of the list itself."""
    found, faults, section, lines = [], [], "", text.splitlines()
    for match in ENTRY.finditer(text):
        name, code, _, literal = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        sections = [SECTION.match(l) for l in lines[:line]]
        section = [s.group(1) for s in sections if s][-1:]
        if section != [code[0]] or len(code) != 4:
            faults.append("%d: TK%s does not belong into its section" % (line, code))
        message = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literal)).replace('\\"', '"')
        found.append((name, code, message, line))
    if len(found) != len(re.findall(r"^DIAG\(", text, re.M)):
        faults.append("1: an entry is not of the form DIAG(Name, code, severity, text)")
    for column, what in ((0, "name"), (1, "code")):
        values = [entry[column] for entry in found]
        for value in sorted({v for v in values if values.count(v) > 1}):
            faults.append("1: the %s %s is used twice" % (what, value))
    return found, faults


def longest_piece(message):
    """The longest part of a message that no argument interrupts."""
    return max(re.split(r"\{\d\}", message), key=len).strip()


def main():
    root = honesty.parse_arguments().root
    table = root / "ir/diagnostics/Diagnostics.def"
    found, faults = entries(table.read_text())
    code = honesty.files(root, honesty.CODE_FOLDERS, {".cpp", ".h"})
    emitted = set(re.findall(r"\bdiag::(\w+)", "\n".join(
        honesty.without_comments(path.read_text()) for path in code)))
    tests = [p for p in honesty.files(root, ["tests"], {".tk", ".mlir", ".test", ".ll", ".cpp", ".py"})
             if "honesty" not in p.relative_to(root).parts]
    text = "\n".join(path.read_text() for path in tests)
    tested = set(re.findall(r"TK(\d{4})", text))
    named = set(re.findall(r"\bdiag::(\w+)", text))
    expected = "\n".join(EXPECTED.findall(text))
    for name, number, message, line in found:
        if name not in emitted:
            faults.append("%d: TK%s, %s, is never emitted" % (line, number, name))
        if number not in tested and name not in named and longest_piece(message) not in expected:
            faults.append("%d: TK%s, %s, is tested nowhere" % (line, number, name))
    place = str(table.relative_to(root)) + ":"
    honesty.report([place + fault for fault in faults], len(found), "diagnostics")


main()
