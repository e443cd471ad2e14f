"""Every kernel of ../../examples on the data of its oracle in ../run/example_oracles.py, with tables of pointers and
arguments that are left out.
"""

import numpy as np

import example_oracles
from cases import ALIGNED, DTYPES, EXAMPLES, PADDED, Case
from numpy_cases import CASES

WAITS_FOR_LATER = ("stream_k",)


def made(word):
    """The array that a word like empty:f16:5x7 stands for; what is empty begins with zeros here."""
    _, dtype, *shape = word.split(":")
    return np.zeros([int(side) for side in shape[0].split("x")] if shape else [], DTYPES[dtype])


def array_of(value):
    if isinstance(value, list):
        return [array_of(part) for part in value]
    if isinstance(value, str):
        return made(value)
    return np.ascontiguousarray(value).view(np.uint8) if value.dtype == bool else value


def case_of(file, kernel, number, may_pad):
    """The case of the kernel's size of that number; padding is for matrices, and worth a run where one is written."""
    make, sizes = CASES[file, kernel]
    data = make(np.random.default_rng(number), sizes[number])
    arrays = {name: array_of(value) for name, value in data.args.items() if not np.isscalar(value) or isinstance(value, str)}
    scalars = {name: value for name, value in data.args.items() if name not in arrays}
    turned = tuple(name for name, array in arrays.items()
                   if isinstance(array, np.ndarray) and array.ndim == 2 and not array.flags.c_contiguous)
    arrays.update((name, arrays[name].copy("C")) for name in turned)
    written = [name for name in data.want if getattr(arrays[name], "ndim", 0) == 2]
    placements = (ALIGNED, PADDED) if may_pad and written else (ALIGNED,)
    options = [word for define in data.defines for word in ("-D", define)]
    return Case(f"{kernel} {sizes[number]}", "", arrays, scalars, ("-k", kernel, *options), placements,
                path=f"{EXAMPLES}/{file}.tk", transposed=turned, backwards=kernel in WAITS_FOR_LATER)


def ragged_examples():
    """The last size of each kernel, which no tile divides."""
    return [case_of(file, kernel, len(sizes) - 1, True) for (file, kernel), (_, sizes) in CASES.items()]


def whole_examples():
    """The first, which the tiles divide."""
    return [case_of(file, kernel, 0, False) for file, kernel in CASES]


GROUPS = {function.__name__: function for function in (ragged_examples, whole_examples)}
