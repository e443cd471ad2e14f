"""Element types in NumPy, exactly: storage, inputs by rule, rounding and tolerances.

bf16, which NumPy lacks, is held as its 16 bits in uint16, as `tkc run` writes it to .npy files.
"""

import zlib

import numpy as np

# Storage type and, for floats, the bits of precision, the least positive subnormal and the limit.
STORAGE = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
           "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
           "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "i1": np.uint8,
           "f8e4m3fn": np.uint8, "f8e5m2": np.uint8, "f8e4m3fnuz": np.uint8,
           "f8e5m2fnuz": np.uint8, "e8m0": np.uint8}
# Codes of floats of 8 bits that are NaN.
NARROW_NANS = {"f8e4m3fn": (0x7f, 0xff), "f8e5m2": (0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff),
               "f8e4m3fnuz": (0x80,), "f8e5m2fnuz": (0x80,), "e8m0": (0xff,)}
BLOCK = 256  # elements under one checksum
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
SUBNORMAL = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}
NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
FLOATS = tuple(PRECISION)


def element_bytes(dtype):
    return np.dtype(STORAGE[dtype]).itemsize


def round_to_bf16(values):
    """The bits of f32 values rounded to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7fff) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint32(0x7fc0), rounded).astype(np.uint16)


def from_f32(values, dtype):
    """f32 values as storage of `dtype`, rounded."""
    with np.errstate(over="ignore"):
        return round_to_bf16(values) if dtype == "bf16" else values.astype(STORAGE[dtype])


def widen(storage, dtype):
    """Storage as f32 (exact for f16, bf16 and f32), f64 or the integers themselves."""
    if dtype == "bf16":
        return (storage.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return storage.astype(np.float32) if dtype == "f16" else storage


class Inputs:
    """Numbers by rule, the same on every machine and with every NumPy: a counter hashed to 64 bits
    (splitmix64), and arithmetic on it that is exact."""

    def __init__(self, *key):
        self._state = np.uint64(zlib.crc32(repr(key).encode()) << 32)

    def bits(self, count):
        with np.errstate(over="ignore"):
            z = self._state + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
                0x9e3779b97f4a7c15)
            self._state = self._state + np.uint64((count + 1) << 20 | 1)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
            return z ^ (z >> np.uint64(31))

    def integers(self, low, high, count):
        """From low to high - 1, of i64."""
        return (self.bits(count) % np.uint64(high - low)).astype(np.int64) + low

    def normals(self, count):
        """About normal, exact in f32 and f64: the sum of four 16-bit uniforms, scaled."""
        z = self.bits(count)
        fields = [(z >> np.uint64(shift)) & np.uint64(0xffff) for shift in (0, 16, 32, 48)]
        total = np.sum([field.astype(np.int64) for field in fields], axis=0) - 2 * 0xffff
        return total.astype(np.float64) * (1.75 / 65536)


def make_addends(dtype, count, name):
    """Inputs of an addition: values over many binades, with zeros of both signs, subnormals and
    infinities among them (never opposite ones: the bits of a NaN are the hardware's choice)."""
    inputs = Inputs("add", dtype, count, name)
    if dtype not in FLOATS:
        return inputs.bits(count).astype(STORAGE[dtype])
    spread = 6 if dtype == "f16" else 30
    values = np.ldexp(inputs.normals(count), inputs.integers(-spread, spread, count))
    special = np.array([0.0, -0.0, 3 * SUBNORMAL[dtype], -5 * SUBNORMAL[dtype], np.inf])
    pick = inputs.integers(0, 100, count)
    values = np.where(pick < 5, special[pick % 5], values)
    return values if dtype == "f64" else from_f32(values.astype(np.float32), dtype)


def exact_sum(x, y, dtype):
    """x + y rounded once. For f16 and bf16 the f32 sum is rounded again, which is the same: f32 has
    at least 2p + 2 bits for their p."""
    with np.errstate(over="ignore"):
        if dtype in ("f16", "bf16"):
            return from_f32(widen(x, dtype) + widen(y, dtype), dtype)
        return x + y


def output_bound(reference, dtype, steps):
    """How far a result of type `dtype` may lie from the f64 reference when `steps` roundings of
    f32, 2^-24 each, and one of `dtype` came before: an array. What is subnormal may be flushed."""
    result = 2.0 ** -PRECISION[dtype]
    flushed = max(NORMAL["f32"], SUBNORMAL[dtype] / 2)
    return np.abs(reference) * (steps * 2.0**-24 + result) + flushed


def describe_mismatch(got, wanted, dtype, bad):
    """The first differing element, and how many there are."""
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    left, right = widen(got, dtype)[first], widen(wanted, dtype)[first]
    return f"{int(bad.sum())} of {bad.size} elements differ, first at {first}: " \
           f"{left!r}, expected {right!r}"


def pack_bound(bound):
    """Positive f64 bounds rounded up to the upper half of an f32: 16 bits each."""
    raised = np.nextafter(bound.astype(np.float32), np.float32(np.inf))
    bits = np.ascontiguousarray(raised).view(np.uint32).astype(np.uint64)
    return ((bits + np.uint64(0xffff)) >> np.uint64(16)).astype(np.uint16)


def unpack_bound(packed):
    """What pack_bound made, as f64."""
    return widen(packed, "bf16").astype(np.float64)


def canonical(storage, dtype):
    """The bits of every element, all ones for NaN."""
    storage = np.ascontiguousarray(storage)
    bits = storage.view(f"u{storage.itemsize}").copy()
    if dtype in NARROW_NANS:
        bits[np.isin(bits, NARROW_NANS[dtype])] = 0xff
    elif dtype in FLOATS:
        bits[np.isnan(widen(storage, dtype))] = -1 & (256**storage.itemsize - 1)
    return bits


def digests(storage, dtype):
    """A checksum of each block of elements."""
    bits = canonical(storage, dtype).reshape(-1)
    return np.array([zlib.crc32(bits[i : i + BLOCK].tobytes()) for i in range(0, bits.size, BLOCK)],
                    np.uint32)
