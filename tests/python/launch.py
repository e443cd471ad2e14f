"""Launching on the CPU device: every kind of argument, what is refused, what a kernel does wrong."""

import resource
import threading
import unittest

import numpy as np
import support

SCALE = """
kernel scale(in x: f32[N], out y: f32[N], s: f32 = 2.0) @grid(cdiv(N, 64)) {
    let i = program_id(0) * 64
    y[i +: 64] = x[i +: 64] * s
}
"""
COPY = """
kernel copy(in x: *f32, out y: *f32, n: i64) @grid(cdiv(n, 32)) {
    let i = program_id(0) * 32 + arange(0, 32)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
}
"""
SUM = """
kernel sums(in x: f32[M, _; *, *], in bias: f32[M]?, scratch part: f32[M], out y: f32[M]) @grid(M) {
    let row = program_id(0)
    part[row] = sum(x[row, 0 +: 64])
    y[row] = part[row]
    if bias { y[row] = part[row] + bias[row] }
}
"""


def load(source, name):
    import tkcrt  # pylint: disable=import-outside-toplevel
    return tkcrt.Module.from_bytes(support.build(source), backend="cpu").kernel(name)


class OnlyDlpack:
    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class OnlyInterface:
    def __init__(self, array, **changes):
        self.__array_interface__ = {**array.__array_interface__, **changes}


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scale, cls.copy, cls.sums = load(SCALE, "scale"), load(COPY, "copy"), load(SUM, "sums")

    def setUp(self):
        self.x, self.y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)

    def test_tensors_of_each_protocol(self):
        for wrap in (lambda a: a, OnlyDlpack, OnlyInterface):
            self.y[:] = 0
            self.scale(wrap(self.x), wrap(self.y), 3)
            np.testing.assert_array_equal(self.y, 3 * self.x)

    def test_strided_views_of_dlpack_and_numpy(self):
        grid = np.arange(60, dtype=np.float32).reshape(6, 10)
        y, bias = np.zeros(10, np.float32), np.ones(10, np.float32)
        room = np.zeros(1024, np.uint8)
        room = room[-room.ctypes.data % 256:]
        for view in (grid.T, OnlyDlpack(grid.T)):
            self.sums(view, None, None, y, workspace=room)
            np.testing.assert_array_equal(y, grid.sum(axis=0))
        self.sums(grid.T[:, ::-2], bias, None, y, workspace=room)
        np.testing.assert_array_equal(y, grid[::-2].sum(axis=0) + 1)

    def test_workspace_is_asked_for_and_needed(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        grid, y = np.ones((6, 10), np.float32), np.zeros(6, np.float32)
        need = self.sums.workspace(grid, None, None, y)
        self.assertGreaterEqual(need.bytes, 24)
        with self.assertRaises(tkcrt.Error) as caught:
            self.sums(grid, None, None, y)
        self.assertEqual(caught.exception.status, "TKC_E_WORKSPACE")

    def test_why_names_the_variant(self):
        self.assertIn("taken", self.scale.why(self.x, self.y))
        self.assertIn('"cpu"', self.scale.describe(0))

    def test_bound_launches_keep_what_they_use(self):
        launch = self.scale.bind(self.x.copy(), self.y, 2.0)
        launch()
        np.testing.assert_array_equal(self.y, 2 * self.x)
        launch = self.scale.bind(OnlyDlpack(self.x.copy()), self.y, 4.0)
        launch()
        np.testing.assert_array_equal(self.y, 4 * self.x)

    def test_what_a_kernel_does_wrong_has_its_place(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        self.copy(self.x, self.y, 100)
        np.testing.assert_array_equal(self.y, self.x)
        with self.assertRaises(tkcrt.Error) as caught:
            self.copy(self.x[:90], self.y, 100)
        self.assertEqual(caught.exception.status, "TKC_E_KERNEL")
        self.assertRegex(str(caught.exception), r"k\.tk:4:\d+: TK5001: program \(2, 0, 0\) loads from `x`")

    def test_wrong_arguments_are_refused(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        frozen = self.y.copy()
        frozen.flags.writeable = False
        for arguments, words in (
                ((self.x, frozen), "`y` is written, and the array is read-only"),
                ((self.x.astype(">f4"), self.y), "no tkc dtype for >f4"),
                ((self.x.astype(np.complex64), self.y), "no tkc dtype for complex64"),
                ((object(), self.y), "`x` is given object, needed a tensor"),
                ((OnlyDlpack(self.x, (2, 0)), self.y), "`x` is on DLPack's device 2"),
                ((OnlyInterface(self.x, strides=(6,)), self.y), "strides that are no multiples of 4"),
                ((self.x, self.y, 1, 2), "scale takes 3 arguments, 4 given"),
        ):
            with self.assertRaises(TypeError) as caught:
                self.scale(*arguments)
            self.assertIn(words, str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.scale(self.x, self.y, size=3)
        self.assertIn("unexpected keyword argument 'size'", str(caught.exception))
        with self.assertRaises(tkcrt.Error) as caught:
            self.scale(self.x, self.y, variant=7)
        self.scale(self.x, self.y, 0)  # the option does not stay
        np.testing.assert_array_equal(self.y, 0)

    def test_a_read_only_array_may_be_read(self):
        self.x.flags.writeable = False
        self.scale(self.x, self.y)
        np.testing.assert_array_equal(self.y, 2 * self.x)

    def test_threads_launch_at_the_same_time(self):
        wrong = []

        def work(factor):
            x, y = self.x.copy(), np.zeros(100, np.float32)
            for _ in range(50):
                self.scale(x, y, factor)
                if not (y == factor * x).all():
                    wrong.append(factor)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


    def test_a_launch_that_finds_no_memory_is_refused(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        x, y = np.ones(20_000_000, np.float32), np.ones(20_000_000, np.float32)
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20), limits[1]))
        try:
            with self.assertRaises(tkcrt.Error) as caught:
                self.scale(x, y)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)
        self.assertEqual(caught.exception.status, "TKC_E_NOMEM")
        self.scale(x, y)
        self.assertTrue((y == 2).all())


class Modules(unittest.TestCase):
    def test_a_digest_pins_the_description(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        data = support.build(SCALE)
        digest = data[40:72]
        for pin in (digest, digest.hex()):
            tkcrt.Module.from_bytes(data, backend="cpu", sha256=pin)
        with self.assertRaises(tkcrt.Error) as caught:
            tkcrt.Module.from_bytes(data, backend="cpu", sha256=bytes(32))
        self.assertEqual(caught.exception.status, "TKC_E_DIGEST")
        with self.assertRaises(ValueError):
            tkcrt.Module.from_bytes(data, backend="cpu", sha256="ab")
        with self.assertRaises(ValueError):
            tkcrt.Module.from_bytes(data, backend="tpu")


if __name__ == "__main__":
    support.main()
