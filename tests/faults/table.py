"""The table of planted faults: *.faults beside this file, each fault a line.

    @ passes/PipelineLoops.cpp
    pipeline: tkg::AsyncWaitOp::create(builder, loc, `stages - 2`); => stages - 1

says: in this file, what stands between backquotes becomes what stands behind the arrow; the text
around it only makes the place unique, and any white space fits any other. What ends with a semicolon
is a statement, which nothing at all may replace; everything else is an expression. The word in front
is the fault's class. Faults of one place follow one another.
"""

import dataclasses
import glob
import os
import re
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LINE = re.compile(r"(\w+): (.*)`(.*)`(.*?) =>(?: (.*))?")
CLASSES = ("barrier", "conversion", "lanes", "layout", "mask", "matrix", "memory", "pipeline",
           "reduction", "scan")


class TableError(Exception):
    """A line that is wrong, or that fits the sources no longer."""


@dataclasses.dataclass
class Fault:
    """One fault."""

    where: str  # file and line of the table
    kind: str
    path: str  # of the source
    context: tuple  # before and behind the place
    old: str
    new: str

    @property
    def number(self):
        """By which the planted program knows it; the same while the line is the same."""
        return zlib.crc32("\0".join((self.path, *self.context, self.old, self.new)).encode()) & 0x7FFFFFFF

    @property
    def is_statement(self):
        return self.old.endswith(";")

    def name(self):
        return f"{self.kind}: {self.path}: {self.old} => {self.new or 'nothing'}"

    def span(self, source):
        """(first, end) of the place in the source."""
        before, after = self.context
        parts = ["(?P<before>" + spaced(before) + ")", "(?P<old>" + spaced(self.old) + ")", spaced(after)]
        found = list(re.finditer("".join(parts), source))
        if len(found) != 1:
            raise TableError(f"{self.where}: {len(found)} places in {self.path} fit, not one: {self.name()}")
        return found[0].span("old")


def spaced(text):
    """A pattern for the text in which any white space is any other; none is needed at its ends."""
    pattern = r"\s+".join(re.escape(word) for word in text.split())
    lead = r"\s*" if text[:1].isspace() else ""
    return lead + pattern + (r"\s*" if text[-1:].isspace() else "")


def read(folder=HERE):
    faults, path = [], None
    for file in sorted(glob.glob(os.path.join(folder, "*.faults"))):
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                line, where = line.rstrip("\n"), f"{os.path.basename(file)}:{number}"
                if line.startswith("@ "):
                    path = line[2:]
                elif line and not line.startswith("#"):
                    faults.append(fault_of(line, where, path))
    return faults


def fault_of(line, where, path):
    match = LINE.fullmatch(line)
    if not match or path is None or match[1] not in CLASSES:
        raise TableError(f"{where}: not a fault: {line}")
    return Fault(where, match[1], path, (match[2], match[4]), match[3], match[5] or "")


def by_place(faults, root=ROOT):
    """{path: [(first, end, faults)]}, places in the order of the source."""
    result = {}
    for path in dict.fromkeys(fault.path for fault in faults):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            source = file.read()
        places = {}
        for fault in faults:
            if fault.path == path:
                places.setdefault(fault.span(source), []).append(fault)
        spans = sorted(places)
        for (_, end), (first, last) in zip(spans, spans[1:]):
            if first < end:
                raise TableError(f"{path}: two places overlap at `{source[first:last]}`")
        result[path] = [(*span, places[span]) for span in spans]
    return result
