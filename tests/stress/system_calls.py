"""Each system call of both caches fails once with each error that it could give.

  system_calls.py --tune=PROGRAM

Whatever fails: nobody crashes, no compile fails for the cache's sake, what was acknowledged is
there, what was there before is there or replaced, and no temporary file stays once a process in
good health has used the folder. Ends with 77 where system calls can't be traced.
"""

import argparse
import collections
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings

import compile_kills
import tracer

# Python tells these apart; all others are to it as EIO is.
COMMON = [errno.EIO, errno.EINTR, errno.EACCES, errno.ENOENT, errno.EEXIST]
ERRORS = {"compiling": COMMON,
          "tuning": COMMON + [errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EINVAL]}
LOCKED = [errno.EAGAIN]  # what flock alone gives, of a file
MUST_FAIL = {"tuning": {"mkdir", "openat", "newfstatat", "fsync", "flock", "write", "read",
                        "renameat", "unlinkat", "getdents64", "close"},
             "compiling": {"mkdir", "openat", "newfstatat", "fsync", "flock", "write", "read",
                           "rename", "unlink", "unlinkat", "rmdir", "getdents64", "close"}}


class Tuning:
    name = "tuning"

    def __init__(self, scratch, program):
        self.cache, self.program = scratch / "tuning", program

    def prepare(self, has_old):
        """A record of before, and what a killed process left."""
        shutil.rmtree(self.cache, ignore_errors=True)
        if has_old:
            subprocess.run([self.program, self.cache, "old"], check=True)
            (self.cache / ".new-1-2-3").write_text("half")

    def body(self):
        with open(self.cache.with_name("said"), "w", encoding="ascii") as said:
            os.dup2(said.fileno(), 1)
        os.execv(self.program, [self.program, self.cache, "ops"])

    def check(self, status, has_old):
        if status:
            return f"it ended with {status}"
        is_stored = self.cache.with_name("said").read_text() == "stored\n"
        looks = [subprocess.run([self.program, self.cache, "look"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip() for _ in range(2)]
        good = ['{"a":1}'] + ([] if is_stored else ['{"a":0}' if has_old else "nothing"])
        return None if looks[0] == looks[1] and looks[0] in good else f"found: {looks}"


class Compiling:
    name = "compiling"
    # Where what fails is no business of the cache: the sources, the compiler, what it wrote.
    OTHERS = {"_digest_of_file", "_build", "compile"}

    def __init__(self, scratch, _):
        self.cache = scratch / "compiling"
        self.ledger = compile_kills.Ledger(1)
        self.files = compile_kills.Files(scratch / "sources", self.ledger)
        compile_kills._build._TICK_NS = 0  # nobody changes a file while this runs
        self.worker = compile_kills.Worker(self.files, self.ledger, self.cache)
        self.worker.compile(0)

    def prepare(self, has_old):
        shutil.rmtree(self.cache, ignore_errors=True)
        compile_kills._build._digests.clear()
        if has_old:
            self.worker.compile(0)
            for path in self.cache.glob("*.tkb"):  # to be made again
                path.write_bytes(path.read_bytes()[:-1])
            (self.cache / ".new-py-1").mkdir()
            (self.cache / ".new-py-1" / "k.tkb").write_text("half")
            (self.cache / ".new-1-2-3").write_text("half")

    def run_unmarked(self, *words, **options):
        tracer.mark()
        try:
            return self.worker.run_compiler(*words, **options)
        finally:
            tracer.mark()

    def body(self):
        subprocess.run = self.run_unmarked
        warnings.simplefilter("ignore")
        tracer.mark()
        try:
            self.worker.compile(0)
        except OSError as problem:
            frames = [frame.name for frame in traceback.extract_tb(problem.__traceback__)
                      if frame.filename == compile_kills._build.__file__]
            if frames[-1] not in self.OTHERS:
                raise
        tracer.mark()

    def check(self, status, _):
        if status:
            return f"it ended with {status}"
        self.worker.compile(0)
        if self.worker.compile(0):
            return "nothing is kept"
        folder = compile_kills._build._Folder(self.cache)
        for _ in range(2):  # as a compile that runs
            with folder.work():
                pass
        return None if all(folder.read(path.name) for path in self.cache.iterdir()) else "torn"


def sweep(kind, has_old):
    kind.prepare(has_old)
    names, status = tracer.run(kind.body)
    trouble = kind.check(status, has_old)
    if trouble:
        sys.exit(f"{kind.name}: nothing failed, and yet {trouble}")
    failed = collections.Counter()
    for index, name in enumerate(names):
        for error in ERRORS[kind.name] + (LOCKED if name == "flock" else []):
            kind.prepare(has_old)
            _, status = tracer.run(kind.body, index, error)
            trouble = kind.check(status, has_old)
            left = [path.name for path in kind.cache.iterdir() if path.name.startswith(".new-")]
            if trouble or left:
                sys.exit(f"{kind.name}: call {index} of {len(names)} ({name}) failed with "
                         f"{errno.errorcode[error]}: {trouble or left}")
            failed[name] += 1
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", required=True)
    options = parser.parse_args()
    if not tracer.is_possible():
        print("system calls can't be traced here")
        sys.exit(77)
    # In memory where it can be: disks take their time to sync.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        for make in (Tuning, Compiling):
            kind = make(pathlib.Path(scratch), options.tune)
            failed = sweep(kind, has_old=False) + sweep(kind, has_old=True)
            missing = MUST_FAIL[kind.name] - set(failed)
            if missing:
                sys.exit(f"{kind.name}: never made: {sorted(missing)}")
            print(f"{kind.name}: {failed.total()} failures in",
                  ", ".join(f"{name} {count}" for name, count in sorted(failed.items())))


if __name__ == "__main__":
    main()
