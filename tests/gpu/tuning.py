"""`tkc tune`, libtkctune and `tkc bench` on a GPU, out of the folder that bench/bundle.py made.

    tuning.py --tkc=PATH --folder=FOLDER [--part=NAME]... [--quick] [--out=DIR] [--virtual]

The kernels are those of tuned.tk. Parts: search (cold, cached, beside Triton's autotuner), halving,
table (--why, and what the loader picks), fault (a configuration that faults among good ones), live
(libtkctune on a buffer in use), bench (`tkc bench` beside bench/harness.py). Prints what each found,
and FAILED lines; status 1 when there is one. `--virtual` is for machines without a GPU, with
tests/tools/virtual-gpu on LD_LIBRARY_PATH: what needs torch or a result is left out.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import tuning_bench

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = str(HERE / "tuned.tk")
SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (4096, 1024, 4096), (8192, 4096, 1024),
          (512, 2048, 8192)]  # M, N, K


def shape_words(m, n, k):
    return f"--shape=M={m},N={n},K={k}"


class Checks:
    """What all parts share: the compiler, a folder to work in, and the failures."""

    def __init__(self, options, work):
        self.options, self.work, self.failures = options, pathlib.Path(work), []
        self.shapes = SHAPES[:2] if options.quick or options.virtual else SHAPES
        self.assembler_calls = self.work / "calls.txt"
        self.assembler = self.work / "ptxas"
        self.results = {}

    def expect(self, is_good, what):
        if not is_good:
            self.failures.append(what)
            print(f"FAILED {what}", flush=True)

    def run(self, *words, environment=None):
        """(standard output, seconds); a bad status is a failure."""
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, cwd=self.work,
                              env={**os.environ, **(environment or {})})
        seconds = time.monotonic() - begin
        text = done.stdout + done.stderr[-2000:]
        self.expect(done.returncode == 0, f"status {done.returncode} of {' '.join(map(str, words))}\n{text}")
        return done.stdout, seconds

    def tkc(self, *words, environment=None):
        return self.run(self.options.tkc, *words, environment=environment)

    def tune(self, kernel, *words, environment=None):
        """(the shapes of the JSON, seconds)."""
        out, seconds = self.tkc("tune", SOURCE, "-k", kernel, "--json", *words, environment=environment)
        return [shape for report in json.loads(out or "[]") for shape in report["shapes"]], seconds

    def count_assembled(self):
        """Calls of the assembler since the last time this was asked."""
        calls = self.assembler_calls.read_text().splitlines() if self.assembler_calls.exists() else []
        self.assembler_calls.write_text("")
        return sum("--gpu-name" in call for call in calls)

    def make_assembler(self):
        """A ptxas that keeps a list of its calls."""
        real = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        self.assembler.write_text(f'#!/bin/sh\necho "$@" >> {self.assembler_calls}\nexec {real} "$@"\n')
        self.assembler.chmod(0o755)


def times_of(shape):
    return {c["config_id"]: c["us"] for c in shape["candidates"] if "us" in c}


def winner_of(shape):
    return shape["candidates"][shape["winner"]]


def print_table(head, rows):
    """Columns as wide as they need to be."""
    rows = [head, *rows]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
    sys.stdout.flush()


def autotune_triton(checks, configs):
    """What Triton's autotuner finds, or nothing without a GPU."""
    if checks.options.virtual:
        return [None] * len(checks.shapes), 0.0
    out, seconds = checks.run(sys.executable, HERE / "tuning_triton.py", f"--folder={checks.options.folder}",
                              f"--configs={json.dumps(configs)}", f"--shapes={json.dumps(checks.shapes)}",
                              environment={"TRITON_CACHE_DIR": str(checks.work / "triton")})
    found = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    checks.expect(len(found) == len(checks.shapes), "Triton's autotuner did not tune every shape")
    return (found + [None] * len(checks.shapes))[:len(checks.shapes)], seconds


def check_cold(checks, shapes, assembled):
    """The first run: every configuration is compiled once and timed, given up or left out."""
    checks.expect(len(shapes) == len(checks.shapes), "a shape is missing in the report")
    for shape in shapes:
        states = [c["state"] for c in shape["candidates"]]
        checks.expect(len(states) == 24, f"{len(states)} configurations, needed 24")
        for candidate in shape["candidates"]:
            checks.expect(candidate["state"] in ("timed", "given up", "left out"),
                          f"{candidate['config_id']}: {candidate['state']}: {candidate.get('why')}")
            checks.expect("cached" not in candidate, "the empty cache had a time")
    checks.expect(24 <= assembled <= 48, f"{assembled} calls of the assembler for 24 configurations")


def check_cached(checks, shapes, first, assembled):
    """The second run: nothing compiled, nothing timed, the same said."""
    for shape in shapes:
        fresh = [c["config_id"] for c in shape["candidates"] if "us" in c and not c.get("cached")]
        checks.expect(not fresh, f"timed again: {fresh}")
    checks.expect(assembled == 0, f"{assembled} calls of the assembler with all in the cache")
    checks.expect([times_of(s) for s in shapes] == [times_of(s) for s in first], "the cache has other times")
    checks.expect([s["winner"] for s in shapes] == [s["winner"] for s in first], "the cache has other winners")


def run_search(checks):
    checks.make_assembler()
    words = [*(shape_words(*shape) for shape in checks.shapes), "--cache=cache", f"--ptxas={checks.assembler}"]
    first, first_s = checks.tune("matmul", *words, "-o", "matmul.json")
    check_cold(checks, first, checks.count_assembled())
    again, again_s = checks.tune("matmul", *words, "-o", "again.json")
    check_cached(checks, again, first, checks.count_assembled())
    checks.expect((checks.work / "matmul.json").read_text() == (checks.work / "again.json").read_text(),
                  "the second run wrote another table")
    configs = [c["config"] for c in first[0]["candidates"]] if first else []
    triton, triton_s = autotune_triton(checks, configs)
    rows = []
    for size, shape, other in zip(checks.shapes, first, triton):
        best = winner_of(shape)
        timed = [c["state"] for c in shape["candidates"]]
        rate = 2 * size[0] * size[1] * size[2] / 1e6
        theirs = [f"{other['us']:.2f}", f"{rate / other['us']:.0f}", "BM{BM}_BN{BN}_BK{BK}.w{warps}s{stages}".format(
            **other["config"]), f"{other['wall_s']:.1f}"] if other else ["-"] * 4
        rows.append(["x".join(map(str, size)), f"{best['us']:.2f}", f"{rate / best['us']:.0f}", best["config_id"],
                     "/".join(str(timed.count(state)) for state in ("timed", "given up", "left out")), *theirs])
    print_table(["M x N x K", "tkc us", "TFLOP/s", "best", "timed/given up/left out", "Triton us", "TFLOP/s", "best",
                 "tuned in s"], rows)
    print(f"{len(configs)} configurations, {len(checks.shapes)} shapes: tkc tune {first_s:.1f} s with an empty cache, "
          f"{again_s:.2f} s with a full one; Triton's autotuner {triton_s:.1f} s")
    checks.results["search"] = {"first_s": first_s, "again_s": again_s, "triton_s": triton_s, "tkc": first,
                                "triton": triton}


def run_halving(checks):
    """Both searches on one shape, without a cache; a bundle, so that nothing is compiled twice."""
    checks.tkc(SOURCE, "-k", "matmul", "--target=sm_90a", "--config=all", "-o", "all.tkb")
    shape = checks.shapes[-1]
    found, rows = {}, []
    for search in ("exhaustive", "halving"):
        words = [] if search == "exhaustive" else ["--search=halving"]
        out, seconds = checks.tkc("tune", "all.tkb", "-k", "matmul", "--json", shape_words(*shape), *words)
        report = json.loads(out)[0]["shapes"][0]
        best = winner_of(report)
        found[search] = best["config_id"], times_of(report)
        launches = sum(c.get("samples", 0) for c in report["candidates"])
        rows.append([search, f"{seconds:.1f}", launches, best["config_id"], f"{best['us']:.2f}"])
    print_table(["search", "wall s", "launches", "winner", "us"], rows)
    times = found["exhaustive"][1]
    chosen = found["halving"][0]
    checks.expect(chosen in times and times[chosen] <= tuning_bench.AGREE * times[found["exhaustive"][0]],
                  f"halving chose {chosen}, which takes {times.get(chosen)} us, exhaustive {found['exhaustive'][0]}")


def why_of(checks, kernel, sizes):
    """The loader's words for a launch; from addresses, as nothing is launched."""
    import device  # pylint: disable=import-outside-toplevel
    m, n, k = sizes
    views = [device.View((i + 1) << 36, shape, (shape[1], 1), "float16")
             for i, shape in enumerate(((m, k), (k, n), (m, n)))]
    bound = kernel.bind(*views, stream=0)
    return kernel.why(*views), json.loads(kernel.describe(bound.variant))["config_id"]


def check_product(checks, kernel, sizes):
    """The tuned kernel's result beside torch's."""
    import torch  # pylint: disable=import-outside-toplevel
    m, n, k = sizes
    a, b = (torch.empty(*size, device="cuda", dtype=torch.float16).uniform_(-1, 1) for size in ((m, k), (k, n)))
    c = torch.zeros(m, n, device="cuda", dtype=torch.float16)
    kernel(a, b, c)
    wanted = a.float() @ b.float()
    worst = ((c.float() - wanted).abs() / (wanted.abs() + 1)).max().item()
    checks.expect(worst < 1e-2, f"the product of {sizes} is off by {worst:.1e}")
    del a, b, c, wanted
    torch.cuda.empty_cache()
    return f", off by {worst:.1e} at most"


def run_table(checks):
    """The table of `search`, explained, compiled in, and found by the loader."""
    import tkcrt  # pylint: disable=import-outside-toplevel
    table = checks.work / "matmul.json"
    if not table.exists():
        checks.tune("matmul", *(shape_words(*shape) for shape in checks.shapes), "-o", table)
    records = {tuple(record["key"]): record["config_id"] for record in json.loads(table.read_text())}
    missing = (640, 640, 640)
    out, _ = checks.tkc("tune", SOURCE, "-k", "matmul", f"--why={table}",
                        *(shape_words(*shape) for shape in (*checks.shapes, missing)))
    print(out, end="")
    for config in records.values():
        checks.expect(f"  {config}: " in out, f"--why does not name {config}")
    checks.expect("a launch takes the default configuration" in out, "--why has a record for a shape without one")
    _, seconds = checks.tkc(SOURCE, "-k", "matmul", "--target=sm_90a", "--config=tuned", f"--tuned={table}", "-o",
                            "tuned.tkb")
    kernel = tkcrt.Module(str(checks.work / "tuned.tkb")).kernel("matmul", device=0)
    print(f"a bundle with {len(set(records.values()))} tuned configurations, {seconds:.1f} s")
    for sizes in (*checks.shapes, missing):
        why, config = why_of(checks, kernel, sizes)
        wanted = records.get(sizes, "BM128_BN128_BK64.w8s3")
        checks.expect(config == wanted, f"the loader takes {config} for {sizes}, the table has {wanted}")
        if sizes in records:
            checks.expect(f'configuration "{wanted}": record' in why, f"tkc_why does not name the record: {why}")
        checked = "" if checks.options.virtual else check_product(checks, kernel, sizes)
        print(f"{sizes}{checked}: {' | '.join(why.split(chr(10)))}")


def run_fault(checks):
    """The first of four faults, which costs a process: the next one times the others."""
    count = 1 << 20
    words = [f"--shape=n={count},x.span={4 * count},y.span={4 * count}", "--cache=fault-cache"]
    virtual = {"TKC_VIRTUAL_FAULT": "FAR6"}
    for turn in ("timed", "from the cache"):
        shapes, _ = checks.tune("stray", *words, environment=virtual)
        candidates = shapes[0]["candidates"] if shapes else []
        print_table([f"configuration ({turn})", "state", "us", "why"], [
            [c["config_id"], c["state"], f"{c['us']:.2f}" if "us" in c else "-", c.get("why", "")] for c in candidates])
        checks.expect(len(candidates) == 4, "four configurations are needed")
        for i, candidate in enumerate(candidates):
            if i == 0:
                checks.expect(candidate["config_id"].startswith("B512_FAR6"), "the first must be the one that faults")
                is_right = candidate["state"] == "failed" and "CUDA_ERROR_" in candidate.get("why", "")
            else:
                is_right = candidate["state"] in ("timed", "given up") and candidate.get("us", 0) > 0
            checks.expect(is_right, f"{candidate['config_id']}: {candidate['state']}: {candidate.get('why')}")
            checks.expect(bool(candidate.get("cached")) == (turn != "timed"), f"{candidate['config_id']} is {turn}")


def run_live(checks):
    checks.tkc(SOURCE, "-k", "mix", "--target=sm_90a", "--config=all", "-o", "mix.tkb")
    out, _ = checks.run(sys.executable, HERE / "tuning_live.py", f"--folder={checks.options.folder}", "mix.tkb",
                        *(["--virtual"] if checks.options.virtual else []))
    print(out, end="")


def run_bench(checks):
    tuning_bench.run(checks, SOURCE)


PARTS = {"search": run_search, "halving": run_halving, "table": run_table, "fault": run_fault, "live": run_live,
         "bench": run_bench}


def run_part(checks, name):
    print(f"== {name}", flush=True)
    start = time.monotonic()
    try:
        PARTS[name](checks)
    except Exception:  # the other parts still tell something
        checks.expect(False, f"{name}: {traceback.format_exc()}")
    print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


def keep_results(checks, folder):
    """The numbers, the table and the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tuning.json").write_text(json.dumps(checks.results, indent=1))
    for path in (*checks.work.glob("*.svg"), *checks.work.glob("matmul.json")):
        shutil.copy2(path, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--out", help="where tuning.json and the plots go")
    parser.add_argument("--quick", action="store_true", help="two shapes")
    parser.add_argument("--virtual", action="store_true")
    options = parser.parse_args()
    options.tkc, options.folder = os.path.abspath(options.tkc), os.path.abspath(options.folder)
    sys.path[:0] = [options.folder]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        checks = Checks(options, work)
        for name in options.part or PARTS:
            run_part(checks, name)
        if options.out:
            keep_results(checks, pathlib.Path(options.out))
    print(f"tuning: {time.monotonic() - begin:.0f} s, {len(checks.failures)} failures")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
