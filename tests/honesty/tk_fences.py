"""Every `tk` fence of README.md and docs/ is what it claims to be.

A fence with a declaration in column one is a file: it compiles to stage tk; a kernel is added when it
has none. Another is a run of statements: it parses as the body of a kernel. What stands after `tk`
may say more:

    error="TK2011"     the fence must fail, and this text must be in what is reported
    -D NAME=VALUE      given to tkc
"""

import pathlib
import re
import subprocess
import tempfile

import honesty

DECLARATION = re.compile(r"^(kernel|fn|struct|const|import)\b|^@", re.M)
EMPTY_KERNEL = "\nkernel end_of_fence() @grid(1) { }\n"


def compile_fence(tkc, body, defines, folder):
    if DECLARATION.search(body):
        text = body if re.search(r"^kernel\b", body, re.M) else body + EMPTY_KERNEL
        stage = "tk"
    else:
        text = "kernel fence() @grid(1) {\n%s}\n" % body
        stage = "ast"
    path = folder / "fence.tk"
    path.write_text(text)
    command = [tkc, str(path), "--emit=" + stage, "--target=sm_90a", "-o", "-", *defines]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr


def fault_of(tkc, info, body, folder):
    defines = [word for name in re.findall(r"-D\s+(\S+)", info) for word in ("-D", name)]
    status, errors = compile_fence(tkc, body, defines, folder)
    wanted = re.search(r'error="(.*?)"', info)
    if not wanted:
        return None if status == 0 else errors.strip().split("\n")[0]
    if status == 0:
        return "compiles, but should fail with " + wanted.group(1)
    return None if wanted.group(1) in errors else "fails otherwise than with " + wanted.group(1)


def main():
    arguments = honesty.parse_arguments("tkc")
    root = arguments.root
    pages = [p for p in [root / "README.md"] if p.exists()] + honesty.files(root, ["docs"], {".md"})
    faults, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for path in pages:
            for _, info, body, line in honesty.fences(path.read_text(), ["tk"]):
                count += 1
                fault = fault_of(arguments.tkc, info, body, pathlib.Path(folder))
                if fault:
                    faults.append("%s:%d: %s" % (path.relative_to(root), line, fault))
    honesty.report(faults, count, "tk fences")


main()
