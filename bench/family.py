"""What all families of benchmarks share: a case's data, its reference and the callables of each side.

A family knows its tensors by the names that configs.json uses. Correct comes before fast: `verify`
runs a candidate once on poisoned outputs and compares with PyTorch in f64.
"""

import torch

import peers
import plan

PRECISION = {torch.float32: 24, torch.bfloat16: 8, torch.float16: 11}
SMALLEST = {torch.float32: 2.0**-149, torch.bfloat16: 2.0**-133, torch.float16: 2.0**-24}
_CHUNK_ELEMENTS = 1 << 26  # computed at a time, to bound what the f64 arithmetic takes


class Family:
    """One case's data. Subclasses give what is below."""

    outputs = ()        # names of the tensors that a launch must write
    unit = "GB/s"       # what the figure is: work / time
    absolute = 2.0**-100  # error that is allowed beside the rounding of the result

    def __init__(self, case):
        self.case, self.sizes = case, case.sizes
        torch.manual_seed(20)
        self.tensors = {t.name: self._allocate(t) for t in case.tensors}
        self._references = {}
        self.prepare()

    def _allocate(self, tensor):
        dtype = peers.TORCH_DTYPES[tensor.dtype]
        if tensor.name in self.outputs or not dtype.is_floating_point:
            return torch.empty(tensor.shape, device="cuda", dtype=dtype)
        return torch.randn(tensor.shape, device="cuda", dtype=torch.float32).to(dtype)

    def prepare(self):
        """What is more than random inputs."""

    def work(self):
        """Bytes that must move, or floating-point operations."""
        raise NotImplementedError

    def library(self):
        """{label: callable} of PyTorch's own operations."""
        raise NotImplementedError

    def reference(self, name, rows):
        """The f64 result of a slice of an output's rows."""
        raise NotImplementedError

    def bytes_of(self, *names):
        return sum(self.tensors[name].nbytes for name in names)

    def _value(self, arg):
        if isinstance(arg, plan.Rows):
            return self.tensors[arg.tensor][:arg.count]
        return self.tensors.get(arg, arg) if isinstance(arg, str) else arg

    def tkc(self, launches):
        """A callable that only submits, checks and encoding being done here, and the variant of
        each of (kernel, args)."""
        bound = [kernel.bind(*map(self._value, args)) for kernel, args in launches]
        stream = torch.cuda.current_stream().cuda_stream
        variants = [one.variant for one in bound]
        if len(bound) == 1:
            only = bound[0]
            return (lambda: only(stream)), variants

        def launch():
            for one in bound:
                one(stream)
        return launch, variants

    def triton(self, config):
        return peers.make_launch(config, self.sizes, self.tensors)

    def verify(self, launch):
        """None, or how an output is wrong."""
        for name in self.outputs:
            self.tensors[name].view(torch.uint8).fill_(0x7f)
        launch()
        torch.cuda.synchronize()
        for name in self.outputs:
            problem = self._verify_output(name)
            if problem:
                return problem
        return None

    def _verify_output(self, name):
        output = self.tensors[name]
        step = max(1, _CHUNK_ELEMENTS // max(1, output[0].numel()))
        for begin in range(0, output.shape[0], step):
            rows = slice(begin, begin + step)
            if (name, begin) not in self._references:
                self._references[name, begin] = self.reference(name, rows)
            problem = self._compare(name, output[rows].double(), self._references[name, begin], begin)
            if problem:
                return problem
        return None

    def tolerance(self, name, wanted):
        """Largest error of each element of an output."""
        dtype = self.tensors[name].dtype
        relative = 2.0 ** -PRECISION[dtype] + 2.0**-17
        return wanted.abs() * relative + self.absolute + SMALLEST[dtype] * 0.51  # of a subnormal number

    def _compare(self, name, got, wanted, begin):
        bad = ~((got - wanted).abs() <= self.tolerance(name, wanted))
        count = int(bad.sum())
        if not count:
            return None
        first = bad.nonzero()[0].tolist()
        value, expected = got[tuple(first)].item(), wanted[tuple(first)].item()
        first[0] += begin
        return f"{count} elements of {name} are wrong, first at {first}: {value!r}, " \
               f"expected {expected!r}"
