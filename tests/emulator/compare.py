"""Compares the PTX that tkc writes with its interpreter, on the CPU.

    compare.py --tkc=build/release/bin/tkc [--seeds=3] [--only=TEXT] GROUP...

A group is a function of cases.py. Each of its cases is compiled; every variant whose `when` holds
runs in the emulator of ptx.py with the arrays where the case puts them, and must leave in them what
`tkc run` does: the same bits, or what `tkc run --bound` allows.
"""

import argparse
import dataclasses
import json
import math
import os
import subprocess
import sys
import tempfile
import zlib

import numpy as np

import cases
import cases_edges
import cases_examples
import cases_memory
import cases_ranges
import cases_reports
import cases_strips
import cases_tree
import cases_variants
import conversion_cases
import function_cases
import moves
import operations
import product_cases
import ptx

MEMORY_BYTES = 1 << 22
MULTIPROCESSORS = 4
GROUPS = {**cases.GROUPS, **cases_memory.GROUPS, **cases_edges.GROUPS, **cases_ranges.GROUPS,
          **moves.GROUPS, **conversion_cases.GROUPS, **function_cases.GROUPS, **product_cases.GROUPS,
          **cases_strips.GROUPS, **cases_reports.GROUPS, **cases_tree.GROUPS, **cases_variants.GROUPS,
          **cases_examples.GROUPS}
PACKED = ("i4", "u4", "f4e2m1")  # two elements a byte
FLOAT_SCALARS = ("f16", "f32", "f64")


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


EXPRESSIONS = {
    "add": lambda *x: sum(x), "mul": lambda *x: math.prod(x), "sub": lambda a, b: a - b,
    "min": lambda *x: min(x), "max": lambda *x: max(x), "div": truncated,
    "mod": lambda a, b: a - truncated(a, b) * b, "cdiv": lambda a, b: -(-a // b),
    "round_up": lambda a, b: -(-a // b) * b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "and": lambda *x: all(x), "or": lambda *x: any(x),
    "not": lambda a: not a, "divides": lambda a, b: b % a == 0,
    "select": lambda c, a, b: a if c else b,
}


def evaluate(expression, names):
    """The value of an expression of the JSON."""
    if isinstance(expression, list):
        values = [evaluate(operand, names) for operand in expression[1:]]
        return EXPRESSIONS[expression[0]](*values)
    return names[expression] if isinstance(expression, str) else expression


@dataclasses.dataclass
class Placed:
    """An array in the emulator's memory: its address, its rows and the bytes between them. `turned`: bytes of an element
    where the rows are the array's columns."""

    address: int
    row_bytes: int
    pitch: int
    rows: int
    turned: int = 0

    def contents(self, memory):
        whole = memory.bytes_at(self.address, self.rows * self.pitch)
        whole = whole.reshape(self.rows, self.pitch)[:, : self.row_bytes]
        if self.turned:
            whole = whole.reshape(self.rows, -1, self.turned).transpose(1, 0, 2)
        return whole.tobytes()


class Comparison:
    """One case: compiled, run by the interpreter, and run by the emulator."""

    def __init__(self, case, tkc, folder):
        self.case, self.tkc, self.folder = case, tkc, folder
        self.source = case.path or os.path.join(folder, "case.tk")
        if not case.path:
            with open(self.source, "w", encoding="utf-8") as file:
                file.write(case.source)
        self.runs, self.taken, self.expected, self.bounds = 0, {}, {}, {}
        self.text, self.kernel = self.compile()

    def file(self, name):
        return os.path.join(self.folder, name)

    def call(self, *arguments):
        done = subprocess.run([self.tkc, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"status {done.returncode} of {' '.join(arguments)}\n{done.stderr}")

    def compile(self):
        self.call(self.source, "--emit=ptx", "--target=" + self.case.target, "-o", self.file("case.ptx"),
                  "--metadata=" + self.file("case.json"), *self.case.options)
        with open(self.file("case.ptx"), encoding="utf-8") as file:
            text = file.read()
        with open(self.file("case.json"), encoding="utf-8") as file:
            return text, json.load(file)["kernels"][0]

    def argument(self, name):
        return next(arg for arg in self.kernel["args"] if arg["name"] == name.partition("[")[0])

    def dtype(self, name):
        return self.argument(name)["dtype"]

    def arrays(self):
        """The arrays that there are by name; those that a table of pointers leads to are t[0], ..."""
        result = {}
        for name, value in self.case.arrays.items():
            if isinstance(value, list):
                result.update({f"{name}[{index}]": array for index, array in enumerate(value)})
            elif value is not None:
                result[name] = value
        return result

    def interpret(self):
        """What `tkc run` leaves in each array, and how far from it engines may be."""
        arguments = [f"{name}={value}" for name, value in self.case.scalars.items()]
        for name, array in self.arrays().items():
            array = array.astype(bool) if self.dtype(name) == "i1" else array
            np.save(self.file(f"{name}.in.npy"), array)
            if "[" not in name:
                turned = ":T" if name in self.case.transposed else ""
                arguments.append(f"{name}=@" + self.file(f"{name}.in.npy") + turned)
            arguments += ["--out", f"{name}=@" + self.file(f"{name}.out.npy"),
                          "--bound", f"{name}=@" + self.file(f"{name}.bound.npy")]
        for name, value in self.case.arrays.items():
            if isinstance(value, list):
                files = [self.file(f"{name}[{index}].in.npy") for index in range(len(value))]
                arguments.append(f"{name}=[" + ", ".join("@" + file for file in files) + "]")
        self.call("run", self.source, *self.case.options, *arguments, "--no-check-init",
                  "--no-check-bounds", "--no-check-nan", "--no-check-arithmetic",
                  "--no-check-access", "--no-check-races")
        for name in self.arrays():
            self.expected[name] = np.load(self.file(f"{name}.out.npy"))
            self.bounds[name] = np.load(self.file(f"{name}.bound.npy"))

    def place(self, memory, offset, padding):
        """Puts the arrays `offset` elements off alignment, their rows `padding` elements apart;
        returns them with the names that the JSON's expressions use."""
        names, placed = {**self.case.scalars, "sms": MULTIPROCESSORS}, {}
        for name, array in self.arrays().items():
            turned = name in self.case.transposed
            array = array.T if turned else array
            gap = padding if array.ndim == 2 and "[" not in name else 0  # behind a table rows are dense
            columns = array.shape[-1] if array.ndim else 1
            row_bytes = columns * array.itemsize
            pitch = row_bytes + gap * array.itemsize
            rows = array.size // columns if columns else 0
            data = np.full((rows, pitch), 0xAB, np.uint8)
            data[:, :row_bytes] = np.frombuffer(array.tobytes(), np.uint8).reshape(rows, row_bytes)
            valid = np.broadcast_to(np.arange(pitch) < row_bytes, data.shape)
            address = memory.add((data.ravel(), valid.ravel()), offset * array.itemsize, self.dtype(name) in PACKED)
            placed[name] = Placed(address, row_bytes, pitch, rows, array.itemsize if turned else 0)
            names[f"{name}.ptr"] = address
            if "[" not in name:
                self.bind(name, array.T if turned else array, pitch // array.itemsize, names)
        for name, value in self.case.arrays.items():
            if isinstance(value, list):
                table = np.array([names[f"{name}[{index}].ptr"] for index in range(len(value))],
                                 np.uint64).view(np.uint8)
                names[f"{name}.ptr"] = memory.add((table, np.ones(table.size, bool)))
        for argument in self.kernel["args"]:
            if self.case.arrays.get(argument["name"]) is None and argument["name"] not in names:
                self.bind_absent(argument, memory, names)
        return placed, names

    def bind_absent(self, argument, memory, names):
        """An argument that is not given: a scalar's default, workspace, or null and of no extent."""
        name = argument["name"]
        if argument["kind"] == "scalar":
            names[name] = argument["default"]
            return
        if argument["access"] == "scratch":
            extents = [int(evaluate(extent, names)) for extent in argument["extents"]]
            data = np.full(math.prod(extents) * cases.zeros(argument["dtype"]).itemsize,
                           0 if argument.get("zeroed") else ptx.POISON, np.uint8)
            names[f"{name}.ptr"] = memory.add((data, np.ones(data.size, bool)))
            return
        names[f"{name}.ptr"] = 0
        for axis, pair in enumerate(zip(argument.get("extents", ()), argument.get("strides", ()))):
            names[f"{name}.e{axis}"] = names[f"{name}.s{axis}"] = 0
            for expression in pair:
                if isinstance(expression, str):
                    names.setdefault(expression, 0)

    def bind(self, name, array, pitch, names):
        """Binds the extents and strides of a tensor."""
        argument = self.argument(name)
        if argument["dtype"] in PACKED:
            array, pitch = np.repeat(array, 2, axis=-1), 2 * pitch
        strides = [stride // array.itemsize for stride in array.strides]
        if array.ndim == 2:
            strides = [1, pitch] if name in self.case.transposed else [pitch, 1]
        for axis, (extent, stride) in enumerate(zip(argument.get("extents", ()),
                                                    argument.get("strides", ()))):
            names[f"{name}.e{axis}"] = array.shape[axis]
            names[f"{name}.s{axis}"] = strides[axis]
            for expression, value in ((extent, array.shape[axis]), (stride, strides[axis])):
                if isinstance(expression, str):
                    names.setdefault(expression, value)

    def takes(self, variant, names, placement):
        """Whether a variant may run these arguments; remembers the first, which is what a launch takes."""
        good = all(evaluate(condition, names) for condition in variant["when"])
        if good:
            self.runs += 1
            self.taken.setdefault(placement, variant["id"])
        return good

    def wrong_variants(self):
        """Placements for which a launch takes another variant than the case says."""
        for placement, wanted in zip(self.case.placements, self.case.taken):
            got = self.taken.get(placement, "none")
            if f"/{wanted}/" not in got:
                yield f"offset, padding {placement}: a launch takes {got}, not {wanted}"

    def emulate(self, variant, seed, offset, padding):
        """Runs a variant, if it takes these arguments; returns what is wrong."""
        memory = ptx.Memory("global", ptx.GLOBAL_BASE, MEMORY_BYTES)
        placed, names = self.place(memory, offset, padding)
        if not self.takes(variant, names, (offset, padding)):
            return []
        resources = variant["resources"]
        program = ptx.Program(self.text, variant["symbol"])
        machine = ptx.Machine(program, memory,
                              resources["shared_static"] + resources["shared_dynamic"], seed)
        parameters = [parameter_bits(item["type"], evaluate(item["value"], names))
                      for item in variant["params"]["list"]]
        grid = [int(evaluate(extent, names)) for extent in variant["grid"]]
        try:
            machine.launch(parameters, grid, variant["block"][0], self.case.backwards)
        except (ptx.Fault, NotImplementedError) as error:
            return [repr(error)]
        problems = memory.faults()[:4]
        for name in self.arrays():
            problems += self.differences(name, placed[name].contents(memory))
        return problems

    def differences(self, name, contents):
        """What is wrong with an array; NaNs are all the same."""
        wanted, bound, dtype = self.expected[name], self.bounds[name], self.dtype(name)
        got = np.frombuffer(contents, self.arrays()[name].dtype).reshape(wanted.shape)
        if dtype == "i1":
            wrong = got != wanted.astype(np.uint8)
        elif operations.is_number(dtype):
            got, wanted = (numbers(array, dtype) for array in (got, wanted))
            both_nan = np.isnan(got) & np.isnan(wanted)
            same = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
            near = np.zeros(got.shape, bool) if self.case.exact else \
                (bound > 0) & (np.abs(got - wanted) <= bound)
            wrong = ~(both_nan | same | near)
        else:
            wrong = got != wanted
        if not wrong.any():
            return []
        first = tuple(int(indices[0]) for indices in np.nonzero(wrong))
        within = bound[first] if bound.shape == wanted.shape else 0
        return [f"{name}{list(first)} is {got[first]}, not {wanted[first]} within {within};"
                f" {int(wrong.sum())} of {wrong.size} differ"]

    def problems(self, seeds):
        """Every variant, seed and placement; yields what is wrong and where."""
        self.interpret()
        yield from self.problems_of_runs(seeds)

    def problems_of_runs(self, seeds):
        for variant in self.kernel["variants"]:
            seeds_of_variant = seeds if variant["block"][0] > ptx.LANES else seeds[:1]
            for seed in seeds_of_variant:
                for offset, padding in self.case.placements:
                    for problem in self.emulate(variant, seed, offset, padding):
                        yield (f"{variant['id']}, seed {seed}, offset {offset}, padding {padding}:"
                               f" {problem}")
        yield from self.wrong_variants()


def numbers(array, dtype):
    """The values in f64."""
    if dtype in operations.FLOAT_TYPES:
        return array.astype(np.float64)
    return operations.floats_of(array.view(f"u{array.itemsize}").astype(np.uint64), dtype)


def parameter_bits(type_name, value):
    """The bits of a parameter of the entry."""
    if type_name in FLOAT_SCALARS:
        array = np.array(float(value), operations.FLOAT_TYPES[type_name])
        return int.from_bytes(array.tobytes(), "little")
    if type_name == "bf16":
        return int(operations.bits_of_bf16(np.array([float(value)]))[0])
    return int(value) & ptx.ALL_ONES


def check(case, tkc, seeds):
    """Runs a case; returns how many runs it took and prints what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            comparison = Comparison(case, tkc, folder)
            problems = list(comparison.problems(seeds))
        except RuntimeError as error:
            print(f"FAILED {case.name}: {error}")
            return 0, False
    if not problems and not comparison.runs:
        problems = ["no variant takes these arguments"]
    if problems:
        print(f"FAILED {case.name} {' '.join(case.options)}")
        print("\n".join("  " + problem for problem in problems[:8]))
        print(case.source or case.path)
    return comparison.runs, not problems


def chosen(groups, only="", every=1):
    """[(group, number, case)]: one of so many, by a hash of their names. Each so-many-th would be the same turn
    of a loop that makes cases, and all that the other turns show would be in no test."""
    return [(group, number, case) for group in groups for number, case in enumerate(GROUPS[group]())
            if only in case.name and zlib.crc32(f"{case.name} {case.options}".encode()) % every == 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--seeds", type=int, default=2, help="how many orders of the warps")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--every", type=int, default=1, help="one of so many cases")
    parser.add_argument("groups", nargs="*", default=sorted(GROUPS))
    arguments = parser.parse_args()
    np.seterr(all="ignore")
    cases_chosen = [case for _, _, case in chosen(arguments.groups, arguments.only, arguments.every)]
    results = [check(case, arguments.tkc, range(arguments.seeds)) for case in cases_chosen]
    failures = sum(not good for _, good in results)
    runs = sum(count for count, _ in results)
    print(f"{len(results)} cases, {runs} runs, {failures} failures")
    sys.exit(1 if failures or not results else 0)


if __name__ == "__main__":
    main()
