"""Tiles rearranged: reshape, permute, cat, flip, slice, insert, pick, put, gather, bitcast."""

import numpy as np

from oracle import ALL, DTYPES, Array, Case, random_array, random_shape


def listed(numbers):
    return f"[{', '.join(str(int(n)) for n in numbers)}]"


def any_array(rng, ranks=(1, 6)):
    dtype = ALL[rng.integers(len(ALL))]
    return random_array(rng, dtype, random_shape(rng, int(rng.integers(*ranks))))


def name_of(op, a, what=""):
    return f"{op} {a.dtype} {'x'.join(map(str, a.shape))} {what}".strip()


def scalar(value, dtype="i64"):
    return Array(dtype, np.array(value))


def reshapes(rng):
    for _ in range(12):
        a = any_array(rng)
        size = a.stored.size
        first = int(rng.choice([d for d in range(1, size + 1) if size % d == 0]))
        for shape in [(size,), (first, size // first), (1, size // first, first, 1)]:
            r = a.like(a.stored.reshape(shape))
            yield Case.exact(
                name_of("reshape", a, f"to {shape}"), [a],
                f"%r = tk.reshape %a : {a.type} -> {r.type}", r,
            )


def permutes(rng):
    for _ in range(40):
        a = any_array(rng, (2, 6))
        order = rng.permutation(len(a.shape))
        r = a.like(a.stored.transpose(order))
        yield Case.exact(
            name_of("permute", a, listed(order)), [a],
            f"%r = tk.permute %a {listed(order)} : {a.type} -> {r.type}", r,
        )


def cats(rng):
    for count in [1, 2, 2, 3, 5]:
        for _ in range(5):
            a = any_array(rng, (1, 5))
            axis = int(rng.integers(len(a.shape)))
            parts = []
            for _ in range(count):
                shape = list(a.shape)
                shape[axis] = int(rng.integers(1, 20))
                parts.append(random_array(rng, a.dtype, tuple(shape)))
            r = a.like(np.concatenate([p.stored for p in parts], axis))
            names = ", ".join(f"%{'abcde'[i]}" for i in range(count))
            types = ", ".join(p.type for p in parts)
            yield Case.exact(
                name_of("cat", r, f"axis {axis}"), parts,
                f"%r = tk.cat {names} axis {axis} : {types} -> {r.type}", r,
            )


def flips(rng):
    for _ in range(20):
        a = any_array(rng)
        axis = int(rng.integers(len(a.shape)))
        yield Case.exact(
            name_of("flip", a, f"axis {axis}"), [a],
            f"%r = tk.flip %a axis {axis} : {a.type}", a.like(np.flip(a.stored, axis)),
        )


def random_part(rng, shape):
    """Offsets, strides and the slices they stand for."""
    offsets, strides, slices = [], [], []
    for side in shape:
        offset, stride = int(rng.integers(side)), int(rng.integers(1, 4))
        count = int(rng.integers(1, (side - 1 - offset) // stride + 2))
        offsets.append(offset)
        strides.append(stride)
        slices.append(slice(offset, offset + (count - 1) * stride + 1, stride))
    return offsets, strides, tuple(slices)


def slices(rng):
    for _ in range(40):
        a = any_array(rng)
        offsets, strides, where = random_part(rng, a.shape)
        r = a.like(a.stored[where])
        place = f"offsets {listed(offsets)} strides {listed(strides)}"
        yield Case.exact(
            name_of("slice", a, place), [a],
            f"%r = tk.slice %a {place} : {a.type} -> {r.type}", r,
        )


def inserts(rng):
    for _ in range(40):
        b = any_array(rng)
        offsets, strides, where = random_part(rng, b.shape)
        a = random_array(rng, b.dtype, b.stored[where].shape)
        changed = b.stored.copy()
        changed[where] = a.stored
        place = f"offsets {listed(offsets)} strides {listed(strides)}"
        yield Case.exact(
            name_of("insert", b, place), [a, b],
            f"%r = tk.insert %a, %b {place} : {a.type}, {b.type}", b.like(changed),
        )


OUTSIDE = r"TK5061: program \(0, 0, 0\): index {0}.* is outside axis {1} of the tile"


def layers(rng):
    """pick and put, at good and at bad indices."""
    for turn in range(40):
        a = any_array(rng)
        axis = int(rng.integers(len(a.shape)))
        side = a.shape[axis]
        index = int(rng.integers(side))
        if turn % 8 == 7:
            index = [side, -1, 2**40, -(2**63)][turn // 8 % 4]
        inside = 0 <= index < side
        says = None if inside else OUTSIDE.format(index, axis)
        layer = a.stored.take(index if inside else 0, axis)
        r = a.like(layer if inside else np.zeros_like(layer))
        yield Case.exact(
            name_of("pick", a, f"axis {axis} [{index}]"), [a, scalar(index)],
            f"%r = tk.pick %a[%b] axis {axis} : {a.type} -> {r.type}", r, says=says,
        )
        part = random_array(rng, a.dtype, layer.shape)
        changed = a.stored.copy()
        if inside:
            changed[(slice(None),) * axis + (index,)] = part.stored
        yield Case.exact(
            name_of("put", a, f"axis {axis} [{index}]"), [part, a, scalar(index)],
            f"%r = tk.put %a, %b[%c] axis {axis} : {part.type}, {a.type}", a.like(changed),
            says=says,
        )


def gathers(rng):
    for turn in range(40):
        a = any_array(rng)
        axis = int(rng.integers(len(a.shape)))
        side = a.shape[axis]
        shape = list(a.shape)
        shape[axis] = int(rng.integers(1, 24))
        indices = rng.integers(0, side, shape)
        says = None
        if turn % 10 == 9:
            where = tuple(int(rng.integers(s)) for s in shape)
            indices[where] = [side, -1][turn // 10 % 2]
            says = OUTSIDE.format(rf"{indices[where]} at \[{', '.join(map(str, where))}\]", axis)
        kept = (indices >= 0) & (indices < side)
        taken = np.take_along_axis(a.stored, np.where(kept, indices, 0), axis)
        r = a.like(np.where(kept, taken, np.zeros_like(taken)))
        b = Array(["i32", "i64"][turn % 2], indices)
        yield Case.exact(
            name_of("gather", a, f"axis {axis}"), [a, b],
            f"%r = tk.gather %a[%b] axis {axis} : {a.type}, {b.type} -> {r.type}", r, says=says,
        )


def broadcasts(rng):
    for _ in range(20):
        r = any_array(rng)
        keep = rng.integers(0, 2, len(r.shape))
        shape = tuple(s if k else 1 for s, k in zip(r.shape, keep))
        a = random_array(rng, r.dtype, shape)
        yield Case.exact(
            name_of("broadcast", a, f"to {r.shape}"), [a],
            f"%r = tk.broadcast %a : {a.type} -> {r.type}",
            a.like(np.broadcast_to(a.stored, r.shape)),
        )


def bitcasts(rng):
    """Between all widths, along any axis; lowest bits first."""
    plain = [d for d in ALL if d.name != "i1" and d.name[0] != "u"]
    for _ in range(60):
        wide, narrow = (plain[i] for i in rng.integers(len(plain), size=2))
        if wide.bits < narrow.bits:
            wide, narrow = narrow, wide
        if wide.mlir == narrow.mlir:
            continue
        shape = random_shape(rng, int(rng.integers(1, 5)), 2000)
        axis = int(rng.integers(len(shape)))
        ratio = wide.bits // narrow.bits
        a = random_array(rng, wide, shape)
        last = np.ascontiguousarray(np.moveaxis(a.stored, axis, -1))
        pieces = last.view(narrow.storage)
        r = Array(narrow, np.moveaxis(pieces, -1, axis))
        along = f" axis {axis}" if ratio > 1 else ""
        yield Case.exact(
            name_of("bitcast", a, f"to {narrow}{along}"), [a],
            f"%r = tk.bitcast %a{along} : {a.type} -> {r.type}", r,
        )
        yield Case.exact(
            name_of("bitcast", r, f"to {wide}{along}"), [r],
            f"%r = tk.bitcast %a{along} : {r.type} -> {a.type}", a,
        )


def nibbles(rng):
    """i4 through memory of whole bytes: split, rearranged, joined."""
    for shape, axis in [((8,), 0), ((3, 5), 0), ((3, 6), 1), ((2, 3, 4), 1)]:
        a = random_array(rng, DTYPES["i32"], shape)
        split = list(shape)
        split[axis] *= 8
        t = f"tensor<{'x'.join(map(str, split))}xi4>"
        words = a.stored.view(np.uint32)
        reverse = np.zeros_like(words)
        for piece in range(8):
            reverse |= (words >> (4 * piece) & 15) << (28 - 4 * piece)
        reversed_words = np.flip(reverse, axis)
        yield Case.exact(
            name_of("nibbles", a, f"axis {axis}"), [a],
            f"""%n = tk.bitcast %a axis {axis} : {a.type} -> {t}
%f = tk.flip %n axis {axis} : {t}
%r = tk.bitcast %f axis {axis} : {t} -> {a.type}""", a.like(reversed_words.view(np.int32)),
        )


def chains(rng):
    """Results that share storage with operands that live on."""
    a = random_array(rng, DTYPES["f32"], (4, 6))
    body = """%v = tk.reshape %a : tensor<4x6xf32> -> tensor<24xf32>
%n = tk.bitcast %v : tensor<24xf32> -> tensor<24xi32>
%one = arith.constant dense<1> : tensor<24xi32>
%m = arith.xori %n, %one : tensor<24xi32>
%f = tk.bitcast %m : tensor<24xi32> -> tensor<24xf32>
%r = tk.reshape %f : tensor<24xf32> -> tensor<6x4xf32>
%s = tk.flip %a axis 0 : tensor<4x6xf32>"""
    flipped = (a.stored.view(np.int32) ^ 1).view(np.float32).reshape(6, 4)
    yield Case.exact("shared storage", [a], body, a.like(flipped), a.like(np.flip(a.stored, 0)))


def cases(rng):
    for group in [
        reshapes, permutes, cats, flips, slices, inserts, layers, gathers, broadcasts, bitcasts,
        chains,
    ]:
        yield from group(rng)
