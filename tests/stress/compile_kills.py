"""Processes that compile into one cache and are killed, while the sources change under them.

  compile_kills.py SOURCES CACHE PROCESSES KILLS SEED

The compiler is a function in the process that does as `tkc` does: it reads the source and what it
imports, and writes a bundle and a list of the files. Everything else is tkcrt.compile as it is. The
result says which version of each file it was made of, and must be one that was there between the
call's begin and end. That is known from a ledger in memory that all processes share.
"""

import hashlib
import mmap
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "runtime" / "python"))
from tkcrt import _build  # pylint: disable=wrong-import-position

SOURCES, HELPERS = 12, 4
FILES = SOURCES + HELPERS + 1  # the last is the compiler
TOOL = FILES - 1
KILLS_PER_BATCH = 500
CHANGES_PER_KILL = 0.3
STUCK_SECONDS = 60


class Trouble(Exception):
    pass


class Ledger:
    """In memory that all processes share: of each file the last version that was begun and the last
    that is there; of each process whether it builds, and how much it has done."""

    def __init__(self, processes):
        words = memoryview(mmap.mmap(-1, 8 * 2 * (FILES + processes))).cast("Q")
        self.begun, self.there = words[:FILES], words[FILES:2 * FILES]
        self.busy = words[2 * FILES:2 * FILES + processes]
        self.beats = words[2 * FILES + processes:]


class Files:
    """The sources, in versions that can be told by what stands in them. All have one length: size
    and name tell no two versions apart."""

    def __init__(self, root, ledger):
        self.root, self.ledger = root, ledger
        root.mkdir()
        self.names = [root / f"s{i}.tk" for i in range(SOURCES)]
        self.names += [root / f"h{i}.tk" for i in range(HELPERS)] + [root / "tool"]
        for file in range(FILES):
            self.change(file, in_place=True)
        os.chmod(self.names[TOOL], 0o700)

    def text(self, file, version):
        """Odd sources import another file with each version: the list of files changes with it."""
        imported = (file + (version if file % 2 else 0)) % HELPERS
        return f"version {version:08} of {self.names[file].name} imports h{imported}.tk\n"

    def change(self, file, in_place):
        version = self.ledger.begun[file] + 1
        self.ledger.begun[file] = version
        if in_place:
            self.names[file].write_text(self.text(file, version))
        else:
            beside = self.root / "beside"
            beside.write_text(self.text(file, version))
            beside.chmod(0o700)
            beside.replace(self.names[file])
        self.ledger.there[file] = version


FORM = re.compile(r"version (\d{8}) of \S+ imports (h\d\.tk)\n")


def bytes_of(head):
    """Of some pages, and all of them say which head they belong to."""
    return hashlib.sha256(head).digest() * (200 + head[8] % 64)


class Worker:
    def __init__(self, files, ledger, cache, slot=None):
        self.files, self.ledger, self.cache, self.slot = files, ledger, cache, slot
        self.runs = 0
        subprocess.run = self.run_compiler
        _build.Module.from_bytes = lambda data, **_: data

    def run_compiler(self, command, **_):
        """What `tkc SOURCE -o OUT -MF DEPFILE` does. A file that is being written may be half
        there."""
        self.runs += 1
        self.set_busy(1)
        tool, source, _, out, _, depfile = command[:6]
        versions = []
        helper = None
        for path in (tool, source, None):
            match = FORM.fullmatch(pathlib.Path(path or helper).read_text())
            if not match:
                return subprocess.CompletedProcess(command, 1, stderr="half a file")
            versions.append(int(match[1]))
            if path:
                helper = pathlib.Path(source).with_name(match[2])
        head = struct.pack("<4Q", *versions, int(helper.stem[1:]))
        with open(out, "wb", buffering=0) as file:
            for chunk in (head, bytes_of(head)):
                file.write(chunk)
        pathlib.Path(depfile).write_text(f"{out}: {source} {helper}\n")
        return subprocess.CompletedProcess(command, 0, stderr="")

    def set_busy(self, is_busy):
        if self.slot is not None:
            self.ledger.busy[self.slot] = is_busy

    def compile(self, source):
        """True when the compiler had to run, None when it refused."""
        ledger = self.ledger
        before = list(ledger.there)
        runs = self.runs
        try:
            data = _build.compile(self.files.names[source], cache=self.cache,
                                  tkc=self.files.names[TOOL])
        except _build.CompileError:
            data = None
        finally:
            self.set_busy(0)
        after = list(ledger.begun)
        is_quiet = before == after
        if data is None:
            if is_quiet:
                raise Trouble(f"source {source} is refused though nobody changed a file")
            return None
        head, rest = data[:32], data[32:]
        if rest != bytes_of(head):
            raise Trouble(f"torn: the bundle of source {source}")
        tool, version, helper_version, helper = struct.unpack("<4Q", head)
        for name, file, got in (("tool", TOOL, tool), ("source", source, version),
                                ("import", SOURCES + helper, helper_version)):
            if not before[file] <= got <= after[file]:
                raise Trouble(f"stale: source {source} has version {got} of its {name}, there "
                              f"were {before[file]} to {after[file]}; compiled now: "
                              f"{self.runs > runs}")
        imported = FORM.fullmatch(self.files.text(source, version))[2]
        if imported != f"h{helper}.tk":
            raise Trouble(f"mixed: source {source} with another's import")
        return self.runs > runs

    def check_kept(self, source):
        """Whoever compiles without a change of the files finds it afterwards."""
        before = list(self.ledger.there)
        if self.compile(source) is None or source % 2:  # whose list another version may replace
            return
        again = self.compile(source)
        if again and before == list(self.ledger.begun):
            raise Trouble(f"lost: source {source} is compiled twice")


class Kills:
    def __init__(self, sources, cache, processes, seed):
        self.cache, self.random = cache, random.Random(seed)
        self.ledger = Ledger(processes)
        self.files = Files(sources, self.ledger)
        self.children = [0] * processes  # process ids
        self.dying = set()
        self.midst = self.changes = self.most_leftovers = 0

    def start(self, slot):
        seed, parent = self.random.random(), os.getpid()
        child = os.fork()
        if child:
            self.children[slot] = child
            return
        try:
            mine = random.Random(seed)
            worker = Worker(self.files, self.ledger, self.cache, slot)
            while os.getppid() == parent:
                worker.check_kept(mine.randrange(SOURCES))
                self.ledger.beats[slot] += 1
                time.sleep(mine.random() * 0.01)
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)

    def kill(self, slot):
        os.kill(self.children[slot], signal.SIGKILL)
        self.dying.add(slot)

    def reap(self, waits):
        """The slot of one that is dead, or None."""
        if not self.dying and waits:
            return None
        child, status = os.waitpid(-1, 0 if waits else os.WNOHANG)
        if not child:
            return None
        if os.WIFEXITED(status):
            raise Trouble("a process ended of itself")
        slot = self.children.index(child)
        self.dying.discard(slot)
        self.midst += self.ledger.busy[slot]
        self.ledger.busy[slot] = 0
        return slot

    def run(self, kills):
        try:
            for done in range(0, kills, KILLS_PER_BATCH):
                self.batch(min(kills - done, KILLS_PER_BATCH))
        finally:
            for child in self.children:
                try:
                    os.kill(child, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        return (f"compiling: {kills} kills of {len(self.children)} processes, {self.midst} in the "
                f"midst of a compile; {self.changes} changes of sources; at most "
                f"{self.most_leftovers} leftovers at a time")

    def batch(self, kills):
        for slot in range(len(self.children)):
            self.start(slot)
        for _ in range(kills):
            time.sleep(self.random.random() * 0.002)
            self.kill(self.random.choice([slot for slot in range(len(self.children))
                                          if slot not in self.dying]))
            if self.random.random() < CHANGES_PER_KILL:
                self.files.change(self.random.randrange(FILES), self.random.random() < 0.5)
                self.changes += 1
            while (slot := self.reap(4 * len(self.dying) > len(self.children))) is not None:
                self.start(slot)
        while (slot := self.reap(True)) is not None:
            self.start(slot)
        self.require_progress()
        for slot in range(len(self.children)):
            self.kill(slot)
        while self.reap(True) is not None:
            pass
        self.verify()

    def require_progress(self):
        deadline = time.monotonic() + STUCK_SECONDS
        for slot in range(len(self.children)):
            before = self.ledger.beats[slot]
            while self.ledger.beats[slot] == before:
                child, _ = os.waitpid(self.children[slot], os.WNOHANG)
                if child:
                    raise Trouble("a process ended of itself")
                if time.monotonic() > deadline:
                    raise Trouble(f"stuck: a process has done nothing for {STUCK_SECONDS} s")
                time.sleep(0.001)

    def leftovers(self):
        return [name for name in os.listdir(self.cache) if name.startswith(".new-py-")]

    def verify(self):
        """All are dead: what is there now is what stays."""
        count = len(self.leftovers())
        self.most_leftovers = max(self.most_leftovers, count)
        if count > 4 * len(self.children):
            raise Trouble(f"{count} folders left behind by {len(self.children)} processes")
        folder = _build._Folder(self.cache)
        for name in os.listdir(self.cache):
            if name.endswith(".tkb") and folder.read(name) is None:
                raise Trouble(f"torn: {name}")
        for source in range(SOURCES):
            Worker(self.files, self.ledger, self.cache).compile(source)
        deadline = time.monotonic() + STUCK_SECONDS
        while True:
            self.files.change(0, True)  # the next compile runs, and so removes what the dead left
            Worker(self.files, self.ledger, self.cache).compile(0)
            if not self.leftovers():
                return
            if time.monotonic() > deadline:  # not at once: another may be about to remove one
                raise Trouble("what the dead left behind is not removed")


def main():
    sources, cache, processes, kills, seed = sys.argv[1:]
    try:
        test = Kills(pathlib.Path(sources), cache, int(processes), int(seed))
        print(test.run(int(kills)))
    except Trouble as trouble:
        sys.exit(f"compiling: {trouble}")


if __name__ == "__main__":
    main()
