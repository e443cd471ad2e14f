"""Tuning and compiling in one folder, killed at random: tune-kills and compile_kills.py together.

  kills.py --tune=PROGRAM [--processes=32] [--kills=20000] [--seed=1]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", required=True)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kills", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Compiling takes Python, and four times as long for a kill.
    compile_numbers = [options.processes // 4, options.kills // 4, options.seed]
    tune_numbers = [options.processes - compile_numbers[0], options.kills - compile_numbers[1],
                    options.seed]
    compiling = pathlib.Path(__file__).with_name("compile_kills.py")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        cache, sources = pathlib.Path(scratch, "cache"), pathlib.Path(scratch, "sources")
        halves = [subprocess.Popen([options.tune, cache, *map(str, tune_numbers)]),
                  subprocess.Popen([sys.executable, compiling, sources, cache,
                                    *map(str, compile_numbers)])]
        while any(half.poll() is None for half in halves) and not any(h.poll() for h in halves):
            time.sleep(0.05)
        for half in halves:
            half.kill()
            half.wait()
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(any(half.returncode for half in halves))


if __name__ == "__main__":
    main()
