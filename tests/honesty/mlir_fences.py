"""Every `mlir` fence under docs/ parses. docs/ir/ has the descriptions of all operations, types and
attributes as TableGen expands them, so the fences of ir/**/*.td are among them.

A fence shows one operation, so the values it uses are not defined. The check defines them: it reads
the fence as the body of a module, where a value may be used before its definition, appends a
definition of each missing value with a type that is surely wrong, and learns from the message
which type the use wants. A fence that begins with `#` or `!` is an attribute or a type.
"""

import re
import subprocess

import honesty

WRONG_TYPE = "none"


def run_opt(tool, text):
    command = [tool, "--allow-unregistered-dialect", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode, done.stderr


def define(types):
    return "".join("%%%s = builtin.unrealized_conversion_cast to %s\n" % item
                   for item in sorted(types.items()))


def complete(tool, body):
    """What is wrong with an operation whose operands are not defined, or nothing."""
    types = {}
    for _ in range(100):
        status, errors = run_opt(tool, body + "\n" + define(types))
        if status == 0 or "expects parent op" in errors:
            return None
        first = errors.split("\n")[0]
        missing = re.search(r"use of undeclared SSA value name|undeclared SSA value", first)
        wanted = re.search(r"previously used here with type '(.*?)'\n", errors)
        clash = re.search(r"definition of SSA value '%(\w+)(?:#\d+)?' has type 'none'", errors)
        if clash and wanted:
            types[clash.group(1)] = wanted.group(1)
        elif missing:
            line = errors.split("\n")[1]
            column = int(re.match(r"<stdin>:\d+:(\d+):", first).group(1))
            types[re.match(r"%(\w+)", line[column - 1 :]).group(1)] = WRONG_TYPE
        else:
            return first
    return "more than 100 values are not defined"


def fault_of(tool, body):
    if body.lstrip().startswith(("#", "!")) and "=" not in body.split("<")[0]:
        status, errors = run_opt(tool, "module attributes {fence.value = %s} {}\n" % body.strip())
        return None if status == 0 else errors.split("\n")[0]
    return complete(tool, body)


def main():
    arguments = honesty.parse_arguments("tool")
    root = arguments.root
    faults, count = [], 0
    for path in honesty.files(root, ["docs"], {".md"}):
        for _, info, body, line in honesty.fences(path.read_text(), ["mlir"]):
            count += 1
            fault = fault_of(arguments.tool, body)
            wanted = re.search(r'error="(.*)"', info)
            if wanted:
                fault = None if fault and wanted.group(1) in fault else "does not fail as it says"
            if fault:
                faults.append("%s:%d: %s" % (path.relative_to(root), line, fault))
    honesty.report(faults, count, "mlir fences")


main()
