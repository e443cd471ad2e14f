"""Every entry of the tables of frontend/Foreign.cpp gives one error, with the advice of the table, and
whole programs of other languages a few.

    python3 foreign_list.py frontend/Foreign.cpp
"""

import pathlib
import re
import subprocess
import sys

# How an entry of a table is met. The kernel has x: f32[64], y: f32[64], n: i64.
PLACES = {
    "kNames": "    let v = %s\n",
    "kMembers": "    let v = x[:].%s\n",
    "kArguments": "    let v = sum(x[:], %s=0)\n",
    "kWords": "    if n > 3 %s n < 5 { }\n",
    "kLeads": "    %s v = 3\n",
    "kDeclarations": None,
}
KERNEL = "kernel k(in x: f32[64], out y: f32[64], n: i64) @grid(1) {\n%s    y[:] = x[:]\n}\n"
TABLE = re.compile(r"^constexpr Foreign (\w+)\[\] = \{\n(.*?)^\};", re.M | re.S)
ENTRY = re.compile(r'\{"([^"]*)", "([^"]*)",\s*((?:"(?:[^"\\]|\\.)*"\s*|k\w+))\}')
CONSTANT = re.compile(r'constexpr StringLiteral (k\w+) =\s*((?:"(?:[^"\\]|\\.)*"\s*)+);')

# Written as in Triton, CUDA or C where no table has it as one word: what the error must say.
OTHERS = [
    ("tl.load(x)", "write `load`"),
    ("tl.program_id(axis=0)", "write `program_id`"),
    ("tl.zeros((64,), dtype=tl.float32)", "write `zeros`"),
    ("tl.dot(x, x)", "write `dot`"),
    ("tl.sum(x[:], axis=0)", "write `sum`"),
    ("tl.debug_barrier()", "write `barrier()`"),
    ("tl.make_block_ptr(x)", "take a tensor"),
    ("tl.math.exp(x[:])", "write `exp`"),
    ("tl.extra.cuda.libdevice.sin(x[:])", "write `sin`"),
    ("tl.float32", "write `f32`"),
    ("tl.atomic_ad(y[0], 1.0)", "did you mean `atomic_add`?"),
    ("tl.unheard_of_here(x)", "none is called `unheard_of_here`"),
    ("x[:].to(tl.float16)", "write `f16`"),
    ("torch.float16", "write `f16`"),
    ("threadIdx.x", "there are no threads"),
    ("blockIdx.x * 64", "write `program_id(0)`"),
    ("gridDim.y", "write `num_programs(1)`"),
    ("max(x[:], 0.0)", "`maximum(a, b)`"),
    ("x[0, 1:]", "has 1 axes, got 2"),
    ("lambda a: a + 1", "write `fn(a, b) { return a + b }`"),
    ("n ** 2", "no operator for powers: write `pow(x, 2)`"),
    ("n as f32", "values convert by `x.to(f32)`"),
    ("n as float16", "values convert by `x.to(f16)`"),
    ("n > 3 ? 1 : 2", "write `if a { b } else { c }`"),
    ("1 if n > 3 else 2", "write `if a { b } else { c }`"),
    ("'text'", ""),
]
STATEMENTS = [
    ("int i = 0;", "write `var i = ...`"),
    ("float s = 0.0;", "write `var s: f32 = ...`"),
    ("__shared__ float s[64];", "the compiler places them"),
    ("v: tl.constexpr = 3", "`let x: f32 = ...`"),
    ("def f(a): return a", "outside of others"),
    ("for (int i = 0; i < n; i++) { }", "write `for i in range(n) { ... }`"),
    ("if n > 3: y[0] = 1.0", "braces"),
    ("if n > 3 { y[0] = 1.0 } elif n > 2 { y[0] = 2.0 }", "write `else if`"),
    ("n++", "`+= 1` counts up"),
    ("pass", "an empty block is `{ }`"),
    ("print n", "write `print(\"x = \", x)`"),
    ("__syncthreads()", "write `barrier()`"),
    ("__syncthreads();", "write `barrier()`"),
    ("# fine\n    // not fine", "comments begin with `#`"),
]
FILES = [
    ("@triton.jit\ndef add(x_ptr, n, BLOCK: tl.constexpr):\n    pid = tl.program_id(0)\n", "a kernel is `kernel"),
    ("def add(a, b):\n    return a + b\n", "a function is `fn"),
    ("__global__ void add(float *x) {\n    x[0] = 1.0;\n}\n", "a kernel is `kernel"),
    ("import triton.language as tl\n", "need no import"),
    ("from triton import jit\n", "need no import"),
    ("kernel a(in p: *fp16, out y: f32[64]) @grid(1) { y[0] = 1.0 }\n", "write `f16`"),
    ("kernel a(in p: f32*, out y: f32[64]) @grid(1) { y[0] = 1.0 }\n", "write `*f32`"),
    ("kernel a(n: int, out y: f32[64]) @grid(1) { y[0] = 1.0 }\n", "write `i32`"),
    ("kernel a(s: float, out y: f32[64]) @grid(1) { y[0] = s }\n", "write `f32`"),
    ("kernel a(B: tl.constexpr, out y: f32[64]) @grid(1) { y[0] = 1.0 }\n", "stand in brackets"),
    ("kernel a(s: tl.float32, out y: f32[64]) @grid(1) { y[0] = s }\n", "write `f32`"),
]


def text_of(literals):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def programs(source):
    """(what, program, what the message must say)"""
    constants = {name: text_of(literals) for name, literals in CONSTANT.findall(source)}
    for table, body in TABLE.findall(source):
        entries = ENTRY.findall(body)
        assert len(entries) == body.count('{"'), table
        for name, spelling, advice in entries:
            said = constants.get(advice.strip()) or text_of(advice)
            said = said or "write `%s" % ("" if table == "kLeads" else spelling)
            place = PLACES[table]
            text = KERNEL % (place % name) if place else name + " k(x) {\n}\n" + KERNEL % ""
            yield name, text, said
    for expression, said in OTHERS:
        yield expression, KERNEL % ("    let v = %s\n" % expression), said
    for statement, said in STATEMENTS:
        yield statement, KERNEL % ("    %s\n" % statement), said
    for file, said in FILES:
        yield file, file + KERNEL % "", said


def main():
    faults, count = 0, 0
    for what, text, said in programs(open(sys.argv[1]).read()):
        count += 1
        pathlib.Path("program.tk").write_text(text)
        done = subprocess.run(["tkc", "program.tk", "--emit=tk"], text=True, capture_output=True)
        errors = re.findall(r"^.*error: .*$", done.stderr, re.M)
        if len(errors) != 1 or said not in done.stderr:
            faults += 1
            print("%s: wants one error that says: %s\n%s" % (what.strip(), said, done.stderr))
    print("%d spellings, %d faults" % (count, faults))
    sys.exit(1 if faults or count < 100 else 0)


main()
