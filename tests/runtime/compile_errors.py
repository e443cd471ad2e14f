"""Calls of a generated header that must not compile, each with the message that a user reads; and
the same calls done right, which must, without exceptions and RTTI."""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

PROGRAM = """
#include "scale.h"
struct Half { unsigned short bits; };
template <> struct tkc::dtype_of<Half> : tkc::dtype_is<TKC_F16> {};
void call(const scale::scale_f16 &scale, Half *x, const Half *c, float *f, long n, void *s) {
  tkc::tensor<Half, 1> y(x, {n});
  %s
}
"""

GOOD = [
    "(void)scale(s, tkc::tensor(c, {n}), std::nullopt, y, 1.0f);",
    "(void)scale({}, y, tkc::tensor(f, {n}, {2}), y, 1);",
    "tkc::tensor<const Half, 1> k = y; (void)scale(s, k, std::nullopt, y, 1, {});",
    "auto size = scale.workspace(y, std::nullopt, y, 1); (void)size->bytes;",
]

BAD = {
    "(void)scale(s, tkc::tensor(f, {n}), std::nullopt, y, 1);":
        "a tensor of another element type than the parameter's",
    "(void)scale(s, tkc::tensor(c, {n, n}), std::nullopt, y, 1);":
        "a tensor of another rank than the parameter's",
    "(void)scale(s, y, std::nullopt, tkc::tensor(c, {n}), 1);":
        "the kernel writes this parameter, and the elements are const",
    "struct Odd { int x; }; Odd *o = nullptr; (void)scale(s, tkc::tensor(o, {n}), std::nullopt, y, 1);":
        "dtype_of",
    "(void)scale(s, y, std::nullopt, y);": "no matching function|no match for call",
    "(void)scale(s, x, std::nullopt, y, 1);": "no matching function|no match for call",
    "tkc::tensor<Half, 1> bare(x);": "the extents are missing",
    "tkc::tensor<Half, 9> deep(x, {1, 1, 1, 1, 1, 1, 1, 1, 1});": "a tensor has 0 to 8 axes",
    "tkc::in_pointer<TKC_F32> p = tkc::pointer<Half>{x, 0}; (void)p;":
        "a pointer to another element type",
    "tkc::out_pointer<TKC_F16> p = tkc::pointer<const Half>{c, 0}; (void)p;":
        "the kernel writes this parameter, and the elements are const",
    "scale(s, y, std::nullopt, y, 1);": "nodiscard|ignoring return",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--include", required=True)
    options = parser.parse_args()
    command = [options.cxx, "-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
               "-pedantic", "-Werror", "-fsyntax-only", "-I", options.include, "-I", str(HERE),
               "-x", "c++", "-"]

    def compile_text(statement, *more):
        return subprocess.run(command + list(more), input=PROGRAM % statement, text=True, capture_output=True)

    faults = []
    result = compile_text("\n  ".join("{ %s }" % statement for statement in GOOD))
    if result.returncode:
        faults.append("refused what is good:\n" + result.stderr)
    for statement, messages in BAD.items():
        result = compile_text(statement)
        if result.returncode == 0:
            faults.append("compiles: " + statement)
        elif not any(message in result.stderr for message in messages.split("|")):
            faults.append("does not say \"%s\": %s\n%s" % (messages, statement, result.stderr))
    older = compile_text(GOOD[0], "-std=c++14").stderr
    if "<tkc/runtime.hpp> needs C++17" not in next(line for line in older.splitlines() if "error" in line):
        faults.append("C++14: the first error is another")
    print("\n".join(faults) or "%d calls good" % (len(GOOD) + len(BAD)))
    sys.exit(bool(faults))


main()
