"""What the assembler made of it: widths of global accesses, spills.

The fast variant of a vector add and of a softmax must load and store 16 bytes a time. The
disassembler of the CUDA toolkit is needed; without one the check says so and does nothing.
"""

import collections
import re
import shutil
import subprocess

import cases
from support import Score

_FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)|^\.text\.(\S+):")
# The address space may be named: `LDG.E.128` and `LDG.E.128.CONSTANT` are global.
_ACCESS = re.compile(r"\b(LDG|STG|LDL|STL|LDS|STS)\.([A-Z0-9.]+)")
_WIDTHS = ("128", "64", "U8", "S8", "U16", "S16")

SPECS = (
    ("vector_add f32", cases.add_spec("places", "f32")),
    ("vector_add by pointers f32", cases.add_spec("pointers", "f32")),
    ("vector_add bf16", cases.add_spec("places", "bf16")),
    ("softmax f32", cases.row_spec("softmax", "f32", 4096, 8)),
    ("softmax bf16", cases.row_spec("softmax", "bf16", 4096, 8)),
    ("rms_norm bf16", cases.row_spec("rms_norm", "bf16", 4096, 8)),
)


def disassemble(path):
    """SASS text of a cubin, or None without a disassembler."""
    for command in (["cuobjdump", "-sass", path], ["nvdisasm", "-c", path]):
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
    return None


def count_accesses(sass):
    """{function: Counter of "LDG.128" and the like}."""
    counts, current = collections.defaultdict(collections.Counter), None
    for line in sass.splitlines():
        match = _FUNCTION.match(line)
        if match:
            current = match.group(1) or match.group(2)
            continue
        match = _ACCESS.search(line)
        if match and current:
            modifiers = match.group(2).split(".")
            width = next((w for w in _WIDTHS if w in modifiers), "32")
            counts[current][f"{match.group(1)}.{width}"] += 1
    return counts


def _describe(variant, counts):
    resources = variant["resources"]
    accesses = " ".join(f"{name} x{n}" for name, n in sorted(counts.items())) or "no accesses"
    spills = f"{resources['spill_store_bytes']}/{resources['spill_load_bytes']}"
    return f"{variant['id']}: {accesses}; {resources['registers']} registers, spills {spills} B"


def _check_spec(bench, score, name, spec):
    sass = disassemble(bench.path(spec))
    if sass is None:
        score.note(f"{name}: no cuobjdump or nvdisasm on PATH, not looked at")
        return
    counts = count_accesses(sass)
    for variant in bench.metadata(spec)["variants"]:
        found = counts.get(variant["symbol"], collections.Counter())
        score.note(f"{name} {_describe(variant, found)}")
        if variant["default_rank"] == 0:
            lacks = [name for name in ("LDG.128", "STG.128") if not found[name]]
            score.record(f"no {', '.join(lacks)}" if lacks else None, f"{name} {variant['id']}")
            narrow = [n for n in found if n[:3] in ("LDG", "STG") and not n.endswith("128")]
            if narrow:
                score.note(f"{name} {variant['id']}: narrower ones too: {', '.join(narrow)}")
        if any(n.startswith(("LDL", "STL")) for n in found):
            score.note(f"{name} {variant['id']}: uses local memory")


def run(bench):
    score = Score("accesses in the machine code")
    for name, spec in SPECS:
        _check_spec(bench, score, name, spec)
    for spec in cases.all_specs():
        for variant in bench.metadata(spec)["variants"]:
            if variant["resources"]["spill_store_bytes"]:
                score.note(f"spills: {spec.file_name} {variant['id']} "
                           f"{variant['resources']['spill_store_bytes']} B stored")
    return [score]
