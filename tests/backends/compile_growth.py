"""Compiles programs of n and of 4n statements and compares what each phase takes.

    compile_growth.py --tkc=tkc [--limit=9] [--only=PROGRAM]

No phase may be worse than n log n in what it works on, which is 4.7 times as long for 4n; n squared is 16
times. A phase's time is the processor time of a compile that ends with it, less that of one that ends before:
--time-passes says the time of the clock, in which other processes run too. Each is the least of the runs so
far, and runs end once all is well: noise makes one run slow, not all of them.
Prints a line for each phase of each program that takes long enough to be compared.
"""

import argparse
import sys
import tempfile

from compile_times import milliseconds

RUNS, LIMIT = 6, 9
# What takes less in the larger program is not compared; what takes less in the smaller one counts as this: the
# noise of a difference is as large.
LEAST_MS, FLOOR_MS = 4, 2
STAGES = {"tk": "front end", "tkg": "passes", "llvm-dialect": "machine passes", "llvm": "translation", "ptx": "LLVM"}
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


def growth(tkc, source, count, limit):
    """Of each phase: milliseconds for n and for 4n."""
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(RUNS):
            for size in (count, 4 * count):
                for stage in STAGES:
                    took = milliseconds([tkc, source, "-k", "k", f"-DN={size}", "--target=sm_90a", "--emit=" + stage,
                                         "-o", folder + "/out"])
                    least[size, stage] = min(took, least.get((size, stage), took))
            pairs, before = {}, {count: 0, 4 * count: 0}
            for stage, name in STAGES.items():
                now = {size: least[size, stage] for size in before}
                small, large = (max(now[size] - before[size], FLOOR_MS) for size in before)
                before = now
                if large >= LEAST_MS:
                    pairs[name] = small, large
            if all(large <= limit * small for small, large in pairs.values()):
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
