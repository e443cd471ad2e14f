"""Modules, kernels and encoded launches."""

import ctypes
import json
import os
import struct
import threading

from . import _c
from ._memory import Place, memory_of, span_of
from ._streams import current_device, stream_address
from ._writers import make_writer

_MAGIC = b"\x89TKB\r\n\x1a\n"


def _open_driver(library, backend, resolver):
    """`resolver`: the address of a `void *(*)(void *user, const char *symbol)`, for tests."""
    if backend not in _c.BACKENDS:
        raise ValueError(f"no backend {backend!r}; there are {', '.join(_c.BACKENDS)}")
    if backend == "cpu" and resolver is None:
        _c.load_cpu_library()
    desc = _c.CDriverDesc(size=ctypes.sizeof(_c.CDriverDesc), backend=_c.BACKENDS[backend],
                          resolve=resolver)
    error, out = _c.new_error(), ctypes.c_void_p()
    if library.driver_open(ctypes.byref(desc), ctypes.byref(out), ctypes.byref(error)):
        library.fail(error)
    return _c.Handle(out.value, library.driver_release)


def _json_of_bundle(data):
    """The JSON text in a bundle. The loader has checked the header when this is called."""
    begin, size = struct.unpack_from("<QQ", data, 16)
    return data[begin:begin + size]


class Module:
    """Compiled kernels: a bundle (.tkb), or an image and its JSON (`path` + ".json" unless `json_path`
    is given). `backend` is "cuda", "hip" or "cpu"; `sha256` is what the JSON's digest must be."""

    def __init__(self, path, json_path=None, *, backend="cuda", sha256=None, resolver=None):
        with open(path, "rb") as file:
            data = file.read()
        text = None
        if json_path or not data.startswith(_MAGIC):
            with open(json_path or os.fspath(path) + ".json", "rb") as file:
                text = file.read()
        self._open(data, text, backend, sha256, resolver)

    @classmethod
    def from_bytes(cls, data, text=None, *, backend="cuda", sha256=None, resolver=None):
        """The same from memory: a bundle, or an image with the text of its JSON."""
        module = cls.__new__(cls)
        module._open(bytes(data), text, backend, sha256, resolver)
        return module

    def _open(self, data, text, backend, sha256, resolver):
        self.library, self.backend = _c.load_library(), backend
        self._driver = _open_driver(self.library, backend, resolver)
        if isinstance(text, str):
            text = text.encode()
        if isinstance(sha256, str):
            sha256 = bytes.fromhex(sha256)
        if sha256 is not None and len(sha256) != 32:
            raise ValueError(f"a SHA-256 has 32 bytes, {len(sha256)} given")
        desc = _c.CBundleDesc(size=ctypes.sizeof(_c.CBundleDesc), data=data, bytes=len(data),
                              json=text, json_bytes=len(text or b""), sha256=sha256)
        error, out = _c.new_error(), ctypes.c_void_p()
        if self.library.bundle_open(self._driver.pointer, ctypes.byref(desc), ctypes.byref(out),
                                    ctypes.byref(error)):
            self.library.fail(error)
        self._bundle = _c.Handle(out.value, self.library.bundle_release)
        self.metadata = json.loads(_json_of_bundle(data) if text is None else text)

    def kernels(self):
        """[(name, {constant: value})] of all that the file holds."""
        return [(k["kernel"], k.get("instance", {})) for k in self.metadata["kernels"]]

    def kernel(self, name, *, device=None, context=None, max_sms=0, no_jit=False, config=None,
               table=None, **consts):
        """Loads the kernel; constants tell instances apart (BLOCK=128, T="f16", CAUSAL=True).
        The device is torch's current one when torch is in use, else 0. `config` is the id of a
        configuration, `table` JSON text of tuning records in place of the file's."""
        if device is None:
            device = current_device() if self.backend != "cpu" else 0
        array = (_c.CConst * len(consts))()
        for slot, (key, value) in zip(array, consts.items()):
            slot.name, slot.value = key.encode(), _const_text(value).encode()
        records = ctypes.create_string_buffer(table.encode()) if table else None
        desc = _c.CPrepareDesc(size=ctypes.sizeof(_c.CPrepareDesc), device=device, context=context,
                               flags=_c.NO_JIT if no_jit else 0, max_sms=max_sms,
                               config=config.encode() if config else None,
                               table=ctypes.addressof(records) if records else None,
                               table_bytes=len(records) - 1 if records else 0)
        error, out = _c.new_error(), ctypes.c_void_p()
        if self.library.prepare(self._bundle.pointer, name.encode(), array, len(consts), 0,
                                ctypes.byref(desc), ctypes.byref(out), ctypes.byref(error)):
            self.library.fail(error)
        return Kernel(self, _c.Handle(out.value, self.library.kernel_release),
                      None if context else device)


def _const_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class _Frame:
    """The C structures of one call, written anew each time and never allocated again. Views of
    their parts are kept, because each look into a ctypes structure makes a Python object."""

    def __init__(self, kinds):
        count = len(kinds)
        self.args = (_c.CArg * max(count, 1))()
        self.dims = (ctypes.c_int64 * (2 * _c.MAX_RANK * max(count, 1)))()
        self.error = _c.new_error()
        self.options = _c.COptions(size=ctypes.sizeof(_c.COptions), variant=-1)
        self.has_options = False       # other than these
        self.launch = _c.CLaunch(size=ctypes.sizeof(_c.CLaunch))
        self.buffer = None
        self.reserve(4096)
        self.slots = [self.args[i] for i in range(count)]
        self.values = [slot.u for slot in self.slots]
        self.memory = [None] * count   # the tensor or pointer in each slot
        self.shapes = [None] * count   # (extents, strides) that stand in dims
        self.stream = 0                # of the launch, which DLPack's exporters want to know
        self.keep = []                 # what must live until the launch is submitted
        base = ctypes.addressof(self.dims)
        for i, kind in enumerate(kinds):
            if kind == "tensor":
                tensor = self.memory[i] = self.values[i].tensor
                tensor.extents = base + 16 * _c.MAX_RANK * i
                tensor.strides = base + 16 * _c.MAX_RANK * i + 8 * _c.MAX_RANK
            elif kind == "pointer":
                self.memory[i] = self.values[i].pointer
        self.addresses = tuple(ctypes.addressof(part) for part in (
            self.args, self.options, self.launch, self.error))

    def reserve(self, room):
        """Parameter storage of at least `room` bytes, aligned to 128."""
        self.buffer = (ctypes.c_char * (room + 127))()
        self.launch.params = (ctypes.addressof(self.buffer) + 127) & ~127
        self.launch.param_capacity = room


class Workspace:
    """What a launch takes for scratch arguments that are left out: `bytes` of device memory at a
    multiple of `align`, all 0 when the launch begins if `must_be_zero`."""

    def __init__(self, size, align, must_be_zero):
        self.bytes, self.align, self.must_be_zero = size, align, must_be_zero


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
        self._place = Place(self.name, module.backend, device)
        self._writers = [make_writer(self._place, i, arg) for i, arg in enumerate(self.info["args"])]
        self._local = threading.local()

    def describe(self, variant):
        """The JSON text of a variant, or of the kernel itself (-1)."""
        return self._text(lambda text, size, error: self._library.describe(
            self._pointer, variant, text, size, error))

    def _text(self, call):
        """The text of a function that says how much room it needs."""
        error, size = _c.new_error(), ctypes.c_size_t(0)
        call(None, ctypes.byref(size), None)
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        if call(buffer, ctypes.byref(size), ctypes.byref(error)):
            self._library.fail(error)
        return buffer.value.decode("utf-8", "replace")

    def _write(self, frame, args, options):
        writers = self._writers
        if len(args) > len(writers):
            raise TypeError(f"{self.name} takes {len(writers)} arguments, {len(args)} given")
        for writer, arg in zip(writers, args):
            writer(frame, arg)
        for i in range(len(args), len(writers)):
            frame.slots[i].kind = _c.ABSENT
        if options or frame.has_options:
            self._write_options(frame, **options)
            frame.has_options = bool(options)

    def _write_options(self, frame, *, sms=0, variant=None, workspace=None, check_overlap=True):
        frame.options.flags = ((0 if check_overlap else _c.NO_OVERLAP_CHECK) |
                               (0 if variant is None else _c.PIN_VARIANT))
        frame.options.sms = sms
        frame.options.variant = -1 if variant is None else variant
        self._write_workspace(frame, workspace)

    def _write_workspace(self, frame, workspace):
        if workspace is None:
            frame.options.workspace, frame.options.workspace_bytes = None, 0
            return
        address, dtype, extents, strides = memory_of(self._place, "workspace", workspace,
                                                     frame.stream, frame.keep, True)
        name = next(name for name, code in _c.DTYPES.items() if code == dtype)
        frame.options.workspace = address
        frame.options.workspace_bytes = (span_of(extents, strides) *
                                         _c.ELEMENT_BYTES.get(name, 1))

    def _fill(self, frame, args, options):
        self._write(frame, args, options)
        status = self._run_encode(frame)
        if status and frame.launch.param_bytes > frame.launch.param_capacity:
            frame.reserve(frame.launch.param_bytes)
            status = self._run_encode(frame)
        if status:
            self._library.fail(frame.error)

    def _run_encode(self, frame):
        args, options, launch, error = frame.addresses
        return self._encode(self._pointer, args, len(self._writers), options, launch, error)

    def _stream_of(self, stream, args):
        return 0 if self._place.on_host else stream_address(stream, self._device, args)

    def __call__(self, *args, stream=None, **options):
        """Options: `sms` caps what `sms` is, `variant` pins one, `workspace` is device memory for
        scratch arguments that are left out, `check_overlap=False` vouches for disjoint arguments."""
        try:
            frame = self._local.frame
        except AttributeError:
            frame = self._local.frame = _Frame(self._kinds)
        frame.stream = self._stream_of(stream, args)
        try:
            self._fill(frame, args, options)
            if self._submit(self._pointer, frame.addresses[2], frame.stream, frame.addresses[3]):
                self._library.fail(frame.error)
        finally:
            frame.keep.clear()

    def bind(self, *args, stream=None, **options):
        """Checks and encodes now; the Bound that comes back only submits. It keeps the arguments
        alive, and what they were at this moment is what is launched."""
        frame = _Frame(self._kinds)
        frame.stream = self._stream_of(stream, args)
        self._fill(frame, args, options)
        return Bound(self, frame, (args, options), stream)

    def workspace(self, *args, **options):
        """What `workspace` a launch with these arguments takes."""
        frame = _Frame(self._kinds)
        self._write(frame, args, options)
        size, align, zero = ctypes.c_uint64(), ctypes.c_uint32(), ctypes.c_uint32()
        if self._library.workspace_query(self._pointer, frame.addresses[0], len(self._writers),
                                         frame.addresses[1], ctypes.byref(size),
                                         ctypes.byref(align), ctypes.byref(zero),
                                         frame.addresses[3]):
            self._library.fail(frame.error)
        return Workspace(size.value, align.value, bool(zero.value))

    def why(self, *args, **options):
        """Which variant a launch with these arguments would take, and why, as text for a person."""
        frame = _Frame(self._kinds)
        self._write(frame, args, options)
        return self._text(lambda text, size, error: self._library.why(
            self._pointer, frame.addresses[0], len(self._writers), frame.addresses[1], text, size,
            error))


class Bound:
    """An encoded launch. Call it, with or without a stream; `variant` and `grid` tell what runs."""

    def __init__(self, kernel, frame, kept, stream):
        self._kernel, self._frame, self._kept, self._stream = kernel, frame, kept, stream
        self._submit, self._pointer = kernel._submit, kernel._pointer
        self._launch, self._error = frame.addresses[2:]
        self.variant = frame.launch.variant
        self.grid = tuple(frame.launch.grid)
        self.block = tuple(frame.launch.block)

    def __call__(self, stream=None):
        stream = self._kernel._stream_of(self._stream if stream is None else stream, self._kept[0])
        if self._submit(self._pointer, self._launch, stream, self._error):
            self._kernel._library.fail(self._frame.error)
