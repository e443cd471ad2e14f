"""Are the parameters in the JSON those of the code? What the loader asks the driver for, read from the cubin itself.

    param_layout.py --tkc=PATH [--chips=sm_80,sm_90a] FILE.tk...
    param_layout.py --cubin=SYMBOL FILE.cubin     tells those of one kernel

Of each file every kernel is compiled for each chip. A cubin has its parameters in the section .nv.info.SYMBOL: entries
EIATTR_KPARAM_INFO (0x17) of 12 bytes: index (4), ordinal (2), offset (2), and the size in the upper 14 bits of the last 4.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile


def sections(cubin):
    table, = struct.unpack_from("<Q", cubin, 40)
    each, count, names = struct.unpack_from("<HHH", cubin, 58)
    entries = [struct.unpack_from("<IIQQQQ", cubin, table + i * each) for i in range(count)]
    start = entries[names][4]
    for name, _, _, _, offset, size in entries:
        yield cubin[start + name:cubin.index(b"\0", start + name)].decode(), cubin[offset:offset + size]


def parameters(cubin, symbol):
    """(offset, size) of each, in order."""
    info, at, found = dict(sections(cubin)).get(".nv.info." + symbol, b""), 0, {}
    while at < len(info):
        form, attribute, value = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == 4:  # as many bytes as `value` says follow
            if attribute == 0x17:
                _, ordinal, offset, bits = struct.unpack_from("<IHHI", info, at)
                found[ordinal] = offset, bits >> 18
            at += value
    return [found[ordinal] for ordinal in sorted(found)]


def check(tkc, source, chip, folder):
    """The number of variants compared."""
    bundle = os.path.join(folder, "k.tkb")
    done = subprocess.run([tkc, source, "--target=" + chip, "-o", bundle], text=True, capture_output=True)
    if done.returncode:
        sys.exit("%s for %s: %s" % (source, chip, done.stderr))
    parts = os.path.join(folder, "parts")
    subprocess.run([tkc, "extract", bundle, "-o", parts + "/"], check=True, capture_output=True)
    compared = 0
    for name in sorted(os.listdir(parts)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(parts, name)) as file:
            described = json.load(file)
        with open(os.path.join(parts, name[:-len(".json")]), "rb") as file:
            cubin = file.read()
        for kernel in described["kernels"]:
            for variant in kernel["variants"]:
                wanted = [(entry["at"], entry["size"]) for entry in variant["params"]["list"]]
                found = parameters(cubin, variant["symbol"])
                if wanted != found:
                    sys.exit("%s, %s: the JSON has %s, the code %s" % (source, variant["id"], wanted, found))
                compared += 1
    return compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tkc")
    parser.add_argument("--cubin", metavar="SYMBOL")
    parser.add_argument("--chips", default="sm_80,sm_90a,sm_120a")
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    if options.cubin:
        with open(options.sources[0], "rb") as file:
            found = parameters(file.read(), options.cubin)
        print(", ".join("%d bytes at %d" % (size, offset) for offset, size in found))
        return
    compared = 0
    for source in options.sources:
        for chip in options.chips.split(","):
            with tempfile.TemporaryDirectory() as folder:
                compared += check(options.tkc, source, chip, folder)
    print("%d variants good" % compared)
    sys.exit(not compared)


if __name__ == "__main__":
    main()
