"""Instructions of a whole warp on matrices: `ldmatrix` and `mma`, by the fragments of the PTX ISA."""

import numpy as np

import operations

LANES = 32
LANE = np.arange(LANES)
GROUP, THREAD = LANE // 4, LANE % 4
FP8 = {"e4m3": operations.narrow_values("f8e4m3fn"), "e5m2": operations.narrow_values("f8e5m2")}
# Of a sum in f32: how many products are added at once, and the bits kept below the largest of them
# and the accumulator; docs/design/numerics.md. Of fp8, as Ada has it.
UNITS = {"f16": (16, 25), "bf16": (16, 25), "tf32": (8, 25), "e4m3": (16, 13), "e5m2": (16, 13)}


def registers_of(operand):
    return [name.strip() for name in operand.strip("{}").split(",")]


def load(warp, instruction, active):
    """`ldmatrix`: lanes 8i to 8i + 7 point at the rows of matrix i."""
    names, (base, _, offset) = registers_of(instruction.arguments[0]), \
        instruction.arguments[1].strip("[]").partition("+")
    addresses = warp.read(base) + np.uint64(int(offset or 0))
    rows = warp.machine.shared.load(addresses[: 8 * len(names)], 16, instruction, warp.index,
                                    warp.machine.time(warp))
    for number, name in enumerate(names):
        matrix = np.ascontiguousarray(rows[8 * number : 8 * number + 8])
        if "trans" in instruction.parts:
            matrix = np.ascontiguousarray(matrix.view(np.uint16).reshape(8, 8).T).view(np.uint8)
        words = np.ascontiguousarray(matrix).reshape(8, 16).view(np.uint32)
        warp.write(name, words[GROUP, THREAD].astype(np.uint64), active)


def elements(bits, dtype):
    """The numbers in one register, [lanes, elements]."""
    words = bits.astype(np.uint32)
    if dtype == "f16":
        return words.view(np.float16).reshape(LANES, 2).astype(np.float64)
    if dtype == "bf16":
        halves = words.view(np.uint16).reshape(LANES, 2).astype(np.uint32) << np.uint32(16)
        return halves.view(np.float32).astype(np.float64)
    if dtype == "tf32":
        return (words & np.uint32(0xFFFFE000)).view(np.float32).reshape(LANES, 1).astype(np.float64)
    if dtype == "f64":
        return bits.view(np.float64).reshape(LANES, 1)
    if dtype in FP8:
        return FP8[dtype][words.view(np.uint8).reshape(LANES, 4)]
    return words.view(np.int8 if dtype == "s8" else np.uint8).reshape(LANES, 4).astype(np.float64)


def left(registers, dtype, rows, depth):
    """Row `GROUP` (and 8 more), columns `THREAD * pack` on (and half the depth more)."""
    result = np.zeros((rows, depth))
    for number, bits in enumerate(registers):
        values = elements(bits, dtype)
        row = GROUP + (8 * (number % 2) if rows == 16 else 0)
        column = depth // 2 * (number // 2 if rows == 16 else 0) + THREAD * values.shape[1]
        for place in range(values.shape[1]):
            result[row, column + place] = values[:, place]
    return result


def right(registers, dtype, depth):
    result = np.zeros((depth, 8))
    for number, bits in enumerate(registers):
        values = elements(bits, dtype)
        row = depth // len(registers) * number + THREAD * values.shape[1]
        for place in range(values.shape[1]):
            result[row + place, GROUP] = values[:, place]
    return result


def added(a, b, start, dtype):
    """start + a @ b in f32: each group of products and the sum so far are cut toward zero to multiples of
    a power of two below the largest of them, and so is what they add up to."""
    size, kept = UNITS[dtype]
    finite = np.isfinite(a @ b + start)
    exponent = lambda x: np.where(x == 0, -2000, np.frexp(x)[1] - 1)
    total = start
    for first in range(0, a.shape[1], size):
        left, right = a[:, None, first : first + size], b.T[None, :, first : first + size]
        largest = np.where(left * right == 0, -2000, exponent(left) + exponent(right)).max(axis=2)
        largest = np.maximum(np.maximum(largest, exponent(total)), -1000)
        step = np.ldexp(1.0, largest - kept)
        total = np.trunc(left * right / step[:, :, None]).sum(axis=2) * step + np.trunc(total / step) * step
        digits = np.minimum(kept, 23)
        unit = np.ldexp(1.0, np.maximum(exponent(total) - digits, -149))
        total = np.trunc(total / unit) * unit
    return np.where(finite, total, a @ b + start)


def multiply(warp, instruction, active):
    """`mma`: whole numbers and f64 exactly, f32 as a matrix unit adds."""
    shape = next(part for part in instruction.parts if part[0] == "m" and part[1:2].isdigit())
    rows, _, depth = (int(number) for number in shape.replace("m", "").replace("n", " ")
                      .replace("k", " ").split())
    types = [part for part in instruction.parts if part in
             ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32", *FP8)]
    operands = [[warp.read(name) for name in registers_of(argument)]
                for argument in instruction.arguments[1:]]
    a, b = left(operands[0], types[1], rows, depth), right(operands[1], types[2], depth)
    places = [(GROUP + 8 * (number // 2), 2 * THREAD + number % 2) for number in range(len(operands[2]))]
    start = np.zeros((rows, 8))
    for place, bits in zip(places, operands[2]):
        start[place] = bits.view(np.float64) if types[3] == "f64" else bits.astype(np.uint32).view(
            np.float32 if types[3] == "f32" else np.int32)
    result = added(a, b, start, types[1]) if types[3] == "f32" else a @ b + start
    for place, name in zip(places, registers_of(instruction.arguments[0])):
        if types[3] == "f64":
            bits = result[place].view(np.uint64)
        elif types[3] == "f32":
            bits = result[place].astype(np.float32).view(np.uint32).astype(np.uint64)
        else:
            bits = result[place].astype(np.int64).view(np.uint64) & np.uint64(0xFFFFFFFF)
        warp.write(name, bits, active)
