"""What all checks share: loading kernels, launching with poisoned outputs, keeping score."""

import dataclasses
import json
import os

import numpy as np

import device
import numerics
import tkcrt


@dataclasses.dataclass
class Score:
    """Results of one check: how many passed, and the text of each failure."""

    name: str
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)

    def record(self, problem, what):
        """`problem` is None or empty when `what` is good."""
        if problem:
            self.failures.append(f"{what}: {problem}")
        else:
            self.passed += 1

    def note(self, text):
        self.notes.append(text)


class Bench:
    """Where the checks run: the memory, the loader's driver and the folder of the bundle."""

    def __init__(self, folder, *, dry=False, small=False, guard=256):
        self.folder, self.small, self.guard = folder, small, guard
        self.emulator = None
        if dry:
            import fake_cuda  # pylint: disable=import-outside-toplevel
            self.emulator = fake_cuda.Emulator()
        self.memory = device.HostMemory() if dry else device.CudaMemory()
        self._kernels = {}

    def path(self, spec):
        return os.path.join(self.folder, "cubins", spec.file_name)

    def kernel(self, spec):
        """The loaded kernel of a spec."""
        if spec not in self._kernels:
            self._kernels[spec] = self.module(self.path(spec)).kernel(spec.kernel)
        return self._kernels[spec]

    def module(self, path, json_path=None):
        if self.emulator is None:
            return tkcrt.Module(path, json_path)
        module = tkcrt.Module(path, json_path, resolver=self.emulator.resolver)
        self.emulator.register(module.metadata)
        return module

    def metadata(self, spec):
        """The kernel's object in the JSON."""
        with open(self.path(spec) + ".json", encoding="utf-8") as file:
            return json.load(file)["kernels"][0]

    def tensor(self, dtype, shape, **options):
        return device.Tensor(self.memory, dtype, shape, **{"guard": self.guard, **options})

    def expected(self, run):
        """(result, bound or None) that the interpreter computed, or None when there is none."""
        path = os.path.join(self.folder, "expected", run.file_name)
        if not os.path.exists(path):
            return None
        with np.load(path) as file:
            bound = numerics.unpack_bound(file["bound"]) if "bound" in file else None
            return file["out"], bound


def launch(kernel, tensors, output, scalars=(), sms=0):
    """Launches once on poisoned output. (elements, problem or None, variant)."""
    output.reset()
    bound = kernel.bind(*(tensor.view for tensor in tensors), *scalars, sms=sms)
    bound()
    elements, is_rest_untouched = output.read()
    problem = None if is_rest_untouched else "wrote outside of the output"
    if problem is None and not all(t.is_untouched() for t in tensors if t is not output):
        problem = "changed an input"
    return elements, problem, bound.variant


def evaluate_guard(expression, names):
    """An expression of the JSON (docs/metadata.md), for the operators that guards use."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return names[expression]
    operator, *operands = expression
    values = [evaluate_guard(operand, names) for operand in operands]
    if operator == "divides":
        return values[1] % values[0] == 0
    comparisons = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
                   "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
                   "and": lambda *all_: all(all_), "or": lambda *any_: any(any_),
                   "not": lambda a: not a, "add": lambda *v: sum(v),
                   "sub": lambda a, b: a - b, "mul": lambda *v: int(np.prod(v, dtype=object)),
                   "mod": lambda a, b: a % b, "div": lambda a, b: a // b}
    return comparisons[operator](*values)


def expected_variant(kernel_json, names):
    """The index of the variant that must be chosen: the first, by rank, whose guards hold."""
    variants = kernel_json["variants"]
    order = sorted(range(len(variants)), key=lambda i: (variants[i].get("default_rank", 0), i))
    for index in order:
        if all(evaluate_guard(guard, names) for guard in variants[index].get("when", [])):
            return index
    return -1


def launch_names(kernel_json, tensors, scalars=None):
    """What guards may name: addresses, strides, extents and scalars of a launch."""
    names = dict(scalars or {})
    for argument, tensor in zip(kernel_json["args"], tensors):
        view = tensor.view
        names[argument["name"] + ".ptr"] = view.data_ptr()
        for axis, (extent, stride) in enumerate(zip(view.shape, view.stride())):
            names[f"{argument['name']}.s{axis}"] = stride
            if argument["kind"] == "tensor" and isinstance(argument["extents"][axis], str):
                names[argument["extents"][axis]] = extent
    return names
