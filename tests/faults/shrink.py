"""How small the programs get that show planted faults: generated ones, made smaller.

    shrink.py --tkc=PLANTED --fuzz=tk-fuzz [--faults=40] [--count=60] [--emulator] [--workers=N] [--out=DIR]

Of so many faults each, evenly out of the table, random_programs.py runs until a program differs, and makes
it smaller. Prints a line a fault, and how many lines the programs have in the middle.
"""

import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile

import table

SCRIPT = os.path.join(table.HERE, "..", "gpu", "random_programs.py")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--fuzz", required=True)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--count", type=int, default=60, help="programs that are tried for each fault")
    parser.add_argument("--attempts", type=int, default=250)
    parser.add_argument("--limit", type=int, default=200, help="seconds for one fault")
    parser.add_argument("--emulator", action="store_true")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", default=os.path.join(tempfile.gettempdir(), "tkc-shrunk"))
    return parser.parse_args()


def shrink(options, fault):
    """(fault, lines of the program that shows it or None)."""
    folder = os.path.join(options.out, str(fault.number))
    words = [sys.executable, "-W", "ignore", SCRIPT, "--tkc=" + options.tkc, "--fuzz=" + options.fuzz, "--workers=1",
             "--stop", f"--count={options.count}", f"--attempts={options.attempts}", "--failures=" + folder]
    words += ["--emulator"] if options.emulator else []
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False,
                              timeout=options.limit, env={**os.environ, "TKC_FAULT": str(fault.number)})
    except subprocess.TimeoutExpired:
        return fault, None
    found = re.search(r"^smaller: .*, (\d+) lines$", done.stdout, re.M)
    return fault, int(found[1]) if found else None


def main():
    options = parse_arguments()
    faults = table.read()
    chosen = faults[:: max(1, len(faults) // options.faults)][: options.faults]
    sizes = []
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for fault, lines in pool.map(lambda fault: shrink(options, fault), chosen):
            print(f"{fault.number:10} {lines or '-':>4} lines  {fault.name()[:100]}", flush=True)
            sizes += [lines] if lines else []
    middle = statistics.median(sizes) if sizes else 0
    print(f"{len(chosen)} planted faults, {len(sizes)} shown by {options.count} programs each, made smaller to {middle} lines"
          " in the middle")
    return 0 if sizes else 1


if __name__ == "__main__":
    sys.exit(main())
