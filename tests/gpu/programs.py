"""A generated program with its data, compiled and run: on the GPU or, without one, in the emulator."""

import json
import os
import subprocess
import tempfile

import numpy as np

import differential
from differential import compare

PACKED = compare.PACKED
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
BYTES = {"i1": 1, "bf16": 2, "e8m0": 1, **dict.fromkeys(PACKED, 0.5)}
MULTIPROCESSORS = 132


class TooMuchShared(Exception):
    """The configuration asks for more shared memory than there is."""


class Refused(Exception):
    """The compiler ends with an error."""


def bytes_of(dtype):
    """Bytes of an element."""
    known = BYTES.get(dtype)
    return known or (1 if dtype.startswith("f8") else int(dtype.lstrip("fiu")) // 8)


def packed(codes):
    """Codes of 4 bits, two a byte, the first one low."""
    return (codes[0::2] & 15) | (codes[1::2] & 15) << 4


class Program:
    """What tk-fuzz --save wrote; tests/fuzz/SaveCase.h says what that is."""

    def __init__(self, stem):
        with open(stem + ".json", encoding="utf-8") as file:
            description = json.load(file)
        self.source, self.tensors, self.scalars = stem + ".tk", description["tensors"], description["scalars"]
        self.before = np.fromfile(stem + ".before", np.uint8)
        self.after = np.fromfile(stem + ".after", np.uint8)

    def contents(self, tensor, image):
        """A tensor's bytes as they lie in memory."""
        data = image[tensor["at"] : tensor["at"] + tensor["bytes"]]
        return packed(data) if tensor["dtype"] in PACKED else data

    def room(self):
        return self.before.size + 4096 * (len(self.tensors) + 1)

    def place(self, kernel, memory):
        """Puts the arrays into memory; where each lies, and the names of the JSON's expressions."""
        names = {"sms": MULTIPROCESSORS, **{scalar["name"]: scalar["value"] for scalar in self.scalars}}
        placed = {}
        for tensor in self.tensors:
            data, name = self.contents(tensor, self.before), tensor["name"]
            address = memory.base
            if data.size:
                address = memory.add((data, np.ones(data.size, bool)), packed=tensor["dtype"] in PACKED)
            argument = next((arg for arg in kernel["args"] if arg["name"] == name), {})
            absent = tensor["absent"]
            placed[name] = (address, data.size)
            names[f"{name}.ptr"] = 0 if absent else address + int(tensor["origin"] * bytes_of(tensor["dtype"]))
            for axis, (extent, stride) in enumerate(zip(tensor["extents"], tensor["strides"])):
                for suffix, value, key in (("e", extent, "extents"), ("s", stride, "strides")):
                    value = 0 if absent else value
                    names[f"{name}.{suffix}{axis}"] = value
                    expression = argument.get(key, ())
                    if axis < len(expression) and isinstance(expression[axis], str):
                        names.setdefault(expression[axis], value)
        return placed, names

    def outputs(self, memory, placed):
        """(tensor, what it holds, what it should hold)."""
        for tensor in self.tensors:
            if not tensor["absent"] and not tensor["scratch"]:
                yield tensor, memory.bytes_at(*placed[tensor["name"]]), self.contents(tensor, self.after)


def differences(tensor, got, wanted):
    """What is wrong; NaNs are all the same."""
    if np.array_equal(got, wanted):
        return
    if tensor["dtype"] in FLOATS:
        a, b = (array.copy().view(FLOATS[tensor["dtype"]]) for array in (got, wanted))
        if (((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all():
            return
    wrong = np.nonzero(got != wanted)[0]
    yield f"{tensor['name']}: {wrong.size} of {got.size} bytes differ, the first at {wrong[0]}"


class OnDevice:
    """Runs cubins, and PTX of targets that the driver compiles."""

    def kind(self, target):
        return differential.the_driver().kind(target)

    def memory(self, room):
        return differential.DeviceMemory(room)

    def launch(self, image, variant, grid, values, memory):
        memory.upload()
        parameters = [differential.parameter_of(item, value)
                      for item, value in zip(variant["params"]["list"], values)]
        differential.the_driver().launch(image + b"\0", variant["symbol"], grid, variant["block"][0],
                                         variant["resources"]["shared_dynamic"], parameters)
        memory.download()


class InEmulator:
    """Runs PTX."""

    def kind(self, target):
        return "ptx"

    def memory(self, room):
        return compare.ptx.Memory("global", compare.ptx.GLOBAL_BASE, room)

    def launch(self, image, variant, grid, values, memory):
        resources = variant["resources"]
        program = compare.ptx.Program(image.decode(), variant["symbol"])
        machine = compare.ptx.Machine(program, memory, resources["shared_static"] + resources["shared_dynamic"], 0)
        machine.launch([compare.parameter_bits(item["type"], value)
                        for item, value in zip(variant["params"]["list"], values)], grid, variant["block"][0])


def compile_program(tkc, source, target, options, kind):
    """(the image, the kernel's description)."""
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "k." + kind)
        words = [tkc, source, "--emit=" + kind, "-o", image, "--metadata=" + image + ".json", *options]
        done = subprocess.run(words + ["--target=" + target], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            if any("TK4001" in line for line in lines):
                raise TooMuchShared
            raise Refused(f"status {done.returncode}: {lines[0][:200]}")
        with open(image, "rb") as file, open(image + ".json", encoding="utf-8") as about:
            return file.read(), json.load(about)["kernels"][0]


def run(engine, program, kernel, image):
    """Every variant that takes the data: what is wrong, and the bytes that it left."""
    problems, left, ran = [], [], 0
    for variant in kernel["variants"]:
        memory = engine.memory(program.room())
        placed, names = program.place(kernel, memory)
        if not all(compare.evaluate(condition, names) for condition in variant["when"]):
            continue
        values = [compare.evaluate(item["value"], names) for item in variant["params"]["list"]]
        grid = [int(compare.evaluate(extent, names)) for extent in variant["grid"]]
        if all(grid):
            engine.launch(image, variant, grid, values, memory)
        ran += 1
        problems += [f"{variant['id']}: {problem}" for problem in memory.faults()]
        for tensor, got, wanted in program.outputs(memory, placed):
            problems += [f"{variant['id']}: {problem}" for problem in differences(tensor, got, wanted)]
            left.append(got.tobytes())
    if not ran:
        problems.append("no variant takes these arguments")
    return problems, left
