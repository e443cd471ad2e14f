"""Compiles every example for every chip, to PTX: `every_chip.py --tkc=tkc FOLDER`. Prints what fails."""

import argparse
import glob
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("folder")
    options = parser.parse_args()
    files = sorted(glob.glob(os.path.join(options.folder, "*.tk")))
    table = subprocess.run([options.tkc, "targets"], capture_output=True, text=True, check=True).stdout
    chips = [line.split()[0] for line in table.splitlines() if line.split()[1:2] == ["yes"]]
    failed = 0
    for chip in chips:
        for path in files:
            words = [options.tkc, path, "--target=" + chip, "--emit=ptx", "-o", os.devnull]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                failed += 1
                print(f"{chip} {os.path.basename(path)}: {done.stderr[:300]}")
    print(f"{len(chips)} chips, {len(files)} files, {failed} failed")
    sys.exit(1 if failed or not files or not chips else 0)


if __name__ == "__main__":
    main()
