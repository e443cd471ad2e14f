"""The table of docs/from-triton.md: its sections, and how they are written."""

import pathlib
import subprocess
import tempfile

import rows_memory as memory
import rows_numbers as numbers
import rows_shapes as shapes
import rows_statements as statements
import rows_types as types

SECTIONS = [
    ("Types", types.TYPES),
    ("Rules of types and numbers", types.RULES),
    ("Statements and functions", statements.STATEMENTS),
    ("The program", shapes.MODEL),
    ("New tiles", shapes.CREATION),
    ("Shapes", shapes.SHAPE),
    ("Products", shapes.PRODUCTS),
    ("Memory", memory.MEMORY),
    ("Choosing elements", numbers.INDEXING),
    ("Arithmetic", numbers.ARITHMETIC),
    ("Functions of elements", numbers.FUNCTIONS),
    ("Reductions", numbers.REDUCTIONS),
    ("Scans, sorts, counts", numbers.SCANS),
    ("Atomic operations", memory.ATOMICS),
    ("Random numbers", numbers.RANDOM),
    ("Hints", memory.HINTS),
    ("Printing and claims", memory.DEBUG),
    ("The machine", memory.MACHINE),
]

# In machine code the claims of an example are left out: what is asked is whether the rest compiles.
SILENT = 'fn assert(condition, text = "", mask = true) { }\n'


def cell(text):
    return text.replace("|", "\\|")


def has_machine_code(tkc, row, path):
    path.write_text(row.program()[0] + ("" if "assert" in row.calls else SILENT))
    done = subprocess.run([tkc, str(path), "--emit=ptx", "--target=sm_90a", "-o", "-"],
                          capture_output=True, text=True)
    return done.returncode == 0


def line(tkc, row, path):
    tested = machine = ""
    if row.example:
        tested = "[%s](../tests/%s)" % (row.test.split("/")[-1], row.test)
        machine = "" if row.error else "yes" if has_machine_code(tkc, row, path) else "not yet"
    return "| %s |\n" % " | ".join(map(cell, (row.peer, row.form, row.note, machine, tested)))


def text(tkc):
    """All sections, for docs/from-triton.md."""
    pieces = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "row.tk"
        for title, rows in SECTIONS:
            pieces.append("\n### %s\n| Triton | `.tk` | | machine code | tested in |\n"
                          "|---|---|---|---|---|\n" % title)
            pieces += [line(tkc, row, path) for row in rows]
    return "".join(pieces) + "\n"
