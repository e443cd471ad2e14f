"""What exchanges between threads cost in each kernel: the numbers of costs.txt, which may only fall.

    costs.py --tkc=PATH --tk-opt=PATH [--ptxas=PATH] [--write]

Each kernel of examples/ and of tests/frontend/kernels/ is compiled at its default configuration, causal
attention at all it is tuned over and in its general variant too. Counted
are barriers, conversions by means (renamed registers, shuffles, through shared memory) and bank
conflicts (wavefronts of a warp beyond those that accesses of that width need) as `tk-opt
--tk-count-costs` has them, bytes of shared memory and, of the examples with an assembler of the version
that the table names, registers and spilled bytes of a thread. Registers count in eights, as they are
allotted. A number that rises fails the test; one that falls does too, so that the lower one is committed:
run with --write.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TABLE = os.path.join(HERE, "costs.txt")
COLUMNS = ("barriers", "registers", "shuffle", "shared", "conflicts", "bytes", "regs", "spills")
TITLE = ("barriers", "renamed", "shuffled", "memory", "conflicts", "bytes", "regs", "spills")
KERNEL = re.compile(r"^  tk\.kernel @(\w+)\(.*$", re.M)
TILES = {"BM": 64, "BN": 64, "BK": 32}
# Values of compile-time parameters that have no default.
GIVEN = {"fused-moe": {"TOPK": 2, **TILES}, "strides": TILES, "w4a16": TILES, "sketch": {"BLOCK": 1024},
         "topk-gating": {"E": 64, "K": 4}}
# The configurations of causal attention by the size of a head: those whose sums fit in registers.
CAUSAL = {64: (0, 1, 2), 128: (0, 1, 2), 256: (2,)}


def sources():
    """File, target, options."""
    for name in sorted(os.listdir(os.path.join(ROOT, "examples"))):
        if name.endswith(".tk"):
            for target in ("sm_90a", "sm_80"):
                yield "examples/" + name, target, []
    for size, configurations in CAUSAL.items():
        for number in configurations:
            yield ("examples/06_attention.tk", "sm_90a",
                   ["-k", "attention", f"-DD={size}", "-DCAUSAL=true", f"--config={number}"])
    folder = os.path.join("tests", "frontend", "kernels")
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        given = {"T": "f16", **GIVEN.get(name[: -len(".tk")], {})}
        if name == "sketch.tk":
            del given["T"]
        yield (f"{folder}/{name}", "sm_90a",
               ["-Wno-unused-define", *(f"-D{key}={value}" for key, value in given.items())])


def run(command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, **how)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout


def counted(tools, source, target, options):
    """Rows by kernel; the general variant of a kernel is its slow path and left out, but for those of CAUSAL."""
    block = run([tools.tkc, source, "--emit=tkg", "--target=" + target, "-o", "-", *options])
    text = run([tools.tk_opt, "--tk-count-costs", "-"], input=block)
    rows = {}
    for match in KERNEL.finditer(text):
        if match[1].endswith("__any") and "-DCAUSAL=true" not in options:
            continue
        numbers = {name: int(count) for name, count in re.findall(r"(\w+) = (\d+) : i64", match[0])}
        rows[match[1]] = [numbers.get(name, 0) for name in COLUMNS[:5]] + [numbers.get("shared_bytes", 0)]
    return rows


def assembled(tools, source, target, options):
    """Registers and spilled bytes by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "k.cubin")
        run([tools.tkc, source, "--target=" + target, "--ptxas=" + tools.ptxas, "-o", output, *options])
        with open(output + ".json", encoding="utf-8") as description:
            kernels = json.load(description)["kernels"]
    result = {}
    for variant in (variant for kernel in kernels for variant in kernel["variants"]):
        resources = variant["resources"]
        result[variant["symbol"]] = [-(-resources["registers"] // 8) * 8,
                                     resources["spill_store_bytes"] + resources["spill_load_bytes"]]
    return result


def measure(tools, with_registers):
    def rows_of(case):
        source, target, options = case
        rows = counted(tools, source, target, options)
        is_example = source.startswith("examples/") and target == "sm_90a"
        extra = assembled(tools, source, target, options) if with_registers and is_example else {}
        name = os.path.basename(source)
        return {f"{name} {kernel} {target}": row + extra.get(kernel, []) for kernel, row in rows.items()}
    table = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(rows_of, sources()):
            table.update(rows)
    return table


def read_table():
    if not os.path.exists(TABLE):
        return "", {}
    with open(TABLE, encoding="utf-8") as file:
        assembler, _, *lines = file.read().splitlines()
    rows = {}
    for line in lines:
        source, kernel, target, *numbers = line.split()
        rows[f"{source} {kernel} {target}"] = [int(number) for number in numbers]
    return assembler, rows


def write_table(assembler, rows):
    names = [name.split() for name in rows]
    widths = [max(len(name[column]) for name in names) for column in range(3)]
    def line(name, numbers):
        texts = [text.ljust(width) for text, width in zip(name, widths)]
        return " ".join(texts + [str(n).rjust(len(t) + 1) for n, t in zip(numbers, TITLE)]).rstrip()
    with open(TABLE, "w", encoding="utf-8") as file:
        print(assembler, line(("file", "kernel", "target"), TITLE), sep="\n", file=file)
        for name, numbers in zip(names, rows.values()):
            print(line(name, numbers), file=file)


def faults(written, measured):
    for name in written.keys() - measured.keys():
        yield f"{name}: is written down and no longer there"
    for name, row in measured.items():
        if name not in written:
            yield f"{name}: is not written down"
            continue
        for title, before, now in zip(TITLE, written[name], row):
            if now > before:
                yield f"{name}: {title} rose from {before} to {now}"
            elif now < before:
                yield f"{name}: {title} fell from {before} to {now}; write that down with --write"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--tk-opt", required=True)
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--write", action="store_true")
    tools = parser.parse_args()
    assembler = ""
    if tools.ptxas:
        assembler = re.search(r"V[\d.]+", run([tools.ptxas, "--version"]))[0]
    recorded, written = read_table()
    with_registers = bool(assembler) and (tools.write or recorded == "ptxas " + assembler)
    measured = measure(tools, with_registers)
    if tools.write:
        write_table("ptxas " + assembler, measured)
        return
    found = list(faults(written, measured))
    print("\n".join(found) or f"{len(measured)} kernels, no number rose")
    sys.exit(bool(found))


main()
