"""Calling the compiler, with a folder that keeps what it made.

An entry of the cache is addressed by what goes into it: the compiler itself, its options, the file
and every file that it imports. Which files those are is known only after a compile, so there are two
steps: from the compiler, the options and the path to a list of files, from these and their contents
to the bundle. Both are written beside and renamed, so that no reader sees half of one; processes may
share a folder. Nobody but its owner may write to it, since what lies there is executed.
"""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
import time

from ._module import Module

_digests = {}  # of files by what says that they are still the same


class CompileError(RuntimeError):
    """The compiler refused: `status` is its exit status, the text what it said."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def compile(path, *, cache, backend="cuda", kernel=None, defines=None, target=None, options=(),
            tkc="tkc"):
    """The Module of a .tk file. `cache` is the folder to keep it in, which is made if it is not there;
    `defines` are compile-time parameters, a list where several instances are wanted; `options` goes to
    the compiler as it is; `tkc` is the compiler, a path or a name on PATH."""
    tool = shutil.which(os.fspath(tkc))
    if tool is None:
        raise FileNotFoundError(f"no compiler {os.fspath(tkc)!r}: give its path as `tkc`")
    words = _words(backend, kernel, defines or {}, target, options)
    folder = _Folder(cache)
    path = os.path.abspath(path)
    list_key = _digest_of_text(json.dumps([_digest_of_file(tool), words, path, os.getcwd()]))
    data = _lookup(folder, list_key)
    if data is None:
        data = _build(folder, list_key, tool, path, words)
    return Module.from_bytes(data, backend=backend)


def _words(backend, kernel, defines, target, options):
    words = list(options)
    if kernel is not None:
        words += ["-k", kernel]
    if target is None and backend == "cpu":
        target = "cpu"
    if target is not None:
        words.append("--target=" + target)
    for name, value in defines.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        words += ["-D", name + "=" + ",".join(
            str(v).lower() if isinstance(v, bool) else str(v) for v in values)]
    return words


def _digest_of_text(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of_file(path):
    """SHA-256 of a file's bytes; not read again while the file is the same."""
    path = os.path.realpath(path)
    info = os.stat(path)
    key = (path, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)
    if key not in _digests:
        with open(path, "rb") as file:
            _digests[key] = hashlib.sha256(file.read()).hexdigest()
    return _digests[key]


def _bundle_key(list_key, files):
    """None when one of the files is not there any more."""
    try:
        return _digest_of_text(json.dumps([list_key] + [[f, _digest_of_file(f)] for f in files]))
    except OSError:
        return None


def _lookup(folder, list_key):
    files = folder.read(list_key + ".json")
    key = _bundle_key(list_key, json.loads(files)) if files else None
    return folder.read(key + ".tkb") if key else None


def _build(folder, list_key, tool, path, words):
    started = time.time_ns()
    time.sleep(0.02)  # file systems take their times from a clock that ticks
    with tempfile.TemporaryDirectory(dir=folder.path) as work:
        out, depfile = os.path.join(work, "k.tkb"), os.path.join(work, "k.d")
        done = subprocess.run([tool, path, "-o", out, "-MF", depfile, *words], text=True,
                              errors="replace", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise CompileError(done.returncode, done.stderr.strip())
        with open(depfile, encoding="utf-8") as file:
            files = _dependencies(file.read())
        with open(out, "rb") as file:
            data = file.read()
    key = _bundle_key(list_key, files)
    if key and _are_older(files, started):
        folder.write(key + ".tkb", data)
        folder.write(list_key + ".json", json.dumps(files).encode())
    return data


def _are_older(files, moment):
    """Whether none was written since: else the compiler may have read what is no longer there."""
    return all(os.stat(name).st_mtime_ns <= moment for name in files)


def _dependencies(text):
    """The files behind the colon of a dependency file, in which `\\ ` is a blank of a name."""
    names = text.split(": ", 1)[1].replace("\\\n", " ").replace("\\ ", "\0").split()
    return sorted({os.path.abspath(name.replace("\0", " ").replace("$$", "$")) for name in names})


class _Folder:
    """A folder that nobody but its owner can write to. Each file ends in the digest of the rest."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        try:
            os.makedirs(self.path, mode=0o700)
        except FileExistsError:
            pass
        self._check(os.lstat(self.path), self.path, stat.S_ISDIR, "folder")

    @staticmethod
    def _check(info, path, is_kind, kind):
        if not is_kind(info.st_mode):
            raise PermissionError(f"the cache's {path} is no {kind}")
        if info.st_uid != os.geteuid():
            raise PermissionError(f"the cache's {path} belongs to user {info.st_uid}, "
                                  f"this process runs as {os.geteuid()}")
        if info.st_mode & 0o022:
            raise PermissionError(f"the cache's {path} can be written by others: "
                                  f"chmod go-w {path}")

    def read(self, name):
        """None when there is no such file, or a damaged one."""
        path = os.path.join(self.path, name)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            self._check(os.fstat(descriptor), path, stat.S_ISREG, "file")
            data = file.read()
        body, digest = data[:-32], data[-32:]
        return body if hashlib.sha256(body).digest() == digest else None

    def write(self, name, body):
        descriptor, temporary = tempfile.mkstemp(dir=self.path)  # of mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body + hashlib.sha256(body).digest())
            os.replace(temporary, os.path.join(self.path, name))
        except BaseException:
            os.unlink(temporary)
            raise
