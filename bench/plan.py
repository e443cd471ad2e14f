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
    stages: int = 0  # 0: what the compiler chooses

    @property
    def file_name(self):
        stem = os.path.splitext(os.path.basename(self.source))[0]
        parts = [stem, self.kernel, *(f"{name}-{value}" for name, value in self.defines)]
        parts += pipeline_words(self)
        parts += [flag.strip("-").replace("=", "-").replace("/", "_") for flag in self.flags]
        return ".".join(parts) + ".cubin"

    @property
    def label(self):
        """The configuration for people: vector_add BLOCK=1024 w4."""
        words = [f"{name}={value}" for name, value in self.defines if name != "T"]
        return " ".join([self.kernel, *words, *pipeline_words(self), *self.flags])

    def command(self, tkc, root, output):
        stages = [f"--stages={self.stages}"] if self.stages else []
        return [tkc, os.path.join(root, self.source), "-k", self.kernel, f"--target={TARGET}",
                *(f"-D{name}={value}" for name, value in self.defines), f"--warps={self.warps}",
                *stages, *self.flags, "-o", output]


def pipeline_words(config):
    """Warps and stages for labels and names of files."""
    return [f"w{config.warps}", *([f"s{config.stages}"] if config.stages else [])]


def make_spec(source, kernel, warps, flags=(), stages=0, **defines):
    return Spec(source, kernel, tuple(sorted(defines.items())), warps, tuple(flags), stages)


@dataclasses.dataclass(frozen=True)
class Rows:
    """An argument: the first `count` rows of a tensor."""

    tensor: str
    count: int


@dataclasses.dataclass(frozen=True)
class Launch:
    """One compiled kernel and what it is launched with."""

    spec: Spec
    args: tuple


@dataclasses.dataclass(frozen=True)
class TkcConfig:
    """A configuration of tkc for one shape: its launches, in order."""

    launches: tuple
    label: str


@dataclasses.dataclass(frozen=True)
class TritonConfig:
    """A configuration of a Triton kernel in peers.py: its constexpr parameters and warps."""

    kernel: str
    meta: tuple  # ((name, value), ...), sorted
    warps: int
    stages: int = 0

    @property
    def label(self):
        words = [f"{name}={value}" for name, value in self.meta]
        return " ".join([self.kernel, *words, *pipeline_words(self)])


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of a family, dense: written `dtype[M, N]` in configs.json."""

    name: str
    dtype: str
    shape: tuple


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of the result table: a family at one shape and dtype."""

    family: str
    dims: tuple  # ((name, value), ...)
    dtype: str
    shape_text: str
    tensors: tuple  # (Tensor, ...)
    tkc: tuple
    triton: tuple

    @property
    def sizes(self):
        return dict(self.dims)

    @property
    def name(self):
        return f"{self.family} {self.shape_text} {self.dtype}"


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


def _argument(value, names):
    """`["part", "=PARTS"]` stands for the first PARTS rows of a tensor."""
    if isinstance(value, list):
        return Rows(value[0], _value(value[1], names))
    return _value(value, names)


def _choices(table, names):
    """Every combination of a table whose values may be lists: dicts, in the order of the table."""
    lists = [value if isinstance(value, list) else [value] for value in table.values()]
    for combination in itertools.product(*lists):
        yield {key: _value(value, names) for key, value in zip(table, combination)}


def _expand(entry, parameters, names):
    """(parameters, all names) of an entry's configurations that its `when` admits."""
    numbers = {"warps": entry.get("warps", 4), "stages": entry.get("stages", 0)}
    for chosen in _choices({**parameters, **entry.get("vary", {}), **numbers}, names):
        full = {**names, **chosen}
        if evaluate(entry.get("when", "True"), full):
            yield {key: chosen[key] for key in parameters}, full


def _launches(entry, names):
    """(launches, names) of an entry's configurations; what follows (`then`) has one value each."""
    for defines, full in _expand(entry, entry.get("defines", {}), names):
        flags = [str(_value(flag, full)) for flag in entry.get("flags", [])]
        spec = make_spec(entry["source"], entry["kernel"], full["warps"], flags, full["stages"],
                         **defines)
        args = tuple(_argument(arg, full) for arg in entry["args"])
        followers = [launch for later in entry.get("then", [])
                     for launches, _ in _launches(later, full) for launch in launches]
        yield (Launch(spec, args), *followers), full


def _tkc_configs(entries, names):
    for entry in entries:
        for launches, full in _launches(entry, names):
            varied = [f"{name}={full[name]}" for name in entry.get("vary", {})]
            words = [entry.get("label", ""), launches[0].spec.label, *varied]
            yield TkcConfig(launches, " ".join(filter(None, words)))


def _triton_configs(entries, names):
    for entry in entries:
        for meta, full in _expand(entry, entry.get("meta", {}), names):
            yield TritonConfig(entry["kernel"], tuple(sorted(meta.items())), full["warps"],
                               full["stages"])


def _tensor(name, text, names):
    """`dtype[M, N]`, where `dtype` is the case's or a type's name."""
    dtype, shape = text.rstrip("]").split("[")
    return Tensor(name, names["dtype"] if dtype == "dtype" else dtype,
                  evaluate(f"({shape},)", names))


def _case(family, shape, dtype, quick, sms):
    def entries(side):
        return [e for e in family.get(side, []) if not quick or e.get("quick", True)]

    dims = tuple(zip(family["dims"], shape))
    names = {**dict(dims), "dtype": dtype, "esize": ELEMENT_BYTES[dtype], "sms": sms}
    text = str(_value(family.get("shape_text", "x".join(map(str, shape))), names))
    tensors = tuple(_tensor(name, form, names) for name, form in family["tensors"].items())
    # Two expressions may give the same number: each configuration once.
    tkc = tuple(dict.fromkeys(_tkc_configs(entries("tkc"), names)))
    triton = tuple(dict.fromkeys(_triton_configs(entries("triton"), names)))
    return Case(family["name"], dims, dtype, text, tensors, tkc, triton)


def _family_cases(family, quick, sms):
    for group in family["cases"]:
        for index, shape in enumerate(group["shapes"]):
            if quick and index not in group.get("quick_shapes", [0]):
                continue
            for dtype in group["dtypes"]:
                yield _case(family, shape, dtype, quick, sms)


def load_cases(path, quick=False, only=None, sms=132):
    """All cases of the table at `path`; `only` names families."""
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    return [case for family in table["families"] if not only or family["name"] in only
            for case in _family_cases(family, quick, sms)]


def specs_of(cases):
    """What must be compiled for the cases, each once."""
    return list(dict.fromkeys(launch.spec for case in cases for config in case.tkc
                              for launch in config.launches))
