"""Calling the compiler, with a folder that keeps what it made.

An entry of the cache is addressed by what goes into it: the compiler itself, its options, the file
and every file that it imports. Which files those are is known only after a compile, so there are two
steps: from the compiler, the options and the path to a list of files, from these and their contents
to the bundle. Both are written beside, synced and renamed, so that no reader sees half of one;
processes may share a folder, and none waits for another. Where an entry is made is locked: what
nobody has locked was left by a process that died, and goes with the next compile. Nobody but its
owner may write to the folder, since what lies there is executed; a folder that can't be used is a
warning, and nothing is kept.
"""

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
import warnings

from ._module import Module

_TEMPORARY = ".new-"       # how libtkctune calls its own too: they may share a folder
_LEFTOVER_SECONDS = 3600   # where nothing can be locked: no compile takes this long
_TICK_NS = 20_000_000      # file systems take their times from a clock that ticks

_digests = {}  # of files by what says that they are still the same


class CompileError(RuntimeError):
    """The compiler refused: `status` is its exit status, the text what it said."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def compile(path, *, cache, backend="cuda", kernel=None, defines=None, target=None, options=(),
            tkc="tkc"):
    """The Module of a .tk file; what the compiler warns of is a warning here. `cache` is the folder to keep it in, which is made if it is not there;
    `defines` are compile-time parameters, a list where several instances are wanted; `options` goes to
    the compiler as it is; `tkc` is the compiler, a path or a name on PATH."""
    tool = shutil.which(os.fspath(tkc))
    if tool is None:
        raise FileNotFoundError(f"no compiler {os.fspath(tkc)!r}: give its path as `tkc`")
    words = _words(backend, kernel, defines or {}, target, options)
    folder = _Folder(cache)
    path = os.path.abspath(path)
    data, text = (_lookup(folder, _list_key(tool, path, words), words)
                  or _build(folder, tool, path, words))
    if text:
        warnings.warn(text, stacklevel=2)
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
    now = time.time_ns()
    info = os.stat(path)
    key = (path, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
    if key in _digests:
        return _digests[key]
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if _changed(info) + _TICK_NS < now:  # else the next write may leave the same times
        _digests[key] = digest
    return digest


def _changed(info):
    """When a file was written or put in its place: a rename leaves the time of its writing. A time of
    writing that is still to come was set by somebody, and says nothing."""
    if info.st_mtime_ns > time.time_ns():
        return info.st_ctime_ns
    return max(info.st_mtime_ns, info.st_ctime_ns)


def _list_key(tool, path, words):
    return _digest_of_text(json.dumps([_digest_of_file(tool), words, path, os.getcwd()]))


def _bundle_key(list_key, files, words):
    """None when one of the files is not there any more."""
    try:
        digests = [[file, _digest_of_file(file)] for file in files]
        return _digest_of_text(json.dumps([list_key, digests, _found_elsewhere(files, words)]))
    except OSError:
        return None


def _found_elsewhere(files, words):
    """What there is wherever an import could have been found: a file that comes to be there may take
    another's place."""
    given = [following if word == "-I" else word[2:]
             for word, following in zip(words, words[1:] + [""]) if word.startswith("-I")]
    given = [os.path.abspath(folder) for folder in given]
    places = {os.path.join(folder, *parts[i:])
              for parts in (name.split(os.sep)[1:] for name in files) for i in range(len(parts))
              for folder in given + [os.path.dirname(name) for name in files]}
    modules = [name for folder in given
               for name in glob.glob(os.path.join(glob.escape(folder), "std", "*.tk"))]
    return sorted({place for place in places if os.path.exists(place)}.union(modules))


def _lookup(folder, list_key, words):
    files = folder.read(list_key + ".json")
    key = _bundle_key(list_key, json.loads(files), words) if files else None
    data = folder.read(key + ".tkb") if key else None
    if data is None:
        return None
    return data, (folder.read(key + ".txt") or b"").decode(errors="replace")


def _warnings_of(text):
    """What the compiler said, if some of it is more than a note."""
    return text.strip() if re.search(r"(^|\W)warning\W", text) else ""


def _build(folder, tool, path, words):
    """The bundle, and what the compiler warned of."""
    started = time.time_ns()
    time.sleep(_TICK_NS / 1e9)  # what changes from now on is seen to be younger
    list_key = _list_key(tool, path, words)
    with folder.work() as work:
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
        text = _warnings_of(done.stderr)
        key = _bundle_key(list_key, files, words)
        if key and _are_older(files + [tool], started):
            entries = {key + ".txt": text.encode()} if text else {}
            entries.update({key + ".tkb": data, list_key + ".json": json.dumps(files).encode()})
            folder.keep(work, entries)
    return data, text


def _are_older(files, moment):
    """Whether none was changed since: else the compiler may have read what is no longer there."""
    try:
        changed = {name: _changed(os.stat(name)) for name in files}
    except OSError:
        return False
    now = time.time_ns()
    for name, when in changed.items():
        if when > now:
            warnings.warn(f"{name} is dated {(when - now) / 1e9:.0f} s into the future, so it may have "
                          f"changed since it was compiled: nothing is kept; `touch` it, or set the "
                          f"clock of the machine that it lies on", stacklevel=4)
            return False
    return all(when <= moment for when in changed.values())


def _dependencies(text):
    """The files behind the colon of a dependency file, in which `\\ ` is a blank of a name."""
    names = text.split(": ", 1)[1].replace("\\\n", " ").replace("\\ ", "\0").split()
    return sorted({os.path.abspath(name.replace("\0", " ").replace("$$", "$")) for name in names})


class _Folder:
    """A folder that nobody but its owner can write to. Each file ends in the digest of the rest."""

    def __init__(self, path):
        self.path, self.is_usable = os.path.abspath(path), False
        try:
            with contextlib.suppress(FileExistsError):
                os.makedirs(self.path, mode=0o700)
            info = os.lstat(self.path)
        except OSError as error:
            self._warn(error)
            return
        self._check(info, self.path, stat.S_ISDIR, "folder")
        self.is_usable = True

    def _warn(self, error):
        warnings.warn(f"the cache {self.path} can't be used ({error}): nothing is kept",
                      stacklevel=2)

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
        if not self.is_usable:
            return None
        path = os.path.join(self.path, name)
        # O_NONBLOCK: a pipe in its place must not hold us up.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with open(path, "rb", opener=lambda path, _: os.open(path, flags)) as file:
                info, data = os.fstat(file.fileno()), file.read()
        except OSError:
            return None
        self._check(info, path, stat.S_ISREG, "file")
        body, digest = data[:-32], data[-32:]
        return body if hashlib.sha256(body).digest() == digest else None

    @contextlib.contextmanager
    def work(self):
        """A folder in which an entry is made; elsewhere when that can't be in this one."""
        try:
            path, descriptor = self._make_locked() if self.is_usable else (None, None)
        except OSError as error:
            self._warn(error)
            path = None
        if path is None:
            with tempfile.TemporaryDirectory() as path:
                yield path
            return
        try:
            yield path
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(path)
            with contextlib.suppress(OSError):
                os.close(descriptor)  # and unlocked

    def _make_locked(self):
        self._remove_leftovers()
        for _ in range(8):
            path = tempfile.mkdtemp(prefix=_TEMPORARY + "py-", dir=self.path)
            # Until it is locked somebody may take it for a leftover.
            with contextlib.suppress(FileNotFoundError):
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                if _lock(descriptor) is not False and os.path.isdir(path):
                    return path, descriptor
                os.close(descriptor)
        raise FileExistsError(f"no place in {self.path}")

    def _remove_leftovers(self):
        for name in os.listdir(self.path):
            if name.startswith(_TEMPORARY):
                with contextlib.suppress(OSError):
                    _remove_leftover(os.path.join(self.path, name))

    def keep(self, work, entries):
        """Each with its bytes and then its name on the disk before the next."""
        if os.path.dirname(work) != self.path:
            return
        try:
            for name, body in entries.items():
                self._write(os.path.join(work, name), body)
                os.replace(os.path.join(work, name), os.path.join(self.path, name))
                _sync(self.path)
        except OSError as error:
            self._warn(error)

    @staticmethod
    def _write(path, body):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(body + hashlib.sha256(body).digest())
            file.flush()
            os.fsync(descriptor)


def _sync(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor):
    """Never waits. True: it is ours. False: another has it. None: this file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return None


def _remove_leftover(path):
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    try:
        info, is_ours = os.fstat(descriptor), _lock(descriptor)
        if is_ours or (is_ours is None and info.st_mtime + _LEFTOVER_SECONDS < time.time()):
            if stat.S_ISDIR(info.st_mode):
                shutil.rmtree(path)
            else:
                os.unlink(path)
    finally:
        os.close(descriptor)
