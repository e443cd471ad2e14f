"""libtkctune on memory that is in use: a kernel that reads and writes one buffer is tuned on it.

    tuning_live.py --folder=FOLDER BUNDLE

FOLDER has tkcrt, libtkcrt.so.1 and libtkctune.so.1; BUNDLE is `mix` of tuned.tk in all
configurations. Without TKC_TUNE_LAUNCH the buffer must stay as it was, with it it must become what a
single launch makes of it, bit for bit. Prints what it found; status 1 when something differs.
"""

import argparse
import ctypes
import json
import os
import sys

import numpy as np

N = (1 << 22) + 37
LAUNCH = 1  # TKC_TUNE_LAUNCH


class CTuneDesc(ctypes.Structure):
    """tkc_tune_desc of release 1.0: a newer library takes it too."""

    _fields_ = [("size", ctypes.c_uint32), ("search", ctypes.c_uint32), ("driver", ctypes.c_void_p),
                ("context", ctypes.c_void_p), ("device", ctypes.c_int32), ("rounds", ctypes.c_int32),
                ("budget_ms", ctypes.c_double), ("margin", ctypes.c_double),
                ("flush_bytes", ctypes.c_uint64), ("shard", ctypes.c_uint32), ("shards", ctypes.c_uint32),
                ("cache", ctypes.c_char_p), ("producer", ctypes.c_char_p), ("progress", ctypes.c_void_p),
                ("warn", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class Tuner:
    """A tkc_tuner on a context."""

    def __init__(self, path, context):
        from tkcrt import _c  # pylint: disable=import-outside-toplevel
        self._library, self._c, self._error = ctypes.CDLL(path), _c, _c.new_error()
        desc = CTuneDesc(size=ctypes.sizeof(CTuneDesc), context=context)
        self._tuner = ctypes.c_void_p()
        self._call("tkc_tune_open", ctypes.byref(desc), ctypes.byref(self._tuner))

    def _call(self, name, *args):
        if getattr(self._library, name)(*args, ctypes.byref(self._error)):
            raise RuntimeError(f"{name}: {self._error.text.decode()}")

    def add(self, data, kernel):
        desc = self._c.CBundleDesc(size=ctypes.sizeof(self._c.CBundleDesc), data=data, bytes=len(data))
        self._call("tkc_tune_add", self._tuner, ctypes.byref(desc), kernel.encode(), None, ctypes.c_uint32(0),
                   None, ctypes.c_uint32(0), None, None)

    def vectors(self, addresses, count):
        """Arguments: vectors of f32."""
        extents = (ctypes.c_int64 * 1)(count)
        args = (self._c.CArg * len(addresses))()
        for arg, address in zip(args, addresses):
            arg.kind = self._c.TENSOR
            arg.u.tensor = self._c.CTensor(data=address, extents=ctypes.addressof(extents),
                                           dtype=self._c.DTYPES["f32"], rank=1)
        return args, extents

    def tune(self, args, flags):
        self._call("tkc_tune_args", self._tuner, args, ctypes.c_uint32(len(args)), ctypes.c_uint32(flags))

    def report(self):
        size = ctypes.c_size_t(0)
        self._library.tkc_tune_report(self._tuner, None, ctypes.byref(size), None)
        text = ctypes.create_string_buffer(size.value)
        self._call("tkc_tune_report", self._tuner, text, ctypes.byref(size))
        return json.loads(text.value)

    def close(self):
        self._library.tkc_tune_close(self._tuner)


class Vectors:
    """x and y of `mix` in device memory."""

    def __init__(self, memory):
        random = np.random.default_rng(7)
        self.memory = memory
        self.host = [random.standard_normal(N).astype(np.float32) for _ in "xy"]
        self.addresses = [memory.allocate(4 * N) for _ in "xy"]

    def reset(self):
        for address, array in zip(self.addresses, self.host):
            self.memory.upload(address, array)
        self.memory.synchronize()  # the tuner's stream waits for no other

    def read(self):
        return [self.memory.download(address, 4 * N).view(np.float32) for address in self.addresses]


def launch_once(path, vectors):
    """What one launch makes of y, by the loader."""
    import device  # pylint: disable=import-outside-toplevel
    import tkcrt  # pylint: disable=import-outside-toplevel
    views = [device.View(address, (N,), (1,), "float32") for address in vectors.addresses]
    vectors.reset()
    tkcrt.Module(path).kernel("mix", device=0)(*views, stream=0)
    return vectors.read()[1]


def compare(path, library, memory):
    """The problems, as texts."""
    problems, vectors = [], Vectors(memory)
    once = launch_once(path, vectors)
    x, y = vectors.host
    furthest = np.abs(once - (y * np.float32(0.75) + x)).max()
    print(f"one launch is off by {furthest:.1e} at most")
    if memory.is_real and furthest > 1e-5:
        problems.append("a single launch computed something else")
    tuner = Tuner(library, memory.context)
    with open(path, "rb") as file:
        tuner.add(file.read(), "mix")
    args, extents = tuner.vectors(vectors.addresses, N)
    for flags, wanted, what in ((0, y, "tuned only"), (LAUNCH, once, "tuned and launched")):
        vectors.reset()
        tuner.tune(args, flags)
        now = vectors.read()
        for name, got, need in zip("xy", now, (x, wanted)):
            wrong = int((got.view(np.uint32) != need.view(np.uint32)).sum())
            print(f"{what}: {wrong} of {N} of {name} differ from what must be there")
            if wrong:
                problems.append(f"{what}: {name} is wrong")
    del extents
    for shape in tuner.report()["shapes"]:
        times = {c["config_id"]: c.get("us") for c in shape["candidates"]}
        print(f"winner {shape['candidates'][shape['winner']]['config_id']} of {times}")
        if None in times.values():
            problems.append("a configuration has no time")
    tuner.close()
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--virtual", action="store_true", help="the driver is a double, which computes nothing")
    parser.add_argument("bundle")
    options = parser.parse_args()
    sys.path.insert(0, options.folder)
    import device  # pylint: disable=import-outside-toplevel
    memory = device.CudaMemory()
    memory.is_real = not options.virtual
    problems = compare(options.bundle, os.path.join(options.folder, "libtkctune.so.1"), memory)
    for problem in problems:
        print(f"FAILED {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
