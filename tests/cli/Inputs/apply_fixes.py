"""Applies the fixes of all messages to each program of a file, until there are none, and compiles
what comes out: it must have no error. Prints each program that was mended.

    python3 apply_fixes.py programs.tk       programs are parted by lines of `#---`
"""

import json
import pathlib
import subprocess
import sys

MAX_ROUNDS = 6


def messages(path):
    done = subprocess.run(["tkc", str(path), "--emit=tk", "-o", "-", "--diagnostics=json"],
                          capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stderr.splitlines()]


def apply(text, edits):
    """Later edits first, so that the places of earlier ones stay what they are."""
    lines = [line.encode() for line in text.split("\n")]
    order = sorted(enumerate(edits), reverse=True,
                   key=lambda item: (item[1]["line"], item[1]["column"], item[0]))
    for _, edit in order:
        assert edit["line"] == edit["endLine"]
        line = lines[edit["line"] - 1]
        lines[edit["line"] - 1] = (line[:edit["column"] - 1] + edit["replacement"].encode()
                                   + line[edit["endColumn"] - 1:])
    return "\n".join(line.decode() for line in lines)


def mended(text, path):
    for _ in range(MAX_ROUNDS):
        path.write_text(text)
        status, found = messages(path)
        edits = [edit for message in found for edit in message["fix"]]
        if status == 0 and not edits:
            return text, None
        if not edits:
            return text, found[0]["message"]
        unique = {json.dumps(edit): edit for edit in edits}
        text = apply(text, list(unique.values()))
    return text, "fixes without end"


def main():
    bad = 0
    for number, text in enumerate(pathlib.Path(sys.argv[1]).read_text().split("#---\n")):
        after, fault = mended(text.strip() + "\n", pathlib.Path("program%d.tk" % number))
        print(after.strip() if not fault else "not mended: %s\n%s" % (fault, after.strip()))
        bad += fault is not None
    sys.exit(1 if bad else 0)


main()
