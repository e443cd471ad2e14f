"""Each function of the standard library is used by a kernel of tests/run/std, or by a function of
the library that is. Usage: std_functions.py STD FOLDER
"""

import pathlib
import re
import sys

DECLARED = re.compile(r"^ *fn (\w+)", re.M)


def code_of(path):
    return re.sub(r"#.*", "", path.read_text())


def functions_of(path):
    """(module, function, what stands between its name and the next function)."""
    pieces = DECLARED.split(code_of(path))
    return [(path.stem, *piece) for piece in zip(pieces[1::2], pieces[2::2])]


def main():
    std, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    functions = [found for path in sorted(std.glob("*.tk")) for found in functions_of(path)]
    kernels = "".join(code_of(path) for path in sorted(folder.glob("*.tk")))
    used, before = kernels, None
    while used != before:  # what is used uses others
        before = used
        used = kernels + "".join(body for _, name, body in functions
                                 if re.search(r"\b%s\b" % name, before))
    missing = ["std.%s: `%s` is not tested" % (module, name) for module, name, _ in functions
               if not re.search(r"\b%s\b" % name, used)]
    print("\n".join(missing) or "%d functions tested" % len(functions))
    sys.exit(1 if missing or not functions else 0)


main()
