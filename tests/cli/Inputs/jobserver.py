"""How many units tkc compiles at once under a job server with so many slots beside its own.

    jobserver.py SLOTS fifo|pipe TKC-WORDS...

The assembler that tkc is told to call is this script by the name `ptxas`: it writes down how many of
it run. Prints the most, and the slots that are left.
"""

import os
import pathlib
import subprocess
import sys
import time

LOG = pathlib.Path("running")


def assemble(words):
    if "--version" in words:
        print("Cuda compilation tools, release 13.0, V13.0.100")
        return
    mark = LOG / str(os.getpid())
    mark.touch()
    with open("counts", "a", encoding="ascii") as file:
        file.write("%d\n" % len(list(LOG.iterdir())))
    time.sleep(0.3)
    mark.unlink()
    pathlib.Path(words[words.index("-o") + 1]).write_bytes(b"cubin")


def main():
    slots, kind, words = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    LOG.mkdir(exist_ok=True)
    pathlib.Path("counts").write_text("")
    if kind == "fifo":
        path = os.path.abspath("fifo")
        if not os.path.exists(path):
            os.mkfifo(path)
        ends = [os.open(path, os.O_RDWR)] * 2
        auth = "fifo:" + path
    else:
        ends = os.pipe()
        auth = "%d,%d" % tuple(ends)
    os.write(ends[1], b"+" * slots)
    subprocess.run(words, check=True, env={**os.environ, "MAKEFLAGS": " -j9 --jobserver-auth=" + auth},
                   pass_fds=ends if kind == "pipe" else ())
    os.set_blocking(ends[0], False)
    try:
        left = len(os.read(ends[0], 100))
    except BlockingIOError:
        left = 0
    most = max(map(int, pathlib.Path("counts").read_text().split()))
    print("most %d, left %d" % (most, left))


if pathlib.Path(sys.argv[0]).name == "ptxas":
    assemble(sys.argv[1:])
else:
    main()
