"""Every diagnostic has a code of its own in the section that fits, is emitted somewhere
(`diag::Name`), is tested somewhere under tests/ (by its code, by its name in a unit test, or by its
text in an `expected-...` comment), and is explained by a page docs/errors/TKnnnn.md, which is headed
by its text and has a fence that gives it, or says why not in a line "No example: ...".

Wrong programs whose message is checked are counted: the lines of tests/frontend/ that expect a code,
and the fences of pages. Each code of the front end has one or more. -v prints how many.
"""

import collections
import re

import honesty
import messages

EXPECTED = re.compile(r"(?:expected-\w+|CHECK)[^\n]*")
CHECKED = re.compile(r"(?:expected-\w+[^{\n]*\{\{|^[^\n]*[A-Z]+(?:-NEXT|-SAME)?:[^\n]*?)TK(\d{4})", re.M)
FENCED = re.compile(r'^```tk [^\n]*?(?:error|warning|note|remark)="TK(\d{4})"', re.M)
SHOWN = re.compile(r"^(?:\.\.\.|.*: )TK(\d{4}): ", re.M)
WRONG_PROGRAMS = 150


def faults_of_list(text, found):
    faults = []
    for message in found:
        before = "\n".join(text.splitlines()[:message.line])
        section = [digit for digit, _ in messages.SECTION.findall(before)][-1:]
        if section != [message.code[0]] or len(message.code) != 4:
            faults.append("%d: TK%s does not belong into its section" % (message.line, message.code))
    if len(found) != len(re.findall(r"^DIAG\(", text, re.M)):
        faults.append("1: an entry is not of the form DIAG(Name, code, severity, text)")
    for what in ("name", "code"):
        values = [getattr(message, what) for message in found]
        for value in sorted({v for v in values if values.count(v) > 1}):
            faults.append("1: the %s %s is used twice" % (what, value))
    return faults


def longest_piece(message):
    """The longest part of a message that no argument interrupts."""
    return max(re.split(r"\{\d\}", message), key=len).strip()


def faults_of_use(root, found):
    code = honesty.files(root, honesty.CODE_FOLDERS, {".cpp", ".h"})
    emitted = set(re.findall(r"\bdiag::(\w+)", "\n".join(
        honesty.without_comments(path.read_text()) for path in code)))
    tests = [p for p in honesty.files(root, ["tests"], {".tk", ".mlir", ".test", ".ll", ".cpp", ".py"})
             if "honesty" not in p.relative_to(root).parts]
    text = "\n".join(path.read_text() for path in tests)
    tested = set(re.findall(r"TK(\d{4})", text))
    named = set(re.findall(r"\bdiag::(\w+)", text))
    expected = "\n".join(EXPECTED.findall(text))
    for m in found:
        if m.name not in emitted:
            yield "%d: TK%s, %s, is never emitted" % (m.line, m.code, m.name)
        if m.code not in tested and m.name not in named and longest_piece(m.text) not in expected:
            yield "%d: TK%s, %s, is tested nowhere" % (m.line, m.code, m.name)


def faults_of_pages(root, found):
    pages = {page.stem: page.read_text() for page in honesty.files(root, ["docs/errors"], {".md"})}
    index = pages.pop("README", "")
    for m in found:
        text = pages.pop("TK" + m.code, None)
        if text is None:
            yield "%d: TK%s, %s, has no page docs/errors/TK%s.md" % (m.line, m.code, m.name, m.code)
            continue
        if text.split("\n")[0] != m.heading():
            yield "%d: the page of TK%s is not headed by its text" % (m.line, m.code)
        if not re.search(r"^No example: ", text, re.M) and m.code not in (
                FENCED.findall(text) + SHOWN.findall(text)):
            yield "%d: the page of TK%s has no example that gives it" % (m.line, m.code)
        if m.row() not in index:
            yield "%d: docs/errors/README.md lacks TK%s" % (m.line, m.code)
    for name in sorted(pages):
        yield "1: the page docs/errors/%s.md has no diagnostic" % name


def wrong_programs(root):
    """How often each code is expected of a program."""
    count = collections.Counter()
    for path in honesty.files(root, ["tests/frontend"], {".tk", ".test"}):
        count.update(CHECKED.findall(path.read_text()))
    for path in honesty.files(root, ["docs"], {".md"}):
        text = path.read_text()
        count.update(FENCED.findall(text))
        if path.parent.name == "errors":
            count.update(SHOWN.findall(text))
    return count


def main():
    arguments = honesty.parse_arguments()
    root = arguments.root
    table = root / "ir/diagnostics/Diagnostics.def"
    text = table.read_text()
    found = messages.read(text)
    faults = faults_of_list(text, found) + list(faults_of_use(root, found))
    faults += faults_of_pages(root, found)
    count = wrong_programs(root)
    for m in found:
        if m.code[0] in "12" and not count[m.code]:
            faults.append("%d: no wrong program is expected to give TK%s, %s" % (m.line, m.code, m.name))
        if arguments.v:
            print("TK%s %4d %s" % (m.code, count[m.code], m.kebab()))
    if sum(count.values()) < WRONG_PROGRAMS and len(found) > WRONG_PROGRAMS:
        faults.append("1: %d wrong programs are checked, fewer than %d"
                      % (sum(count.values()), WRONG_PROGRAMS))
    if arguments.v:
        front = sum(n for code, n in count.items() if code[0] in "12")
        print("%d wrong programs are checked, %d of them of the front end" % (sum(count.values()), front))
    honesty.report([str(table.relative_to(root)) + ":" + fault for fault in faults], len(found),
                   "diagnostics")


main()
