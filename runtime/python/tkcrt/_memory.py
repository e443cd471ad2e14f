"""Tensors of other libraries as addresses: torch, NumPy, CuPy, and what speaks DLPack.

`memory_of` gives (address, dtype code, extents, strides in elements or None for dense). What is
asked first is what costs least: torch's own methods, the two array interfaces, then DLPack.
"""

import ctypes

from . import _c

# What frameworks call our types: torch's and NumPy's names, NumPy's type strings.
_FOREIGN = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "e8m0",
    "|b1": "i1", "|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64", "|u1": "u8", "<u2": "u16",
    "<u4": "u32", "<u8": "u64", "<f2": "f16", "<f4": "f32", "<f8": "f64",
}
_dtype_codes = {}  # a framework's dtype object to our code, filled as they are met


def _dtype_code(dtype):
    code = _dtype_codes.get(dtype)
    if code is None:
        name = str(dtype).rsplit(".", 1)[-1]
        code = _c.DTYPES.get(_FOREIGN.get(name, name))
        if code is None:
            raise TypeError(f"no tkc dtype for {dtype}")
        _dtype_codes[dtype] = code
    return code


class Place:
    """Where a kernel's arguments must be, and what the messages call them."""

    def __init__(self, kernel, backend, device):
        self.kernel, self.device = kernel, device
        self.on_host = backend == "cpu"
        self.dlpack_types = _DLPACK_TYPES[backend]
        self.dlpack_default_stream = 1 if backend == "cuda" else 0

    def wrong(self, name, what):
        return TypeError(f"{self.kernel}: `{name}` {what}")


def memory_of(place, name, arg, stream, keep, is_written):
    """`keep` takes what must live as long as the address is used."""
    if hasattr(arg, "data_ptr"):
        return _of_torch(place, name, arg)
    if not place.on_host:
        interface = getattr(arg, "__cuda_array_interface__", None)
        if interface is not None:
            return _of_interface(place, name, arg, interface, is_written)
        if hasattr(arg, "__array_interface__"):
            raise place.wrong(name, "is in host memory")
    else:
        interface = getattr(arg, "__array_interface__", None)
        if interface is not None:
            return _of_interface(place, name, arg, interface, is_written)
    if hasattr(arg, "__dlpack__"):
        return _of_dlpack(place, name, arg, stream, keep)
    raise place.wrong(name, f"is given {type(arg).__name__}, needed a tensor")


def _of_torch(place, name, arg):
    is_on_gpu = getattr(arg, "is_cuda", not place.on_host)
    if is_on_gpu == place.on_host:
        raise place.wrong(name, "is in device memory" if place.on_host else "is in host memory")
    if is_on_gpu and place.device is not None and hasattr(arg, "get_device"):
        device = arg.get_device()
        if device != place.device:
            raise place.wrong(name, f"is on device {device}, the kernel was loaded for {place.device}")
    return arg.data_ptr(), _dtype_code(arg.dtype), arg.shape, arg.stride()


def _of_interface(place, name, arg, interface, is_written):
    """The array interface, which CUDA's has taken over: strides count bytes."""
    address, is_read_only = interface["data"]
    if is_read_only and is_written:
        raise place.wrong(name, "is written, and the array is read-only")
    typestr = interface["typestr"]
    dtype = _dtype_code(typestr if typestr in _FOREIGN else getattr(arg, "dtype", typestr))
    strides = interface.get("strides")
    if strides is not None:
        itemsize = int(typestr[2:])
        if any(s % itemsize for s in strides):
            raise place.wrong(name, f"has strides that are no multiples of {itemsize}")
        strides = tuple(s // itemsize for s in strides)
    return address, dtype, interface["shape"], strides


# DLPack, in the form without a version, which every exporter has.

_HOST, _CUDA, _CUDA_HOST, _ROCM, _ROCM_HOST, _CUDA_MANAGED = 1, 2, 3, 10, 11, 13
_DLPACK_TYPES = {"cuda": {_CUDA, _CUDA_HOST, _CUDA_MANAGED}, "hip": {_ROCM, _ROCM_HOST},
                 "cpu": {_HOST, _CUDA_HOST, _ROCM_HOST}}
_DLPACK_DTYPES = {
    (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64", (1, 8): "u8", (1, 16): "u16",
    (1, 32): "u32", (1, 64): "u64", (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16",
    (6, 8): "i1", (10, 8): "f8e4m3fn", (11, 8): "f8e4m3fnuz", (12, 8): "f8e5m2",
    (13, 8): "f8e5m2fnuz", (14, 8): "e8m0"}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object,
                                                                        ctypes.c_char_p]


def _of_dlpack(place, name, arg, stream, keep):
    device_type, device = arg.__dlpack_device__()
    if device_type not in place.dlpack_types:
        raise place.wrong(name, f"is on DLPack's device {int(device_type)}, which the kernel cannot use")
    if device_type in (_CUDA, _ROCM) and place.device is not None and device != place.device:
        raise place.wrong(name, f"is on device {device}, the kernel was loaded for {place.device}")
    if device_type in (_CUDA, _CUDA_MANAGED, _ROCM):
        capsule = arg.__dlpack__(stream=stream or place.dlpack_default_stream)
    else:
        capsule = arg.__dlpack__()
    keep.append(capsule)
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    dtype = _DLPACK_DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise place.wrong(name, f"has DLPack's type {tensor.code} of {tensor.bits} bits, "
                                "which is none of tkc's")
    rank = tensor.ndim
    strides = tuple(tensor.strides[:rank]) if tensor.strides else None
    return ((tensor.data or 0) + tensor.byte_offset, _c.DTYPES[dtype], tuple(tensor.shape[:rank]),
            strides)


def span_of(extents, strides):
    """Elements from the first to behind the last; 0 when there are none."""
    span = 1
    for axis, extent in enumerate(extents):
        if extent == 0:
            return 0
        if strides is None:
            span *= extent
        else:
            span += (extent - 1) * strides[axis]
    return max(span, 0)
