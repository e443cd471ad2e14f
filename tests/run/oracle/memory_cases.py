"""Places with blocks, single indices and tiles of indices, views of views and of pointers, addresses."""

import numpy as np

from oracle import ALL, DTYPES, Array, Case, random_array, tile

INDICES = [DTYPES["i32"], DTYPES["i64"]]


def listed(numbers):
    return f"[{', '.join(str(int(n)) for n in numbers)}]"


class Text:
    """Lines of a body, with constants."""

    def __init__(self):
        self.lines = []

    def constant(self, value, type="i64"):
        name = f"%k{len(self.lines)}"
        self.lines.append(f"{name} = arith.constant {int(value)} : {type}")
        return name

    def add(self, line):
        self.lines.append(line)

    def __str__(self):
        return "\n".join(self.lines)


class Place:
    """A random place of an array of shape `extents`: its text, its shape, and where each element of it
    lies. Tiles of indices come as inputs, whose names begin at `letter`."""

    def __init__(self, rng, text, extents, letter="b", inside=False, distinct=False):
        rank = len(extents)
        kinds = rng.choice(["one", "block", "block", "tile"], rank)
        side = int(rng.integers(1, 9))
        picked = (side,) if rng.integers(2) else (side, int(rng.integers(1, 4)))
        if distinct and list(kinds).count("tile") > 1:
            kinds[list(kinds).index("tile") + 1 :] = "block"
        self.inputs, self.shape, self.widths, indices, parts = [], [], [], [], []
        first = None
        for axis, (kind, extent) in enumerate(zip(kinds, extents)):
            if kind == "one":
                at = int(rng.integers(extent))
                indices.append(text.constant(at))
                self.widths.append(0)
                parts.append(("one", np.array(at)))
            elif kind == "block":
                width = int(rng.integers(1, 1 + (extent if inside else 9)))
                low = 0 if inside else -width
                start = int(rng.integers(low, (extent - width if inside else extent) + 1))
                indices.append(text.constant(start))
                self.widths.append(width)
                parts.append((len(self.shape), start + np.arange(width)))
                self.shape.append(width)
            else:
                dtype = INDICES[rng.integers(2)]
                count = int(np.prod(picked))
                if distinct:  # no two alike, some outside
                    numbers = rng.permutation(np.arange(-count, extent + count))[:count]
                elif inside:
                    numbers = rng.integers(0, extent, count)
                else:
                    numbers = rng.integers(-2, extent + 2, count)
                array = Array(dtype, numbers.reshape(picked))
                name = chr(ord(letter) + len(self.inputs))
                self.inputs.append(array)
                indices.append(f"%{name} : {array.type}")
                self.widths.append(-1)
                if first is None:
                    first = len(self.shape)
                    self.shape += picked
                parts.append(("tile", numbers.reshape(picked)))
        self.shape = tuple(self.shape)
        self.coordinates = []
        for place, numbers in parts:
            if place == "one":
                spread = numbers.reshape((1,) * len(self.shape))
            else:
                at = first if place == "tile" else place
                after = len(self.shape) - at - numbers.ndim
                spread = numbers.reshape((1,) * at + numbers.shape + (1,) * after)
            self.coordinates.append(np.broadcast_to(spread, self.shape))
        self.exists = np.ones(self.shape, bool)
        for numbers, extent in zip(self.coordinates, extents):
            self.exists &= (numbers >= 0) & (numbers < extent)
        self.text = f"[{', '.join(indices)}] widths {listed(self.widths)}"

    def of(self, array, fill):
        at = tuple(np.clip(n, 0, max(e - 1, 0)) for n, e in zip(self.coordinates, array.shape))
        if not array.size:
            return np.full(self.shape, fill)
        return np.where(self.exists, array[at], fill)


def any_extents(rng, least=1):
    rank = int(rng.integers(1, 5))
    return tuple(int(n) for n in rng.integers(least, 8, rank))


def masked(rng, text, shape, letter):
    """(what stands after `widths`, the mask, inputs); a scalar place has none."""
    if not shape or rng.integers(2):
        return "", np.ones(shape, bool), []
    mask = Array("i1", rng.integers(0, 2, shape))
    return f" mask %{letter} : {mask.type}", mask.stored.astype(bool), [mask]


def scalar_of(text, array, name):
    """The first element of an input as a scalar, for a fill."""
    zero = text.constant(0)
    view = f"@{name}[{', '.join([zero] * len(array.shape))}] widths {listed([0] * len(array.shape))}"
    text.add(f"%fill = tk.read {view} : ${name} -> {array.dtype.mlir}")
    return "%fill", array.stored.reshape(-1)[0]


def reads(rng, count=150):
    for _ in range(count):
        text = Text()
        dtype = ALL[rng.integers(len(ALL))]
        a = random_array(rng, dtype, any_extents(rng))
        place = Place(rng, text, a.shape)
        mask_text, mask, masks = masked(rng, text, place.shape, chr(ord("b") + len(place.inputs)))
        fill_text, fill = "", dtype.storage.type(0)
        if rng.integers(2):
            name, fill = scalar_of(text, a, "a")
            fill_text = f" fill {name} : {dtype.mlir}"
        want = a.like(np.where(mask, place.of(a.stored, fill), fill))
        text.add(
            f"%r = tk.read @a{place.text}{mask_text}{fill_text} : $a -> {tile(dtype, place.shape)}"
        )
        yield Case.exact(
            f"read {dtype} {a.shape} {place.widths}", [a, *place.inputs, *masks], str(text), want
        )


def writes(rng, count=100):
    for _ in range(count):
        text = Text()
        dtype = ALL[rng.integers(len(ALL))]
        a = random_array(rng, dtype, any_extents(rng))
        place = Place(rng, text, a.shape, letter="c", distinct=True)
        if not place.shape:
            continue
        v = random_array(rng, dtype, place.shape)
        mask_text, mask, masks = masked(rng, text, place.shape, chr(ord("c") + len(place.inputs)))
        stored = a.stored.copy()
        taken = place.exists & mask
        stored[tuple(n[taken] for n in place.coordinates)] = v.stored[taken]
        zero = text.constant(0)
        text.add(f"tk.write %b, @a{place.text}{mask_text} : {v.type}, $a")
        text.add(
            f"%r = tk.read @a[{', '.join([zero] * len(a.shape))}] widths {listed(a.shape)} : $a -> {a.type}"
        )
        yield Case.exact(
            f"write {dtype} {a.shape} {place.widths}", [a, v, *place.inputs, *masks], str(text),
            a.like(stored), writes=True,
        )


def parts(rng, count=100):
    """A part of a part, read by place."""
    for _ in range(count):
        text = Text()
        dtype = ALL[rng.integers(len(ALL))]
        a = random_array(rng, dtype, any_extents(rng))
        view, type, stored = "@a", "$a", a.stored
        for level in range(int(rng.integers(1, 4))):
            low, high, drops, slices = [], [], [], []
            for extent in stored.shape:
                drop = extent > 0 and rng.integers(4) == 0
                begin, end = (int(n) for n in rng.integers(-3, extent + 4, 2))
                begin = int(rng.integers(extent)) if drop else begin
                low.append(text.constant(begin))
                high.append(text.constant(end))
                drops.append(bool(drop))
                clipped = int(np.clip(begin, 0, extent))
                slices.append(begin if drop else slice(clipped, max(end, clipped)))
            stored = stored[tuple(slices)]
            of, view = view, f"%v{level}"
            result = f"!tk.view<{dtype.mlir}, {stored.ndim}, #a>"
            text.add(
                f"{view} = tk.subview {of} low [{', '.join(low)}] high [{', '.join(high)}] "
                f"drop [{', '.join(str(d).lower() for d in drops)}] : {type} -> {result}"
            )
            type = result
        place = Place(rng, text, [max(n, 1) for n in stored.shape])
        if 0 in stored.shape:  # single indices of an empty axis would be reported
            continue
        want = a.like(place.of(stored, dtype.storage.type(0)))
        text.add(f"%r = tk.read {view}{place.text} : {type} -> {tile(dtype, place.shape)}")
        yield Case.exact(f"part {dtype} {a.shape} {stored.shape}", [a, *place.inputs], str(text), want)


def raw_views(rng, count=100):
    """Any extents and strides over an array, as far as it goes, by place and by address."""
    for _ in range(count):
        text = Text()
        dtype = ALL[rng.integers(len(ALL))]
        a = random_array(rng, dtype, (int(rng.integers(40, 200)),))
        extents = any_extents(rng, least=2)
        strides = [int(n) for n in rng.integers(-6, 7, len(extents))]
        spans = [(e - 1) * s for e, s in zip(extents, strides)]
        low, high = sum(min(n, 0) for n in spans), sum(max(n, 0) for n in spans)
        if high - low >= a.stored.size:
            continue
        base = int(rng.integers(-low, a.stored.size - high))
        stored = np.lib.stride_tricks.as_strided(
            a.stored[base:], extents, [s * a.stored.itemsize for s in strides]
        )
        result = f"!tk.view<{dtype.mlir}, {len(extents)}, #a>"
        pointer = f"!tk.ptr<{dtype.mlir}, #a>"
        text.add(f"%p = tk.base @a : $a -> {pointer}")
        text.add(f"%q = tk.ptr_add %p, {text.constant(base)} : {pointer}, i64")
        sides = ", ".join(text.constant(n) for n in extents)
        steps = ", ".join(text.constant(n) for n in strides)
        text.add(f"%v = tk.make_view %q extents [{sides}] strides [{steps}] : {pointer} -> {result}")
        place = Place(rng, text, extents)
        want = a.like(place.of(stored, dtype.storage.type(0)))
        type = tile(dtype, place.shape)
        if rng.integers(2):
            text.add(f"%r = tk.read %v{place.text} : {result} -> {type}")
        else:
            pointers, bits = type, tile("i1", place.shape)
            pointers = pointers.replace(f"x{dtype.mlir}>", f"x{pointer}>") if place.shape else pointer
            text.add(f"%ps, %m = tk.locate %v{place.text} : {result} -> {pointers}, {bits}")
            text.add(f"%r = tk.load %ps mask %m : {bits} : {pointers} -> {type}")
        yield Case.exact(f"view {dtype} {extents} {strides}", [a, *place.inputs], str(text), want)


def cases(rng):
    for generator in (reads, writes, parts, raw_views):
        yield from generator(rng)
