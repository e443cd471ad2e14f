"""Every example is run by a test: a RUN line of tests/run/*.test that has `tkc run` and its name,
and one for each of its kernels. With --tkc, every example also compiles as it stands, without -D,
and without a warning.
"""

import re
import subprocess

import honesty

KERNEL = re.compile(r"^kernel\s+(\w+)", re.M)


def run_faults(root, name, kernels, run_lines):
    lines = [line for line in run_lines if name in line]
    if not lines:
        yield "%s: no RUN line of tests/run/*.test runs it" % name
    elif len(kernels) > 1:
        for kernel in kernels:
            if not any(re.search(r"(-k |--kernel=)%s\b" % kernel, line) for line in lines):
                yield "%s: no RUN line runs its kernel %s" % (name, kernel)


def compile_faults(tkc, path):
    command = [tkc, str(path), "--emit=ptx", "--target=sm_90a", "-Werror", "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        yield "%s: does not compile: %s" % (path.name, done.stderr.strip().split("\n")[0])


def main():
    arguments = honesty.parse_arguments("tkc")
    root = arguments.root
    examples = sorted((root / "examples").glob("*.tk"))
    tests = "\n".join(p.read_text() for p in sorted((root / "tests/run").glob("*.test")))
    tests = re.sub(r"\\\n(\s*#?\s*RUN:)?", " ", tests)
    run_lines = [l for l in tests.splitlines() if "RUN:" in l and "tkc run" in l]
    faults = []
    for path in examples:
        faults += run_faults(root, path.name, KERNEL.findall(path.read_text()), run_lines)
        if arguments.tkc:
            faults += compile_faults(arguments.tkc, path)
    honesty.report(faults, len(examples), "examples")


main()
