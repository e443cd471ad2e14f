"""Kernels and parameters that are called like words of C++, macros and names of the runtime's headers.

    nasty_names.py ROOT COMPILER OUT.tk

The macros are those that COMPILER has after <tkc/runtime.hpp>; the names of the runtime are read
from its headers. Words of the kernel language itself can be no names and are left out.
"""

import pathlib
import re
import subprocess
import sys

WORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t
char16_t char32_t class co_await co_return co_yield compl concept const const_cast consteval
constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
final override import module std tkc main linux unix errno offsetof assert stdin stdout stderr major
minor NAN INFINITY M_PI EOF""".split()
# What the generated struct and file call by these names.
OWN = "on how name abi_hash params prepare param_bytes kernel workspace made from constants bundle k operator".split()


def macros(root, compiler):
    text = subprocess.run([compiler, "-std=c++17", "-x", "c++", "-dM", "-E", "-I%s/runtime/include" % root,
                           "-include", "tkc/runtime.hpp", "/dev/null"],
                          check=True, capture_output=True, text=True).stdout
    return re.findall(r"^#define ([A-Za-z]\w*)", text, re.M)


def runtime_names(root):
    headers = ("runtime.h", "runtime.hpp")
    text = "".join((root / "runtime/include/tkc" / header).read_text() for header in headers)
    return re.findall(r"\b(?:tkc_|TKC_)\w+\b", text)


def main():
    root, compiler, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    keywords = re.findall(r'^KEYWORD\(\w+, "(\w+)"', (root / "frontend/Tokens.def").read_text(), re.M)
    names = sorted(set(WORDS + OWN + macros(root, compiler) + runtime_names(root)) - set(keywords))
    text = ""
    for begin in range(0, len(names), 20):
        some = names[begin:begin + 20]
        params = ", ".join("in %s: f32[%d]" % (name, i + 1) for i, name in enumerate(some))
        text += "kernel params%d(%s, out tkcout: f32[1]) @grid(1) { tkcout[0] = 1.0 }\n" % (begin, params)
    for name in names:
        if not name.startswith("tkc_"):  # no kernel's name, TK2064
            text += "kernel %s(out y: *f32, n: i32) @grid(1) { store(y, n.to(f32)) }\n" % name
    out.write_text(text)
    print(len(names), "names")


main()
