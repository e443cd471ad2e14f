"""The C interface of <tkc/runtime.h>: its structures, its functions, and where the libraries are."""

import ctypes
import os

MAX_RANK = 8
ABSENT, TENSOR, POINTER, SCALAR = 0, 1, 2, 3
NO_JIT, NO_OVERLAP_CHECK, PIN_VARIANT = 1, 4, 8
BACKENDS = {"cuda": 1, "hip": 2, "cpu": 3}

DTYPES = {name: code for code, name in enumerate(
    "i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz "
    "e8m0 i4 u4 f4e2m1".split(), start=1)}
ELEMENT_BYTES = {"i16": 2, "i32": 4, "i64": 8, "u16": 2, "u32": 4, "u64": 8, "f16": 2, "bf16": 2,
                 "f32": 4, "f64": 8}  # of the others one byte


class CError(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("driver_code", ctypes.c_int32), ("earlier_async", ctypes.c_uint32),
                ("text", ctypes.c_char * 496)]


class CDriverDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("backend", ctypes.c_uint32),
                ("resolve", ctypes.c_void_p), ("alloc", ctypes.c_void_p),
                ("free", ctypes.c_void_p), ("log", ctypes.c_void_p),
                ("on_submit", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("flags", ctypes.c_uint32)]


class CBundleDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("data", ctypes.c_char_p),
                ("bytes", ctypes.c_size_t), ("json", ctypes.c_char_p),
                ("json_bytes", ctypes.c_size_t), ("sha256", ctypes.c_char_p)]


class CConst(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class CPrepareDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("device", ctypes.c_int32),
                ("context", ctypes.c_void_p), ("flags", ctypes.c_uint32),
                ("max_sms", ctypes.c_int32), ("config", ctypes.c_char_p),
                ("numerics_class", ctypes.c_char_p), ("table", ctypes.c_void_p),
                ("table_bytes", ctypes.c_size_t)]


class CTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("extents", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("span_bytes", ctypes.c_uint64),
                ("dtype", ctypes.c_uint16), ("rank", ctypes.c_uint16),
                ("reserved", ctypes.c_uint32)]


class CPointer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("span_bytes", ctypes.c_uint64)]


class CArgUnion(ctypes.Union):
    _fields_ = [("tensor", CTensor), ("pointer", CPointer), ("bits", ctypes.c_uint64),
                ("f32", ctypes.c_float), ("f64", ctypes.c_double)]


class CArg(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("dtype", ctypes.c_uint32), ("u", CArgUnion)]


class COptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("sms", ctypes.c_int32),
                ("variant", ctypes.c_int32), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_uint64), ("vendor_attrs", ctypes.c_void_p),
                ("num_vendor_attrs", ctypes.c_uint32)]


class CLaunch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("variant", ctypes.c_int32),
                ("function", ctypes.c_void_p), ("grid", ctypes.c_uint32 * 3),
                ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3),
                ("dynamic_smem", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("param_bytes", ctypes.c_uint32), ("params", ctypes.c_void_p),
                ("param_capacity", ctypes.c_uint32), ("flops", ctypes.c_double),
                ("bytes", ctypes.c_double)]


class Error(RuntimeError):
    """A refusal or failure of the loader: `status` is its name, `driver_code` the driver's number."""

    def __init__(self, status, driver_code, text):
        super().__init__(f"{status}: {text}")
        self.status = status
        self.driver_code = driver_code
        self.text = text


class Library:
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
        self.workspace_query = self._declare(released.tkc_workspace_query, p, p, ctypes.c_uint32, p,
                                             p, p, p, p)
        self.why = self._declare(released.tkc_why, p, p, ctypes.c_uint32, p, p, p, p)
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


def _beside(name):
    """The path of a library that came with this package, else its name for ld.so to find."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    return path if os.path.exists(path) else name


def load_library(path=None):
    """Opens libtkcrt: the path given, else one beside this file, else where ld.so finds it.
    Called by the first Module; to choose the path, call it before."""
    global _library
    if path is None and _library is not None:
        return _library
    _library = Library(path or _beside("libtkcrt.so.1"))
    return _library


def load_cpu_library(path=None):
    """Maps libtkccpu, where the loader then finds it: the path given, else one beside this file. Where
    there is neither, the loader looks for it by itself."""
    path = path or _beside("libtkccpu.so.1")
    if os.path.dirname(path):
        ctypes.CDLL(path)


def new_error():
    error = CError()
    error.size = ctypes.sizeof(CError)
    return error


class Handle:
    """Owns one tkc_* object; the C side counts references, so order does not matter."""

    def __init__(self, pointer, release):
        self.pointer, self._release = pointer, release

    def __del__(self):
        if self.pointer:
            self._release(self.pointer)
            self.pointer = None

