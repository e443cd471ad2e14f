"""torch and CuPy, as far as they can be played: which stream and device a launch takes, what is refused,
and the schema of an operator. With torch itself, an operator runs on the CPU device."""

import importlib.util
import sys
import types
import unittest
from unittest import mock

import numpy as np
import support

SCALE = """
kernel scale(in x: f32[N], in bias: f32[N]?, scratch part: f32[N], out y: f32[N], s: f32 = 2.0, n: i32)
    @grid(cdiv(N, 64))
{
    let i = program_id(0) * 64
    y[i +: 64] = x[i +: 64] * s
    part[i +: 64] = full(n.to(f32), 64)
    if bias { y[i +: 64] = x[i +: 64] * s + bias[i +: 64] }
}
"""


class Tensor:
    """As torch's."""

    def __init__(self, array, device=None):
        self.array, self.device = array, device
        self.dtype, self.shape = "torch." + str(array.dtype), array.shape
        self.is_cuda = device is not None

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(s // self.array.itemsize for s in self.array.strides)

    def get_device(self):
        return -1 if self.device is None else self.device


def fake_torch(initialized=True):
    stream = types.SimpleNamespace(cuda_stream=0x77)
    cuda = types.SimpleNamespace(is_initialized=lambda: initialized, current_device=lambda: 3,
                                 current_stream=lambda device: stream)
    return types.SimpleNamespace(cuda=cuda, Tensor=Tensor)


class FakeArray:
    """As CuPy's."""


def fake_cupy():
    cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0x99))
    return types.SimpleNamespace(ndarray=FakeArray, cuda=cuda)


class Streams(unittest.TestCase):
    def address(self, stream, args=(), **modules):
        from tkcrt import _streams  # pylint: disable=import-outside-toplevel
        with mock.patch.dict(sys.modules, {"torch": None, "cupy": None, **modules}):
            return _streams.stream_address(stream, 0, args)

    def test_what_a_caller_names(self):
        self.assertEqual(self.address(17), 17)
        self.assertEqual(self.address(types.SimpleNamespace(cuda_stream=5)), 5)
        self.assertEqual(self.address(types.SimpleNamespace(ptr=6)), 6)
        self.assertEqual(self.address(types.SimpleNamespace(__cuda_stream__=lambda: (0, 7))), 7)
        with self.assertRaises(TypeError):
            self.address("default")

    def test_the_current_one_of_the_arguments_framework(self):
        torch, cupy = fake_torch(), fake_cupy()
        self.assertEqual(self.address(None), 0)
        self.assertEqual(self.address(None, torch=torch), 0x77)
        self.assertEqual(self.address(None, torch=fake_torch(initialized=False)), 0)
        self.assertEqual(self.address(None, [FakeArray()], torch=torch, cupy=cupy), 0x99)
        self.assertEqual(self.address(None, [1.0], torch=torch, cupy=cupy), 0x77)

    def test_the_current_device(self):
        from tkcrt import _streams  # pylint: disable=import-outside-toplevel
        for torch, device in ((fake_torch(), 3), (fake_torch(initialized=False), 0), (None, 0)):
            with mock.patch.dict(sys.modules, {"torch": torch}):
                self.assertEqual(_streams.current_device(), device)


class Places(unittest.TestCase):
    def of(self, backend, arg, device=0, stream=0):
        from tkcrt import _memory  # pylint: disable=import-outside-toplevel
        return _memory.memory_of(_memory.Place("k", backend, device), "x", arg, stream, [], True)

    def test_tensors_on_the_wrong_side_are_refused(self):
        array = np.zeros((4, 6), np.float32)
        self.assertEqual(self.of("cuda", Tensor(array.T, device=0))[1:], (12, (6, 4), (1, 6)))
        self.assertEqual(self.of("cpu", Tensor(array))[0], array.ctypes.data)
        for backend, arg, words in (("cuda", Tensor(array), "in host memory"),
                                    ("cuda", array, "in host memory"),
                                    ("cpu", Tensor(array, device=0), "in device memory"),
                                    ("cuda", Tensor(array, device=1), "on device 1, the kernel was loaded for 0")):
            with self.assertRaisesRegex(TypeError, words):
                self.of(backend, arg)
        self.of("cuda", Tensor(array, device=1), device=None)

    def test_exporters_of_dlpack_are_told_the_stream(self):
        told = []
        array = np.zeros(4, np.float32)

        class Exporter:
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self, stream=None):
                told.append(stream)
                return array.__dlpack__()

        for stream in (0, 0x77):
            self.of("cuda", Exporter(), stream=stream)
        self.assertEqual(told, [1, 0x77])  # 1: the legacy default stream
        with self.assertRaisesRegex(TypeError, "loaded for 2"):
            self.of("cuda", Exporter(), device=2)


class Operators(unittest.TestCase):
    def test_the_schema_says_what_is_written(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        from tkcrt import _torch  # pylint: disable=import-outside-toplevel
        module = tkcrt.Module.from_bytes(support.build(SCALE), backend="cpu")
        self.assertEqual(_torch.schema_of(module.metadata["kernels"][0]["args"]),
                         "(Tensor x, Tensor? bias, Tensor(c!) y, float? s, int n) -> ()")
        with self.assertRaisesRegex(ValueError, "0 kernels are called 'scale' with {'B': 1}"):
            _torch._find(module, "scale", {"B": 1})

    def test_workspace_is_aligned_wherever_torch_puts_it(self):
        from tkcrt import _torch  # pylint: disable=import-outside-toplevel

        class Memory(np.ndarray):
            def data_ptr(self):
                return self.ctypes.data

        def empty(count, dtype, device):
            self.assertEqual(device, "cpu")
            return np.empty(count + 1, dtype).view(Memory)[1:]

        torch = types.SimpleNamespace(empty=empty, uint8=np.uint8)
        for size in (0, 100):
            need = types.SimpleNamespace(bytes=size, align=256, must_be_zero=False)
            workspace = _torch._make_workspace(torch, need, "cpu")
            self.assertEqual((workspace.data_ptr() % 256 if size else 0, workspace.size), (0, size))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
    def test_an_operator_runs_and_compiles(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        import torch  # pylint: disable=import-outside-toplevel
        op = tkcrt.torch_op("tkcrt_test::scale", tkcrt.Module.from_bytes(
            support.build(SCALE), backend="cpu"), "scale")
        x, bias, y = torch.arange(100.0), torch.ones(100), torch.zeros(100)
        op(x, None, y, None, 3)
        self.assertTrue(torch.equal(y, 2 * x))
        torch.compile(lambda: op(x, bias, y, 4.0, 3), backend="eager", fullgraph=True)()
        self.assertTrue(torch.equal(y, 4 * x + 1))
        torch.library.opcheck(op, (x, bias, y, 4.0, 3))


if __name__ == "__main__":
    support.main()
