"""What is compiled and what is timed: configs.json read and expanded.

Used on both sides: bundle.py compiles every `Spec` that a plan names, run.py finds its cubin by
`Spec.file_name`. Needs the standard library alone.
"""

import dataclasses
import itertools
import json
import os

ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}

# The chip that everything is compiled for.
TARGET = "sm_90a"


@dataclasses.dataclass(frozen=True)
class Spec:
    """One compilation: a kernel of a file with its compile-time parameters and options."""

    source: str
    kernel: str
    defines: tuple = ()  # ((name, value), ...), sorted
    warps: int = 4
    flags: tuple = ()

    @property
    def file_name(self):
        stem = os.path.splitext(os.path.basename(self.source))[0]
        parts = [stem, self.kernel, *(f"{name}-{value}" for name, value in self.defines)]
        parts.append(f"w{self.warps}")
        parts += [flag.strip("-").replace("=", "-").replace("/", "_") for flag in self.flags]
        return ".".join(parts) + ".cubin"

    @property
    def label(self):
        """The configuration for people: vector_add BLOCK=1024 w4."""
        words = [f"{name}={value}" for name, value in self.defines if name != "T"]
        return " ".join([self.kernel, *words, f"w{self.warps}", *self.flags])

    def command(self, tkc, root, output):
        return [tkc, os.path.join(root, self.source), "-k", self.kernel, f"--target={TARGET}",
                *(f"-D{name}={value}" for name, value in self.defines), f"--warps={self.warps}",
                *self.flags, "-o", output]


def make_spec(source, kernel, warps, flags=(), **defines):
    return Spec(source, kernel, tuple(sorted(defines.items())), warps, tuple(flags))


@dataclasses.dataclass(frozen=True)
class TkcConfig:
    """A configuration of tkc for one shape: what was compiled and what it is launched with."""

    spec: Spec
    args: tuple
    label: str


@dataclasses.dataclass(frozen=True)
class TritonConfig:
    """A configuration of a Triton kernel in peers.py: its constexpr parameters and warps."""

    kernel: str
    meta: tuple  # ((name, value), ...), sorted
    warps: int

    @property
    def label(self):
        words = [f"{name}={value}" for name, value in self.meta]
        return " ".join([self.kernel, *words, f"w{self.warps}"])


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of the result table: a family at one shape and dtype."""

    family: str
    dims: tuple  # ((name, value), ...)
    dtype: str
    tkc: tuple
    triton: tuple

    @property
    def sizes(self):
        return dict(self.dims)

    @property
    def shape_text(self):
        return "x".join(str(value) for _, value in self.dims)


def pow2(n):
    """The lowest power of two that is not below n."""
    return 1 << max(int(n) - 1, 0).bit_length()


def cdiv(a, b):
    return -(-a // b)


_FUNCTIONS = {"pow2": pow2, "cdiv": cdiv, "min": min, "max": max}


def evaluate(text, names):
    """An expression of configs.json."""
    return eval(text, {"__builtins__": {}}, {**_FUNCTIONS, **names})  # pylint: disable=eval-used


def _value(value, names):
    if isinstance(value, str) and value.startswith("="):
        return evaluate(value[1:], names)
    return value


def _choices(table, names):
    """Every combination of a table whose values may be lists: dicts, in the order of the table."""
    lists = [value if isinstance(value, list) else [value] for value in table.values()]
    for combination in itertools.product(*lists):
        yield {key: _value(value, names) for key, value in zip(table, combination)}


def _expand(entry, parameters, names):
    """(parameters, warps, names) of an entry's configurations that its `when` admits."""
    for chosen in _choices({**parameters, "warps": entry.get("warps", 4)}, names):
        warps = chosen["warps"]
        full = {**names, **chosen}
        if evaluate(entry.get("when", "True"), full):
            yield {k: v for k, v in chosen.items() if k != "warps"}, warps, full


def _tkc_configs(entries, names):
    for entry in entries:
        note = entry.get("label", "")
        for defines, warps, full in _expand(entry, entry.get("defines", {}), names):
            flags = [str(_value(flag, full)) for flag in entry.get("flags", [])]
            spec = make_spec(entry["source"], entry["kernel"], warps, flags, **defines)
            args = tuple(_value(arg, full) for arg in entry["args"])
            label = " ".join(filter(None, [note, spec.label]))
            yield TkcConfig(spec, args, label)


def _triton_configs(entries, names):
    for entry in entries:
        for meta, warps, _ in _expand(entry, entry.get("meta", {}), names):
            yield TritonConfig(entry["kernel"], tuple(sorted(meta.items())), warps)


def _family_cases(family, quick, sms):
    def entries(side):
        return [e for e in family.get(side, []) if not quick or e.get("quick", True)]

    for index, shape in enumerate(family["shapes"]):
        if quick and index not in family.get("quick_shapes", [0]):
            continue
        for dtype in family["dtypes"]:
            dims = tuple(zip(family["dims"], shape))
            names = {**dict(dims), "dtype": dtype, "esize": ELEMENT_BYTES[dtype], "sms": sms}
            # Two expressions may give the same number: each configuration once.
            tkc = tuple(dict.fromkeys(_tkc_configs(entries("tkc"), names)))
            triton = tuple(dict.fromkeys(_triton_configs(entries("triton"), names)))
            yield Case(family["name"], dims, dtype, tkc, triton)


def load_cases(path, quick=False, only=None, sms=132):
    """All cases of the table at `path`; `only` names families."""
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    return [case for family in table["families"] if not only or family["name"] in only
            for case in _family_cases(family, quick, sms)]


def specs_of(cases):
    """What must be compiled for the cases, each once."""
    return list(dict.fromkeys(config.spec for case in cases for config in case.tkc))
