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


@dataclasses.dataclass(frozen=True)
class Tile:
    """One configuration of a row kernel and the row lengths that it is run with. `sms` caps the
    multiprocessors that the loader tells the grid of, so that few rows make a loop of several."""

    kernel: str
    block: int
    warps: int
    lengths: tuple
    extra: tuple = ()  # further compile-time parameters
    sms: int = 0
    is_small: bool = False  # also run under compute-sanitizer

    @property
    def is_softmax(self):
        return self.kernel.startswith("softmax")

    @property
    def defines(self):
        return {"BLOCK": self.block, **dict(self.extra)}

    @property
    def label(self):
        words = [f"{name}={value}" for name, value in self.defines.items()]
        return " ".join([self.kernel, *words, f"w{self.warps}"])


def _tiles():
    # Blocks below a warp's or a block's width leave lanes with copies.
    for kernel in ("softmax", "rms_norm"):
        yield Tile(kernel, 8, 1, (1, 7, 8), is_small=True)
        yield Tile(kernel, 32, 4, (1, 7, 31, 32), is_small=True)
        yield Tile(kernel, 128, 4, (100, 128), is_small=True)
        yield Tile(kernel, 512, 8, (257, 512), is_small=True)
        yield Tile(kernel, 1024, 4, (1000, 1023, 1024), is_small=True)
        yield Tile(kernel, 1024, 32, (7, 1000, 1023), is_small=True)
        yield Tile(kernel, 4096, 8, (4095, 4096))
        yield Tile(kernel, 16384, 16, (12671, 12672))
        yield Tile(kernel, 16384, 32, (12671,))
        yield Tile(kernel, 32768, 32, (32761, 32768))
        # Sides that are no powers of two.
        yield Tile(kernel, 96, 4, (50, 95, 96), is_small=True)
        yield Tile(kernel, 14336, 16, (12671, 12672, 14336))
    # Several rows a block; their number does not divide that of the matrix.
    for kernel in ("softmax_rows", "rms_norm_rows"):
        yield Tile(kernel, 32, 4, (1, 7, 31, 32), (("ROWS", 4),), is_small=True)
        yield Tile(kernel, 128, 2, (100, 128), (("ROWS", 2),), is_small=True)
        yield Tile(kernel, 1024, 8, (257, 1000, 1023, 1024), (("ROWS", 8),), is_small=True)
        yield Tile(kernel, 4096, 4, (4095, 4096), (("ROWS", 4),))
    # A loop over rows, with the next one under way.
    yield Tile("softmax_stream", 128, 4, (1, 100, 128), (("PER_SM", 1),), 2, is_small=True)
    yield Tile("softmax_stream", 1024, 8, (7, 1000, 1023, 1024), (("PER_SM", 2),), 1, is_small=True)
    yield Tile("softmax_stream", 16384, 16, (12671, 12672), (("PER_SM", 1),), 2)
    yield Tile("softmax_stream", 14336, 8, (12671, 12672), (("PER_SM", 1),), 2)


ROW_TILES = tuple(_tiles())
ROWS = 5
EPS = 1e-5


def add_spec(by, dtype, block=1024, warps=4):
    """`by` places of tensors or by pointers."""
    source, kernel = (ADD, "vector_add") if by == "places" else (ADD_PTR, "add_ptr")
    return plan.make_spec(source, kernel, warps, T=dtype, BLOCK=block)


def row_source(kernel):
    return SOFTMAX if kernel.startswith("softmax") else RMS_NORM


def row_spec(kernel, dtype, block, warps, **extra):
    return plan.make_spec(row_source(kernel), kernel, warps, T=dtype, BLOCK=block, **extra)


def tile_spec(tile, dtype):
    return row_spec(tile.kernel, dtype, tile.block, tile.warps, **dict(tile.extra))


def row_strides(length):
    """Dense, odd, and a multiple of 16 elements with a gap."""
    return tuple(dict.fromkeys((length, length + 5, -(-length // 16) * 16 + 16)))


def all_specs():
    """Everything that the checks load, each once."""
    specs = [add_spec(by, dtype) for by in ("places", "pointers") for dtype in ADD_DTYPES]
    specs += [row_spec(kernel, dtype, 4096, 8) for kernel in ("softmax", "rms_norm")
              for dtype in ROW_DTYPES]
    specs += [tile_spec(tile, dtype) for dtype in ROW_DTYPES for tile in ROW_TILES]
    return list(dict.fromkeys(specs))


def row_inputs(is_softmax, dtype, length):
    """The arrays of a row kernel by parameter name: rows of several characters."""
    inputs = numerics.Inputs("rows", is_softmax, dtype, length)
    x = inputs.normals(ROWS * length).reshape(ROWS, length)
    x[1] = np.linspace(-80.0, 80.0, length) if is_softmax else x[1] * 100.0
    x[2] = 0.75 if is_softmax else 0.0
    x[3, -1] = 9.0
    arrays = {}
    if is_softmax:
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

    source: str
    kernel: str
    dtype: str
    defines: tuple  # ((name, value), ...)
    length: int

    @property
    def file_name(self):
        values = [f"{name}-{value}" for name, value in self.defines]
        return ".".join([self.kernel, self.dtype, *values, f"n{self.length}"]) + ".npz"

    @property
    def is_add(self):
        """Additions are exact: engines must agree to the bit."""
        return self.source in (ADD, ADD_PTR)

    @property
    def output(self):
        return "z" if self.is_add else "y"

    def inputs(self):
        if self.is_add:
            return {name: numerics.make_addends(self.dtype, self.length, name) for name in "xy"}
        return row_inputs(self.source == SOFTMAX, self.dtype, self.length)

    def output_shape(self):
        return (self.length,) if self.is_add else (ROWS, self.length)


def interpreted_add(by, dtype, count):
    spec = add_spec(by, dtype)
    return Interpreted(spec.source, spec.kernel, dtype, (("BLOCK", 1024),), count)


def interpreted_rows(tile, dtype, length):
    return Interpreted(row_source(tile.kernel), tile.kernel, dtype, tuple(tile.defines.items()),
                       length)


def interpreted():
    """All interpreter runs, each once."""
    runs = [interpreted_add(by, dtype, count) for by in ("places", "pointers")
            for dtype in ADD_DTYPES for count in ADD_COUNTS if count <= ADD_INTERPRETED_UP_TO]
    runs += [interpreted_rows(tile, dtype, length) for dtype in ROW_DTYPES for tile in ROW_TILES
             for length in tile.lengths]
    return list(dict.fromkeys(runs))
