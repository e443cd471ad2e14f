"""tkcrt: load and launch kernels that tkc compiled, over libtkcrt and ctypes alone.

    import tkcrt
    module = tkcrt.Module("add.tkb")                # or an image with its .json beside it
    add = module.kernel("vector_add", BLOCK=1024)   # loads; constants pick the instance
    add(x, y, z)                                    # checks, encodes, submits
    launch = add.bind(x, y, z)                      # checks and encodes once ...
    launch()                                        # ... and only submits

Arguments are tensors of torch, NumPy (backend "cpu") and CuPy, anything with data_ptr(), shape,
stride() and dtype, with an array interface or with DLPack, plain integers as addresses where the
kernel takes a raw pointer, and numbers for scalars. An argument may be None where the kernel lets it
be left out. A stream is an integer, an object of torch or CuPy, or None: the current stream of the
framework that the arguments are of, else the default stream. `compile` calls the compiler and keeps
what it makes; `torch_op` makes a kernel an operator of torch. Errors of the loader are tkcrt.Error
with its text.
"""

from ._build import CompileError, compile  # pylint: disable=redefined-builtin
from ._c import Error, load_cpu_library, load_library
from ._module import Bound, Kernel, Module, Workspace
from ._torch import torch_op

__all__ = ["Bound", "CompileError", "Error", "Kernel", "Module", "Workspace", "compile",
           "load_cpu_library", "load_library", "torch_op"]
