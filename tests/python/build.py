"""tkcrt.compile: what is kept, when it is made again, and which folders are refused."""

import errno
import fcntl
import multiprocessing
import os
import pathlib
import stat
import tempfile
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import support

KERNEL = """import "helper.tk"
kernel fill(out y: f32[_]) @grid(1) {
    y[0 +: 16] = full(helper.value(), 16)
}
"""
HELPER = "fn value() { return 1.0 }\n"


def _compile_in_process(work):
    import tkcrt  # pylint: disable=import-outside-toplevel
    module = tkcrt.compile(work[0], cache=work[1], backend="cpu", tkc=support.tkc())
    return str(module.metadata)


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

    def result(self, tkc=None, **options):
        """(what the kernel writes, whether the compiler ran)."""
        with mock.patch("subprocess.run", side_effect=__import__("subprocess").run) as run:
            module = self.tkcrt.compile(self.file, cache=self.cache, backend="cpu",
                                        tkc=tkc or support.tkc(), **options)
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

    def test_a_file_that_comes_first_on_the_search_path_is_noticed(self):
        (self.folder / "helper.tk").unlink()
        first, second = self.folder / "first", self.folder / "second"
        for folder in (first, second, second / "deep"):
            folder.mkdir()
        (second / "helper.tk").write_text("import deep.inner\n" + HELPER.replace("1.0", "inner.two()"))
        (second / "deep/inner.tk").write_text("fn two() { return 2.0 }\n")
        options = ["-I", str(first), "-I" + str(second)]
        self.assertEqual(self.result(options=options), (2.0, True))
        self.assertEqual(self.result(options=options), (2.0, False))
        (first / "deep").mkdir()
        (first / "deep/inner.tk").write_text("fn two() { return 3.0 }\n")
        self.assertEqual(self.result(options=options), (3.0, True))
        (first / "helper.tk").write_text(HELPER.replace("1.0", "4.0"))
        self.assertEqual(self.result(options=options), (4.0, True))
        (self.folder / "helper.tk").write_text(HELPER.replace("1.0", "5.0"))
        self.assertEqual(self.result(options=options), (5.0, True))
        (self.folder / "helper.tk").unlink()
        self.assertEqual(self.result(options=options), (4.0, True))
        self.assertEqual(self.result(options=options), (4.0, False))

    def test_a_file_written_twice_in_one_tick_of_the_clock(self):
        """Neither its times nor its size nor its number then say that it is another."""
        moment = self.file.stat()
        self.result()
        helper = self.folder / "helper.tk"
        self.assertEqual(self.result(), (1.0, False))
        real = os.stat

        def same_times(path, *more, **options):
            info = real(path, *more, **options)
            if os.fspath(path) != os.path.realpath(helper):
                return info
            values = {name: getattr(info, name) for name in dir(info) if name.startswith("st_")}
            # A moment ago, whenever that is read.
            values["st_mtime_ns"] = values["st_ctime_ns"] = moment.st_mtime_ns + 10**12
            return mock.Mock(**values)
        with mock.patch("os.stat", same_times):
            self.result()
            helper.write_text(HELPER.replace("1.0", "2.0"))
            self.assertEqual(self.result()[0], 2.0)

    def test_a_file_put_in_place_with_its_old_time_during_a_compile(self):
        """Only the time of its change says so."""
        helper, run = self.folder / "helper.tk", __import__("subprocess").run
        other = self.folder / "other.tk"
        other.write_text(HELPER.replace("1.0", "2.0"))

        def replace_after(*words, **options):
            done = run(*words, **options)
            other.replace(helper)
            return done
        with mock.patch("subprocess.run", replace_after):
            self.tkcrt.compile(self.file, cache=self.cache, backend="cpu", tkc=support.tkc())
        self.assertEqual(self.result(), (2.0, True))

    def test_a_compiler_that_changes_meanwhile(self):
        from tkcrt import _build  # pylint: disable=import-outside-toplevel
        tool, run = self.folder / "tool", __import__("subprocess").run

        def put(version):
            tool.write_text(f'#!/bin/sh\n# {version}\nexec {support.tkc()} "$@"\n')
            tool.chmod(0o700)

        def run_another(*words, **options):
            put("new")
            return run(*words, **options)
        put("old")
        with mock.patch("subprocess.run", run_another):
            self.tkcrt.compile(self.file, cache=self.cache, backend="cpu", tkc=tool)
        self.assertEqual(list(self.cache.iterdir()), [])
        # While the clock has not ticked yet, so that no time says so.
        with mock.patch.object(_build, "_changed", lambda info: 0), \
                mock.patch("time.sleep", lambda seconds: put("newest")):
            self.assertEqual(self.result(tkc=tool), (1.0, True))
        self.assertEqual(self.result(tkc=tool), (1.0, False))

    def test_a_file_that_comes_to_stand_in_front_of_an_import(self):
        first, second = self.folder / "first", self.folder / "second"
        first.mkdir()
        second.mkdir()
        (self.folder / "helper.tk").rename(second / "helper.tk")
        options = {"options": ["-I", str(first), "-I" + str(second)]}
        self.assertEqual(self.result(**options), (1.0, True))
        self.assertEqual(self.result(**options), (1.0, False))
        (first / "helper.tk").write_text(HELPER.replace("1.0", "2.0"))
        self.assertEqual(self.result(**options), (2.0, True))
        (self.folder / "helper.tk").write_text(HELPER.replace("1.0", "3.0"))
        self.assertEqual(self.result(**options), (3.0, True))

    def test_a_source_with_a_date_to_come_is_kept(self):
        to_come = time.time() + 86400
        for name in ("fill.tk", "helper.tk"):
            os.utime(self.folder / name, (to_come, to_come))
        self.assertEqual(self.result(), (1.0, True))
        self.assertEqual(self.result(), (1.0, False))
        (self.folder / "helper.tk").write_text(HELPER.replace("1.0", "2.0"))
        os.utime(self.folder / "helper.tk", (to_come, to_come))
        self.assertEqual(self.result(), (2.0, True))

    def test_a_clock_that_is_behind_is_a_warning(self):
        past = lambda: int((time.time() - 600) * 1e9)
        with mock.patch("time.time_ns", past), \
                self.assertWarnsRegex(UserWarning, "fill.tk is dated .* nothing is kept; `touch` it"):
            self.assertEqual(self.result(), (1.0, True))

    def test_what_the_compiler_warns_of_is_said_each_time(self):
        self.file.write_text(KERNEL.replace("out y", "unused: f32, out y"))
        for has_run in (True, False):
            with self.assertWarnsRegex(UserWarning, "TK2031: the parameter `unused`") as seen, \
                    mock.patch("subprocess.run", side_effect=__import__("subprocess").run) as run:
                self.tkcrt.compile(self.file, cache=self.cache, backend="cpu", tkc=support.tkc())
            self.assertEqual(seen.filename, __file__)
            self.assertEqual(run.called, has_run)

    def test_a_value_that_no_kernel_takes_is_an_error(self):
        with self.assertRaisesRegex(self.tkcrt.CompileError, "TK2066: -D BLOK") as raised:
            self.result(defines={"BLOK": 64})
        self.assertEqual(raised.exception.status, 2)

    def test_a_folder_that_cannot_be_used_is_a_warning(self):
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for call in ("os.replace", "os.fsync", "tempfile.mkdtemp", "os.makedirs"):
            place = self.folder / "scratch"
            place.mkdir(exist_ok=True)
            with mock.patch.object(tempfile, "tempdir", str(place)), warnings.catch_warnings():
                warnings.simplefilter("always")
                with self.assertWarnsRegex(UserWarning, "No space left on device.*nothing is kept"):
                    if call == "tempfile.mkdtemp":
                        real = tempfile.mkdtemp
                        double = lambda *a, real=real, **k: (_ for _ in ()).throw(full) \
                            if k.get("dir") == str(self.cache) else real(*a, **k)
                    else:
                        double = mock.Mock(side_effect=full)
                    with mock.patch(call, double):
                        self.assertEqual(self.result(), (1.0, True))
            self.assertEqual(list(place.iterdir()), [])
        self.assertEqual(self.result(), (1.0, True))
        self.assertEqual(self.result(), (1.0, False))

    def test_what_the_dead_left_is_removed_and_not_what_the_living_have(self):
        self.cache.mkdir(mode=0o700)
        for name in (".new-py-dead", ".new-py-alive"):
            (self.cache / name).mkdir()
            (self.cache / name / "k.tkb").write_text("half")
        (self.cache / ".new-1-2-3").write_text("a dead tuner's")
        os.mkfifo(self.cache / ".new-pipe")
        alive = os.open(self.cache / ".new-py-alive", os.O_RDONLY)
        self.addCleanup(os.close, alive)
        fcntl.flock(alive, fcntl.LOCK_EX)
        self.result()
        left = {path.name for path in self.cache.iterdir() if path.name.startswith(".new-")}
        self.assertEqual(left, {".new-py-alive"})

    def test_entries_cut_off_at_any_byte(self):
        from tkcrt import _build  # pylint: disable=import-outside-toplevel
        folder = _build._Folder(self.cache)
        path = self.cache / "a"
        with folder.work() as work:
            folder.keep(work, {"a": b"body" * 20})
        whole = path.read_bytes()
        self.assertEqual(folder.read("a"), b"body" * 20)
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            self.assertIsNone(folder.read("a"))
        self.assertIsNone(folder.read("b"))

    def test_32_processes_that_begin_with_nothing(self):
        with multiprocessing.get_context("fork").Pool(32) as pool:
            results = pool.map(_compile_in_process, [(self.file, self.cache)] * 32, chunksize=1)
        self.assertEqual(len(set(results)), 1)
        self.assertEqual(self.result(), (1.0, False))
        self.assertEqual(len(list(self.cache.iterdir())), 2)

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
