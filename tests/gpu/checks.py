"""The correctness checks on a GPU, through the real loader.

    python3 checks.py                     all of them
    python3 checks.py --small --exact     sizes and allocations for compute-sanitizer
    python3 checks.py --only=rows         one of: add, rows, loader, sass, cases
    python3 checks.py --dry-run           no GPU: the loader for real, the kernels in NumPy
    python3 checks.py --dry-run --spoil   and an error in every result, which must be found

Status 1 when a check fails (with --spoil: when an error is missed).
"""

import argparse
import json
import os
import sys
import time
import traceback

import checks_add
import checks_cases
import checks_loader
import checks_rows
import checks_sass
import support
import unpack

CHECKS = {"add": checks_add.run, "rows": checks_rows.run, "loader": checks_loader.run,
          "sass": checks_sass.run, "cases": checks_cases.run}
_SHOWN_FAILURES = 12


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="small sizes only")
    parser.add_argument("--exact", action="store_true",
                        help="no guard zones: allocations end where tensors end")
    parser.add_argument("--only", action="append", choices=CHECKS, help="may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="without a GPU")
    parser.add_argument("--spoil", action="store_true", help="with --dry-run: plant errors")
    parser.add_argument("--json", metavar="PATH", help="write the results there")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all notes")
    return parser.parse_args(words)


def run_check(name, bench):
    """The scores of one check; an exception is a failure, not the end."""
    start = time.perf_counter()
    try:
        scores = CHECKS[name](bench)
    except Exception:  # whatever it is, the other checks still tell something
        scores = [support.Score(name, failures=[traceback.format_exc()])]
    print(f"-- {name}: {time.perf_counter() - start:.1f} s", flush=True)
    return scores


def show(score, verbose, most):
    verdict = "FAILED" if score.failures else "passed"
    print(f"{verdict}  {score.name}: {score.passed} good, {len(score.failures)} bad")
    for failure in score.failures[:most]:
        print(f"    {failure}")
    if len(score.failures) > most:
        print(f"    and {len(score.failures) - most} more")
    for note in score.notes if verbose else []:
        print(f"    {note}")


def _is_spoil_found(scores):
    """Whether every result check that ran found the planted errors in all of its launches."""
    missed = [s.name for s in scores if s.passed and ("bounds" in s.name or "bit" in s.name)]
    for name in missed:
        print(f"MISSED  {name}: some planted errors were not found")
    return not missed


def main(words=None):
    options = parse_arguments(words)
    folder = os.path.dirname(os.path.abspath(__file__))
    unpack.kernels(folder)
    bench = support.Bench(folder, dry=options.dry_run, small=options.small,
                          guard=0 if options.exact else 256)
    if options.spoil:
        bench.emulator.spoil = True
    scores = []
    for name in options.only or CHECKS:
        scores += run_check(name, bench)
    if options.spoil:
        print("-- with an error planted in every result: all of them must fail")
    for score in scores:
        show(score, options.verbose, 1 if options.spoil else _SHOWN_FAILURES)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([vars(score) for score in scores], file, indent=1)
    if options.spoil:
        return 0 if _is_spoil_found(scores) else 1
    return 1 if any(score.failures for score in scores) else 0


if __name__ == "__main__":
    sys.exit(main())
