"""Memory for the checks: the CUDA driver through ctypes, or the host's, and guarded tensors in it.

The checks need no framework, which keeps them quick under compute-sanitizer and makes every
allocation one of the driver's, whose exact end the sanitizer knows.
"""

import ctypes

import numpy as np

import numerics

POISON = 0x7f  # what memory holds before a launch; 0x7f7f7f7f is a large finite f32
DYNAMIC_SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class CudaMemory:
    """Device memory of the primary context of device 0, made current."""

    is_real = True

    def __init__(self):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuInit", ctypes.c_uint(0))
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self.context = context.value

    def _call(self, name, *args):
        status = getattr(self._cuda, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(ctypes.c_int(status), ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown error').decode()} ({status})")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address):
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, address, array):
        array = np.ascontiguousarray(array)
        if array.nbytes:
            self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address),
                       ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def synchronize(self):
        self._call("cuCtxSynchronize")

    def download(self, address, size):
        self.synchronize()
        out = np.empty(size, np.uint8)
        if size:
            self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data),
                       ctypes.c_uint64(address), ctypes.c_size_t(size))
        return out

    def launch(self, image, symbol, grid, threads, shared, parameters):
        """Runs a kernel of a cubin or of PTX (which ends with a zero), without the loader, and waits for it."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), image)
        self._call("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        self._call("cuFuncSetAttribute", function, ctypes.c_int(DYNAMIC_SHARED_BYTES), ctypes.c_int(shared))
        pointers = (ctypes.c_void_p * max(len(parameters), 1))(
            *[ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in parameters])
        counts = [ctypes.c_uint(number) for number in (*grid, threads, 1, 1, shared)]
        self._call("cuLaunchKernel", function, *counts, None, pointers, None)
        self._call("cuCtxSynchronize")
        self._call("cuModuleUnload", module)


class HostMemory:
    """Host memory in the place of a device's, for the dry run."""

    is_real = False
    _ALIGNMENT = 256  # what the driver's allocations have

    def __init__(self):
        self._arrays = {}

    def allocate(self, size):
        array = np.zeros(max(size, 1) + self._ALIGNMENT, np.uint8)
        address = -(-array.ctypes.data // self._ALIGNMENT) * self._ALIGNMENT
        self._arrays[address] = array
        return address

    def free(self, address):
        del self._arrays[address]

    def upload(self, address, array):
        array = np.ascontiguousarray(array)
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def download(self, address, size):
        return np.frombuffer(ctypes.string_at(address, size), np.uint8).copy()


class View:
    """What the loader is given: a tensor by address, extents, strides in elements and type."""

    def __init__(self, address, shape, strides, dtype):
        self._address, self.shape, self._strides, self.dtype = address, shape, strides, dtype

    def data_ptr(self):
        return self._address

    def stride(self):
        return self._strides


class Tensor:
    """A strided tensor inside an allocation of its own, poisoned, with guard zones at both ends.

    `offset` elements put its first element off the allocation's alignment. `guard` bytes lie on
    each side (a multiple of 256, so that alignment is the offset's alone); 0 makes the allocation
    end where the tensor ends, which is what memcheck wants.
    """

    def __init__(self, memory, dtype, shape, *, row_stride=None, offset=0, guard=256, data=None):
        self.memory, self.dtype, self.shape = memory, dtype, tuple(shape)
        strides, step = [], 1
        for extent in reversed(self.shape):
            strides.insert(0, step)
            step *= extent
        if row_stride is not None and len(self.shape) == 2:
            strides[0] = row_stride
        self.strides = tuple(strides)
        size = numerics.element_bytes(dtype)
        span = 0
        if all(self.shape):
            span = 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        self._first = guard + offset * size
        self._image = np.full(self._first + span * size + guard, POISON, np.uint8)
        if data is not None:
            self._inside(self._image)[...] = data
        self._base = memory.allocate(self._image.size)
        self.reset()

    def _inside(self, image):
        """The tensor's elements in an image of the allocation: a view."""
        size = numerics.element_bytes(self.dtype)
        return np.ndarray(self.shape, numerics.STORAGE[self.dtype], image, self._first,
                          tuple(stride * size for stride in self.strides))

    @property
    def view(self):
        return View(self._base + self._first, self.shape, self.strides, self.dtype)

    def reset(self):
        """The memory as it was made: the data, or poison."""
        self.memory.upload(self._base, self._image)

    def read(self):
        """(elements, whether every byte outside of them is as it was)."""
        image = self.memory.download(self._base, self._image.size)
        elements = self._inside(image).copy()
        restored = image.copy()
        self._inside(restored)[...] = self._inside(self._image)
        return elements, bool(np.array_equal(restored, self._image))

    def is_untouched(self):
        image = self.memory.download(self._base, self._image.size)
        return bool(np.array_equal(image, self._image))

    def free(self):
        self.memory.free(self._base)
