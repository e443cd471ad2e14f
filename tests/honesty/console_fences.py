"""Every `console` fence of README.md and docs/ shows what happens: its lines that begin with `$ ` are
run by bash in an empty folder that has examples/ in it, and what they print, standard error
included, is what the fence shows. A line `...` stands for any lines, `...` in a line for any text. The
fences of a page run one after another in the same folder. `status=N` after `console` is the exit
status of the last command. A fence of another language with `file="NAME"` is written to that file.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile

import honesty


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


def fence_fault(body, status, folder):
    found = commands(body)
    if not found:
        return "has no line that begins with `$ `"
    for command, wanted in found:
        done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        last = command == found[-1][0]
        if done.returncode != (status if last else 0):
            return "`%s` ends with status %d: %s" % (command, done.returncode, done.stdout.strip() or "silent")
        if not matches(wanted, done.stdout.splitlines()):
            return "`%s` prints otherwise:\n%s" % (command, done.stdout.rstrip())
    return None


def main():
    root = honesty.parse_arguments().root
    pages = [p for p in [root / "README.md"] if p.exists()] + honesty.files(root, ["docs"], {".md"})
    faults, count = [], 0
    for path in pages:
        with tempfile.TemporaryDirectory() as folder:
            if (root / "examples").exists():
                shutil.copytree(root / "examples", folder + "/examples")
            for language, info, body, line in honesty.fences(path.read_text(), [r"\w+"]):
                file = re.search(r'\bfile="([\w.-]+)"', info)
                if file:
                    pathlib.Path(folder, file.group(1)).write_text(body)
                if language != "console":
                    continue
                count += 1
                status = re.search(r"status=(\d)", info)
                fault = fence_fault(body, int(status.group(1)) if status else 0, folder)
                if fault:
                    faults.append("%s:%d: %s" % (path.relative_to(root), line, fault))
    honesty.report(faults, count, "console fences")


main()
