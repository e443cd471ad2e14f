"""tkcrt.compile: what is kept, when it is made again, and which folders are refused."""

import os
import pathlib
import stat
import tempfile
import unittest
from unittest import mock

import numpy as np
import support

KERNEL = """import "helper.tk"
kernel fill(out y: f32[N]) @grid(1) {
    y[0 +: 16] = full(helper.value(), 16)
}
"""
HELPER = "fn value() { return 1.0 }\n"


class Compiles(unittest.TestCase):
    def setUp(self):
        import tkcrt  # pylint: disable=import-outside-toplevel
        self.tkcrt = tkcrt
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.folder = pathlib.Path(work.name)
        self.file, self.cache = self.folder / "fill.tk", self.folder / "cache"
        self.file.write_text(KERNEL)
        (self.folder / "helper.tk").write_text(HELPER)

    def result(self, **options):
        """(what the kernel writes, whether the compiler ran)."""
        with mock.patch("subprocess.run", side_effect=__import__("subprocess").run) as run:
            module = self.tkcrt.compile(self.file, cache=self.cache, backend="cpu",
                                        tkc=support.tkc(), **options)
        y = np.zeros(4, np.float32)
        module.kernel("fill")(y)
        return y[0], run.called

    def test_the_second_time_it_is_there(self):
        self.assertEqual(self.result(), (1.0, True))
        self.assertEqual(self.result(), (1.0, False))
        self.assertEqual(stat.S_IMODE(self.cache.stat().st_mode), 0o700)
        self.assertEqual({stat.S_IMODE(p.stat().st_mode) for p in self.cache.iterdir()}, {0o600})
        self.assertEqual(len(list(self.cache.iterdir())), 2)

    def test_what_goes_in_decides(self):
        self.result()
        (self.folder / "helper.tk").write_text(HELPER.replace("1.0", "2.0"))
        self.assertEqual(self.result(), (2.0, True))
        (self.folder / "helper.tk").write_text(HELPER)
        self.assertEqual(self.result(), (1.0, False))
        self.file.write_text(KERNEL.replace("value()", "value() + 5"))
        self.assertEqual(self.result(), (6.0, True))
        self.assertEqual(self.result(options=["--warps=8"]), (6.0, True))

    def test_damaged_entries_are_made_again(self):
        self.result()
        for path in self.cache.iterdir():
            path.write_bytes(path.read_bytes()[:-40] + bytes(40))
        self.assertEqual(self.result(), (1.0, True))
        self.assertEqual(self.result(), (1.0, False))

    def test_folders_of_others_are_refused(self):
        self.result()
        os.chmod(self.cache, 0o770)
        with self.assertRaisesRegex(PermissionError, "can be written by others: chmod go-w"):
            self.result()
        os.chmod(self.cache, 0o700)
        for path in self.cache.iterdir():
            os.chmod(path, 0o602)
        with self.assertRaisesRegex(PermissionError, "can be written by others"):
            self.result()
        with mock.patch("os.geteuid", return_value=os.geteuid() + 1):
            with self.assertRaisesRegex(PermissionError, "belongs to user"):
                self.result()
        (self.folder / "link").symlink_to(self.cache)
        self.cache = self.folder / "link"
        with self.assertRaisesRegex(PermissionError, "is no folder"):
            self.result()

    def test_what_the_compiler_refuses_is_an_error_and_not_kept(self):
        self.file.write_text(KERNEL.replace("16)", "y)"))
        with self.assertRaisesRegex(self.tkcrt.CompileError, r"fill\.tk:3:\d+: error: TK\d{4}"):
            self.result()
        self.assertEqual(list(self.cache.iterdir()), [])
        with self.assertRaisesRegex(FileNotFoundError, "no compiler 'no-such-tkc'"):
            self.tkcrt.compile(self.file, cache=self.cache, tkc="no-such-tkc")


if __name__ == "__main__":
    support.main()
