"""Every pass stands in a file of its name, whose header states its contract and shows an example,
and has a test file of its name that runs it; one that can fail has `-errors.mlir` as well. The
header's example occurs in the test: each operation of the lines before "becomes" in its input, each
of those after it in a CHECK line.
"""

import re

import honesty

PASS = re.compile(r'^def (\w+) : Pass<"([^"]+)"', re.M)
# An operation of an example: with its dialect, or after `=` or at the start of a line without.
QUALIFIED = re.compile(r"(?<![!#.\w])(?:tk|tkg|arith|scf|llvm|nvvm)\.[a-z][a-z0-9_.]*")
BARE = re.compile(r"(?:^|[=(]\s*)([a-z]+_?[a-z]+)\b(?!\.)")


def kebab(name):
    return re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower()


def header_of(source):
    """The comment at the head of a file, without its slashes."""
    lines = []
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:])
    return lines


def example_of(header):
    """The example's lines before and after "becomes"."""
    before, after, side = [], [], None
    marks = [i for i, line in enumerate(header) if re.match(r" becomes\b", line)]
    if not marks:
        return before, after
    for line in header[: marks[0]][::-1]:
        if not line.startswith("   "):
            break
        before.append(line.strip())
    for line in header[marks[0] + 1 :]:
        if not line.strip():
            break
        if line.startswith("   "):
            after.append(line.strip())
    return before[::-1], after


def operations(lines, mnemonics):
    """The operations that an example's lines name."""
    names = set()
    for line in lines:
        names.update(name.rstrip(".") for name in QUALIFIED.findall(line))
        names.update(name for name in BARE.findall(line) if name in mnemonics)
    return {name for name in names if not re.match(r"tkg?\.(layouts|used_facts|phase)", name)}


def occurs(operation, text):
    return re.search(r"(?<![\w.])(?:\w+\.)?%s(?![\w])" % re.escape(operation), text)


def test_faults(name, flag, header, test, mnemonics):
    text = test.read_text()
    if not re.search(r"RUN:.*--%s\b" % re.escape(flag), text):
        yield "no RUN line of its test has --%s" % flag
    checks = "\n".join(l for l in text.splitlines() if re.match(r"\s*//\s*CHECK", l))
    inputs = "\n".join(l for l in text.splitlines() if not re.match(r"\s*//", l))
    before, after = example_of(header)
    for operation in sorted(operations(before, mnemonics)):
        if not occurs(operation, inputs):
            yield "`%s` of the example's input is not in the test's input" % operation
    for operation in sorted(operations(after, mnemonics)):
        if not occurs(operation, checks):
            yield "`%s` of the example's result is in no CHECK line of the test" % operation
    if not before or not after:
        yield "the header has no example of the form: input, \"becomes\", result"


def pass_faults(root, folder, name, flag, mnemonics):
    source = folder / (name + ".cpp")
    if not source.exists():
        return ["no file %s" % source.relative_to(root)]
    if flag != "tk-" + kebab(name):
        return ["the flag is %s, not tk-%s" % (flag, kebab(name))]
    header = header_of(source)
    faults = ["the header has no `%s`" % word for word in ("Requires:", "Ensures:", "Fails:")
              if not any(line.strip().startswith(word) for line in header)]
    tests = root / "tests" / folder.relative_to(root).parts[0]
    test, errors = tests / (kebab(name) + ".mlir"), tests / (kebab(name) + "-errors.mlir")
    if test.exists():
        faults += test_faults(name, flag, header, test, mnemonics)
    else:
        faults.append("no test %s" % test.relative_to(root))
    fails = " ".join(line.strip() for line in header if line.strip().startswith("Fails:"))
    if not fails.startswith("Fails:    never") and not errors.exists():
        faults.append("can fail, and has no test %s" % errors.relative_to(root))
    return faults


def main():
    root = honesty.parse_arguments().root
    ops = honesty.files(root, ["ir"], {".td"})
    mnemonics = set(re.findall(r'_(?:\w*Op)<"(\w+)"', "\n".join(p.read_text() for p in ops)))
    mnemonics |= {"addi", "subi", "muli", "cmpi", "extsi", "extui", "trunci", "select", "constant"}
    faults, count = [], 0
    for table in honesty.files(root, ["passes", "backends"], {".td"}):
        for name, flag in PASS.findall(table.read_text()):
            count += 1
            for fault in pass_faults(root, table.parent, name, flag, mnemonics):
                faults.append("%s: %s" % (name, fault))
    honesty.report(faults, count, "passes")


main()
