"""The table of docs/from-triton.md is complete and true.

    surface.py ROOT [--tkc=TKC] [--only=REGEX] [--rows=FOLDER]

FOLDER holds another table.py and peer_names.py.

* Each name of peer_names.py stands in a row.
* The example of each row compiles without a warning and runs in the interpreter, where its claims
  hold; or fails with the one code that the row names. It calls every function of the row's form.
* The file that tests the form is there, and holds the form's token.
"""

import concurrent.futures
import importlib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "honesty")]
import honesty

REPORTED = re.compile(r"^.*?\b(error|warning): (TK\d{4}): (.*)$", re.M)


def example_fault(tkc, row, path):
    text, words = row.program()
    path.write_text(text)
    done = subprocess.run([tkc, "run", str(path), *words], capture_output=True, text=True)
    reported = REPORTED.findall(done.stderr)
    if row.error:
        if done.returncode == 0 or {code for _, code, _ in reported} != {row.error}:
            return "its example should fail with %s: %s" % (
                row.error, ", ".join("%s %s" % found[1:] for found in reported) or "it runs")
    elif {code for _, code, _ in reported} != row.warns or done.returncode:
        return "its example fails: %s" % (
            "; ".join(": ".join(found) for found in reported) or done.stderr or "no warning")
    elif not re.search(r"\b(static_)?assert\(", row.example):
        return "its example asserts nothing"
    else:
        missing = [name for name in row.calls if not re.search(r"\b%s\b" % name, text)]
        return "its example does not call `%s`" % missing[0] if missing else None
    return None


def row_fault(arguments, row, path):
    if row.form == "none" or not row.example:
        good = row.note and not row.example
        return None if good else "has neither a form with an example nor a reason"
    where = arguments.root / "tests" / row.test
    if not row.test or not where.is_file():
        return "its test is not there: %s" % row.test
    if not row.token or row.token not in where.read_text():
        return "`%s` does not stand in tests/%s" % (row.token, row.test)
    if not arguments.tkc:
        return None
    return example_fault(arguments.tkc, row, path)


def missing_names(rows, names):
    peers = " ".join(row.peer for row in rows)
    for name in names:
        before = "" if name[0] == "." else r"(?<!\w)"
        if not re.search(before + re.escape(name) + r"(?!\w)", peers):
            yield name


def main():
    arguments = honesty.parse_arguments("tkc", "only", "rows")
    if arguments.rows:
        sys.path.insert(0, arguments.rows)
    sections = importlib.import_module("table").SECTIONS
    rows = [row for _, section in sections for row in section]
    names = importlib.import_module("peer_names").NAMES
    faults = ["no row has `%s`" % name for name in missing_names(rows, names)]
    rows = [row for row in rows if re.search(arguments.only or "", row.peer + row.form)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        found = pool.map(lambda item: row_fault(arguments, item[1],
                                                pathlib.Path(folder) / ("row%d.tk" % item[0])),
                         enumerate(rows))
        faults += ["%s (%s): %s" % (row.form, row.peer, fault)
                   for row, fault in zip(rows, found) if fault]
    honesty.report(faults, len(rows), "rows")


if __name__ == "__main__":
    main()
