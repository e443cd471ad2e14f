"""Instructions of a whole warp on matrices: `ldmatrix` and `mma`, by the fragments of the PTX ISA."""

import numpy as np

LANES = 32
LANE = np.arange(LANES)
GROUP, THREAD = LANE // 4, LANE % 4


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


def multiply(warp, instruction, active):
    """`mma`: exact products, summed in f64."""
    shape = next(part for part in instruction.parts if part[0] == "m" and part[1:2].isdigit())
    rows, _, depth = (int(number) for number in shape.replace("m", "").replace("n", " ")
                      .replace("k", " ").split())
    types = [part for part in instruction.parts if part in
             ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s32")]
    operands = [[warp.read(name) for name in registers_of(argument)]
                for argument in instruction.arguments[1:]]
    product = left(operands[0], types[1], rows, depth) @ right(operands[1], types[2], depth)
    for number, name in enumerate(registers_of(instruction.arguments[0])):
        sums = product[GROUP + 8 * (number // 2), 2 * THREAD + number % 2]
        bits = operands[2][number]
        if types[3] == "f64":
            result = (sums + bits.view(np.float64)).view(np.uint64)
        elif types[3] == "f32":
            start = bits.astype(np.uint32).view(np.float32).astype(np.float64)
            result = (sums + start).astype(np.float32).view(np.uint32).astype(np.uint64)
        else:
            whole = sums.astype(np.int64) + bits.astype(np.uint32).view(np.int32).astype(np.int64)
            result = whole.view(np.uint64) & np.uint64(0xFFFFFFFF)
        warp.write(name, result, active)
