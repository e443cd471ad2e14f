"""What the instructions of PTX compute, 32 lanes at a time.

A register is an array of 64-bit words; a value narrower than that fills the low bits. Approximate
instructions give the rounded exact result. An instruction that is not known raises NotImplementedError.
"""

import copy
import fractions
import re

import numpy as np

FLOAT_TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
ROUNDINGS = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


# Digits of the exponent and the fraction, the bias, and the codes of NaN (None: those of IEEE 754).
NARROW_FLOATS = {"f8e4m3fn": (4, 3, 7, (0x7f, 0xff)), "f8e5m2": (5, 2, 15, None),
                 "f8e4m3fnuz": (4, 3, 8, (0x80,)), "f8e5m2fnuz": (5, 2, 16, (0x80,)),
                 "e8m0": (8, 0, 127, (0xff,))}
PTX_NARROW = {"e4m3x2": "f8e4m3fn", "e5m2x2": "f8e5m2"}


def narrow_values(type_name):
    """The numbers of all codes of a float of 8 bits."""
    exponent_bits, digits, bias, nans = NARROW_FLOATS[type_name]
    codes = np.arange(256)
    if type_name == "e8m0":
        values = np.ldexp(1.0, codes - bias)
    else:
        exponent, fraction = (codes >> digits) & (2**exponent_bits - 1), codes & (2**digits - 1)
        values = np.ldexp(fraction + (exponent > 0) * 2.0**digits, np.maximum(exponent, 1) - bias - digits)
        if nans is None:
            values[exponent == 2**exponent_bits - 1] = np.inf
            values[(exponent == 2**exponent_bits - 1) & (fraction > 0)] = np.nan
        values = np.where(codes & 128, -values, values)
    if nans is not None:
        values[list(nans)] = np.nan
    return values


def narrow_codes(values, type_name):
    """Rounds to nearest even, saturates; NaN gives the code 0x7f."""
    table = narrow_values(type_name)[:128]
    finite = table[np.isfinite(table)]
    magnitude = np.minimum(np.abs(np.nan_to_num(values, nan=0.0, posinf=1e300, neginf=-1e300)), finite[-1])
    above = np.searchsorted(finite, magnitude)
    below = np.maximum(above - 1, 0)
    up, down = finite[above] - magnitude, magnitude - finite[below]
    code = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    code = np.where(np.signbit(values), code | 128, code)
    return np.where(np.isnan(values), 0x7F, code).astype(np.uint64)


def width_of(type_name):
    """The bits of a type; a predicate is a word that is zero or not."""
    return 1 if type_name == "pred" else int(re.sub(r"\D", "", type_name.replace("x2", "")))


def mask_of(width):
    return np.uint64(2**width - 1)


def is_float(type_name):
    return type_name in ("f16", "bf16", "f32", "f64")


def is_number(type_name):
    """Whether a dtype of the language is a float."""
    return is_float(type_name) or type_name in NARROW_FLOATS


def integers_of(bits, type_name):
    """The numbers, as int64 for signed types and as uint64 for others."""
    width = width_of(type_name)
    bits = bits & mask_of(width)
    if not type_name.startswith("s"):
        return bits
    sign = np.uint64(1 << (width - 1))
    return ((bits ^ sign) - sign).view(np.int64)


def extended(bits, type_name):
    """The word of a register that was loaded with a type: signed ones are extended."""
    return integers_of(bits, type_name).view(np.uint64) if type_name[0] == "s" else bits


def floats_of(bits, type_name):
    """The numbers in f64, which holds all of every type."""
    if type_name == "bf16":
        return (bits << np.uint64(16)).astype(np.uint32).view(np.float32).astype(np.float64)
    if type_name in NARROW_FLOATS:
        return narrow_values(type_name)[bits.astype(np.int64)]
    words = bits.astype(WORDS[width_of(type_name)])
    return words.view(FLOAT_TYPES[type_name]).astype(np.float64)


def bits_of_floats(values, type_name):
    """Rounds to nearest even, once."""
    if type_name == "bf16":
        return bits_of_bf16(values)
    rounded = values.astype(FLOAT_TYPES[type_name])
    return rounded.view(WORDS[width_of(type_name)]).astype(np.uint64)


def bits_of_bf16(values):
    """By way of f32 rounded to odd, so that rounding twice does no harm."""
    values = np.asarray(values, np.float64)
    single = values.astype(np.float32)
    words = single.view(np.uint32).astype(np.uint64)
    inexact = (single != values) & np.isfinite(values)
    words = words - (inexact & (np.abs(single) > np.abs(values))).astype(np.uint64)
    words = words | inexact.astype(np.uint64)
    even = (words >> np.uint64(16)) & np.uint64(1)
    rounded = (words + np.uint64(0x7FFF) + even) >> np.uint64(16)
    return np.where(np.isnan(values), np.uint64(0x7FFF), rounded & np.uint64(0xFFFF))


def execute(warp, instruction, active):
    """Runs an instruction that neither branches nor touches memory."""
    type_name = instruction.type
    if type_name in ("f16x2", "bf16x2") and instruction.opcode not in ("mov", "cvt"):
        execute_pair(warp, instruction, active)
        return
    if instruction.opcode in SPECIAL:
        SPECIAL[instruction.opcode](warp, instruction, active)
        return
    operands = [warp.read(name) for name in instruction.arguments[1:]]
    if type_name == "pred":
        result = PREDICATES[instruction.opcode](*[bits != 0 for bits in operands])
    elif is_float(type_name):
        result = float_result(instruction, operands)
    elif instruction.opcode in BITS:
        result = BITS[instruction.opcode](instruction, operands) & mask_of(width_of(type_name))
    elif instruction.opcode in INTEGERS:
        result = integer_result(instruction, operands, warp, active)
    else:
        raise NotImplementedError(instruction.text)
    warp.write(instruction.arguments[0], result, active)


def execute_pair(warp, instruction, active):
    """Two numbers in each register: the instruction for each half."""
    half = copy.copy(instruction)
    half.type = instruction.type[:-2]
    half.parts = [*instruction.parts[:-1], half.type]
    operands, results = [warp.read(name) for name in instruction.arguments[1:]], []
    names = [f"half{i}" for i in range(len(operands) + 1)]
    half.arguments = names
    for shift in (0, 16):
        for name, bits in zip(names[1:], operands):
            warp.registers[name] = (bits >> np.uint64(shift)) & mask_of(16)
        warp.registers[names[0]] = np.zeros(32, np.uint64)
        execute(warp, half, np.ones(32, bool))
        results.append(warp.registers[names[0]])
    if instruction.opcode == "setp":
        second = re.match(r"\S+ [^,|]*\|(%\w+)", re.sub(r"^@\S+ ", "", instruction.text))
        warp.write(instruction.arguments[0], results[0], active)
        if second:
            warp.write(second[1], results[1], active)
    else:
        warp.write(instruction.arguments[0], results[0] | (results[1] << np.uint64(16)), active)


def float_sum(type_name, *words):
    """The bits of the sum of two floats."""
    parts = [floats_of(np.array([word], np.uint64) & mask_of(width_of(type_name)), type_name) for word in words]
    return int(bits_of_floats(parts[0] + parts[1], type_name)[0])


def changed(instruction, old, *values):
    """The word that an atomic operation leaves."""
    type_name = instruction.type
    if instruction.opcode == "ld":
        return old
    if instruction.opcode == "st":
        return values[0]
    action = next(part for part in instruction.parts if part in CHANGES)
    if action == "cas":
        mask = 2 ** width_of(type_name) - 1
        return values[1] if old == values[0] & mask else old
    if type_name.endswith("x2"):
        half, width = type_name.removesuffix("x2"), width_of(type_name)
        return sum(float_sum(half, old >> shift, values[0] >> shift) << shift for shift in (0, width))
    if is_float(type_name):
        return float_sum(type_name, old, values[0])
    words = [np.array([word], np.uint64) & mask_of(width_of(type_name)) for word in (old, values[0])]
    return int(CHANGES[action](*[int(integers_of(word, type_name)[0]) for word in words]))


CHANGES = {
    "add": lambda a, b: a + b, "min": min, "max": max, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "exch": lambda a, b: b, "cas": None,
}


# --- Moves, shuffles and comparisons.


def move(warp, instruction, active):
    """`mov`, which also packs `{a, b}` into a register and takes it apart."""
    target, source = instruction.arguments
    width = width_of(instruction.type)
    if target.startswith("{"):
        bits, names = warp.read(source), target.strip("{}").split(",")
        each = width // len(names)
        for position, name in enumerate(names):
            piece = (bits >> np.uint64(each * position)) & mask_of(each)
            warp.write(name.strip(), piece, active)
        return
    if source.startswith("{"):
        names = source.strip("{}").split(",")
        each, bits = width // len(names), np.uint64(0)
        for position, name in enumerate(names):
            piece = warp.read(name.strip()) & mask_of(each)
            bits = bits | (piece << np.uint64(each * position))
    else:
        bits = warp.read(source) & mask_of(64 if instruction.type == "pred" else width)
    warp.write(target, bits, active)


def shuffle(warp, instruction, active):
    """`shfl.sync`, of all lanes of a warp."""
    target, source, amount = instruction.arguments[:3]
    if not active.all():
        raise NotImplementedError("shfl of a part of a warp: " + instruction.text)
    lanes, amount = np.arange(32), warp.read(amount).astype(np.int64)
    chosen = {"bfly": lanes ^ amount, "idx": amount & 31}[instruction.parts[2]]
    warp.write(target, warp.read(source)[chosen], active)


def compare(warp, instruction, active):
    """`setp`, also with a predicate that joins the result."""
    parts, type_name = instruction.parts, instruction.type
    target, *names = instruction.arguments
    left, right = (warp.read(name) for name in names[:2])
    comparison = parts[1]
    if is_float(type_name):
        left, right = floats_of(left, type_name), floats_of(right, type_name)
        nan = np.isnan(left) | np.isnan(right)
        if comparison in ("num", "nan"):
            result = nan if comparison == "nan" else ~nan
        elif comparison.endswith("u"):
            result = COMPARISONS[comparison[:-1]](left, right) | nan
        else:
            result = COMPARISONS[comparison](left, right) & ~nan
    else:
        result = COMPARISONS[comparison](integers_of(left, type_name),
                                         integers_of(right, type_name))
    if len(names) > 2:
        result = PREDICATES[parts[2]](result, warp.read(names[2]) != 0)
    warp.write(target, result, active)


COMPARISONS = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal,
}
PREDICATES = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not,
}


def select(warp, instruction, active):
    first, second, condition = (warp.read(name) for name in instruction.arguments[1:])
    chosen = np.where(condition != 0, first, second) & mask_of(width_of(instruction.type))
    warp.write(instruction.arguments[0], chosen, active)


# --- Conversions.


def convert(warp, instruction, active):
    """`cvt` between all types; two floats may be packed into one register."""
    parts, arguments = instruction.parts, instruction.arguments
    to, source = parts[-2:]
    if "relu" in parts or ("satfinite" in parts and to not in PTX_NARROW):
        raise NotImplementedError(instruction.text)
    operands = [warp.read(name) for name in arguments[1:]]
    if to == "tf32" or "tf32" in parts:  # to nearest, ties away from zero
        words = (operands[0] + np.uint64(0x1000)) & np.uint64(0xFFFFE000)
        finite = (operands[0] & np.uint64(0x7F800000)) != np.uint64(0x7F800000)
        warp.write(arguments[0], np.where(finite, words, operands[0]), active)
        return
    if to in PTX_NARROW:
        if source == "f16x2":
            operands, source = [operands[0] >> np.uint64(16), operands[0] & mask_of(16)], "f16"
        high, low = (narrow_codes(floats_of(bits & mask_of(32), source), PTX_NARROW[to])
                     for bits in operands)
        result = (high << np.uint64(8)) | low
    elif source in PTX_NARROW:
        codes = (operands[0] >> np.uint64(8), operands[0] & np.uint64(255))
        high, low = (bits_of_floats(floats_of(code & np.uint64(255), PTX_NARROW[source]), "f16")
                     for code in codes)
        result = (high << np.uint64(16)) | low
    elif to.endswith("x2"):
        high, low = (bits_of_rounded(floats_of(bits, source), to[:-2], parts) for bits in operands)
        result = (high << np.uint64(16)) | low
    elif is_float(source):
        values = floats_of(operands[0], source)
        for name, rounding in ROUNDINGS.items():
            if name in parts:
                values = rounding(values)
        if "sat" in parts:
            values = np.where(np.isnan(values), 0, np.clip(values, 0, 1))
        result = bits_of_rounded(values, to, parts) if is_float(to) else saturated(values, to)
    elif is_float(to):
        values = integers_of(operands[0], source)
        result = bits_of_rounded(values.astype(np.longdouble), to, parts)
    else:
        narrow = integers_of(operands[0], source).view(np.uint64) & mask_of(width_of(to))
        result = extended(narrow, to)
    warp.write(arguments[0], result, active)


def bits_of_rounded(values, type_name, parts):
    """Rounded once, in the direction that the instruction names."""
    nearest = bits_of_floats(values, type_name)
    if not {"rz", "rm", "rp"} & set(parts):
        return nearest
    if type_name in ("f16", "bf16"):
        if "rz" not in parts:
            raise NotImplementedError(".".join(parts))
        too_far = np.abs(floats_of(nearest, type_name)) > np.abs(values)
        return nearest - too_far.astype(np.uint64)  # the next code toward zero
    rounded = nearest.astype(WORDS[width_of(type_name)]).view(FLOAT_TYPES[type_name])
    down, up = (np.nextafter(rounded, rounded.dtype.type(end)) for end in (-np.inf, np.inf))
    wide = rounded.astype(np.longdouble)
    below = np.where(wide > values, down, rounded)  # the number that is not above, the one not below
    above = np.where(wide < values, up, rounded)
    if "rz" in parts:
        result = np.where(values < 0, above, below)
    else:
        result = below if "rm" in parts else above
    return result.view(WORDS[width_of(type_name)]).astype(np.uint64)


def saturated(values, type_name):
    """Whole floats to the nearest integers that the type has; NaN gives 0."""
    width = width_of(type_name)
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if type_name[0] == "s" \
        else (0, 2**width - 1)
    whole = [0 if np.isnan(value) else high if value >= high else low if value <= low
             else int(value) for value in values.tolist()]
    return np.array([value & (2**width - 1) for value in whole], np.uint64)


# --- Floats.


def float_result(instruction, operands):
    """Computes in f64, or wider where that could round twice."""
    opcode, type_name, parts = instruction.opcode, instruction.type, instruction.parts
    width = width_of(type_name)
    if opcode == "neg":
        return (operands[0] ^ np.uint64(1 << (width - 1))) & mask_of(width)
    if opcode == "abs":
        return operands[0] & mask_of(width - 1)
    values = [floats_of(bits, type_name) for bits in operands]
    if "f32" in parts[:-1] and opcode in ("add", "sub", "fma"):  # all but the last one are narrow
        values[-1], type_name = floats_of(operands[-1], "f32"), "f32"
    if "ftz" in parts:
        values = [flushed(value, type_name) for value in values]
    if {"rz", "rp"} & set(parts) or ("rm" in parts and type_name != "f32"):
        return bits_of_floats(directed(opcode, parts, values, type_name), type_name)
    if opcode == "fma":
        result = fused(values, type_name)
    elif opcode in ("min", "max"):
        result = extreme(opcode == "max", "NaN" in parts, *values)
    elif opcode in FLOATS:
        result = FLOATS[opcode](*values)
    else:
        raise NotImplementedError(instruction.text)
    if "sat" in parts:
        result = np.where(np.isnan(result), 0, np.clip(result, 0, 1))
    if "rm" in parts:
        rounded = result.astype(np.float32)
        result = np.where(rounded > result, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    if "ftz" in parts:
        result = flushed(result, type_name)
    return bits_of_floats(result, type_name)


EXACT = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
         "fma": lambda x, y, z: x * y + z}


def directed(opcode, parts, values, type_name):
    """Rounded toward zero, up or down, from the exact result."""
    if opcode not in EXACT or type_name not in ("f32", "f64"):
        raise NotImplementedError(".".join(parts))
    function, kind = EXACT[opcode], FLOAT_TYPES[type_name]

    def one(*numbers):
        plain = function(*numbers)
        if not np.isfinite(numbers).all():
            return plain
        exact = function(*map(fractions.Fraction, numbers))
        if exact == 0:
            return plain
        near = kind(float(exact)) if abs(exact) < 2**1024 else kind(np.copysign(np.inf, exact))
        toward = {"rp": np.inf, "rm": -np.inf, "rz": 0.0}[next(p for p in parts if p in ("rp", "rm", "rz"))]
        distance = 1 if np.isinf(near) else fractions.Fraction(float(near)) - exact
        is_past = np.isinf(near) or (distance > 0) != (toward > 0 or (toward == 0 and exact < 0))
        return np.nextafter(near, kind(toward)) if distance and is_past else near

    return np.array([float(one(*lane)) for lane in zip(*(value.tolist() for value in values))])


def flushed(values, type_name):
    tiny = np.abs(values) < float(np.finfo(FLOAT_TYPES[type_name]).tiny)
    return np.where(tiny, np.copysign(0.0, values), values)


def fused(values, type_name):
    """a * b + c, rounded once; the product of two f32 is exact in f64."""
    a, b, c = values
    plain = a * b + c
    if type_name != "f64":
        wide = a.astype(np.longdouble) * b + c
        return wide.astype(np.float64) if type_name == "f16" else wide
    exact = [fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
             if np.isfinite([x, y, z, r]).all() else 0
             for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), plain.tolist())]
    exact = [float(e) if e else r for e, r in zip(exact, plain.tolist())]
    return np.array(exact)


def extreme(greatest, propagates, left, right):
    """`min` and `max`: -0 is below +0; NaN counts only when it is asked for."""
    left_wins = np.where(left == right, np.signbit(left) != greatest, (left > right) == greatest)
    result = np.where(left_wins, left, right)
    if propagates:
        return np.where(np.isnan(left) | np.isnan(right), np.nan, result)
    return np.where(np.isnan(left), right, np.where(np.isnan(right), left, result))


FLOATS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
    "rcp": np.reciprocal, "rsqrt": lambda x: 1 / np.sqrt(x), "ex2": np.exp2, "lg2": np.log2,
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "copysign": lambda sign, magnitude: np.copysign(magnitude, sign),
}


# --- Integers.


def integer_result(instruction, operands, warp, active):
    """Operations on numbers of arbitrary size, cut to the width of the result."""
    type_name = instruction.type
    width = width_of(type_name) * (2 if "wide" in instruction.parts else 1)
    numbers = [integers_of(bits, type_name).tolist() for bits in operands]
    if instruction.opcode in ("div", "rem") and 0 in np.array(numbers[1], object)[active]:
        warp.machine.memory.report("undefined", "division by zero: " + instruction.text)
    if instruction.opcode == "mad":  # the sum has the width of the result
        numbers[2] = operands[2].tolist()
    if set(instruction.parts[1:-1]) - KNOWN_OF_INTEGERS:
        raise NotImplementedError(instruction.text)
    function = INTEGERS[instruction.opcode]
    results = [function(instruction, *lane) for lane in zip(*numbers)]
    return np.array([value & (2**width - 1) for value in results], np.uint64)


def multiply(instruction, left, right):
    shift = width_of(instruction.type) if "hi" in instruction.parts else 0
    return (left * right) >> shift


def divide(_, left, right):
    """Truncates; PTX leaves open what a division by zero gives."""
    if right == 0:
        return 0
    quotient = abs(left) // abs(right)
    return -quotient if (left < 0) != (right < 0) else quotient


def extract(instruction, bits, start, length):
    """`bfe`: a field of bits, whose highest is the sign in signed types."""
    field = ((bits & (2 ** width_of(instruction.type) - 1)) >> (start & 255)) & (2 ** (length & 255) - 1)
    signed = instruction.type[0] == "s" and length & 255
    return field - (1 << length) if signed and field >> (length - 1) else field


def insert(instruction, bits, target, start, length):
    """`bfi`: `bits` in place of a field of `target`."""
    field = ((1 << (length & 255)) - 1) << (start & 255)
    del instruction
    return (target & ~field) | ((bits << (start & 255)) & field)


def bounded(function):
    """`min` and `max`; with .relu nothing below zero."""
    return lambda instruction, a, b: max(function(a, b), 0) if "relu" in instruction.parts else function(a, b)


KNOWN_OF_INTEGERS = {"lo", "hi", "wide", "relu"}
INTEGERS = {
    "mul": multiply,
    "mad": lambda instruction, a, b, c: multiply(instruction, a, b) + c,
    "div": divide,
    "rem": lambda instruction, a, b: a - divide(instruction, a, b) * b,
    "min": bounded(min),
    "max": bounded(max),
    "abs": lambda _, a: abs(a),
    "popc": lambda _, a: bin(a).count("1"),
    "clz": lambda instruction, a: width_of(instruction.type) - a.bit_length(),
    "bfe": extract,
    "bfi": insert,
}


def shift(instruction, operands):
    """`shl` and `shr`: the amount is a u32, and by the width or more nothing stays but the sign."""
    width = width_of(instruction.type)
    amount = operands[1] & mask_of(32)
    value = integers_of(operands[0], instruction.type)
    far = amount >= np.uint64(width)
    amount = np.where(far, np.uint64(width - 1), amount)
    if instruction.opcode == "shl":
        return np.where(far, np.uint64(0), value.view(np.uint64) << amount)
    if value.dtype == np.int64:
        return (value >> amount.astype(np.int64)).view(np.uint64)
    return np.where(far, np.uint64(0), value >> amount)


def funnel(instruction, operands):
    """`shf`: shifts two words as one."""
    low, high, amount = operands
    both = (low & mask_of(32)) | (high << np.uint64(32))
    amount = np.minimum(amount & mask_of(32), np.uint64(32)) if "clamp" in instruction.parts \
        else amount & np.uint64(31)
    return (both << amount) >> np.uint64(32) if "l" in instruction.parts else both >> amount


def permute(_, operands):
    """`prmt`: four bytes chosen from eight, or their signs."""
    both = (operands[0] & mask_of(32)) | (operands[1] << np.uint64(32))
    result = np.zeros(32, np.uint64)
    for position in range(4):
        chosen = (operands[2] >> np.uint64(4 * position)) & np.uint64(15)
        byte = (both >> ((chosen & np.uint64(7)) * np.uint64(8))) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        byte = np.where(chosen & np.uint64(8), sign, byte)
        result |= byte << np.uint64(8 * position)
    return result


def reverse(instruction, operands):
    """`brev`: the bits from the other end."""
    width = width_of(instruction.type)
    return np.array([int(f"{value & 2**width - 1:0{width}b}"[::-1], 2) for value in operands[0].tolist()],
                    np.uint64)


def lookup(_, operands):
    """`lop3`: any function of three bits, by its table."""
    result = np.zeros(32, np.uint64)
    for index in range(8):
        bits = [operand if index >> (2 - place) & 1 else ~operand
                for place, operand in enumerate(operands[:3])]
        if int(operands[3][0]) >> index & 1:
            result |= bits[0] & bits[1] & bits[2]
    return result


BITS = {
    "add": lambda _, x: x[0] + x[1],
    "sub": lambda _, x: x[0] - x[1],
    "and": lambda _, x: x[0] & x[1],
    "or": lambda _, x: x[0] | x[1],
    "xor": lambda _, x: x[0] ^ x[1],
    "not": lambda _, x: ~x[0],
    "neg": lambda _, x: np.uint64(0) - x[0],
    "shl": shift,
    "shr": shift,
    "shf": funnel,
    "prmt": permute,
    "lop3": lookup,
    "brev": reverse,
}
SPECIAL = {"mov": move, "shfl": shuffle, "setp": compare, "selp": select, "cvt": convert}
