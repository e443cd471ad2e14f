"""Kernels that people read are in the one style: `tkc fmt --check` has nothing to say about the
examples, the standard library, the larger kernels of the tests, and the `tk` fences of README.md and
docs/. A fence of statements is looked at as the body of a kernel; one that does not parse is left
out.

    python3 tests/honesty/formatted.py . --tkc=build/release/bin/tkc --write=yes     formats them
"""

import re
import subprocess

import honesty

DECLARATION = re.compile(r"^(kernel|fn|struct|const|import)\b|^@", re.M)


def formatted(tkc, text):
    """The text in the one style, or None when it has errors."""
    done = subprocess.run([tkc, "fmt", "-"], input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def formatted_fence(tkc, body):
    if DECLARATION.search(body):
        return formatted(tkc, body)
    inner = re.sub(r"^(?=.)", "    ", body, flags=re.M)
    text = formatted(tkc, "kernel fence() {\n" + inner + "\n}\n")
    if text is None:
        return None
    return re.sub(r"^    ", "", "\n".join(text.split("\n")[1:-2]) + "\n", flags=re.M)


def fence_faults(arguments, path):
    page = path.read_text()
    for _, info, body, line in honesty.fences(page, ["tk"]):
        text = formatted_fence(arguments.tkc, body)
        if text is None or text == body:
            continue
        if arguments.write and page.count(body) == 1:
            path.write_text(page := page.replace(body, text))
        else:
            yield "%s:%d: not in the one style" % (path.relative_to(arguments.root), line)


def main():
    arguments = honesty.parse_arguments("tkc", "write")
    root = arguments.root
    sources = honesty.files(root, ["examples", "std", "tests/frontend/kernels"], {".tk"})
    pages = [p for p in [root / "README.md"] if p.exists()] + honesty.files(root, ["docs"], {".md"})
    faults = []
    if sources:
        mode = [] if arguments.write else ["--check"]
        done = subprocess.run([arguments.tkc, "fmt", *mode, *map(str, sources)],
                              capture_output=True, text=True)
        faults += [line for line in done.stderr.splitlines() if not line.startswith("help:")]
    for path in pages:
        faults += fence_faults(arguments, path)
    honesty.report(faults, len(sources) + len(pages), "files and pages")


main()
