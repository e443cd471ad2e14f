"""Includes follow the order of dependencies: frontend -> ir <- passes <- backends, the driver sees
all, the runtime sees neither LLVM nor the compiler. Headers of LLVM's dialects are heavy: they stay
under backends/ and in driver/Dialects.cpp.
"""

import re

import honesty

MAY_INCLUDE = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "backends": {"backends", "passes", "ir"},
    "bundle": {"bundle", "backends"},
    "driver": {"driver", "frontend", "bundle", "backends", "passes", "ir"},
    "runtime": {"runtime"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
LLVM_DIALECT = re.compile(r"^mlir/(Dialect|Target)/LLVMIR/")


def fault_of(folder, name, included):
    first = included.split("/")[0]
    if first in MAY_INCLUDE and first not in MAY_INCLUDE[folder]:
        return "%s may not include %s/" % (folder, first)
    if folder == "runtime" and first in {"llvm", "mlir", "clang", "lld"}:
        return "the runtime may not include LLVM"
    heavy_allowed = folder == "backends" or name.as_posix() == "driver/Dialects.cpp"
    if LLVM_DIALECT.match(included) and not heavy_allowed:
        return "headers of LLVM's dialects stay under backends/"
    return None


def main():
    root = honesty.parse_arguments().root
    sources = honesty.files(root, honesty.CODE_FOLDERS, {".cpp", ".h", ".def"})
    faults = []
    for path in sources:
        name = path.relative_to(root)
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            fault = fault_of(name.parts[0], name, match.group(1))
            if fault:
                line = text.count("\n", 0, match.start(1)) + 1
                faults.append("%s:%d: %s: %s" % (name, line, match.group(1), fault))
    honesty.report(faults, len(sources), "source files")


main()
