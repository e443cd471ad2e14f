"""Compiles programs of n and of 4n statements and compares what each phase and each pass takes.

    compile_growth.py --tkc=tkc [--limit=9] [--only=PROGRAM]

Nothing may be worse than n log n in what it works on, which is 4.7 times as long for 4n; n squared is 16
times. Times are processor time by --time-passes, on one thread. Each is the least of the runs so far, and runs
end once all is well: noise makes some runs slow, not all of them.
Prints a line for each phase and pass of each program that takes long enough to be compared.
"""

import argparse
import re
import subprocess
import sys
import tempfile

RUNS, LIMIT = 20, 9
# What takes less in the larger program is not compared; what takes less in the smaller one counts as this: a clock of
# the processor has steps.
LEAST_MS, FLOOR_MS = 5, 1
LINE = re.compile(r" +[\d.]+ +([\d.]+)  ( *)(.+)")
# Statements of elements, of memory, of reductions, of products, of shapes; n copies each.
PROGRAMS = {
    "elements": (200, """kernel k[N: int](in x: f32[L], out y: f32[L]) @grid(1) {
    var v = x[0 +: 128]
    for i in static_range(N) { v = v * v + i.to(f32) }
    y[0 +: 128] = v
}
"""),
    "memory": (100, """kernel k[N: int](in x: f32[R, L], out y: f32[R, L]) @grid(1) {
    for i in static_range(N) { y[i, 0 +: 128] = x[i, 0 +: 128] + 1.0 }
}
"""),
    "reductions": (30, """kernel k[N: int](in x: f32[R, L], out y: f32[R]) @grid(1) {
    for i in static_range(N) { y[i] = sum(x[i, 0 +: 512], axis=0) }
}
"""),
    "products": (8, """kernel k[N: int](in a: f16[R, L], in b: f16[L, C], out c: f32[R, C]) @grid(1) {
    var s = zeros[f32](64, 64)
    for i in static_range(N) { s += a[0 +: 64, i * 32 +: 32] @ b[i * 32 +: 32, 0 +: 64] }
    c[0 +: 64, 0 +: 64] = s
}
"""),
    "shapes": (12, """kernel k[N: int](in a: f32[R, L], out c: f32[R, L]) @grid(1) {
    for i in static_range(N) { c[0 +: 32, i * 32 +: 32] = trans(a[0 +: 32, i * 32 +: 32]) }
}
"""),
}


def phases(tkc, source, count):
    """Milliseconds of each phase and pass; "passes: CSE" is one of a phase, all its runs together."""
    done = subprocess.run([tkc, source, "-k", "k", f"-DN={count}", "--target=sm_90a", "--emit=ptx", "-j1",
                           "--time-passes", "-o", "-"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    took, phase = {}, ""
    for match in filter(None, map(LINE.fullmatch, done.stderr.splitlines())):
        depth = len(match[2]) // 2
        phase = match[3] if depth <= 1 else phase
        name = phase if depth <= 1 else phase + ": " + match[3]
        took[name] = took.get(name, 0) + float(match[1])
    return took


def growth(tkc, source, count, limit):
    """Of each phase and pass: milliseconds for n and for 4n."""
    least = {count: {}, 4 * count: {}}
    for _ in range(RUNS):
        for size, times in least.items():
            for name, took in phases(tkc, source, size).items():
                times[name] = min(took, times.get(name, took))
        small, large = least.values()
        pairs = {name: (max(small.get(name, 0), FLOOR_MS), took) for name, took in large.items() if took >= LEAST_MS}
        if all(took <= limit * before for before, took in pairs.values()):
            break
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    bad = 0
    for program, (count, text) in PROGRAMS.items():
        if arguments.only not in program:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".tk", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            pairs = growth(arguments.tkc, file.name, count, arguments.limit)
        for name, (small, large) in pairs.items():
            is_bad = large > arguments.limit * small
            bad += is_bad
            print(f"{program}: {name}: {small:.1f} ms, {large:.1f} ms{' GROWS TOO FAST' if is_bad else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
