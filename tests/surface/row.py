"""A row of the table of docs/from-triton.md, and the kernel that its example makes."""

import re

# What a kernel around the statements of an example has, as far as they use it.
PARAMETERS = {
    "x": ("in x: f32[16, 16]", "x=arange:16x16"),
    "w": ("in w: f16[32, 32]", "w=ones:32x32"),
    "n": ("in n: i32[16, 16]", "n=arange:16x16"),
    "p": ("in p: *f32", "p=arange:256"),
    "y": ("inout y: f32[16, 16]", "y=zeros:16x16"),
    "c": ("inout c: i32[16]", "c=zeros:16"),
    "k": ("k: i64", "k=5"),
    "s": ("s: f32", "s=2.5"),
}
CODE = re.compile(r"`([^`]+)`")
CALL = re.compile(r"(?<![\w.])([a-z_]\w*)(?:\[\w+\])?\(")


class Row:
    """One thing that Triton has, and what it is here.

    peer     names as Triton writes them
    form     the form in .tk, or "none"
    note     what differs
    example  statements of a kernel that show the form and `assert` what it gives, for the PARAMETERS
             that they name. What stands before a line `---` stands before the kernel
    test     a file below tests/ in which the form is tested by itself
    token    what of the form stands in that file; else the first function that the form calls
    error    the one code with which the example fails, where the row says that something is refused
    warns    codes of warnings, where the row says that the interpreter warns
    args     words of `tkc run`, for an example that is a whole kernel
    """

    def __init__(self, peer, form, note="", example="", test="", token="", error="", warns=(),
                 args=""):
        self.peer, self.form, self.note = peer, form, note
        self.example, self.test = example.strip("\n"), test
        self.error, self.warns, self.args = error, set(warns), args
        self.calls = [name for code in CODE.findall(form) for name in CALL.findall(code)
                      if name not in ("f", "fn")]
        self.token = token or (self.calls[0] + "(" if self.calls else "")

    def program(self):
        """The file that the example makes, and the words of `tkc run`."""
        if re.search(r"^kernel\b", self.example, re.M):
            return self.example + "\n", self.args.split()
        before, _, body = self.example.rpartition("---\n")
        used = [name for name in PARAMETERS if re.search(r'(?<![\w."])%s\b(?!:)' % name, body)]
        head = ", ".join(PARAMETERS[name][0] for name in used)
        text = "%skernel row(%s) @grid(1) {\n%s\n}\n" % (
            before, head, re.sub(r"^(?=.)", "    ", body, flags=re.M))
        return text, [PARAMETERS[name][1] for name in used]
