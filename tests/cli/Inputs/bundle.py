"""Reads bundles as docs/design/bundles.md says, without a line of the compiler.

  bundle.py check SCHEMA FILE.tkb     checks everything and prints what is in it
  bundle.py inside FILE.tkb PROGRAM   whether the bytes are in the program
  bundle.py damage FILE.tkb OUT AT    a copy with one byte changed
  bundle.py relink LIST.json FILE.tk  compiles the units of a list one by one and links them
"""

import hashlib
import json

import struct
import subprocess
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import schema as schemas

MAGIC = b"\x89TKB\r\n\x1a\n"


def read(path):
    data = open(path, "rb").read()
    magic, version, header, at, size, total = struct.unpack_from("<8sIIQQQ", data)
    assert magic == MAGIC and version == 1 and header == 128 and at == 128 and total == len(data)
    text = data[at : at + size]
    assert hashlib.sha256(text).digest() == data[40:72], "the digest of the JSON"
    assert not any(data[72:128]), "bytes of the header that must be 0"
    document = json.loads(text)
    end = at + size
    for image in document["images"]:
        assert image["offset"] % 64 == 0 and image["offset"] >= end
        assert not any(data[end : image["offset"]]), "bytes between images"
        end = image["offset"] + image["stored"]
        stored = data[image["offset"] : end]
        if image["codec"] == "zstd":
            stored = subprocess.run(["zstd", "-dc"], input=stored, stdout=subprocess.PIPE, check=True).stdout
        assert len(stored) == image["size"]
        assert hashlib.sha256(stored).hexdigest() == image["sha256"]
    assert end == len(data)
    return document


def check(schema, path):
    document = read(path)
    for fault in schemas.faults(document, json.load(open(schema))):
        sys.exit(fault)
    digests = [image["sha256"] for image in document["images"]]
    assert len(set(digests)) == len(digests), "an image twice"
    for kernel in document["kernels"]:
        values = ", ".join("%s=%s" % item for item in sorted(kernel["instance"].items()))
        ranks = [variant["default_rank"] for variant in kernel["variants"]]
        assert ranks == list(range(len(ranks))), "ranks"
        print("%s[%s]: %s" % (kernel["kernel"], values, " ".join(v["id"] for v in kernel["variants"])))
    kinds = {"%(kind)s %(codec)s" % image for image in document["images"]}
    print("%d images: %s" % (len(digests), ", ".join(sorted(kinds))))


def is_inside(bundle, program):
    sys.exit(open(bundle, "rb").read() not in open(program, "rb").read())


def damage(path, out, at):
    data = bytearray(open(path, "rb").read())
    data[int(at)] ^= 1
    open(out, "wb").write(data)


def relink(path, source):
    parts = []
    for number, unit in enumerate(json.load(open(path))):
        parts.insert(0, "unit%d.tkb" % number)
        subprocess.run(["tkc", source, "-o", parts[0]] + unit["options"], check=True)
    subprocess.run(["tkc", "link", "-o", "relinked.tkb"] + parts, check=True)


{"check": check, "inside": is_inside, "damage": damage, "relink": relink}[sys.argv[1]](*sys.argv[2:])
