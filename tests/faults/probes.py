"""What may catch a planted fault: unit tests, tests of passes and back end, and compared kernels.

A probe says which places of faults it comes to, when no fault is chosen; only where it comes to a
fault's place can it catch the fault. A kernel whose PTX the fault leaves as it was is not run.
"""

import dataclasses
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TESTS, "emulator"), os.path.join(TESTS, "gpu")]

import compare  # noqa: E402  pylint: disable=wrong-import-position

SHARP = {*compare.cases_edges.GROUPS, *compare.cases_ranges.GROUPS}  # most likely to show a mistake

LIT_FOLDERS = ("passes", "ir", "backends", "reports")
TEST_LIMIT_S = 60
LAUNCH_LIMIT_S = 30  # on a device; whoever waits longer is ended by the alarm


def environment(fault=0, seen=""):
    result = {key: value for key, value in os.environ.items() if not key.startswith("TKC_FAULT")}
    if fault:
        result["TKC_FAULT"] = str(fault)
    if seen:
        result["TKC_FAULTS_SEEN"] = seen
    return result


def run(words, fault=0, seen="", limit=TEST_LIMIT_S):
    """(whether it fails, what it says)."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False,
                              timeout=limit, env=environment(fault, seen))
    except subprocess.TimeoutExpired:
        return True, f"stopped after {limit} s"
    return done.returncode != 0, done.stdout + done.stderr


def numbers_in(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return sorted({int(line) for line in file})


class UnitTests:
    """tk-unit's tests of layouts."""

    name = "unit"

    def __init__(self, build):
        self.words = [os.path.join(build, "bin", "tk-unit"), "[layout]"]

    def survey(self, folder):
        seen = os.path.join(folder, "seen")
        failed, text = run(self.words, seen=seen)
        if failed:
            raise RuntimeError("the unit tests fail without a fault:\n" + text[-2000:])
        return {"seen": numbers_in(seen)}

    def catches(self, fault, _):
        return "unit tests of layouts" if run([*self.words, "--abort"], fault)[0] else ""


class LitTest:
    """One file that lit runs."""

    def __init__(self, build, lit, path):
        self.build, self.lit, self.path = build, lit, path
        self.name = "lit " + path

    def words(self, folder):
        """lit in a folder of its own: temporary files have fixed names."""
        site = os.path.join(folder, "tests", "lit.site.cfg.py")
        if not os.path.exists(site):
            os.makedirs(os.path.dirname(site))
            os.symlink(os.path.join(self.build, "bin"), os.path.join(folder, "bin"))
            with open(os.path.join(self.build, "tests", "lit.site.cfg.py"), encoding="utf-8") as file:
                text = file.read()
            with open(site, "w", encoding="utf-8") as file:
                file.write(text.replace(f'binary_root = "{self.build}"', f'binary_root = "{folder}"'))
        return [sys.executable, self.lit, "-q", "-j1", os.path.join(folder, "tests", self.path)]

    def survey(self, folder):
        seen = os.path.join(folder, "seen-lit")
        if os.path.exists(seen):
            os.remove(seen)
        failed, text = run(self.words(folder), seen=seen)
        if failed:
            raise RuntimeError(f"{self.path} fails without a fault:\n" + text[-2000:])
        return {"seen": numbers_in(seen)}

    def catches(self, fault, folder):
        return self.name if run(self.words(folder), fault)[0] else ""


@dataclasses.dataclass
class Setting:
    """Where the planted compiler is, and what stays over the whole hunt: sources, expected results."""

    tkc: str
    folder: str
    on_device: bool


class Kernel:
    """A case of tests/emulator: compiled, and where the PTX changed, run and compared."""

    def __init__(self, setting, group, number, case):
        self.setting, self.group, self.case = setting, group, case
        self.name = f"{group} {number} {case.name}"
        self.folder = os.path.join(setting.folder, f"{group}-{number}")
        self.text = None  # the hash of the PTX without a fault

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
        with tempfile.TemporaryDirectory() as folder:
            signal.alarm(LAUNCH_LIMIT_S if self.setting.on_device else 0)
            try:
                problems = list(self.comparison(made, folder).problems(range(1)))
            except Exception as error:  # pylint: disable=broad-except
                problems = [repr(error)[:200]]
            signal.alarm(0)
        return f"{self.name}: {problems[0][:200]}" if problems else ""

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


def kernels(setting):
    return [Kernel(setting, group, number, case) for group in sorted(compare.GROUPS)
            for number, case in enumerate(compare.GROUPS[group]()) if not case.serial]


def tests(build, lit):
    """The tests of the build folder; those of the emulator run as kernels."""
    result = [UnitTests(build)]
    for folder in LIT_FOLDERS:
        for name in sorted(os.listdir(os.path.join(TESTS, folder))):
            if name.endswith((".mlir", ".tk", ".test", ".ll")) and not name.startswith("emulated"):
                result.append(LitTest(build, lit, f"{folder}/{name}"))
    return result
