"""Makes the files that the loader's suite opens on a GPU.

    loader_files.py --tkc=PATH --out=DIR

Bundles (.tkb) that are good, and pairs of an image (.image) and its description (.json) that are
not, or that use what tkc does not write yet. bench/bundle.py puts the folder into build/gpu.
"""

import argparse
import hashlib
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
KERNELS = os.path.join(HERE, "kernels.tk")
MATMUL = ["-k", "matmul", "-D", "BM=128", "-D", "BN=128", "-D", "BK=64", "--warps=8", "--stages=3"]
STREAM_K = ["-D", "BM=64", "-D", "BN=64", "-D", "BK=32"]


def example(name):
    return os.path.join(ROOT, "examples", name)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Maker:
    """The compiler, and the folder that is filled."""

    def __init__(self, tkc, out):
        self.tkc, self.out = tkc, out

    def path(self, name):
        return os.path.join(self.out, name)

    def compile(self, source, name, *options):
        subprocess.run([self.tkc, source, *options, "-o", self.path(name)], check=True)
        return self.path(name)

    def image(self, target, kernel):
        """(bytes, description) of one kernel."""
        path = self.compile(KERNELS, "part.cubin", "-k", kernel, f"--target={target}")
        described = json.loads(read(path + ".json"))
        image = read(path)
        os.remove(path)
        os.remove(path + ".json")
        return image, described

    def pair(self, name, image, described, **changes):
        """An image and its description, whose kernel and variants get the changes; digest and size fit."""
        described = json.loads(json.dumps(described))
        described["images"][0].update(size=len(image), sha256=digest(image))
        described["needs"] += changes.pop("needs", [])
        for variant in described["kernels"][0]["variants"]:
            for key, value in changes.items():
                if isinstance(value, dict):
                    variant[key].update(value)
                else:
                    variant[key] = value
        self.mixed(name, image, described)

    def mixed(self, name, image, described):
        write(self.path(name + ".image"), image)
        write(self.path(name + ".json"), json.dumps(described, indent=1).encode())


def good_bundles(maker):
    both = "--target=sm_90a,cpu"
    parts = [maker.compile(KERNELS, "part0.tkb", both), maker.compile(example("03_matmul.tk"), "part1.tkb", both, *MATMUL),
             maker.compile(example("16_stream_k.tk"), "part2.tkb", both, *STREAM_K)]
    subprocess.run([maker.tkc, "link", *parts, "-o", maker.path("kernels.tkb")], check=True)
    for part in parts:
        os.remove(part)
    maker.compile(KERNELS, "asserts.tkb", both, "-k", "broken", "--asserts")
    maker.compile(KERNELS, "bytes.tkb", "--target=sm_90a", "-k", "add", "-D", "T=i8")
    maker.compile(KERNELS, "instances.tkb", "--target=sm_90a", "-k", "add", "-D", "T=f32,f64")
    maker.compile(KERNELS, "ptx.tkb", "--target=compute_80")
    for chip in ("sm_80", "sm_120a"):
        maker.compile(KERNELS, chip + ".tkb", "--target=" + chip, "-k", "add")


def spoiled_files(maker):
    """A bundle of which one byte is another: of the JSON, of its one image."""
    whole = read(maker.path("bytes.tkb"))
    begin, size = (int.from_bytes(whole[at:at + 8], "little") for at in (16, 24))
    image = json.loads(whole[begin:begin + size])["images"][0]["offset"]
    for name, place in (("bad-json", begin + size // 2), ("bad-frame", image)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1
        write(maker.path(name + ".tkb"), bytes(spoiled))


def spoiled_pairs(maker):
    """Descriptions that do not fit their image, the device or the driver."""
    image, add = maker.image("sm_90a", "add")
    other, total = maker.image("sm_90a", "total")  # of more parameters
    maker.pair("add", image, add)
    maker.mixed("other-image", other, add)
    maker.mixed("bad-image", bytes([*image[:-1], image[-1] ^ 1]), add)
    maker.pair("no-symbol", other, add)
    maker.pair("other-params", other, add, symbol=total["kernels"][0]["variants"][-1]["symbol"])
    maker.pair("more-threads", image, add, block=[2048, 1, 1])
    maker.pair("more-shared", image, add, resources={"shared_dynamic": 300000})
    maker.pair("newer-driver", image, add, driver_min=99000)
    maker.pair("unknown-feature", image, add, needs=["tea.1"])
    maker.pair("half-image", image[:len(image) // 2], add)
    old, described = maker.image("sm_80", "add")
    maker.pair("old-chip", old, described, target=add["kernels"][0]["variants"][0]["target"])


def variant(symbol, kind, grid, params, **more):
    """One variant of a kernel that was written by hand."""
    size = params[-1]["at"] + params[-1]["size"]
    return {"id": symbol, "target": {"vendor": "nvidia", "arch": kind, "match": "at_least"}, "image": 0,
            "symbol": symbol, "grid": grid, "resources": {"shared_static": 0, "shared_dynamic": 0},
            "params": {"bytes": size, "align": 8, "hidden": 0, "list": params}, **more}


def tensor(name, dtype, access, extents, strides):
    return {"name": name, "kind": "tensor", "dtype": dtype, "access": access, "extents": extents,
            "strides": strides}


def by_hand(maker, name, needs, args, made, text=None):
    """A pair of PTX and its description."""
    image = text or read(os.path.join(HERE, made["symbol"] + ".ptx"))
    kernel = {"kernel": made["symbol"], "abi_hash": "b3:00000000000000" + f"{len(args):02x}", "args": args,
              "variants": [made]}
    described = {"schema": "tkc.kernel/1.0", "needs": needs, "images": [
        {"kind": "ptx", "path": "", "size": len(image), "sha256": digest(image)}], "kernels": [kernel]}
    maker.mixed(name, image, described)


def pointer(at, name):
    return {"at": at, "size": 8, "type": "ptr", "value": name + ".ptr"}


def hand_written(maker):
    """What the loader launches and tkc does not write: clusters, tensor maps."""
    out = tensor("out", "i32", "out", ["N"], [1])
    for size in (4, 16):
        resources = {"shared_static": 0, "shared_dynamic": 0, "nonportable_cluster": size > 8}
        made = variant("places", "compute_90", ["N", 1, 1], [pointer(0, "out")], block=[32, 1, 1])
        made.update(cluster=[size, 1, 1], resources=resources)
        by_hand(maker, f"cluster{size}", ["expr.1", "cluster.1"], [out], made)
    broken = variant("places", "compute_90", ["N", 1, 1], [pointer(0, "out")], block=[32, 1, 1])
    source = read(os.path.join(HERE, "places.ptx")).replace(b"mov.u32 %thread", b"mow.u32 %thread")
    by_hand(maker, "bad-ptx", ["expr.1"], [out], broken, source)
    x = tensor("x", "f32", "in", ["M", "N"], ["x.s0", 1])
    boxes = tensor("boxes", "f32", "out", [["cdiv", "M", 16], ["cdiv", "N", 32], 16, 32],
                   [["mul", ["cdiv", "N", 32], 512], 512, 32, 1])
    made = variant("boxes", "compute_90", [["cdiv", "N", 32], ["cdiv", "M", 16], 1],
                   [{"at": 0, "size": 128, "type": "tensor_map", "value": 0}, pointer(128, "boxes")],
                   block=[128, 1, 1])
    made["params"]["align"] = 128
    made["tensor_maps"] = [{"arg": "x", "dtype": "f32", "dims": ["N", "M"], "strides": [["mul", 4, "x.s0"]],
                            "box": [32, 16], "element_strides": [1, 1], "interleave": "none", "swizzle": "none",
                            "l2": "128B", "oob": "zero"}]
    by_hand(maker, "boxes", ["expr.1", "tensor_map.1"], [x, boxes], made)


def make(tkc, out):
    os.makedirs(out, exist_ok=True)
    maker = Maker(tkc, out)
    good_bundles(maker)
    spoiled_files(maker)
    spoiled_pairs(maker)
    hand_written(maker)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    make(options.tkc, options.out)


if __name__ == "__main__":
    main()
