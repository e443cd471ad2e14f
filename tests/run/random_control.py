"""Random control flow, once in .tk and once in Python: both must give the same numbers.

    random_control.py TKC FIRST COUNT [DEPTH]
    random_control.py --print SEED DEPTH

Loops of all kinds, `if`, `break`, `continue` and `return` stand inside each other at random, in a
kernel and in functions that it calls; what they change are numbers, a tuple, a structure, a tile and
a pointer. Programs FIRST .. FIRST + COUNT - 1 are tried.
"""

import os
import random
import subprocess
import sys
import tempfile


# What both programs begin with. A structure is a list in Python, a pointer an index of U.
TK_HEAD = """struct Pair {
    x: i64
    y: i64
    fn turned(self, by) { return Pair(self.y, (self.x + by) & 1023) }
}"""
PY_HEAD = """U = list(range(64))
def turned(q, by): return [q[1], (q[0] + by) & 1023]"""
IN_PYTHON = {"p.0": "p[0]", "p.1": "p[1]", "q.x": "q[0]", "q.y": "q[1]", "load(r)": "U[r]",
             "&&": "and", "||": "or", "true": "True"}


class Program:
    """Writes the same program twice. Its numbers stay between 0 and 1023, its pointers within U."""

    def __init__(self, seed, depth):
        self.random = random.Random(seed)
        self.depth = depth
        self.names = 0
        self.functions = []  # name and what it gives
        self.tk, self.py = [TK_HEAD], [PY_HEAD]

    def line(self, indent, tk, py=None):
        self.tk.append("    " * indent + tk)
        self.py.append("    " * indent + (tk if py is None else py))

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def number(self):
        return self.random.choice(["a", "b", "n", "m", "p.0", "p.1", "q.x", "q.y", "load(r)",
                                   str(self.random.randrange(9))] + self.indices)

    def both(self, text):
        """The text in .tk and in Python."""
        python = text
        for ours, theirs in IN_PYTHON.items():
            python = python.replace(ours, theirs)
        return text, python

    def condition(self):
        def compare():
            return f"{self.number()} {self.random.choice(['<', '>', '==', '!=', '<='])} {self.number()}"
        kind = self.random.randrange(6)
        if kind == 0:
            return f"{compare()} && {compare()}"
        if kind == 1:
            return f"({compare()} || {compare()})"
        if kind == 2:
            return f"({self.number()} + {self.number()}) & 1 == 0"
        return compare()

    def assign_call(self, indent):
        name, gives = self.random.choice(self.functions)
        tk, py = self.both(f"({self.number()}, {self.number()}, r)")
        target = {"pair": "p", "struct": "q", "number": "a"}[gives]
        self.line(indent, f"{target} = {name}{tk}",
                  f"{target} = {name}{py}" if gives == "number" else f"{target} = list({name}{py})")

    def assign(self, indent):
        kind = self.random.randrange(9)
        if kind == 0:
            return self.line(indent, "t = (t * 3 + a.to(i32)) & 255",
                             "t = [(x * 3 + a) & 255 for x in t]")
        if kind == 1 and self.functions:
            return self.assign_call(indent)
        if kind == 2:
            return self.line(indent, "p.0 = (p.0 + b + 1) & 1023", "p[0] = (p[0] + b + 1) & 1023")
        if kind == 3:
            tk, py = self.both(self.number())
            return self.line(indent, f"q.x = (q.y * 3 + {tk}) & 1023", f"q[0] = (q[1] * 3 + {py}) & 1023")
        if kind == 4:
            tk, py = self.both(self.number())
            return self.line(indent, f"q = q.turned({tk})", f"q = turned(q, {py})")
        if kind == 5:
            tk, py = self.both(self.number())
            return self.line(indent, f"r = u + ({tk} & 7)", f"r = u + ({py} & 7)")
        name = self.random.choice(["a", "b"])
        self.line(indent, *self.both(f"{name} = ({name} * 5 + {self.number()} + 1) & 1023"))

    def leave(self, indent, loops):
        way = self.random.choice(["return"] + (["break", "continue", "break"] if loops else []))
        if way != "return":
            return self.line(indent, way)
        if self.result == "pair":
            tk, py = self.both(f"{self.number()}, {self.number()}")
            return self.line(indent, f"return {tk}", f"return [{py}]")
        if self.result == "struct":
            tk, py = self.both(f"{self.number()}, {self.number()}")
            return self.line(indent, f"return Pair({tk})", f"return [{py}]")
        if self.result == "number":
            tk, py = self.both(self.number())
            return self.line(indent, f"return {tk}", f"return {py}")
        self.line(indent, "return", "return [0] * 8")

    def loop(self, indent, depth):
        kind = self.random.randrange(6)
        low, high = self.random.randrange(-3, 4), self.random.choice(["n", "m", "3", "5", "-4"])
        step = self.random.choice(["1", "2", "-1", "-3", "s"])
        index = self.fresh("v")
        if kind == 0:
            self.line(indent, f"var {index} = 0", f"{index} = 0")
            tk, py = self.both(self.condition())
            truth = self.random.choice([f"{index} < 5 && ", "", "5 > "])
            if truth == "5 > ":
                self.line(indent, f"while {index} < 4 {{", f"while {index} < 4:")
            elif truth:
                self.line(indent, f"while {index} < 5 && ({tk}) {{", f"while {index} < 5 and ({py}):")
            else:
                self.line(indent, "while true {", "while True:")
            self.line(indent + 1, f"{index} += 1")
            if not truth:
                self.line(indent + 1, f"if {index} > 4 {{ break }}", f"if {index} > 4: break")
        elif kind == 1:
            count = self.random.randrange(4)
            self.line(indent, f"for {index} in static_range({count}) {{",
                      f"for {index} in range({count}):")
        elif kind == 2:
            tk, py = self.both(f"{self.number()}, 3, {self.number()}")
            self.line(indent, f"for {index} in ({tk}) {{", f"for {index} in ({py}):")
        else:
            self.line(indent, f"for {index} in range({low}, {high}, {step}) {{",
                      f"for {index} in range({low}, {high}, {step}):")
        self.indices.append(f"({index} & 7)" if kind != 1 else index)
        self.block(indent + 1, depth + 1, True)
        self.indices.pop()
        self.line(indent, "}", "")

    def block(self, indent, depth, loops):
        for _ in range(self.random.randrange(1, 4)):
            kind = self.random.randrange(10)
            if depth < self.depth and kind < 4:
                tk, py = self.both(self.condition())
                self.line(indent, f"if {tk} {{", f"if {py}:")
                self.block(indent + 1, depth + 1, loops)
                if self.random.random() < 0.5:
                    self.line(indent, "} else {", "else:")
                    self.block(indent + 1, depth + 1, loops)
                self.line(indent, "}", "")
            elif depth < self.depth and kind < 7:
                self.loop(indent, depth)
            else:
                self.assign(indent)
        if depth and self.random.random() < 0.35:
            self.leave(indent, loops)

    def body(self, result):
        self.result, self.indices = result, []
        for name, value in (("a", "1"), ("b", "n"), ("p", "(0, 2)"), ("t", "arange(0, 8)"),
                            ("q", "Pair(n, 3)"), ("r", "u")):
            python = {"p": "[0, 2]", "t": "list(range(8))", "q": "[n, 3]"}.get(name, value)
            self.line(1, f"var {name} = {value}", f"{name} = {python}")
        self.line(1, "let s = m - 3" if result == "kernel" else "let s = 2",
                  "s = m - 3" if result == "kernel" else "s = 2")
        self.block(1, 0, False)
        self.block(1, 0, False)

    def write(self):
        for index in range(2):
            result = self.random.choice(["pair", "number", "struct"])
            self.line(0, f"fn f{index}(n, m, u) {{", f"def f{index}(n, m, u):")
            self.body(result)
            self.line(1, {"pair": "return a + b & 1023, p.0", "number": "return a + b & 1023",
                          "struct": "return q"}[result],
                      {"pair": "return [a + b & 1023, p[0]]", "number": "return a + b & 1023",
                       "struct": "return q"}[result])
            self.line(0, "}", "")
            self.functions.append((f"f{index}", result))
        self.line(0, "kernel k(out z: i64[8], in u: *i64, n: i64, m: i64) @grid(1) {", "def k(n, m, u=0):")
        # What the numbers were when the kernel was left is not known, so all are written often.
        self.body("kernel")
        self.line(1, "z[0] = a", "")
        self.line(1, "z[1] = b", "")
        self.line(1, "z[2] = p.0", "")
        self.line(1, "z[3] = p.1", "")
        self.line(1, "z[4] = sum(t, axis=0).to(i64)", "")
        self.line(1, "z[5] = q.x", "")
        self.line(1, "z[6] = q.y", "")
        self.line(1, "z[7] = load(r)", "")
        self.line(0, "}", "    return [a, b, p[0], p[1], sum(t), q[0], q[1], U[r]]")


def check(tkc, seed, depth, folder):
    program = Program(seed, depth)
    program.write()
    path = os.path.join(folder, "random.tk")
    with open(path, "w") as file:
        file.write("\n".join(program.tk) + "\n")
    names = {}
    exec("\n".join(program.py), names)  # pylint: disable=exec-used
    for n, m in ((4, 2), (0, 5), (7, 7)):
        expected = names["k"](n, m)
        run = subprocess.run([tkc, "run", path, f"n={n}", f"m={m}", "u=arange:64", "z=zeros:i64:8",
                              "--print", "z"],
                             capture_output=True, text=True, check=False)
        got = run.stdout.partition("=")[2].strip()
        if "TK2037" in run.stderr or "TK2039" in run.stderr:
            print(f"program {seed} is over a limit")
            return True
        if run.returncode or got != str(expected):
            print(f"program {seed}, n={n} m={m}: {got or run.stderr}, expected {expected}")
            print(f"see it by: random_control.py --print {seed} {depth}")
            return False
    return True


def main():
    tkc, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    depth = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    if tkc == "--print":
        program = Program(first, count)
        program.write()
        return print("\n".join(program.tk))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            if not check(tkc, seed, depth, folder):
                sys.exit(1)


if __name__ == "__main__":
    main()
