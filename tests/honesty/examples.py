"""Every kernel of every example is run by a test: a case of tests/run/example_oracles.py, or a RUN
line of tests/run/*.test that has `tkc run`, its file and its name. With --tkc, every example also
compiles as it stands, without -D and without a warning, to PTX.
"""

import re
import subprocess

import honesty

CASE = re.compile(r'^@?case\("(\w+)", "(\w+)"', re.M)
KERNEL = re.compile(r"^kernel\s+(\w+)", re.M)


def run_faults(root, name, kernels, run_lines, cases):
    kernels = [kernel for kernel in kernels if (name[: -len(".tk")], kernel) not in cases]
    if not kernels:
        return
    lines = [line for line in run_lines if name in line]
    if not lines:
        yield "%s: no RUN line of tests/run/*.test runs it" % name
    elif len(kernels) > 1:
        for kernel in kernels:
            if not any(re.search(r"(-k |--kernel=)%s\b" % kernel, line) for line in lines):
                yield "%s: no RUN line runs its kernel %s" % (name, kernel)


def compile_faults(tkc, path):
    command = [tkc, str(path), "--target=sm_90a", "-Werror", "-o", "-"]
    done = subprocess.run(command + ["--emit=ptx"], capture_output=True, text=True)
    if done.returncode:
        yield "%s: does not compile: %s" % (path.name, done.stderr.strip().split("\n")[0])


def main():
    arguments = honesty.parse_arguments("tkc")
    root = arguments.root
    examples = sorted((root / "examples").glob("*.tk"))
    tests = "\n".join(p.read_text() for p in sorted((root / "tests/run").glob("*.test")))
    tests = re.sub(r"\\\n(\s*#?\s*RUN:)?", " ", tests)
    run_lines = [l for l in tests.splitlines() if "RUN:" in l and "tkc run" in l]
    oracles = root / "tests/run/example_oracles.py"
    cases = set(CASE.findall(oracles.read_text())) if oracles.exists() else set()
    faults = []
    for path in examples:
        faults += run_faults(root, path.name, KERNEL.findall(path.read_text()), run_lines, cases)
        if arguments.tkc:
            faults += compile_faults(arguments.tkc, path)
    honesty.report(faults, len(examples), "examples")


main()
