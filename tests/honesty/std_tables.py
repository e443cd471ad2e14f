"""Tables of what a file of std/ declares, from the comments above the declarations: for docs/std.md.

A function that follows another without a blank line between them and without a comment of its own
shares its row.
"""

import re

FUNCTION = re.compile(r"( *)fn (\w+.*?) \{")
STRUCT = re.compile(r"struct (\w+(?:\[.*?\])?) \{")


class Table:
    def __init__(self):
        self.rows, self.comment, self.struct, self.apart = [], [], "", True

    def add(self, code):
        text = " ".join(self.comment)
        if text or self.apart or not self.rows:
            self.rows.append([[code], text])
        else:
            self.rows[-1][0].append(code)
        self.comment, self.apart = [], False

    def read(self, line):
        bare = line.strip()
        function, struct = FUNCTION.match(line), STRUCT.match(line)
        if bare.startswith("#"):
            self.comment = [] if bare.startswith("# ---") else self.comment + [bare[2:]]
        elif struct:
            self.struct = struct.group(1)
            self.add("struct " + self.struct)
        elif function:
            inside = self.struct.split("[")[0] + "." if function.group(1) else ""
            self.add(inside + function.group(2))
        else:
            self.comment = []
            self.apart = self.apart or not bare
            if line.startswith("}"):
                self.struct = ""


def table_of(path):
    """The table, and the names that have no comment."""
    lines = path.read_text().splitlines()
    table = Table()
    head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    for line in lines[head:]:
        table.read(line)
    text = "| | |\n|---|---|\n"
    for codes, comment in table.rows:
        text += "| %s | %s |\n" % (", ".join("`%s`" % code for code in codes),
                                   comment.replace("|", "\\|"))
    return text, [codes[0] for codes, comment in table.rows if not comment]
