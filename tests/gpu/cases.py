"""What the checks run, as data: which kernels are compiled and at which sizes they are run.

bundle.py compiles `all_specs()` and has the interpreter compute `interpreted()`; the checks do the
rest. Needs no GPU.
"""

import dataclasses

import numpy as np

import numerics
import plan

ADD = "examples/01_vector_add.tk"
ADD_PTR = "tests/gpu/add_ptr.tk"
SOFTMAX = "examples/02_softmax.tk"
RMS_NORM = "examples/05_rms_norm.tk"

ADD_DTYPES = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")
ADD_COUNTS = (1, 31, 33, 1000, 4096, 1000003)
ADD_COUNTS_SMALL = (1, 31, 33, 1000, 4096)
ADD_INTERPRETED_UP_TO = 4096

ROW_DTYPES = ("f32", "bf16", "f16")
# (BLOCK, warps, row lengths). Blocks below a warp's or a block's width leave lanes with copies.
ROW_TILES = (
    (8, 1, (1, 7, 8)),
    (32, 4, (1, 7, 31, 32)),
    (128, 4, (100, 128)),
    (512, 8, (257, 512)),
    (1024, 4, (1000, 1023, 1024)),
    (1024, 32, (7, 1000, 1023)),
    (4096, 8, (4095, 4096)),
    (16384, 16, (12671, 12672)),
    (16384, 32, (12671,)),
    (32768, 32, (32761, 32768)),
)
ROW_TILES_SMALL = ROW_TILES[:6]
ROWS = 5
EPS = 1e-5


def add_spec(by, dtype, block=1024, warps=4):
    """`by` places of tensors or by pointers."""
    source, kernel = (ADD, "vector_add") if by == "places" else (ADD_PTR, "add_ptr")
    return plan.make_spec(source, kernel, warps, T=dtype, BLOCK=block)


def row_spec(kernel, dtype, block, warps):
    source = SOFTMAX if kernel == "softmax" else RMS_NORM
    return plan.make_spec(source, kernel, warps, T=dtype, BLOCK=block)


def row_strides(length):
    """Dense, odd, and a multiple of 16 elements with a gap."""
    return tuple(dict.fromkeys((length, length + 5, -(-length // 16) * 16 + 16)))


def all_specs():
    """Everything that the checks load, each once."""
    specs = [add_spec(by, dtype) for by in ("places", "pointers") for dtype in ADD_DTYPES]
    specs += [row_spec(kernel, dtype, block, warps) for kernel in ("softmax", "rms_norm")
              for dtype in ROW_DTYPES for block, warps, _ in ROW_TILES]
    return list(dict.fromkeys(specs))


def row_inputs(kernel, dtype, length):
    """The arrays of a row kernel by parameter name: rows of several characters."""
    inputs = numerics.Inputs(kernel, dtype, length)
    x = inputs.normals(ROWS * length).reshape(ROWS, length)
    x[1] = np.linspace(-80.0, 80.0, length) if kernel == "softmax" else x[1] * 100.0
    x[2] = 0.75 if kernel == "softmax" else 0.0
    x[3, -1] = 9.0
    arrays = {}
    if kernel == "softmax":
        if length > 2:
            x[4, ::3] = -np.inf
    else:
        w = inputs.normals(length)
        arrays["w"] = numerics.from_f32(w.astype(np.float32), dtype)
    arrays["x"] = numerics.from_f32(x.astype(np.float32), dtype)
    return arrays


@dataclasses.dataclass(frozen=True)
class Interpreted:
    """One run of the interpreter whose result a check compares with."""

    kernel: str  # vector_add, add_ptr, softmax or rms_norm
    dtype: str
    block: int
    length: int

    @property
    def file_name(self):
        return f"{self.kernel}.{self.dtype}.b{self.block}.n{self.length}.npz"

    @property
    def has_bound(self):
        """Additions are exact: engines must agree to the bit."""
        return self.kernel in ("softmax", "rms_norm")

    @property
    def source(self):
        return {"vector_add": ADD, "add_ptr": ADD_PTR, "softmax": SOFTMAX,
                "rms_norm": RMS_NORM}[self.kernel]

    @property
    def output(self):
        return "y" if self.has_bound else "z"

    def inputs(self):
        if self.has_bound:
            return row_inputs(self.kernel, self.dtype, self.length)
        return {name: numerics.make_addends(self.dtype, self.length, name) for name in "xy"}

    def output_shape(self):
        return (ROWS, self.length) if self.has_bound else (self.length,)


def interpreted():
    """All interpreter runs, each once."""
    runs = [Interpreted(kernel, dtype, 1024, count) for kernel in ("vector_add", "add_ptr")
            for dtype in ADD_DTYPES for count in ADD_COUNTS if count <= ADD_INTERPRETED_UP_TO]
    runs += [Interpreted(kernel, dtype, block, length) for kernel in ("softmax", "rms_norm")
             for dtype in ROW_DTYPES for block, _, lengths in ROW_TILES for length in lengths]
    return list(dict.fromkeys(runs))
