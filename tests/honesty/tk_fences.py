"""Every `tk` fence of README.md and docs/ is what it claims to be.

A fence with a declaration in column one is a file: it compiles to stage tk without a warning; a kernel
is added when it has none. Another is a run of statements: it parses as the body of a kernel. What
stands after `tk` may say more:

    error="TK2011"      it fails, and this is the one code among its errors
    warning="TK2031"    it compiles, and this is the one code among its warnings
    note="TK2141"       it compiles, and this code is among its notes
    remark="TK4101"     with --remarks it compiles to stage ptx, and this code is among its remarks
    -D NAME=VALUE       given to tkc
    stage="ptx"         compiled to this stage
    run="x=ones:8"      run by `tkc run` with these words
    file="k.tk"         written to this name for the `console` fences that follow
"""

import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import tempfile

import honesty

DECLARATION = re.compile(r"^(kernel|fn|struct|const|import)\b|^@", re.M)
EMPTY_KERNEL = "\nkernel end_of_fence() @grid(1) { }\n"
REPORTED = re.compile(r"^.*?\b(error|warning|remark|note): (TK\d{4}): (.*)$", re.M)


def setting(info, name):
    found = re.search(r'\b%s="(.*?)"' % name, info)
    return found.group(1) if found else None


def run_fence(tkc, info, body, path):
    """(exit status, standard error)"""
    stage = setting(info, "stage") or ("ptx" if setting(info, "remark") else "tk")
    if DECLARATION.search(body):
        text = body if re.search(r"^kernel\b", body, re.M) else body + EMPTY_KERNEL
    else:
        text = "kernel fence() @grid(1) {\n%s}\n" % body
        stage = "ast"
    path.write_text(text)
    words = [word for name in re.findall(r"-D\s+(\S+)", info) for word in ("-D", name)]
    if setting(info, "run") is not None:
        command = [tkc, "run", str(path), *shlex.split(setting(info, "run"))]
    else:
        command = [tkc, str(path), "--emit=" + stage, "--target=sm_90a", "-o", "-"]
        words += ["--remarks"] if setting(info, "remark") else []
    done = subprocess.run(command + words, capture_output=True, text=True)
    return done.returncode, done.stderr


def fault_of(tkc, info, body, path):
    status, errors = run_fence(tkc, info, body, path)
    reported = REPORTED.findall(errors)
    for kind in ("error", "warning", "remark", "note"):
        wanted = setting(info, kind)
        if not wanted:
            continue
        if kind == "error" and status == 0:
            return "compiles, but should fail with " + wanted
        codes = {code for what, code, _ in reported if what == kind}
        good = codes == {wanted} if kind in ("error", "warning") else wanted in codes
        if not good or (kind != "error" and status):
            return "reports otherwise than %s: %s" % (wanted, ", ".join(sorted(codes)) or "nothing")
        return None
    shown = [message for message in reported if message[0] in ("error", "warning")]
    if status or shown:
        return "%s: %s: %s" % shown[0] if shown else errors.strip() or "fails"
    return None


def main():
    arguments = honesty.parse_arguments("tkc")
    root = arguments.root
    pages = [p for p in [root / "README.md"] if p.exists()] + honesty.files(root, ["docs"], {".md"})
    found = [(path, *fence) for path in pages for fence in honesty.fences(path.read_text(), ["tk"])]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        results = pool.map(
            lambda item: fault_of(arguments.tkc, item[1][2], item[1][3],
                                  pathlib.Path(folder) / ("fence%d.tk" % item[0])),
            enumerate(found))
        faults = ["%s:%d: %s" % (fence[0].relative_to(root), fence[4], fault)
                  for fence, fault in zip(found, results) if fault]
    honesty.report(faults, len(found), "tk fences")


main()
