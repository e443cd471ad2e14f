"""No pass and nothing of the IR names a chip: they ask the Target record. Comments may, and the
default of a pass's option.
"""

import re

import honesty

CHIP = re.compile(r"\b(sm_\d|gfx\d)\w*|\bcompute_\d\w*")
OPTION = re.compile(r"\bOption<[^>]*>", re.S)


def main():
    root = honesty.parse_arguments().root
    sources = honesty.files(root, ["ir", "passes"], {".cpp", ".h", ".td", ".def"})
    faults = []
    for path in sources:
        text = honesty.without_comments(path.read_text())
        if path.suffix == ".td":
            text = OPTION.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
        for match in CHIP.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            faults.append("%s:%d: names the chip %s" % (path.relative_to(root), line, match.group(0)))
    honesty.report(faults, len(sources), "source files")


main()
