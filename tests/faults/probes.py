"""What may catch a planted fault: unit tests, tests of passes and back end, and compared kernels.

A probe says which places of faults it comes to, when no fault is chosen; only where it comes to a
fault's place can it catch the fault. A kernel whose PTX the fault leaves as it was is not run.

What never ends is stopped by the time of the processor that it takes: a busy machine makes nothing fail.
Waiting too long, a full disk and the like are NotKnown, and no fault is caught by them.
"""

import dataclasses
import glob
import hashlib
import itertools
import json
import os
import pickle
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "emulator"), os.path.join(TESTS, "gpu")]

import compare  # noqa: E402  pylint: disable=wrong-import-position

SHARP = {*compare.cases_edges.GROUPS, *compare.cases_ranges.GROUPS}  # most likely to show a mistake

UNIT_TAGS = "[layout],[matrix],[shuffle]"
LIT_FOLDERS = ("passes", "ir", "backends", "reports")
LEFT_OUT = ("compile-times.test", "compile-growth.test", "costs-assembled.test")  # the machine decides; minutes of ptxas
PROCESSOR_LIMIT_S = 40  # of each process; the survey demands that a quarter is enough
WAIT_LIMIT_S = 900
LAUNCH_LIMIT_S = 30  # on a device; whoever waits longer is ended by the alarm


class NotKnown(Exception):
    """The machine failed, not the probe."""


def environment(fault=0, seen=""):
    result = {key: value for key, value in os.environ.items() if not key.startswith("TKC_FAULT")}
    if fault:
        result["TKC_FAULT"] = str(fault)
    if seen:
        result["TKC_FAULTS_SEEN"] = seen
    return result


def run(words, fault=0, seen="", limit=PROCESSOR_LIMIT_S):
    """(whether it fails, what it says)."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, timeout=WAIT_LIMIT_S,
                              env=environment(fault, seen),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    except (subprocess.TimeoutExpired, OSError) as error:
        raise NotKnown(repr(error)) from error
    text = done.stdout + done.stderr
    if "No space left on device" in text or "Cannot allocate memory" in text:
        raise NotKnown(text[-200:])
    return done.returncode != 0, text


def survey_run(words, seen):
    """The numbers of the places that a command comes to; it must not fail."""
    if os.path.exists(seen):
        os.remove(seen)
    failed, text = run(words, seen=seen, limit=PROCESSOR_LIMIT_S // 4)
    if failed:
        raise RuntimeError(f"{' '.join(words)} fails without a fault:\n{text[-2000:]}")
    return numbers_in(seen)


def numbers_in(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return sorted({int(line) for line in file})


class Words:
    """A test that is a command: it fails by its status."""

    stage = name = ""

    def words(self, folder):
        raise NotImplementedError

    def survey(self, folder):
        return {"seen": survey_run(self.words(folder), os.path.join(folder, "seen"))}

    def catches(self, fault, folder):
        return self.name if run(self.words(folder), fault)[0] else ""

    def is_of(self, path):
        """Whether it is a test of that source file by its name."""
        return False

    def holds(self, folder):
        """Whether it passes without a fault, here and now."""
        return not run(self.words(folder))[0]


class UnitTests(Words):
    """tk-unit's tests of layouts."""

    name, stage = "unit tests of layouts", "unit"

    def __init__(self, build):
        self.program = os.path.join(build, "bin", "tk-unit")
        with open(self.program, "rb") as file:
            self.key = "unit " + hashlib.sha256(file.read()).hexdigest()[:16]

    def words(self, folder):
        return [self.program, UNIT_TAGS, "--abort"]


class LitTest(Words):
    """One file that lit runs."""

    stage = "lit"

    def __init__(self, build, lit, path):
        self.build, self.lit, self.path = build, lit, path
        self.name = "lit " + path
        with open(os.path.join(TESTS, path), "rb") as file:
            self.key = f"{self.name} {hashlib.sha256(file.read()).hexdigest()[:16]}"

    def words(self, folder):
        """lit in a folder of its own: temporary files have fixed names."""
        site = os.path.join(folder, "tests", "lit.site.cfg.py")
        if not os.path.exists(site):
            os.makedirs(os.path.dirname(site))
            for name in os.listdir(self.build):
                if name != "tests":
                    os.symlink(os.path.join(self.build, name), os.path.join(folder, name))
            with open(os.path.join(self.build, "tests", "lit.site.cfg.py"), encoding="utf-8") as file:
                text = file.read()
            with open(site, "w", encoding="utf-8") as file:
                file.write(text.replace(f'binary_root = "{self.build}"', f'binary_root = "{folder}"'))
        return [sys.executable, self.lit, "-q", "-j1", os.path.join(folder, "tests", self.path)]

    def is_of(self, path):
        stem = os.path.splitext(os.path.basename(path))[0].removeprefix("Machine")
        kebab = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", stem).lower()
        return os.path.basename(self.path).removeprefix("nvptx-").startswith(kebab)


@dataclasses.dataclass
class Setting:
    """Where the planted compiler is, and what stays over the whole hunt: sources, expected results."""

    tkc: str
    folder: str
    on_device: bool


class Kernel:
    """A case of tests/emulator: compiled, and where the PTX changed, run and compared."""

    def __init__(self, setting, group, number, case, in_suite):
        self.setting, self.group, self.case = setting, group, case
        self.stage = "device" if setting.on_device else "kernel" if in_suite else "long"
        self.name = f"{group} {number} {case.name}"
        contents = hashlib.sha256(repr(case).encode() + pickle.dumps(case.arrays)).hexdigest()[:16]
        self.key = f"{self.name} {contents}"
        self.folder = os.path.join(setting.folder, f"{group}-{contents}")
        self.text = None  # the hash of the PTX without a fault
        self.changed = False  # whether the PTX became another

    def compile(self, fault, seen=""):
        """(PTX and the kernel's description) or what goes wrong, as text."""
        source = self.case.path or os.path.join(self.folder, "case.tk")
        with tempfile.TemporaryDirectory() as folder:
            output, description = os.path.join(folder, "case.ptx"), os.path.join(folder, "case.json")
            failed, text = run([self.setting.tkc, source, "--emit=ptx", "--target=" + self.case.target, "-o", output,
                                "--metadata=" + description, *self.case.options], fault, seen)
            if failed:
                return "does not compile: " + " ".join(text.split())[:200]
            with open(output, encoding="utf-8") as file, open(description, encoding="utf-8") as about:
                return file.read(), json.load(about)["kernels"][0]

    def survey(self, folder):
        os.makedirs(self.folder, exist_ok=True)
        if not self.case.path:
            with open(os.path.join(self.folder, "case.tk"), "w", encoding="utf-8") as file:
                file.write(self.case.source)
        seen = os.path.join(folder, "seen-" + os.path.basename(self.folder))
        made = self.compile(0, seen)
        if isinstance(made, str):
            raise RuntimeError(f"{self.name} {made}")
        return {"seen": numbers_in(seen), "text": digest(made), "size": len(made[0])}

    def catches(self, fault, _):
        made = self.compile(fault)
        if isinstance(made, str):
            return f"{self.name}: {made}"
        if digest(made) == self.text:
            return ""
        self.changed = True
        problems = self.problems(made)
        return f"{self.name}: {problems[0][:200]}" if problems else ""

    def holds(self, _):
        """Whether the comparison is without problems when there is no fault."""
        good = os.path.join(self.folder, "good")
        if not os.path.exists(good):
            made = self.compile(0)
            if isinstance(made, str) or digest(made) != self.text or self.problems(made):
                return False
            with open(good, "w", encoding="utf-8"):
                pass
        return True

    def problems(self, made):
        with tempfile.TemporaryDirectory() as folder:
            comparison = self.comparison(made, folder)
            comparison.interpret()
            signal.alarm(LAUNCH_LIMIT_S if self.setting.on_device else 0)
            try:
                return list(itertools.islice(comparison.problems(range(1)), 1))
            except (OSError, MemoryError) as error:
                raise NotKnown(repr(error)) from error
            except Exception as error:  # pylint: disable=broad-except
                return [repr(error)[:200]]
            finally:
                signal.alarm(0)

    def comparison(self, made, folder):
        base = compare.Comparison
        arguments = ()
        if self.setting.on_device:
            import differential  # pylint: disable=import-outside-toplevel
            base, arguments = differential.OnDevice, (self.case.target,)
            made = (made[0].encode() + b"\0", made[1])
        kept = os.path.join(self.folder, "expected.pickle")

        class Planted(base):
            """Compiled already; what the interpreter does is kept."""

            def compile(self):
                return made

            def interpret(self):
                if os.path.exists(kept):
                    with open(kept, "rb") as file:
                        self.expected, self.bounds = pickle.load(file)
                    return
                super().interpret()
                part = f"{kept}.{os.getpid()}"
                with open(part, "wb") as file:
                    pickle.dump((self.expected, self.bounds), file)
                os.replace(part, kept)

        return Planted(self.case, self.setting.tkc, folder, *arguments)


def digest(made):
    return hashlib.sha256((made[0] + json.dumps(made[1], sort_keys=True)).encode()).hexdigest()


def in_suite():
    """(group, number) of the cases that the suite runs: what tests/backends/emulated-*.test say."""
    result = set()
    for path in sorted(glob.glob(os.path.join(TESTS, "backends", "emulated-*.test"))):
        with open(path, encoding="utf-8") as file:
            words = shlex.split(file.read().partition("compare.py ")[2])
        every = next((int(word.partition("=")[2]) for word in words if word.startswith("--every=")), 1)
        groups = [word for word in words if word in compare.GROUPS]
        result.update((group, number) for group, number, _ in compare.chosen(groups, every=every))
    return result


def kernels(setting, long):
    """The cases of the suite; all that there are, when `long`."""
    suite = in_suite()
    return [Kernel(setting, group, number, case, (group, number) in suite) for group in sorted(compare.GROUPS)
            for number, case in enumerate(compare.GROUPS[group]())
            if not case.serial and (long or (group, number) in suite)]


def tests(build, lit):
    """The tests of the build folder; those of the emulator run as kernels."""
    result = [UnitTests(build)]
    for folder in LIT_FOLDERS:
        for name in sorted(os.listdir(os.path.join(TESTS, folder))):
            if name.endswith((".mlir", ".tk", ".test", ".ll")) and not name.startswith(("emulated", *LEFT_OUT)):
                result.append(LitTest(build, lit, f"{folder}/{name}"))
    return result
