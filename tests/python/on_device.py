"""The package with torch itself, and CuPy where it is: `--backend=cuda` on a GPU, else on the CPU
device, where what is about streams is left out."""

import importlib.util
import pathlib
import tempfile
import unittest

import frameworks
import numpy as np
import support

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_CUPY = importlib.util.find_spec("cupy") is not None
if HAS_TORCH:
    import torch

TARGETS = "sm_80,sm_90a,cpu"
ROWS = """
kernel scale_rows[T: dtype = f32](in x: T[M, N; *, *], out y: T[M, N; *, *], s: f32 = 2.0) @grid(M, cdiv(N, 64)) {
    let (row, column) = (program_id(0), program_id(1) * 64)
    y[row, column +: 64] = (x[row, column +: 64].to(f32) * s).to(T)
}
"""
ADD = """
kernel add_to[T: dtype = f32](in x: T[N], inout y: T[N]) @grid(cdiv(N, 256)) {
    let i = program_id(0) * 256
    y[i +: 256] += x[i +: 256]
}
"""
# Long enough for the host to enqueue whatever a test does meanwhile; of the device's clock.
SLEEP_CYCLES = 400_000_000


def load(source, name, *words, **consts):
    import tkcrt  # pylint: disable=import-outside-toplevel
    data = support.build(source, *words, target=TARGETS)
    return tkcrt.Module.from_bytes(data, backend=support.backend()).kernel(name, **consts)


def device():
    return support.backend()


def on_gpu(test):
    """Leaves a test out on the CPU device."""
    def run(self):
        if device() == "cpu":
            self.skipTest("the CPU device has no streams")
        test(self)
    run.__name__ = test.__name__
    return run


class OnlyDlpack:
    """An exporter of DLPack that is nothing else; keeps the streams that it was told."""

    def __init__(self, tensor):
        self.tensor, self.streams = tensor, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream)


@unittest.skipUnless(HAS_TORCH, "there is no torch")
class Tensors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = {t: load(ROWS, "scale_rows", "-D", "T=f32,f16,bf16", T=t) for t in ("f32", "f16", "bf16")}
        cls.add = load(ADD, "add_to")

    def test_each_type_and_any_strides(self):
        for name, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
            whole = torch.randn(200, 300, device=device()).to(dtype)
            for x in (whole, whole.T, whole[::2, 10:77], whole[:0]):
                y = torch.zeros_like(x, memory_format=torch.preserve_format)
                self.kernels[name](x, y, 0.5)
                self.assertTrue(torch.equal(y, x * 0.5), (name, x.shape, x.stride()))

    def test_inout_and_what_lies_around(self):
        memory = torch.ones(1002, device=device())
        y = memory[1:1001]
        self.add(torch.full((1000,), 3.0, device=device()), y)
        self.assertEqual(memory.unique(return_counts=True)[1].tolist(), [2, 1000])
        self.assertTrue(bool((y == 4).all()))

    def test_dlpack(self):
        x = torch.arange(1000.0, device=device())
        y = torch.zeros(1000, device=device())
        exporter = OnlyDlpack(x)
        self.add(exporter, OnlyDlpack(y))
        self.assertTrue(torch.equal(x, y))
        # 1 is CUDA's default stream in DLPack; a host has none.
        self.assertEqual(exporter.streams, [1] if device() == "cuda" else [None])
        again = torch.from_dlpack(y)
        self.add(x, again)
        self.assertTrue(torch.equal(y, 2 * x))

    def test_refused(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        x, y = torch.ones(100, device=device()), torch.zeros(100, device=device())
        with self.assertRaisesRegex(tkcrt.Error, "`y`.*f16") as caught:
            self.add(x, y.half())
        self.assertEqual(caught.exception.status, "TKC_E_DTYPE")
        with self.assertRaisesRegex(tkcrt.Error, "`y`: extent 0 is 99, needed 100") as caught:
            self.add(x, y[:99])
        self.assertEqual(caught.exception.status, "TKC_E_EXTENT")
        with self.assertRaises(tkcrt.Error) as caught:
            self.add(y[:50], y[1:51])
        self.assertEqual(caught.exception.status, "TKC_E_OVERLAP")
        if device() == "cuda":
            with self.assertRaisesRegex(TypeError, "`x` is in host memory"):
                self.add(x.cpu(), y)
            with self.assertRaisesRegex(TypeError, "`x` is in host memory"):
                self.add(x.cpu().numpy(), y)
        self.assertEqual(int(y.count_nonzero()), 0)

    def test_compiled_from_python(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "add.tk")
            source.write_text(ADD)
            for _ in range(2):  # the second time from the cache
                module = tkcrt.compile(source, cache=pathlib.Path(folder, "cache"), backend=device(),
                                       target=TARGETS, tkc=support.tkc())
                x, y = torch.ones(500, device=device()), torch.ones(500, device=device())
                module.kernel("add_to")(x, y)
                self.assertTrue(bool((y == 2).all()))


@unittest.skipUnless(HAS_TORCH, "there is no torch")
class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.add = load(ADD, "add_to")

    def late(self, stream, launch, enter=True):
        """Fills x long after the launch is enqueued, on the stream; what the launch then saw."""
        x, y = torch.ones(100_000, device="cuda"), torch.ones(100_000, device="cuda")
        torch.cuda.synchronize()
        launch(x, y)  # a first launch may wait for the device
        torch.cuda.synchronize()
        x.fill_(0), y.fill_(0)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP_CYCLES)
            x.fill_(3)
            if enter:
                launch(x, y)
        if not enter:
            launch(x, y)
        self.assertFalse(stream.query(), "the launch waited for the device")
        torch.cuda.synchronize()
        return y.unique().tolist()

    @on_gpu
    def test_the_current_one_is_taken(self):
        stream = torch.cuda.Stream()
        self.assertEqual(self.late(stream, self.add), [3])

    @on_gpu
    def test_one_that_is_named(self):
        stream = torch.cuda.Stream()
        for named in (stream, stream.cuda_stream):
            self.assertEqual(self.late(stream, lambda x, y, s=named: self.add(x, y, stream=s), enter=False), [3])

    @on_gpu
    def test_bound_launches_and_graphs(self):
        x, y = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
        bound = self.add.bind(x, y)
        bound()
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            bound()
            self.add(x, y)
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()
        self.assertEqual(y.unique().tolist(), [7])


@unittest.skipUnless(HAS_TORCH, "there is no torch")
class Operators(unittest.TestCase):
    """torch.library: the kernel has workspace, an optional tensor and a scalar with a default."""

    @classmethod
    def setUpClass(cls):
        import tkcrt  # pylint: disable=import-outside-toplevel
        module = tkcrt.Module.from_bytes(support.build(frameworks.SCALE, target=TARGETS), backend=device())
        cls.op = staticmethod(tkcrt.torch_op("tkcrt_device::scale", module, "scale"))

    def tensors(self):
        return (torch.arange(100.0, device=device()), torch.ones(100, device=device()),
                torch.zeros(100, device=device()))

    def test_called(self):
        x, bias, y = self.tensors()
        self.op(x, None, y, None, 3)
        self.assertTrue(torch.equal(y, 2 * x))
        torch.ops.tkcrt_device.scale(x, bias, y, 4.0, 3)
        self.assertTrue(torch.equal(y, 4 * x + 1))

    def test_opcheck(self):
        torch.library.opcheck(self.op, (*self.tensors(), 4.0, 3))

    def compiled(self, **options):
        x, bias, y = self.tensors()

        def program(x, bias, y):
            self.op(x + 1, bias, y, 4.0, 3)
            return y * 2

        compiled = torch.compile(program, fullgraph=True, **options)
        for _ in range(3):
            y.zero_()
            self.assertTrue(torch.equal(compiled(x, bias, y).clone(), 8 * x + 10))
            self.assertTrue(torch.equal(y, 4 * x + 5))

    def test_compiled_eager(self):
        self.compiled(backend="eager")

    def test_compiled(self):
        self.compiled()

    @on_gpu
    def test_compiled_with_graphs(self):
        self.compiled(mode="reduce-overhead")


@unittest.skipUnless(HAS_CUPY, "there is no CuPy")
class Cupy(unittest.TestCase):
    @on_gpu
    def test_arrays_on_its_current_stream(self):
        import cupy  # pylint: disable=import-outside-toplevel
        add = load(ADD, "add_to")
        x, y = cupy.arange(1000, dtype=cupy.float32), cupy.zeros(1000, cupy.float32)
        cupy.cuda.get_current_stream().synchronize()
        with cupy.cuda.Stream(non_blocking=True) as stream:
            add(x, y)
            add(x[::1], y)
            stream.synchronize()
        self.assertTrue(bool((y == 2 * x).all()))
        with self.assertRaisesRegex(TypeError, "in host memory"):
            add(np.zeros(1000, np.float32), y)


if __name__ == "__main__":
    support.main()
