"""Writers: one closure per parameter, made once, so that a call does no lookups by name."""

import operator
import struct

from . import _c
from ._memory import memory_of, span_of


def make_writer(place, index, arg):
    """A function of (frame, argument) that fills the frame's slot `index`."""
    if arg["kind"] == "tensor":
        return _make_tensor_writer(place, index, arg)
    if arg["kind"] == "pointer":
        return _make_pointer_writer(place, index, arg)
    return _make_scalar_writer(place.kernel, index, arg["name"], arg["dtype"])


def _make_tensor_writer(place, index, description):
    base, name = 2 * _c.MAX_RANK * index, description["name"]
    is_written = description["access"] != "in"

    def write(frame, arg):
        slot = frame.slots[index]
        if arg is None:
            slot.kind = _c.ABSENT
            return
        address, dtype, extents, strides = memory_of(place, name, arg, frame.stream, frame.keep,
                                                     is_written)
        rank = len(extents)
        if rank > _c.MAX_RANK:
            raise place.wrong(name, f"has rank {rank}, at most {_c.MAX_RANK}")
        slot.kind, slot.dtype = _c.TENSOR, dtype
        tensor = frame.memory[index]
        tensor.data, tensor.dtype, tensor.rank = address, dtype, rank
        if frame.shapes[index] == (extents, strides):
            return
        frame.shapes[index] = (extents, strides)
        if strides is None:
            strides, step = [0] * rank, 1
            for axis in range(rank - 1, -1, -1):
                strides[axis] = step
                step *= max(extents[axis], 1)
        frame.dims[base:base + rank] = extents
        frame.dims[base + _c.MAX_RANK:base + _c.MAX_RANK + rank] = strides

    return write


def _make_pointer_writer(place, index, description):
    name, dtype = description["name"], description["dtype"]
    own, size = _c.DTYPES[dtype], _c.ELEMENT_BYTES.get(dtype, 1)
    is_written = description["access"] != "in"

    def write(frame, arg):
        slot = frame.slots[index]
        if arg is None:
            slot.kind = _c.ABSENT
            return
        slot.kind = _c.POINTER
        pointer = frame.memory[index]
        if isinstance(arg, int):
            slot.dtype, pointer.data, pointer.span_bytes = own, arg, 0
            return
        address, slot.dtype, extents, strides = memory_of(place, name, arg, frame.stream,
                                                          frame.keep, is_written)
        pointer.data, pointer.span_bytes = address, span_of(extents, strides) * size

    return write


def _bf16_bits(value):
    """To nearest even from f32; NaN stays NaN."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return 0x7fc0
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def _make_scalar_writer(kernel, index, name, dtype):
    code = _c.DTYPES[dtype]
    bits_of = {"f16": lambda value: struct.unpack("<H", struct.pack("<e", value))[0],
               "bf16": _bf16_bits}.get(dtype)
    # Beyond 64 bits the mask below would lose what the loader checks.
    low, high = (-(1 << 63), (1 << 63) - 1) if dtype[0] == "i" else (0, (1 << 64) - 1)

    def write(frame, arg):
        slot, value = frame.slots[index], frame.values[index]
        if arg is None:
            slot.kind = _c.ABSENT
            return
        slot.kind, slot.dtype = _c.SCALAR, code
        if dtype == "f32":
            value.f32 = arg
        elif dtype == "f64":
            value.f64 = arg
        elif bits_of:
            value.bits = bits_of(arg)
        else:
            integer = operator.index(arg)
            if not low <= integer <= high:
                raise OverflowError(f"{kernel}: `{name}`: {arg} does not fit {dtype}")
            value.bits = integer & 0xffffffffffffffff

    return write
