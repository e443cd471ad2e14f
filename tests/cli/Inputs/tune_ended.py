"""Ends `tkc tune` while a launch hangs: by SIGTERM, SIGINT and SIGKILL, and by the end of its child.

    tune_ended.py COMMAND...

with a TMPDIR that is empty. The child must end with its parent, and the folder of a call without a cache
be gone, except after SIGKILL. When the child is ended from outside, no configuration is blamed: the parent ends so too.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SCRATCH = pathlib.Path(os.environ["TMPDIR"])
SECONDS = 120


def wait_for(what, is_there):
    end = time.monotonic() + SECONDS
    while not is_there():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {SECONDS} s")
        time.sleep(0.02)


def children_of(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def is_running(pid):
    return state_of(pid) not in ("", "Z")


def is_timing(child):
    """The assembler is done, for half a second, and there is one thread: it waits for the launch."""
    for _ in range(25):
        notes = [path for path in SCRATCH.glob("tkc-tune-*/*") if not path.name.startswith(".new")]
        if len(notes) != 4 or children_of(child) or len(os.listdir(f"/proc/{child}/task")) != 1:
            return False
        time.sleep(0.02)
    return True


def end_by(number, victim):
    with subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True) as parent:
        wait_for("a child", lambda: children_of(parent.pid))
        child = children_of(parent.pid)[0]
        wait_for("timing", lambda: is_timing(child))
        if len(os.listdir(f"/proc/{parent.pid}/task")) != 1:
            sys.exit("the parent has threads, which a fork leaves behind")
        os.kill(child if victim == "child" else parent.pid, number)
        text = parent.communicate(timeout=SECONDS)[1]
    wait_for("the child's end", lambda: not is_running(child))
    problems = []
    if parent.returncode != -number:
        problems.append(f"status {parent.returncode}, needed {-number}")
    if "TK" in text:
        problems.append(f"it says {text}")
    if number != signal.SIGKILL or victim == "child":
        if list(SCRATCH.iterdir()):
            problems.append(f"left behind: {list(SCRATCH.iterdir())}")
    for path in SCRATCH.iterdir():
        shutil.rmtree(path)
    if problems:
        sys.exit(f"{signal.Signals(number).name} to the {victim}: {'; '.join(problems)}")


signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so would its children
for NUMBER in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
    end_by(NUMBER, "parent")
end_by(signal.SIGKILL, "child")
