"""Each report of reported.py has a test that names it, and each test that names one is there; what is
interpreted is compiled too.

    reports.py ROOT [--list=FOLDER]      FOLDER holds another reported.py
"""

import importlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "honesty"))
import honesty

REPORT = re.compile(r"\b([\w-]+/[\w-]+#\d+)\b")
SUFFIXES = {".tk", ".test", ".mlir", ".cpp", ".py"}


def named_in(tests):
    """{report: file} of all tests, this folder left out."""
    return {report: path.relative_to(tests).as_posix()
            for path in honesty.files(tests, ["."], SUFFIXES)
            if path.relative_to(tests).parts[0] != "reports"
            for report in REPORT.findall(path.read_text())}


def faults_of(tests, tested, later):
    for what, report, test in tested:
        path = tests / test
        if not path.is_file():
            yield "%s (%s): its test is not there: %s" % (what, report, test)
        elif report not in path.read_text():
            yield "%s: tests/%s does not name %s" % (what, test, report)
    known = [report for _, report, _ in tested + later]
    yield from ("%s is listed twice" % report for report in sorted(set(known))
                if known.count(report) > 1)
    for report, path in sorted(named_in(tests).items()):
        if report not in known:
            yield "tests/%s names %s, which is not listed" % (path, report)
        elif report in [entry[1] for entry in later]:
            yield "tests/%s names %s, which is said to come later" % (path, report)


def interpreted_alone(tests, tested):
    """The kernels of run/ of which no case of the emulator is made."""
    cases = (tests / "emulator" / "cases_reports.py").read_text()
    for _, report, test in tested:
        if test.startswith("run/") and '"%s"' % pathlib.PurePath(test).stem not in cases:
            yield "tests/%s (%s) has no case in emulator/cases_reports.py" % (test, report)


def main():
    arguments = honesty.parse_arguments("list")
    sys.path.insert(0, arguments.list or str(HERE))
    listed = importlib.import_module("reported")
    faults = list(faults_of(arguments.root / "tests", listed.TESTED, listed.LATER))
    faults += interpreted_alone(arguments.root / "tests", listed.TESTED)
    honesty.report(faults, len(listed.TESTED), "reports")


main()
