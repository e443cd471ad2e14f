"""What the loader must refuse, with the text it gives; nothing may be launched.

Each case makes one argument wrong. The check is that the status is the right one, that the text
names the parameter, and that no output byte changed.
"""

import os
import tempfile

import cases
import device
import tkcrt
from support import Score


class _Case:
    """One refusal: the status and the words that its text must have."""

    def __init__(self, what, status, words, attempt):
        self.what, self.status, self.words, self.attempt = what, status, words, attempt


def _refusal(case):
    """(problem or None, the error's text)."""
    try:
        case.attempt()
    except tkcrt.Error as error:
        if error.status != case.status:
            return f"{error.status}, expected {case.status}: {error.text}", error.text
        missing = [word for word in case.words if word not in error.text]
        return f"the text lacks {missing}: {error.text}" if missing else None, error.text
    except (TypeError, OverflowError) as error:
        text = f"{type(error).__name__}: {error}"
        return None if case.status == "Python" else text, text
    return f"accepted, expected {case.status}", ""


class _Add:
    """A vector add of `count` elements and the wrong ways to call it."""

    def __init__(self, bench, count):
        self.kernel = bench.kernel(cases.add_spec("places", "f32"))
        self.pointers = bench.kernel(cases.add_spec("pointers", "f32"))
        self.count = count
        self.x, self.y, self.z = (bench.tensor("f32", (count,)) for _ in "xyz")
        self.tensors = [self.x, self.y, self.z]

    def view(self, tensor, shape=None, strides=None, dtype=None, shift=0):
        view = tensor.view
        return device.View(view.data_ptr() + shift, shape or view.shape,
                           strides or view.stride(), dtype or view.dtype)

    def cases(self):
        x, y, z = (tensor.view for tensor in self.tensors)
        run, view = self.kernel, self.view
        n = self.count
        return [
            _Case("wrong dtype", "TKC_E_DTYPE", ["`y`"],
                  lambda: run(x, view(self.y, dtype="f16"), z)),
            _Case("wrong rank", "TKC_E_EXTENT", ["`x`"],
                  lambda: run(view(self.x, (n // 2, 2), (2, 1)), y, z)),
            _Case("output too short", "TKC_E_EXTENT", ["`z`"],
                  lambda: run(x, y, view(self.z, (n - 1,)))),
            _Case("stride of the last axis", "TKC_E_EXTENT", ["`x`"],
                  lambda: run(view(self.x, (n // 2,), (2,)), view(self.y, (n // 2,)),
                              view(self.z, (n // 2,)))),
            _Case("pointer off by one byte", "TKC_E_ALIGN", ["`x`"],
                  lambda: run(view(self.x, (n - 1,), shift=1), view(self.y, (n - 1,)),
                              view(self.z, (n - 1,)))),
            _Case("null pointer", "TKC_E_ARG", ["`x`"],
                  lambda: run(device.View(0, (n,), (1,), "f32"), y, z)),
            _Case("output is an input", "TKC_E_OVERLAP", ["`z`", "`x`"], lambda: run(x, y, x)),
            _Case("output overlaps an input by one element", "TKC_E_OVERLAP", ["`z`"],
                  lambda: run(view(self.x, (n // 2,)), view(self.y, (n // 2,)),
                              view(self.x, (n // 2,), shift=4 * (n // 2 - 1)))),
            _Case("too many arguments", "Python", [], lambda: run(x, y, z, z)),
            _Case("scalar beyond its type", "Python", [],
                  lambda: self.pointers(x, y, z, 1 << 63)),
            _Case("pointer of the wrong dtype", "TKC_E_DTYPE", ["`y`"],
                  lambda: self.pointers(x, view(self.y, dtype="f16"), z, n)),
            _Case("pinned variant that its guards forbid", "TKC_E_NO_VARIANT", [],
                  lambda: run(view(self.x, (n - 1,), shift=4), view(self.y, (n - 1,)),
                              view(self.z, (n - 1,)), variant=0)),
        ]


class _Softmax:
    """Rows that are longer than the tile."""

    def __init__(self, bench):
        self.kernel = bench.kernel(cases.row_spec("softmax", "f32", 128, 4))
        self.tensors = [bench.tensor("f32", (2, 129)) for _ in "xy"]

    def cases(self):
        x, y = (tensor.view for tensor in self.tensors)
        return [_Case("BLOCK < N", "TKC_E_REQUIRE", ["BLOCK >= N", "128", "129"],
                      lambda: self.kernel(x, y))]


def _file_cases(bench, folder):
    """Images and names that must not be loaded."""
    path = bench.path(cases.add_spec("places", "f32"))
    with open(path, "rb") as file:
        image = bytearray(file.read())
    image[len(image) // 2] ^= 1
    changed = os.path.join(folder, "changed.cubin")
    with open(changed, "wb") as file:
        file.write(image)
    return [
        _Case("one bit of the binary changed", "TKC_E_DIGEST", [],
              lambda: bench.module(changed, path + ".json")),
        _Case("no such kernel", "TKC_E_ARG", ["nothing"],
              lambda: bench.module(path).kernel("nothing")),
        _Case("no such instance", "TKC_E_ARG", [],
              lambda: bench.module(path).kernel("vector_add", BLOCK=77)),
    ]


def run(bench):
    score = Score("refusals of the loader")
    add, softmax = _Add(bench, 1024), _Softmax(bench)
    tensors = add.tensors + softmax.tensors
    launches = bench.emulator.launches if bench.emulator else 0
    with tempfile.TemporaryDirectory() as folder:
        for case in add.cases() + softmax.cases() + _file_cases(bench, folder):
            problem, text = _refusal(case)
            if problem is None and not all(tensor.is_untouched() for tensor in tensors):
                problem = "memory changed"
            score.record(problem, case.what)
            score.note(f"{case.what}: {text}")
    if bench.emulator and bench.emulator.launches != launches:
        score.record("launched", "count of launches")
    for tensor in tensors:
        tensor.free()
    return [score]
