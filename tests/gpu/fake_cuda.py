"""A driver for machines without a GPU: the real loader on top, three kernels in NumPy below.

`Emulator` answers the driver functions that libtkcrt asks for, and executes a launch by reading
the parameter buffer that the loader wrote, by the JSON's own list of parameters, and computing
what the kernel of that name is for. So a dry run exercises the checks, the loader's refusals, its
choice of variants and its parameter encoding; only the compiled code is not run. `spoil` plants an
error in every result, which every check must find.
"""

import ctypes
import functools

import numpy as np

import numerics

# CUdevice_attribute: threads a block, SMs, cooperative launch, the chip, shared memory a block, clusters.
_ATTRIBUTES = {1: 1024, 16: 132, 75: 9, 76: 0, 95: 1, 97: 232448, 120: 1}
_PARAMETER = {"ptr": np.uint64, "i1": np.uint8, "u8": np.uint8, "u16": np.uint16,
              "u32": np.uint32, "u64": np.uint64, **numerics.STORAGE}

_P, _I, _U = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint


def _array(address, dtype, shape, strides):
    """Host memory as a strided array."""
    size = numerics.element_bytes(dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides)) if all(shape) else 0
    raw = (ctypes.c_char * max(span * size, 1)).from_address(address)
    return np.ndarray(shape, numerics.STORAGE[dtype], raw, 0, tuple(s * size for s in strides))


def softmax_rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def rms_norm_rows(x, w, eps):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * w[None, :]


def _emulate_add(dtype, arrays, _):
    x, y, z = arrays
    z[...] = numerics.exact_sum(x, y, dtype)


def _emulate_rows(compute, dtype, arrays, names):
    """`compute` in f64 on widened inputs, rounded into the last array."""
    *inputs, out = arrays
    wide = [numerics.widen(array, dtype).astype(np.float64) for array in inputs]
    with np.errstate(all="ignore"):
        out[...] = numerics.from_f32(compute(names, *wide).astype(np.float32), dtype)


def _emulate(name):
    """What a kernel of this name does: a function of dtype, arrays and parameters by name."""
    if "add" in name:
        return _emulate_add
    if name.startswith("softmax"):
        return functools.partial(_emulate_rows, lambda names, x: softmax_rows(x))
    if name.startswith("rms_norm"):
        return functools.partial(
            _emulate_rows, lambda names, x, w: rms_norm_rows(x, w, names["eps"]))
    raise KeyError(f"no emulation of {name}")


class Emulator:
    """Driver functions by name; `resolver` is the address that tkcrt.Module takes."""

    def __init__(self):
        self.launches = 0
        self.spoil = False
        self._symbols = {}    # symbol -> (kernel JSON, variant JSON)
        self._handles = {}    # handle -> symbol
        self._keep = []
        self._context = []
        self._table = self._functions()
        find = ctypes.CFUNCTYPE(_P, _P, ctypes.c_char_p)(self._find)
        self._keep.append(find)
        self.resolver = ctypes.cast(find, _P).value

    def register(self, metadata):
        """Makes the kernels of a module's JSON known before it is loaded."""
        for kernel in metadata["kernels"]:
            for variant in kernel["variants"]:
                self._symbols[variant["symbol"]] = (kernel, variant)

    def _find(self, _, name):
        function = self._table.get(name.decode())
        return ctypes.cast(function, _P).value if function else None

    def _functions(self):
        def make(python, *types):
            function = ctypes.CFUNCTYPE(_I, *types)(python)
            self._keep.append(function)
            return function

        def store(kind, value):
            return lambda out, *_: self._write(out, kind, value)

        def good(*_):
            return 0

        return {
            "cuInit": make(good, _U),
            "cuDriverGetVersion": make(store(_I, 13000), _P),
            "cuGetErrorName": make(good, _I, _P),
            "cuGetErrorString": make(good, _I, _P),
            "cuDeviceGetCount": make(store(_I, 1), _P),
            "cuDeviceGet": make(store(_I, 0), _P, _I),
            "cuDeviceGetAttribute": make(
                lambda out, which, _: self._write(out, _I, _ATTRIBUTES[which]), _P, _I, _I),
            "cuDevicePrimaryCtxRetain": make(store(_P, 16), _P, _I),
            "cuDevicePrimaryCtxRelease_v2": make(good, _I),
            "cuCtxPushCurrent_v2": make(good, _P),
            "cuCtxPopCurrent_v2": make(store(_P, 16), _P),
            "cuCtxGetDevice": make(store(_I, 0), _P),
            "cuLibraryLoadData": make(store(_P, 32), _P, _P, _P, _P, _U, _P, _P, _U),
            "cuLibraryUnload": make(good, _P),
            "cuLibraryGetKernel": make(self._get_kernel, _P, _P, ctypes.c_char_p),
            "cuKernelGetFunction": make(
                lambda out, kernel: self._write(out, _P, kernel), _P, _P),
            "cuFuncGetAttribute": make(store(_I, 1024), _P, _I, _P),
            "cuFuncSetAttribute": make(good, _P, _I, _I),
            "cuLaunchKernel": make(self._launch, _P, *[_U] * 7, _P, _P, ctypes.POINTER(_P)),
        }

    @staticmethod
    def _write(out, kind, value):
        ctypes.cast(out, ctypes.POINTER(kind))[0] = value
        return 0

    def _get_kernel(self, out, _, name):
        symbol = name.decode()
        if symbol not in self._symbols:
            return 500
        handle = 4096 + 16 * len(self._handles)
        self._handles[handle] = symbol
        return self._write(out, _P, handle)

    def _launch(self, function, *rest):
        self.launches += 1
        kernel, variant = self._symbols[self._handles[function]]
        extra = rest[-1]
        raw = ctypes.string_at(extra[1], variant["params"]["bytes"])
        names = {}
        for entry in variant["params"]["list"]:
            value = np.frombuffer(raw, _PARAMETER[entry["type"]], 1, entry["at"])[0]
            if isinstance(entry["value"], str):
                names[entry["value"]] = value.item()
        self._execute(kernel, names, grid=rest[0])
        return 0

    def _execute(self, kernel, names, grid):
        arguments = []
        for argument in kernel["args"]:
            if argument["kind"] == "scalar":
                continue
            if argument["kind"] == "pointer":
                shape, strides = (names["n"],), (1,)
            else:
                shape = tuple(names.get(n, grid) for n in argument["extents"])
                strides = tuple(names.get(s, s) for s in argument["strides"])
            arguments.append(_array(names[argument["name"] + ".ptr"], argument["dtype"], shape,
                                    strides))
        _emulate(kernel["kernel"])(kernel["args"][0]["dtype"], arguments, names)
        out = arguments[-1]
        if self.spoil and out.size:
            last = tuple(n - 1 for n in out.shape)
            raw = out[last[:-1]][last[-1]:].view(np.uint8)
            raw[-1] ^= 0x10
