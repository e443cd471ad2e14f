"""Pages that are made by a generator are checked in, and equal to what the generator makes:

    docs/ir/tk.md, docs/ir/tkg.md   from ir/*.td, by mlir-tblgen -gen-dialect-doc
    docs/passes.md                  from passes/Passes.td, by mlir-tblgen -gen-pass-doc
    docs/cli.md                     the text of `tkc --help` in its first `text` fence (with --tkc)

    python3 tests/honesty/generated_docs.py . --write=yes      makes them anew
"""

import re
import subprocess

import honesty

PAGES = [
    ("docs/ir/tk.md", "ir/tk/TkOps.td", ["-gen-dialect-doc", "-dialect=tk"]),
    ("docs/ir/tkg.md", "ir/tkg/TkgOps.td", ["-gen-dialect-doc", "-dialect=tkg"]),
    ("docs/passes.md", "passes/Passes.td", ["-gen-pass-doc"]),
]
TITLES = {"docs/passes.md": "# Passes\n\n"}
FENCE = re.compile(r"^```text\n(.*?)^```", re.M | re.S)


def generate(arguments, table, flags):
    tool = arguments.tblgen or "/usr/lib/llvm-22/bin/mlir-tblgen"
    include = arguments.include or "/usr/lib/llvm-22/include"
    command = [tool, *flags, "-I", str(arguments.root), "-I", include, str(arguments.root / table)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip() + "\n")


def help_fault(arguments):
    page = arguments.root / "docs/cli.md"
    if not arguments.tkc or not page.exists():
        return []
    text = subprocess.run([arguments.tkc, "--help"], capture_output=True, text=True).stdout
    fence = FENCE.search(page.read_text())
    if fence and fence.group(1) == text:
        return []
    return ["docs/cli.md: its first `text` fence is not what `tkc --help` prints"]


def main():
    arguments = honesty.parse_arguments("tblgen", "include", "tkc", "write")
    faults = help_fault(arguments)
    for page, table, flags in PAGES:
        path = arguments.root / page
        text = TITLES.get(page, "") + generate(arguments, table, flags)
        if arguments.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif not path.exists():
            faults.append("%s: not there" % page)
        elif path.read_text() != text:
            faults.append("%s: differs from what %s gives" % (page, table))
    honesty.report(faults, len(PAGES), "generated pages")


main()
