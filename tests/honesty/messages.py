"""ir/diagnostics/Diagnostics.def as data, and docs/errors/README.md as it follows from it."""

import re
import typing

ENTRY = re.compile(r'^DIAG\((\w+),\s*(\d+),\s*(\w+),\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', re.M)
SECTION = re.compile(r"^// --- (\d)xxx: (.*?) -*$", re.M)


class Message(typing.NamedTuple):
    name: str
    code: str
    severity: str
    text: str  # with {0} {1}
    line: int

    def kebab(self):
        return re.sub(r"(?<!^)([A-Z])", r"-\1", self.name).lower()

    def shown(self):
        return re.sub(r"\{\d\}", "…", self.text)

    def heading(self):
        return "# TK%s: %s" % (self.code, self.shown())

    def row(self):
        return "| [TK%s](TK%s.md) | %s | `%s` | %s |" % (
            self.code, self.code, self.severity.lower(), self.kebab(), self.shown())


def read(text):
    found = []
    for match in ENTRY.finditer(text):
        name, code, severity, literal = match.groups()
        message = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literal)).replace('\\"', '"')
        found.append(Message(name, code, severity, message, text.count("\n", 0, match.start()) + 1))
    return found


def tables(text):
    """What stands in README.md from its first `## ` on."""
    parts = []
    for digit, title in SECTION.findall(text):
        rows = [m.row() for m in read(text) if m.code[0] == digit]
        parts.append("## %sxxx: %s\n| code | | name | message |\n|---|---|---|---|\n%s\n"
                     % (digit, title, "\n".join(sorted(rows))))
    return "\n".join(parts)
