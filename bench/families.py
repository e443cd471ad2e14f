"""The families of benchmarks: their data, bytes, references and the callables of each side.

A family knows its tensors by the names that configs.json uses in `args`. Correct comes before
fast: `verify` runs a candidate once on poisoned output and compares with PyTorch in f64.
"""

import torch

import peers

_PRECISION = {torch.float32: 24, torch.bfloat16: 8, torch.float16: 11}
_CHUNK_ELEMENTS = 1 << 26  # compared at a time, to bound the f64 copies


class Family:
    """One case's data. Subclasses give `tensors`, `output`, `moved_bytes` and `peer`."""

    def __init__(self, case):
        self.case, self.sizes = case, case.sizes
        self.dtype = peers.TORCH_DTYPES[case.dtype]
        self.tensors, self.output, self.moved_bytes = {}, None, 0
        torch.manual_seed(20)
        self.make()

    def random(self, *shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(self.dtype)

    def make(self):
        raise NotImplementedError

    def peer(self):
        """PyTorch's own operation as a callable."""
        raise NotImplementedError

    def reference(self, rows):
        """The f64 result of a slice of rows."""
        raise NotImplementedError

    def tkc(self, kernel, args):
        """A callable that only submits, checks and encoding being done here, and the variant."""
        values = [self.tensors.get(arg, arg) if isinstance(arg, str) else arg for arg in args]
        bound = kernel.bind(*values)
        stream = torch.cuda.current_stream().cuda_stream
        return (lambda: bound(stream)), bound.variant

    def triton(self, config):
        return peers.make_launch(config, self.sizes, self.tensors)

    def verify(self, launch):
        """None, or how the output is wrong."""
        self.output.view(torch.uint8).fill_(0x7f)
        launch()
        torch.cuda.synchronize()
        step = max(1, _CHUNK_ELEMENTS // max(1, self.output[0].numel()))
        for begin in range(0, self.output.shape[0], step):
            rows = slice(begin, begin + step)
            problem = self._compare(self.output[rows].double(), self.reference(rows), begin)
            if problem:
                return problem
        return None

    def _compare(self, got, wanted, begin):
        tolerance = 2.0 ** -_PRECISION[self.dtype] + 2.0**-17
        bad = ~((got - wanted).abs() <= wanted.abs() * tolerance + 2.0**-100)
        count = int(bad.sum())
        if not count:
            return None
        first = bad.nonzero()[0].tolist()
        value, expected = got[tuple(first)].item(), wanted[tuple(first)].item()
        first[0] += begin
        return f"{count} elements are wrong, first at {first}: {value!r}, expected {expected!r}"


class VectorAdd(Family):
    """z = x + y; three arrays are moved."""

    def make(self):
        n = self.sizes["N"]
        self.tensors = {"x": self.random(n), "y": self.random(n),
                        "z": torch.empty(n, device="cuda", dtype=self.dtype)}
        self.output = self.tensors["z"]
        self.moved_bytes = 3 * n * self.output.element_size()

    def peer(self):
        x, y, z = (self.tensors[name] for name in "xyz")
        return lambda: torch.add(x, y, out=z)

    def reference(self, rows):
        return (self.tensors["x"][rows] + self.tensors["y"][rows]).double()


class Softmax(Family):
    """Over rows; the matrix is read once and written once."""

    def make(self):
        m, n = self.sizes["M"], self.sizes["N"]
        self.tensors = {"x": self.random(m, n),
                        "y": torch.empty(m, n, device="cuda", dtype=self.dtype)}
        self.output = self.tensors["y"]
        self.moved_bytes = 2 * m * n * self.output.element_size()

    def peer(self):
        x, y = self.tensors["x"], self.tensors["y"]
        return lambda: torch.softmax(x, 1, out=y)

    def reference(self, rows):
        return torch.softmax(self.tensors["x"][rows].double(), 1)


class RmsNorm(Family):
    """Over rows with a weight; the matrix is read once and written once, the weight read once."""

    def make(self):
        m, n = self.sizes["M"], self.sizes["N"]
        self.tensors = {"x": self.random(m, n), "w": self.random(n), "eps": 1e-5,
                        "y": torch.empty(m, n, device="cuda", dtype=self.dtype)}
        self.output = self.tensors["y"]
        self.moved_bytes = (2 * m * n + n) * self.output.element_size()

    def peer(self):
        x, w = self.tensors["x"], self.tensors["w"]
        n = self.sizes["N"]

        def launch():
            self.kept = torch.nn.functional.rms_norm(x, (n,), w, 1e-5)
        return launch

    def reference(self, rows):
        x = self.tensors["x"][rows].double()
        scale = (x * x).mean(1, keepdim=True).add(1e-5).rsqrt()
        return x * scale * self.tensors["w"].double()


FAMILIES = {"vector_add": VectorAdd, "softmax": Softmax, "rms_norm": RmsNorm}
