"""Runs the `python` fences of a page, one after another in one namespace and an empty folder. Before
that, `tk` fences with `file="NAME"` are written and `console` lines that begin with `$ ` run. A fence
with `needs="MODULE"` is skipped, which is said, where there is no such module.

    fences.py --root=REPOSITORY --build=FOLDER PAGE
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import support


def main():
    options = support.start()
    sys.path.insert(0, str(options.root / "tests" / "honesty"))
    import honesty  # pylint: disable=import-outside-toplevel
    page = pathlib.Path(options.rest[0]).resolve()
    os.environ["PATH"] = f"{options.build / 'bin'}:{os.environ['PATH']}"
    names, count = {"__name__": "fences"}, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for language, info, body, line in honesty.fences(page.read_text(), ["tk", "console", "python"]):
            file, needs = (re.search(rf'\b{word}="([\w.-]+)"', info) for word in ("file", "needs"))
            if file:
                pathlib.Path(file.group(1)).write_text(body)
            elif language == "console":
                for command in re.findall(r"^\$ (.*)", body, re.M):
                    subprocess.run(["bash", "-c", command], check=True)
            elif needs and importlib.util.find_spec(needs.group(1)) is None:
                print(f"line {line}: skipped, there is no {needs.group(1)}")
            elif language == "python":
                exec(compile("\n" * line + body, str(page), "exec"), names)
                count += 1
    print(f"{count} fences run")
    sys.exit(count == 0)


main()
