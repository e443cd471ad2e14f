"""Every `console` fence of README.md and docs/ shows what happens: its lines that begin with `$ ` are
run by bash in an empty folder that has examples/ in it, and what they print, standard error
included, is what the fence shows. A line `...` stands for any lines, `...` in a line for any text. The
fences of a page run one after another in the same folder. `status=N` after `console` is the exit
status of the last command. A fence of another language with `file="NAME"` is written to that file.

`sh` fences are parsed by bash, and `tkc` has the options that they give it. Those of the pages in RUN_SH
run, in turn with the others, and end with status 0; not those with the word `not-run`, which need what
a test has not: a GPU, a network, hours.

Readers do not see the words behind a language. `virtual-gpu` is another one: the fence finds a
libcuda.so.1 in the folder that --virtual-gpu names. Nor do they see a fence in a comment of HTML.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import honesty

# Pages that a newcomer follows from the first line to the last.
RUN_SH = {"docs/cmake.md", "docs/cpp.md", "docs/python.md", "docs/tuning.md"}


def commands(body):
    """(command, lines it prints) of a fence."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        elif found:
            found[-1][1].append(line.rstrip())
    return found


def pattern_of(line):
    if line == "...":
        return "(?:.*\n)*?"
    return ".*".join(map(re.escape, line.split("..."))) + "\n"


def matches(wanted, lines):
    pattern = "".join(map(pattern_of, wanted))
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in lines))


def console_fault(body, status, folder, environment):
    found = commands(body)
    if not found:
        return "has no line that begins with `$ `"
    for command, wanted in found:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        last = command == found[-1][0]
        if done.returncode != (status if last else 0):
            return "`%s` ends with status %d: %s" % (command, done.returncode, done.stdout.strip() or "silent")
        if not matches(wanted, done.stdout.splitlines()):
            return "`%s` prints otherwise:\n%s" % (command, done.stdout.rstrip())
    return None


def unknown_options(body):
    """Options that the `tkc` commands of a script give it and that its help lacks."""
    if not re.search(r"^tkc\b", body, re.M):
        return []
    text = subprocess.run(["tkc", "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text))
    unknown = []
    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["tkc"]:
            continue
        for word in words[1:]:
            if re.match(r"&&|\|", word):
                break
            name = word.split("=")[0] if word.startswith("--") else word[:2]
            if re.match(r"--?[A-Za-z]", word) and name not in known:
                unknown.append(name)
    return unknown


def script_fault(body, runs, folder, environment):
    done = subprocess.run(["bash", "-n"], input=body, text=True, capture_output=True, check=False)
    if done.returncode:
        return "bash cannot read it: " + done.stderr.strip()
    unknown = unknown_options(body)
    if unknown:
        return "tkc has no option " + ", ".join(unknown)
    if not runs:
        return None
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder, env=environment, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        return "ends with status %d: %s" % (done.returncode, done.stdout.strip() or "silent")
    return None


def page_faults(path, name, folder, virtual_gpu):
    """(line, fault or None) of each fence that is a command or a script."""
    for language, info, body, line in honesty.fences(path.read_text(), [r"\w+"]):
        file = re.search(r'\bfile="([\w.-]+)"', info)
        if file:
            pathlib.Path(folder, file.group(1)).write_text(body)
        words = info.split()
        environment = dict(os.environ, HOME=folder)
        if "virtual-gpu" in words:
            environment["LD_LIBRARY_PATH"] = virtual_gpu or "/nosuch"
        if language == "console":
            status = re.search(r"status=(\d)", info)
            yield line, console_fault(body, int(status.group(1)) if status else 0, folder, environment)
        elif language == "sh":
            yield line, script_fault(body, name in RUN_SH and "not-run" not in words, folder, environment)


def main():
    arguments = honesty.parse_arguments("virtual-gpu")
    root = arguments.root
    pages = [p for p in [root / "README.md"] if p.exists()] + honesty.files(root, ["docs"], {".md"})
    faults, count = [], 0
    for path in pages:
        name = str(path.relative_to(root))
        with tempfile.TemporaryDirectory() as folder:
            if (root / "examples").exists():
                shutil.copytree(root / "examples", folder + "/examples")
            for line, fault in page_faults(path, name, folder, arguments.virtual_gpu):
                count += 1
                if fault:
                    faults.append("%s:%d: %s" % (name, line, fault))
    honesty.report(faults, count, "console and sh fences")


main()
