"""Random cases computed by `tkc run` and, independently, by NumPy.

    oracle.py MODULE [--only REGEX] [--seed N] [--rounds N] [--keep DIR]

MODULE is a file beside this one with a function `cases(rng)` that yields Case objects: inputs, the
operations of stage `tk` between them, and what NumPy says the results are. Many cases go into one
kernel, so a case costs a millisecond or two. The seed is fixed, so that a run is always the same;
--rounds repeats with other seeds. Prints what differs and exits with 1, or how much was compared.

To add an operation, write its generator (see shape_cases.py) and list it in the module's `cases`.
"""

import argparse
import importlib
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

np.seterr(all="ignore")  # NaNs and infinities are data here


# --- Types -----------------------------------------------------------------------------------


class DType:
    """An element type: its names, how NumPy stores it, and of a float its digits and range."""

    def __init__(self, name, storage, digits=0, least=0, most=0, mlir=None):
        self.name, self.storage = name, np.dtype(storage)
        self.digits, self.least, self.most = digits, least, most
        self.mlir = mlir or name.replace("u", "i")
        self.is_float = digits > 0

    def __repr__(self):
        return self.name

    @property
    def bits(self):
        return 1 if self.name == "i1" else 8 * self.storage.itemsize


# Floats: digits of the significand, exponents of the smallest and largest normal binade.
DTYPES = {
    t.name: t
    for t in [
        DType("i1", np.bool_), DType("i8", np.int8), DType("i16", np.int16),
        DType("i32", np.int32), DType("i64", np.int64), DType("u8", np.uint8),
        DType("u16", np.uint16), DType("u32", np.uint32), DType("u64", np.uint64),
        DType("f16", np.float16, 11, -14, 15), DType("bf16", np.uint16, 8, -126, 127),
        DType("f32", np.float32, 24, -126, 127), DType("f64", np.float64, 53, -1022, 1023),
    ]
}  # fmt: skip
FLOATS = [DTYPES[n] for n in ("f16", "bf16", "f32", "f64")]
INTEGERS = [DTYPES[n] for n in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")]
ALL = FLOATS + INTEGERS + [DTYPES["i1"]]


def dtype_of(dtype):
    return DTYPES[dtype] if isinstance(dtype, str) else dtype


def unit_of(dtype, values):
    """One unit in the last place of numbers of this size."""
    magnitude = np.abs(np.asarray(values, dtype=np.longdouble))
    _, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1))
    exponent = np.clip(np.where(magnitude == 0, dtype.least, exponent - 1), dtype.least, None)
    return np.ldexp(np.longdouble(1), exponent - dtype.digits + 1)


def round_to(dtype, values):
    """Numbers rounded to nearest even, as long doubles."""
    values = np.asarray(values, dtype=np.longdouble)
    unit = unit_of(dtype, values)
    rounded = np.where(np.isfinite(values), np.rint(values / unit) * unit, values)
    limit = np.ldexp(np.longdouble(1), dtype.most + 1)
    rounded = np.where(np.abs(rounded) >= limit, np.copysign(np.inf, rounded), rounded)
    return np.copysign(rounded, values)


class Array:
    """Elements of a type, as they lie in memory."""

    def __init__(self, dtype, stored):
        self.dtype = dtype_of(dtype)
        self.stored = np.array(stored, dtype=self.dtype.storage, order="C")

    @staticmethod
    def of(dtype, values):
        """Values that are rounded (floats) or wrap (integers)."""
        dtype = dtype_of(dtype)
        if dtype.name == "bf16":
            singles = round_to(dtype, values).astype(np.float32)
            words = singles.reshape(-1).view(np.uint32) >> 16
            return Array(dtype, words.reshape(singles.shape))
        if dtype.is_float:
            return Array(dtype, round_to(dtype, values).astype(dtype.storage))
        return Array(dtype, np.asarray(values).astype(dtype.storage))

    @property
    def values(self):
        """Floats as float64, integers as they are."""
        if self.dtype.name == "bf16":
            words = self.stored.astype(np.uint32).reshape(-1) << 16
            return words.view(np.float32).astype(np.float64).reshape(self.shape)
        return self.stored.astype(np.float64) if self.dtype.is_float else self.stored

    @property
    def shape(self):
        return self.stored.shape

    @property
    def type(self):
        return tile(self.dtype, self.shape)

    def like(self, stored):
        return Array(self.dtype, stored)


def tile(dtype, shape):
    """The type of a tile in stage `tk`; of a scalar when there are no sides."""
    element = dtype_of(dtype).mlir
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if len(shape) else element


# --- Random data -----------------------------------------------------------------------------

SIDES = [1, 2, 3, 7, 16, 48, 80, 96, 192]


def random_shape(rng, rank, most=6000):
    """Sides from SIDES with at most `most` elements."""
    while True:
        shape = tuple(int(s) for s in rng.choice(SIDES, rank))
        if np.prod(shape) <= most:
            return shape


def random_array(rng, dtype, shape, kind="any"):
    """`any`: every bit pattern; `normal`: numbers around 1; `small`: whole numbers -4 to 4."""
    dtype = dtype_of(dtype)
    if dtype.name == "i1":
        return Array(dtype, rng.integers(0, 2, shape))
    if kind == "small":
        return Array.of(dtype, rng.integers(0 if dtype.name[0] == "u" else -4, 5, shape))
    if dtype.is_float and kind == "normal":
        return Array.of(dtype, rng.standard_normal(shape))
    raw = rng.integers(0, 256, (*shape, dtype.storage.itemsize), dtype=np.uint8)
    return Array(dtype, raw.view(dtype.storage)[..., 0])


# --- Cases -----------------------------------------------------------------------------------


class Exact:
    """Equal bits; any NaN equals any NaN."""

    def faults(self, got, want):
        same = got.stored == want.stored
        if got.dtype.is_float:
            same |= np.isnan(got.values) & np.isnan(want.values)
            same &= np.isnan(got.values) | (np.signbit(got.values) == np.signbit(want.values))
        return ~same


class Ulp:
    """Within so many units in the last place of the wanted real number (a long double)."""

    def __init__(self, ulps):
        self.ulps = ulps

    def faults(self, got, want):
        exact = np.asarray(want, dtype=np.longdouble)
        number = got.values.astype(np.longdouble)
        near = np.abs(number - exact) <= self.ulps * unit_of(got.dtype, exact)
        overflows = np.isinf(round_to(got.dtype, exact)) & (number == np.sign(exact) * np.inf)
        return ~(near | overflows | (number == exact) | (np.isnan(number) & np.isnan(exact)))


class Within:
    """Within a bound for each element."""

    def __init__(self, bound):
        self.bound = bound

    def faults(self, got, want):
        number, exact = got.values.astype(np.longdouble), np.asarray(want, dtype=np.longdouble)
        near = np.abs(number - exact) <= self.bound
        return ~(near | (number == exact) | (np.isnan(number) & np.isnan(exact)))


class Bounded:
    """With --bound: what other engines may give differs by no more than the interpreter's bound.

    `engines` are arrays of numbers. `idle` is a bound on the bound, so that it is of some use; a
    share of the elements (those near poles, say) may have a larger one.
    """

    wants_bounds = True

    def __init__(self, engines, idle=None, share=0.0):
        self.engines, self.idle, self.share = engines, idle, share

    def faults(self, got, _):
        number, wrong = got.values.astype(np.longdouble), np.zeros(got.shape, bool)
        for engine in self.engines:
            engine = np.asarray(engine, dtype=np.longdouble)
            same = (engine == number) | (np.isnan(engine) & np.isnan(number))
            wrong |= ~(same | (np.abs(engine - number) <= got.bounds) | np.isinf(got.bounds))
        large = np.zeros(got.shape, bool) if self.idle is None else got.bounds > self.idle
        return wrong | large if large.mean() > self.share else wrong


class Case:
    """`body` computes %r (or %r, %s, ...) from %a, %b, ..., which are the inputs as tiles. `@a` in it
    is the view of the input, `$a` the type of the view, `#a` its alias class.

    `results` are pairs (type, shape) with what is expected: an Array for Exact, else numbers.
    A case that `says` something (a regular expression) runs alone and must print it; all others
    must print nothing. `makes_nan`: NaNs that appear are no news. `writes`: the body writes inputs.
    """

    def __init__(
        self, name, inputs, body, results, rule=None, says=None, makes_nan=False, writes=False
    ):
        self.name, self.inputs, self.body, self.says = name, inputs, body, says
        self.results, self.rule = results, rule or Exact()
        self.access = "inout" if writes else "in"
        self.options = ("--no-check-nan",) if makes_nan else ()

    @staticmethod
    def exact(name, inputs, body, *wanted, **more):
        results = [(w.dtype, w.shape, w) for w in wanted]
        return Case(name, inputs, body, results, **more)


INPUT_NAMES, RESULT_NAMES = "abcdefgh", "rstuvw"


# --- Kernels ---------------------------------------------------------------------------------


class Batch:
    """Cases in one kernel, each with names of its own."""

    def __init__(self, cases):
        self.cases = cases
        self.params, self.entries, self.lines = [], [], ["%zero = arith.constant 0 : i64"]
        for number, case in enumerate(cases):
            self.add(f"c{number}_", case)

    def parameter(self, name, dtype, shape, access):
        view = f"!tk.view<{dtype.mlir}, {len(shape)}, {len(self.params)}>"
        self.params.append(f"%p_{name}: {view}")
        strides = [str(int(np.prod(shape[axis + 1 :]))) for axis in range(len(shape))]
        self.entries.append(
            f'{{name = "{name}", kind = "tensor", dtype = "{dtype.name}", access = "{access}", '
            f'extents = [{", ".join(map(str, shape))}], strides = [{", ".join(strides)}], '
            f"align = {dtype.storage.itemsize}}}"
        )
        place = f"%p_{name}[{', '.join(['%zero'] * len(shape))}] widths [{', '.join(map(str, shape))}]"
        return view, place

    def add(self, prefix, case):
        body = re.sub(r"%(?=[a-z])", f"%{prefix}", case.body.strip())
        for letter, array in zip(INPUT_NAMES, case.inputs):
            view, place = self.parameter(prefix + letter, array.dtype, array.shape, case.access)
            self.lines.append(f"%{prefix}{letter} = tk.read {place} : {view} -> {array.type}")
            body = body.replace(f"@{letter}", f"%p_{prefix}{letter}").replace(f"${letter}", view)
            body = body.replace(f"#{letter}", str(len(self.params) - 1))
        self.lines.append(body)
        for letter, (dtype, shape, _) in zip(RESULT_NAMES, case.results):
            view, place = self.parameter(prefix + letter, dtype_of(dtype), shape, "out")
            self.lines.append(
                f"tk.write %{prefix}{letter}, {place} : {tile(dtype, shape)}, {view}"
            )

    def text(self):
        contract = (
            '#tk.contract<{kernel = "k", instance = {}, args = [' + ",\n    ".join(self.entries)
            + "], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>"
        )
        body = "\n  ".join(line.replace("\n", "\n  ") for line in self.lines)
        return 'module attributes {tk.phase = "Emitted"} {\n' + (
            f"tk.kernel @k({', '.join(self.params)}) attributes {{contract = {contract}}} {{\n"
            f"  {body}\n  tk.return\n}}\n}}\n"
        )

    def run(self, folder, tkc):
        """(status, messages, results of each case)"""
        path = folder / "k.tk.mlir"
        path.write_text(self.text())
        words, wanted = [], []
        for number, case in enumerate(self.cases):
            for letter, array in zip(INPUT_NAMES, case.inputs):
                file = folder / f"c{number}_{letter}.npy"
                np.save(file, array.stored)
                words.append(f"c{number}_{letter}=@{file}")
            for letter, (dtype, _, _) in zip(RESULT_NAMES, case.results):
                file = folder / f"c{number}_{letter}.npy"
                words += ["--out", f"c{number}_{letter}=@{file}"]
                bounds = folder / f"c{number}_{letter}_bounds.npy"
                if hasattr(case.rule, "wants_bounds"):
                    words += ["--bound", f"c{number}_{letter}=@{bounds}"]
                wanted.append((number, dtype_of(dtype), file, bounds))
        run = subprocess.run(
            [tkc, "run", str(path), *self.cases[0].options, *words], capture_output=True, text=True, check=False
        )
        results = [[] for _ in self.cases]
        for number, dtype, file, bounds in wanted:
            if file.exists():
                results[number].append(Array(dtype, np.load(file)))
            if bounds.exists():
                results[number][-1].bounds = np.load(bounds)
        return run.returncode, run.stdout + run.stderr, results


# --- Comparing -------------------------------------------------------------------------------


def differences(case, results):
    """What is wrong with the results of a case, as text."""
    if len(results) != len(case.results):
        return f"gave {len(results)} of {len(case.results)} results"
    for letter, got, (_, shape, want) in zip(RESULT_NAMES, results, case.results):
        if got.shape != tuple(shape):
            return f"%{letter} has shape {got.shape}, wanted {tuple(shape)}"
        faults = case.rule.faults(got, want)
        if not faults.any():
            continue
        where = tuple(int(i) for i in np.argwhere(faults)[0])
        expected = want.values[where] if isinstance(want, Array) else np.asarray(want)[where]
        bound = f" +- {got.bounds[where]!r}" if hasattr(got, "bounds") else ""
        return (
            f"%{letter}{list(where)} is {got.values[where]!r}{bound}, wanted {expected!r}; "
            f"{int(faults.sum())} of {faults.size} elements differ"
        )
    return None


def batches_of(cases, most_cases=24, most_elements=400_000):
    batch, elements = [], 0
    for case in cases:
        size = sum(a.stored.size for a in case.inputs) + sum(np.prod(s) for _, s, _ in case.results)
        other = batch and batch[0].options != case.options
        full = len(batch) >= most_cases or elements + size > most_elements
        if batch and (case.says or other or full):
            yield batch
            batch, elements = [], 0
        batch.append(case)
        elements += size
        if case.says:
            yield batch
            batch, elements = [], 0
    if batch:
        yield batch


def check_batch(batch, tkc, keep, report):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        status, messages, results = Batch(batch).run(folder, tkc)
    if len(batch) > 1 and (status != 0 or messages):  # find out whose message it is
        for case in batch:
            check_batch([case], tkc, keep, report)
        return
    case = batch[0]
    if case.says:
        if not re.search(case.says, messages):
            report(case, f"should say {case.says!r}, said {messages!r}")
    elif status != 0 or messages:
        report(case, f"status {status}: {messages}")
        return
    for case, result in zip(batch, results):
        fault = differences(case, result)
        if fault:
            report(case, fault)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--tkc", default="tkc")
    parser.add_argument("--only", default="", help="a regular expression for names of cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", help="a folder that keeps the files of the last kernel")
    options = parser.parse_args()
    module = importlib.import_module(options.module)
    begin, count, faults = time.time(), 0, []

    def report(case, text):
        faults.append(case.name)
        print(f"{case.name}: {text}")
        if len(faults) == 1:
            print(case.body)

    for seed in range(options.seed, options.seed + options.rounds):
        cases = [
            c for c in module.cases(np.random.default_rng(seed)) if re.search(options.only, c.name)
        ]
        count += len(cases)
        for batch in batches_of(cases):
            check_batch(batch, options.tkc, options.keep, report)
    print(f"{options.module}: {count} cases, {len(faults)} wrong, {time.time() - begin:.1f} s")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    import oracle  # by the name that the modules of cases import: one class Array, not two

    sys.exit(oracle.main())
