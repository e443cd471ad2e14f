"""The words that editors highlight are those of the compiler: keywords (frontend/Tokens.def), data
types (Types.cpp), constants and functions (Builtins.cpp and std/prelude.tk).

    editors/vim/syntax/tk.vim                     its `syntax keyword` lines
    editors/vscode/syntaxes/tk.tmLanguage.json    the patterns of keyword, constant, dtype, function

    python3 tests/honesty/editor_words.py . --write=yes      puts them in anew
"""

import json
import re

import honesty

LITERALS = ["true", "false"]
KINDS = ["int", "bool", "dtype", "string", "tile"]
VIM = {"keyword": "tkKeyword", "constant": "tkConstant", "dtype": "tkType", "function": "tkFunction"}
PATTERNS = {"keyword": r"\b(?:%s)\b", "constant": r"\b(?:%s)\b", "dtype": r"\b(?:%s)\b",
            "function": r"(?<!\.)\b(?:%s)\b(?=\s*[\[(])"}


def compiler_words(root):
    """The words of each kind, sorted."""
    front = root / "frontend"
    keywords = re.findall(r'^KEYWORD\(\w+, "(\w+)"\)', (front / "Tokens.def").read_text(), re.M)
    types = re.search(r"^static const Row table\[\] = \{(.*?)^\};", (front / "Types.cpp").read_text(), re.M | re.S)
    builtins = (front / "Builtins.cpp").read_text()
    table = re.search(r"Builtin entries\[\] = \{(.*?)^  \};", builtins, re.M | re.S)
    constants = re.search(r"tk::namedConstant\(.*?^\}", builtins, re.M | re.S).group(0)
    prelude = (root / "std/prelude.tk").read_text()
    words = {
        "keyword": [word for word in keywords if word not in LITERALS],
        "constant": LITERALS + ["None"] + re.findall(r'\.Case\("(\w+)"', constants)
                    + re.findall(r'name == "(\w+)"', constants),
        "dtype": re.findall(r'\{"(\w+)",', types.group(1)) + KINDS,
        "function": re.findall(r'\{"(\w+)",', table.group(1)) + re.findall(r"^fn (\w+)\(", prelude, re.M),
    }
    return {kind: sorted(set(found)) for kind, found in words.items()}


def vim_text(text, words):
    for kind, group in VIM.items():
        line = "syntax keyword %s %s" % (group, " ".join(words[kind]))
        text, count = re.subn(r"^syntax keyword %s .*$" % group, line, text, flags=re.M)
        assert count == 1, group
    return text


def vscode_text(text, words):
    grammar = json.loads(text)
    for kind, pattern in PATTERNS.items():
        rule = grammar["repository"][kind]
        rule = rule["patterns"][0] if "patterns" in rule else rule
        rule["match"] = pattern % "|".join(words[kind])
    return json.dumps(grammar, indent=2) + "\n"


def main():
    arguments = honesty.parse_arguments("write")
    words = compiler_words(arguments.root)
    faults = ["%s: no words were found" % kind for kind, found in words.items() if not found]
    for name, make in [("editors/vim/syntax/tk.vim", vim_text),
                       ("editors/vscode/syntaxes/tk.tmLanguage.json", vscode_text)]:
        path = arguments.root / name
        text = make(path.read_text(), words)
        if arguments.write:
            path.write_text(text)
        elif path.read_text() != text:
            faults.append("%s: its words are not those of the compiler" % name)
    honesty.report(faults, sum(map(len, words.values())), "words")


main()
