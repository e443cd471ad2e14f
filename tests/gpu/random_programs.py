"""Compares random programs on the GPU with the interpreter, bit for bit.

    random_programs.py --tkc=./tkc --fuzz=./tk-fuzz [--seed=1] [--count=1000] [--levels=N] [--failures=DIR]
    random_programs.py --tkc=./tkc STEM...          programs that were saved, for example by --failures

tk-fuzz makes the programs, their data and what the interpreter leaves in it; all are exact, so that
neither the number of warps nor the order of sums matters. Each program runs in CONFIGURATIONS
configurations of warps, stages, effort and target, in each of its variants that takes the data. The
first N are also assembled with each effort of ptxas, which must not change a bit. What fails is made
smaller and saved. --emulator runs the PTX on the CPU instead. Programs that have not begun after --limit
seconds are left out, and counted. Status 1 when anything differs.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import programs
import servers

CONFIGURATIONS = 5
WARPS, STAGES = (1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 5)
OTHER_TARGETS = ("sm_80", "sm_89")
EFFORTS = ("-O0", "-O1", "-O3")
SHOWN, SHRUNK = 25, 40  # failures that are printed, and that are made smaller
SLOW_S = 30


def configurations(seed):
    """Of program `seed`: different warps, all numbers of stages, once little effort, once another target."""
    warps = random.Random(seed).sample(WARPS, CONFIGURATIONS)
    result = []
    for turn, count in enumerate(warps):
        words = [f"--warps={count}", f"--stages={STAGES[(seed + turn) % len(STAGES)]}"]
        target = OTHER_TARGETS[seed % 2] if turn == 1 else programs.differential.NATIVE
        result.append((target, *words, "-O0") if turn == 2 else (target, *words))
    return result


def check(tkc, engine, stem, configuration):
    """(what is wrong, why it was left out) of one program in one configuration."""
    target, *options = configuration
    if target == "ptxas":
        return check_efforts(tkc, engine, stem), ""
    try:
        program = programs.Program(stem)
        image, kernel = programs.compile_program(tkc, program.source, target, options, engine.kind(target))
        return programs.run(engine, program, kernel, image)[0], ""
    except programs.TooMuchShared:
        return [], "more shared memory than there is"
    except NotImplementedError as error:  # by the emulator
        return [], f"not emulated: {str(error).split()[0]}"
    except Exception as error:  # pylint: disable=broad-except
        return [repr(error)[:300]], ""


def check_efforts(tkc, engine, stem):
    """The same PTX assembled with each effort."""
    program = programs.Program(stem)
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "k.ptx")
        try:
            image, kernel = programs.compile_program(tkc, program.source, programs.differential.NATIVE, (), "ptx")
            with open(text, "wb") as file:
                file.write(image)
            first = None
            for effort in EFFORTS:
                image, _ = programs.compile_program(tkc, text, programs.differential.NATIVE, (effort,), "cubin")
                problems, left = programs.run(engine, program, kernel, image)
                if not problems and first not in (None, left):
                    problems = ["other bits than with " + EFFORTS[0]]
                if problems:
                    return [f"{effort}: {problem}" for problem in problems]
                first = first or left
        except programs.TooMuchShared:
            pass
        except Exception as error:  # pylint: disable=broad-except
            return [repr(error)[:300]]
    return []


class Runs:
    """Programs in all their configurations, several at a time."""

    def __init__(self, options):
        self.options, self.shrunk = options, 0
        self.end = time.monotonic() + options.limit if options.limit else float("inf")
        engine = programs.InEmulator() if options.emulator else programs.OnDevice()
        self.servers = servers.Servers(check)
        self.ask = lambda stem, configuration: self.servers.ask(options.tkc, engine, stem, configuration)

    def run(self, stem, with_efforts):
        """(stem, [(configuration, what is wrong, why left out)], the stem of a smaller program or ""), or None when it
        is too late to begin."""
        begin, name = time.monotonic(), os.path.basename(stem)
        if begin > self.end:
            return None
        own = configurations(int(name) if name.isdigit() else 0)
        if with_efforts:
            own.append(("ptxas",) + EFFORTS)
        results = [(configuration, *self.ask(stem, configuration)) for configuration in own]
        failed = [(configuration, kind_of(problems)) for configuration, problems, _ in results if problems]
        if failed:  # making it smaller can take longer than the run has
            print(f"differs: seed {name} {' '.join(failed[0][0])}: {failed[0][1]}", flush=True)
        if time.monotonic() - begin > SLOW_S:
            print(f"slow: seed {name} took {time.monotonic() - begin:.0f} s", flush=True)
        if not failed or not self.options.failures or not self.options.fuzz or self.shrunk >= SHRUNK:
            return stem, results, ""
        self.shrunk += 1
        return stem, results, self.shrink(name, *failed[0])

    def shrink(self, seed, configuration, kind):
        """A smaller program that fails in the same way: saved; returns its stem."""
        kept = os.path.join(self.options.failures, seed)
        with tempfile.TemporaryDirectory() as folder:
            words = [self.options.fuzz, f"--seed={seed}", "--ask", f"--attempts={self.options.attempts}",
                     "--save=" + folder]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asker:
                for line in asker.stdout:
                    smaller = line.split()[-1]
                    if line.startswith("smallest "):
                        break
                    problems, _ = self.ask(smaller, configuration)
                    asker.stdin.write("wrong\n" if kind_of(problems) == kind else "right\n")
                    asker.stdin.flush()
                else:
                    return ""
            for ending in (".tk", ".json", ".before", ".after"):
                shutil.copyfile(smaller + ending, kept + ending)
        with open(kept + ".options", "w", encoding="utf-8") as file:
            file.write(" ".join(configuration) + "\n")
        return kept


def kind_of(problems):
    """What a smaller program must have in common with the first."""
    text = problems[0] if problems else "nothing"
    return "differs" if "bytes differ" in text else text.split("(", maxsplit=1)[0][:40]


def lines_of(stem):
    with open(stem + ".tk", encoding="utf-8") as file:
        return sum(1 for line in file if line.strip())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--fuzz", help="tk-fuzz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--levels", type=int, default=0, help="how many with each effort of ptxas")
    parser.add_argument("--workers", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--failures", help="a folder for what fails, made smaller")
    parser.add_argument("--attempts", type=int, default=400, help="to make a failure smaller")
    parser.add_argument("--limit", type=float, help="seconds after which no further program begins")
    parser.add_argument("--emulator", action="store_true")
    parser.add_argument("--stop", action="store_true", help="at the first program that differs")
    parser.add_argument("stems", nargs="*", help="programs that were saved")
    options = parser.parse_args()
    options.tkc = os.path.abspath(options.tkc)
    if options.failures:
        os.makedirs(options.failures, exist_ok=True)
    return options


class Score:
    """What came out."""

    def __init__(self):
        self.counts, self.left_out = collections.Counter(), collections.Counter()
        self.failed, self.smaller, self.shown = set(), [], 0

    def add(self, stem, results, smaller):
        for configuration, problems, reason in results:
            self.counts["left out" if reason else "wrong" if problems else "right"] += 1
            if reason:
                self.left_out[reason] += 1
            if not problems:
                continue
            self.failed.add(stem)
            self.shown += 1
            if self.shown <= SHOWN:
                print(f"FAILED seed {os.path.basename(stem)} {' '.join(configuration)}: {problems[0][:300]}", flush=True)
        if smaller:
            self.smaller.append(lines_of(smaller))
            print(f"smaller: {smaller}.tk, {self.smaller[-1]} lines", flush=True)


def run_all(options, stems):
    score, runs, late = Score(), Runs(options), 0
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        waiting = [pool.submit(runs.run, stem, number < options.levels) for number, stem in enumerate(stems)]
        for done in concurrent.futures.as_completed(waiting):
            if done.result() is None:
                late += 1
                continue
            score.add(*done.result())
            if options.stop and score.failed:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    runs.servers.stop()
    print(f"{len(stems) - late} programs, {sum(score.counts.values())} runs: {dict(score.counts)}; left out"
          f" {dict(score.left_out)}; {len(score.failed)} programs differ" + (f"; {late} not begun" if late else ""))
    if score.smaller:
        print(f"{len(score.smaller)} made smaller, to {int(np.median(score.smaller))} lines in the middle")
    return 1 if score.failed or late == len(stems) else 0


def main():
    options = parse_arguments()
    if options.stems:
        sys.exit(run_all(options, [stem.removesuffix(".tk") for stem in options.stems]))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.fuzz, f"--seed={options.seed}", f"--count={options.count}", "--front-end-only",
                        f"--threads={options.workers}", "--save=" + folder], check=True)
        sys.exit(run_all(options, [os.path.join(folder, str(options.seed + i)) for i in range(options.count)]))


if __name__ == "__main__":
    main()
