"""tkcrt: load and launch kernels that tkc compiled, over libtkcrt and ctypes alone.

    import tkcrt
    module = tkcrt.Module("add.cubin")              # reads add.cubin.json beside it
    add = module.kernel("vector_add", BLOCK=1024)   # loads; constants pick the instance
    add(x, y, z)                                    # checks, encodes, submits
    launch = add.bind(x, y, z)                      # checks and encodes once ...
    launch()                                        # ... and only submits

Arguments are torch tensors, anything with data_ptr(), shape, stride() and dtype, anything with
__cuda_array_interface__ (cupy, numba), plain integers as addresses where the kernel takes a raw
pointer, and numbers for scalars. An argument may be None for a scalar that has a default. A
stream is an integer, an object with cuda_stream (torch.cuda.Stream), or None: torch's current
stream when torch is in use, else the default stream. Errors are tkcrt.Error with the loader's text.
"""

import ctypes
import json
import operator
import os
import struct
import sys
import threading

__all__ = ["Bound", "Error", "Kernel", "Module", "load_library"]

_MAX_RANK = 8
_ABSENT, _TENSOR, _POINTER, _SCALAR = 0, 1, 2, 3
_NO_JIT, _NO_OVERLAP_CHECK, _PIN_VARIANT = 1, 4, 8

_DTYPES = {name: code for code, name in enumerate(
    "i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz "
    "e8m0 i4 u4 f4e2m1".split(), start=1)}

# What frameworks call them: torch's names, numpy's typestrings.
_FOREIGN = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "e8m0",
    "|b1": "i1", "|i1": "i8", "<i2": "i16", "<i4": "i32", "<i8": "i64", "|u1": "u8", "<u2": "u16",
    "<u4": "u32", "<u8": "u64", "<f2": "f16", "<f4": "f32", "<f8": "f64",
}


class _CError(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("driver_code", ctypes.c_int32), ("earlier_async", ctypes.c_uint32),
                ("text", ctypes.c_char * 496)]


class _CDriverDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("backend", ctypes.c_uint32),
                ("resolve", ctypes.c_void_p), ("alloc", ctypes.c_void_p),
                ("free", ctypes.c_void_p), ("log", ctypes.c_void_p),
                ("on_submit", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("flags", ctypes.c_uint32)]


class _CBundleDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("data", ctypes.c_char_p),
                ("bytes", ctypes.c_size_t), ("json", ctypes.c_char_p),
                ("json_bytes", ctypes.c_size_t), ("sha256", ctypes.c_char_p)]


class _CConst(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _CPrepareDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("device", ctypes.c_int32),
                ("context", ctypes.c_void_p), ("flags", ctypes.c_uint32),
                ("max_sms", ctypes.c_int32), ("config", ctypes.c_char_p),
                ("numerics_class", ctypes.c_char_p), ("table", ctypes.c_void_p),
                ("table_bytes", ctypes.c_size_t)]


class _CTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("extents", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("span_bytes", ctypes.c_uint64),
                ("dtype", ctypes.c_uint16), ("rank", ctypes.c_uint16),
                ("reserved", ctypes.c_uint32)]


class _CPointer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("span_bytes", ctypes.c_uint64)]


class _CArgUnion(ctypes.Union):
    _fields_ = [("tensor", _CTensor), ("pointer", _CPointer), ("bits", ctypes.c_uint64),
                ("f32", ctypes.c_float), ("f64", ctypes.c_double)]


class _CArg(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("dtype", ctypes.c_uint32), ("u", _CArgUnion)]


class _COptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("sms", ctypes.c_int32),
                ("variant", ctypes.c_int32), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_uint64), ("vendor_attrs", ctypes.c_void_p),
                ("num_vendor_attrs", ctypes.c_uint32)]


class _CLaunch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("variant", ctypes.c_int32),
                ("function", ctypes.c_void_p), ("grid", ctypes.c_uint32 * 3),
                ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3),
                ("dynamic_smem", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("param_bytes", ctypes.c_uint32), ("params", ctypes.c_void_p),
                ("param_capacity", ctypes.c_uint32)]


class Error(RuntimeError):
    """A refusal or failure of the loader: `status` is its name, `driver_code` CUDA's number."""

    def __init__(self, status, driver_code, text):
        super().__init__(f"{status}: {text}")
        self.status = status
        self.driver_code = driver_code
        self.text = text


class _Library:
    """libtkcrt's functions. Those that may wait let other Python threads run; encode can't."""

    def __init__(self, path):
        released, held = ctypes.CDLL(path), ctypes.PyDLL(path)
        p = ctypes.c_void_p
        out = ctypes.POINTER(ctypes.c_void_p)
        self.driver_open = self._declare(released.tkc_driver_open, p, out, p)
        self.bundle_open = self._declare(released.tkc_bundle_open, p, p, out, p)
        self.prepare = self._declare(released.tkc_kernel_prepare, p, ctypes.c_char_p, p,
                                     ctypes.c_uint32, ctypes.c_uint64, p, out, p)
        self.encode = self._declare(held.tkc_encode, p, p, ctypes.c_uint32, p, p, p)
        self.submit = self._declare(released.tkc_submit, p, p, p, p)
        self.describe = self._declare(released.tkc_describe, p, ctypes.c_int32, p, p, p)
        self.status_name = released.tkc_status_name
        self.status_name.restype = ctypes.c_char_p
        self.status_name.argtypes = [ctypes.c_int32]
        for name in ("kernel_release", "bundle_release", "driver_release"):
            function = getattr(released, "tkc_" + name)
            function.restype, function.argtypes = None, [p]
            setattr(self, name, function)

    @staticmethod
    def _declare(function, *argtypes):
        function.restype, function.argtypes = ctypes.c_int32, argtypes
        return function

    def fail(self, error):
        raise Error(self.status_name(error.status).decode(), error.driver_code,
                    error.text.decode("utf-8", "replace"))


_library = None


def load_library(path=None):
    """Opens libtkcrt: the path given, else one beside this file, else where ld.so finds it.
    Called by the first Module; to choose the path, call it before."""
    global _library
    if path is None and _library is not None:
        return _library
    if path is None:
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtkcrt.so.1")
        path = beside if os.path.exists(beside) else "libtkcrt.so.1"
    _library = _Library(path)
    return _library


def _new_error():
    error = _CError()
    error.size = ctypes.sizeof(_CError)
    return error


class _Handle:
    """Owns one tkc_* object; the C side counts references, so order does not matter."""

    def __init__(self, pointer, release):
        self.pointer, self._release = pointer, release

    def __del__(self):
        if self.pointer:
            self._release(self.pointer)
            self.pointer = None


def _open_driver(library, resolver):
    """`resolver`: the address of a `void *(*)(void *user, const char *symbol)`, for tests."""
    desc = _CDriverDesc(size=ctypes.sizeof(_CDriverDesc), backend=1, resolve=resolver)
    error, out = _new_error(), ctypes.c_void_p()
    if library.driver_open(ctypes.byref(desc), ctypes.byref(out), ctypes.byref(error)):
        library.fail(error)
    return _Handle(out.value, library.driver_release)


class Module:
    """A compiled file: an image and its JSON (`path` + ".json" unless `json_path` is given)."""

    def __init__(self, path, json_path=None, *, resolver=None):
        self.library = load_library()
        with open(path, "rb") as file:
            image = file.read()
        with open(json_path or os.fspath(path) + ".json", "rb") as file:
            text = file.read()
        self._driver = _open_driver(self.library, resolver)
        desc = _CBundleDesc(size=ctypes.sizeof(_CBundleDesc), data=image, bytes=len(image),
                            json=text, json_bytes=len(text))
        error, out = _new_error(), ctypes.c_void_p()
        if self.library.bundle_open(self._driver.pointer, ctypes.byref(desc), ctypes.byref(out),
                                    ctypes.byref(error)):
            self.library.fail(error)
        self._bundle = _Handle(out.value, self.library.bundle_release)
        self.metadata = json.loads(text)

    def kernels(self):
        """[(name, {constant: value})] of all that the file holds."""
        return [(k["kernel"], k.get("instance", {})) for k in self.metadata["kernels"]]

    def kernel(self, name, *, device=None, context=None, max_sms=0, no_jit=False, **consts):
        """Loads the kernel; constants tell instances apart (BLOCK=128, T="f16", CAUSAL=True).
        The device is torch's current one when torch is in use, else 0."""
        if device is None:
            device = _current_device()
        array = (_CConst * len(consts))()
        for slot, (key, value) in zip(array, consts.items()):
            slot.name, slot.value = key.encode(), _const_text(value).encode()
        desc = _CPrepareDesc(size=ctypes.sizeof(_CPrepareDesc), device=device, context=context,
                             flags=_NO_JIT if no_jit else 0, max_sms=max_sms)
        error, out = _new_error(), ctypes.c_void_p()
        if self.library.prepare(self._bundle.pointer, name.encode(), array, len(consts), 0,
                                ctypes.byref(desc), ctypes.byref(out), ctypes.byref(error)):
            self.library.fail(error)
        return Kernel(self, _Handle(out.value, self.library.kernel_release),
                      None if context else device)


def _const_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _torch_cuda():
    """torch.cuda, when the program has imported torch and uses its CUDA side; else None."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def _current_device():
    cuda = _torch_cuda()
    return cuda.current_device() if cuda else 0


def _stream_address(stream, device):
    if stream is None:
        cuda = _torch_cuda()
        return cuda.current_stream(device).cuda_stream if cuda else 0
    return stream if isinstance(stream, int) else stream.cuda_stream


class _Frame:
    """The C structures of one call, written anew each time and never allocated again. Views of
    their parts are kept, because each look into a ctypes structure makes a Python object."""

    def __init__(self, kinds):
        count = len(kinds)
        self.args = (_CArg * max(count, 1))()
        self.dims = (ctypes.c_int64 * (2 * _MAX_RANK * max(count, 1)))()
        self.error = _new_error()
        self.options = _COptions(size=ctypes.sizeof(_COptions))
        self.launch = _CLaunch(size=ctypes.sizeof(_CLaunch))
        self.buffer = None
        self.reserve(4096)
        self.slots = [self.args[i] for i in range(count)]
        self.values = [slot.u for slot in self.slots]
        self.memory = [None] * count   # the tensor or pointer in each slot
        self.shapes = [None] * count   # (extents, strides) that stand in dims
        base = ctypes.addressof(self.dims)
        for i, kind in enumerate(kinds):
            if kind == "tensor":
                tensor = self.memory[i] = self.values[i].tensor
                tensor.extents = base + 16 * _MAX_RANK * i
                tensor.strides = base + 16 * _MAX_RANK * i + 8 * _MAX_RANK
            elif kind == "pointer":
                self.memory[i] = self.values[i].pointer
        self.addresses = tuple(ctypes.addressof(part) for part in (
            self.args, self.options, self.launch, self.error))

    def reserve(self, room):
        """Parameter storage of at least `room` bytes, aligned to 128."""
        self.buffer = (ctypes.c_char * (room + 127))()
        self.launch.params = (ctypes.addressof(self.buffer) + 127) & ~127
        self.launch.param_capacity = room


class Kernel:
    """A loaded kernel. Calling it checks, encodes and submits; it may be shared by threads."""

    def __init__(self, module, handle, device):
        self._module, self._handle, self._device = module, handle, device
        library = module.library
        self._library, self._encode, self._submit = library, library.encode, library.submit
        self._pointer = handle.pointer
        self.info = json.loads(self.describe(-1))
        self.name = self.info["kernel"]
        self._kinds = [arg["kind"] for arg in self.info["args"]]
        self._writers = [_make_writer(self.name, i, arg) for i, arg in enumerate(self.info["args"])]
        self._local = threading.local()

    def describe(self, variant):
        """The JSON text of a variant, or of the kernel itself (-1)."""
        error, size = _new_error(), ctypes.c_size_t(0)
        self._library.describe(self._pointer, variant, None, ctypes.byref(size), None)
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        if self._library.describe(self._pointer, variant, buffer, ctypes.byref(size),
                                  ctypes.byref(error)):
            self._library.fail(error)
        return buffer.value.decode("utf-8", "replace")

    def _fill(self, frame, args, sms, variant, check_overlap):
        writers = self._writers
        if len(args) > len(writers):
            raise TypeError(f"{self.name} takes {len(writers)} arguments, {len(args)} given")
        for writer, arg in zip(writers, args):
            writer(frame, arg)
        for i in range(len(args), len(writers)):
            frame.slots[i].kind = _ABSENT
        options = frame.options
        options.flags = ((0 if check_overlap else _NO_OVERLAP_CHECK) |
                         (0 if variant is None else _PIN_VARIANT))
        options.sms = sms
        options.variant = -1 if variant is None else variant
        status = self._run_encode(frame)
        if status and frame.launch.param_bytes > frame.launch.param_capacity:
            frame.reserve(frame.launch.param_bytes)
            status = self._run_encode(frame)
        if status:
            self._library.fail(frame.error)

    def _run_encode(self, frame):
        args, options, launch, error = frame.addresses
        return self._encode(self._pointer, args, len(self._writers), options, launch, error)

    def __call__(self, *args, stream=None, sms=0, variant=None, check_overlap=True):
        try:
            frame = self._local.frame
        except AttributeError:
            frame = self._local.frame = _Frame(self._kinds)
        self._fill(frame, args, sms, variant, check_overlap)
        if self._submit(self._pointer, frame.addresses[2], _stream_address(stream, self._device),
                        frame.addresses[3]):
            self._library.fail(frame.error)

    def bind(self, *args, stream=None, sms=0, variant=None, check_overlap=True):
        """Checks and encodes now; the Bound that comes back only submits. It keeps the arguments
        alive, and what they were at this moment is what is launched."""
        frame = _Frame(self._kinds)
        self._fill(frame, args, sms, variant, check_overlap)
        return Bound(self, frame, args, stream)


class Bound:
    """An encoded launch. Call it, with or without a stream; `variant` and `grid` tell what runs."""

    def __init__(self, kernel, frame, args, stream):
        self._kernel, self._frame, self._args, self._stream = kernel, frame, args, stream
        self._submit, self._pointer, self._device = kernel._submit, kernel._pointer, kernel._device
        self._launch, self._error = frame.addresses[2:]
        self.variant = frame.launch.variant
        self.grid = tuple(frame.launch.grid)
        self.block = tuple(frame.launch.block)

    def __call__(self, stream=None):
        stream = _stream_address(self._stream if stream is None else stream, self._device)
        if self._submit(self._pointer, self._launch, stream, self._error):
            self._kernel._library.fail(self._frame.error)


# Writers: one closure per parameter, made once, so that a call does no lookups by name.

_dtype_codes = {}  # a framework's dtype object to our code, filled as they are met


def _dtype_code(dtype):
    code = _dtype_codes.get(dtype)
    if code is None:
        name = str(dtype).rsplit(".", 1)[-1]
        code = _DTYPES.get(_FOREIGN.get(name, name))
        if code is None:
            raise TypeError(f"no tkc dtype for {dtype}")
        _dtype_codes[dtype] = code
    return code


def _memory_of(kernel, name, arg):
    """(address, dtype code, extents, strides in elements or None) of a tensor-like object."""
    if hasattr(arg, "data_ptr"):
        if getattr(arg, "is_cuda", True) is False:
            raise TypeError(f"{kernel}: `{name}` is in host memory")
        return arg.data_ptr(), _dtype_code(arg.dtype), arg.shape, arg.stride()
    interface = getattr(arg, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"{kernel}: `{name}` is given {type(arg).__name__}, needed a tensor")
    strides = interface.get("strides")
    if strides is not None:
        itemsize = int(interface["typestr"][2:])
        if any(s % itemsize for s in strides):
            raise TypeError(f"{kernel}: `{name}` has strides that are no multiples of {itemsize}")
        strides = tuple(s // itemsize for s in strides)
    return interface["data"][0], _dtype_code(interface["typestr"]), interface["shape"], strides


def _make_tensor_writer(kernel, index, name):
    base = 2 * _MAX_RANK * index

    def write(frame, arg):
        address, dtype, extents, strides = _memory_of(kernel, name, arg)
        rank = len(extents)
        if rank > _MAX_RANK:
            raise TypeError(f"{kernel}: `{name}` has rank {rank}, at most {_MAX_RANK}")
        slot = frame.slots[index]
        slot.kind, slot.dtype = _TENSOR, dtype
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
        frame.dims[base + _MAX_RANK:base + _MAX_RANK + rank] = strides

    return write


_ELEMENT_BYTES = {"i16": 2, "i32": 4, "i64": 8, "u16": 2, "u32": 4, "u64": 8, "f16": 2, "bf16": 2,
                  "f32": 4, "f64": 8}


def _make_pointer_writer(kernel, index, name, dtype):
    own, size = _DTYPES[dtype], _ELEMENT_BYTES.get(dtype, 1)

    def write(frame, arg):
        slot = frame.slots[index]
        slot.kind = _POINTER
        pointer = frame.memory[index]
        if isinstance(arg, int):
            slot.dtype, pointer.data, pointer.span_bytes = own, arg, 0
            return
        address, slot.dtype, extents, strides = _memory_of(kernel, name, arg)
        span = 1
        for axis, extent in enumerate(extents):
            if extent == 0:
                span = 0
                break
            if strides is not None:
                span += (extent - 1) * strides[axis]
            else:
                span *= extent
        pointer.data, pointer.span_bytes = address, max(span, 0) * size

    return write


def _bf16_bits(value):
    """To nearest even from f32; NaN stays NaN."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return 0x7fc0
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def _make_scalar_writer(kernel, index, name, dtype):
    code = _DTYPES[dtype]
    bits_of = {"f16": lambda value: struct.unpack("<H", struct.pack("<e", value))[0],
               "bf16": _bf16_bits}.get(dtype)
    # Beyond 64 bits the mask below would lose what the loader checks.
    low, high = (-(1 << 63), (1 << 63) - 1) if dtype[0] == "i" else (0, (1 << 64) - 1)

    def write(frame, arg):
        slot, value = frame.slots[index], frame.values[index]
        if arg is None:
            slot.kind = _ABSENT
            return
        slot.kind, slot.dtype = _SCALAR, code
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


def _make_writer(kernel, index, arg):
    kind, name = arg["kind"], arg["name"]
    if kind == "tensor":
        return _make_tensor_writer(kernel, index, name)
    if kind == "pointer":
        return _make_pointer_writer(kernel, index, name, arg["dtype"])
    return _make_scalar_writer(kernel, index, name, arg["dtype"])
