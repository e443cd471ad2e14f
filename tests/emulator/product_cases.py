"""Cases of products: fp8, batches, sides that fit no instruction, scaled operands."""

import itertools

import numpy as np

import operations
from cases import DTYPES, Case, filled, random_for, warps, zeros

OCP = ("f8e4m3fn", "f8e5m2")
AMD = ("f8e4m3fnuz", "f8e5m2fnuz")
RESULTS = {"i8": "i32", "u8": "i32", "f64": "f64"}


def bracket(shape):
    return f"[{', '.join(map(str, shape))}]"


def place(shape):
    return f"[{', '.join(f'0 +: {side}' for side in shape)}]"


def numbers(random, dtype, *shape):
    """Codes of fp8 of many sizes, some of them the smallest; random floats; small whole numbers."""
    if dtype in operations.NARROW_FLOATS:
        values = operations.narrow_values(dtype)
        usable = np.nonzero(np.abs(np.nan_to_num(values, nan=1e9, posinf=1e9)) < 300)[0]
        return random.choice(usable, shape).astype(np.uint8)
    if dtype in ("f16", "f32", "f64"):
        return random.standard_normal(shape).astype(DTYPES[dtype])
    if dtype == "bf16":
        return operations.bits_of_bf16(random.standard_normal(shape)).astype(np.uint16)
    return filled(random, dtype, *shape)


def product(name, types, sides, count, form="a @ b", batch=(), make=numbers, out="", target="sm_90a", exact=False):
    """c = `form` of tiles a and b, of which `form` may transpose either."""
    m, n, k = sides
    left, right = types
    out = out or RESULTS.get(left, "f32")
    a_shape = (*batch, k, m) if "trans(a)" in form or "a.T" in form else (*batch, m, k)
    b_shape = (*batch, n, k) if "trans(b)" in form or "b.T" in form else (*batch, k, n)
    c_shape = (*batch, m, n)
    source = f"""kernel k(in x: {left}{bracket(a_shape)}, in y: {right}{bracket(b_shape)}, out z: {out}{bracket(c_shape)})
    @grid(1)
{{
    let a = x{place(a_shape)}
    let b = y{place(b_shape)}
    z{place(c_shape)} = {form}
}}"""
    name = f"{name} {form} {left} {right} {batch}{sides} {target}"
    random = random_for(name)
    arrays = {"x": make(random, left, *a_shape), "y": make(random, right, *b_shape), "z": zeros(out, *c_shape)}
    return Case(name, source, arrays, options=warps(count), exact=exact, placements=((0, 0),), target=target)


def fp8_products():
    result = []
    for target in ("sm_80", "sm_89", "sm_90a", "sm_120a"):
        for types in itertools.product(OCP, OCP):
            for form in ("a @ b", "a @ b.T", 'dot(a, b.T, promote="never")', "dot(a, b.T, promote=64)"):
                sides = (32, 16, 256) if "promote" in form else (64, 32, 64)
                result.append(product("fp8", types, sides, 4, form, target=target))
            result.append(product("fp8 of wide rows", types, (32, 128, 64), 4, target=target))
        result.append(product("fp8", ("f8e4m3fn", "f8e4m3fn"), (16, 16, 64), 1, "dot(a, b, out=f16)", out="f16",
                              target=target))
        result.append(product("fp8", ("f8e5m2", "f8e4m3fn"), (2, 8, 64), 4, target=target))  # no fragments
    for types in (*itertools.product(AMD, AMD), ("f8e4m3fn", "f8e5m2fnuz")):
        result.append(product("fp8 of AMD", types, (32, 32, 64), 4))
    result.append(product("fp8 codes", ("f8e4m3fn", "f8e4m3fn"), (64, 64, 32), 4, make=any_code, target="sm_80"))
    result.append(product("fp8 codes", ("f8e5m2", "f8e5m2"), (64, 64, 32), 4, make=any_code))
    return result


def signs(random, dtype, *shape):
    """-1, 0 and 1."""
    values = random.integers(-1, 2, shape)
    if not dtype.startswith("f8"):
        return values.astype(DTYPES[dtype])
    return operations.narrow_codes(values.astype(np.float64), dtype).astype(np.uint8)


def byte_chains():
    """A product whose result, as bytes, is the left operand of the next: threads hold its fragments."""
    result = []
    for dtype, out in (("f8e4m3fn", "f32"), ("f8e5m2", "f32"), ("i8", "i32")):
        for form in ("x.T", "x"):
            for count in (1, 4, 8):
                shape = (64, 32) if form == "x.T" else (32, 64)
                source = f"""kernel k(in a: {dtype}[64, 32], in b: {dtype}{bracket(shape)}, in d: {dtype}[64, 48],
         out c: {out}[64, 48]) @grid(1)
{{
    let x = b{place(shape)}
    let p = a[0 +: 64, 0 +: 32] @ {form}
    c[0 +: 64, 0 +: 48] = p.to({dtype}) @ d[0 +: 64, 0 +: 48]
}}"""
                random = random_for("chain " + dtype)
                arrays = {"a": signs(random, dtype, 64, 32), "b": signs(random, dtype, *shape),
                          "d": signs(random, dtype, 64, 48), "c": zeros(out, 64, 48)}
                result.append(Case(f"chain of {dtype} by {form}", source, arrays, options=warps(count), exact=True,
                                   placements=((0, 0),)))
    return result


def any_code(random, dtype, *shape):
    """Mostly zeros, so that a NaN or an infinity is not everywhere."""
    return np.where(random.random(shape) < 0.02, random.integers(0, 256, shape), 0).astype(np.uint8)


def batches():
    result = []
    for dtype in ("f16", "f32", "i8", "f64", "f8e4m3fn"):
        make = numbers if dtype.startswith("f8") else filled
        for batch, sides in (((3,), (16, 24, 20)), ((2,), (32, 32, 32)), ((8,), (16, 16, 64)), ((2, 3), (16, 16, 32)),
                             ((4,), (5, 3, 2))):
            for count in (1, 4, 8):
                if sides[0] == 32 or count != 8:
                    result.append(product("batched", (dtype, dtype), sides, count, batch=batch, make=make,
                                          exact=make is filled))
        result.append(product("batched", (dtype, dtype), (32, 16, 32), 4, "a @ b.T", batch=(4,), make=make,
                              exact=make is filled))
    chained = """kernel k(in a: f16[4, 16, 32], in b: f16[4, 32, 16], in d: f16[4, 16, 16], out c: f32[4, 16, 16])
    @grid(1)
{
    let p = a[0 +: 4, 0 +: 16, 0 +: 32] @ b[0 +: 4, 0 +: 32, 0 +: 16]
    c[0 +: 4, 0 +: 16, 0 +: 16] = (p / 512.0).to(f16) @ d[0 +: 4, 0 +: 16, 0 +: 16]
}"""
    for count in (1, 2, 4):
        random = random_for("chained batches")
        arrays = {"a": filled(random, "f16", 4, 16, 32), "b": filled(random, "f16", 4, 32, 16),
                  "d": filled(random, "f16", 4, 16, 16), "c": zeros("f32", 4, 16, 16)}
        result.append(Case("chained batched dot", chained, arrays, options=warps(count), placements=((0, 0),)))
    return result


def odd_sides():
    """Depths in several parts or filled up; sides below those of an instruction."""
    result = []
    for dtype in ("f16", "bf16", "f32", "i8", "f64"):
        for sides in ((32, 32, 48), (16, 16, 80), (48, 96, 96), (32, 24, 20), (64, 64, 5), (1, 64, 64), (8, 128, 48),
                      (64, 1, 64), (5, 40, 33)):
            for form in ("a @ b", "trans(a) @ trans(b)"):
                result.append(product("odd", (dtype, dtype), sides, 4, form, make=filled, exact=True))
    loop = """kernel k(in a: f16[M, K], in b: f16[K, N], out c: f32[M, N]) @grid(1)
{{
    var acc = zeros[f32](32, 32)
    for i in range(0, K, {bk}) {{
        acc += a[0 +: 32, i +: {bk}] @ b[i +: {bk}, 0 +: 32]
    }}
    c[0 +: 32, 0 +: 32] = acc
}}"""
    for depth, stages in ((48, 1), (48, 3), (20, 3)):
        random = random_for("loop")
        arrays = {"a": filled(random, "f16", 32, 200), "b": filled(random, "f16", 200, 32), "c": zeros("f32", 32, 32)}
        result.append(Case(f"loop by {depth}", loop.format(bk=depth), arrays, options=(*warps(4), f"--stages={stages}"),
                           exact=True, placements=((0, 0),)))
    return result + sums_of_products()


def sums_of_products():
    """All that is left of a padded tile whose warps do not lie in the order of its elements."""
    result = []
    for (m, n), count in itertools.product(((48, 32), (96, 24), (80, 48), (24, 96), (130, 16)), (8, 16)):
        source = f"""kernel k(in a: f16[{m}, 32], in b: f16[32, {n}], out s: i64[1], out t: f32[1], out r: f32[{n}]) @grid(1) {{
    let c = a[:, :] @ b[:, :]
    s[0] = sum(c.to(i64))
    t[0] = max(c)
    r[:] = min(c, axis=0)
}}"""
        random = random_for(source)
        arrays = {"a": filled(random, "f16", m, 32), "b": filled(random, "f16", 32, n), "s": zeros("i64", 1),
                  "t": zeros("f32", 1), "r": zeros("f32", n)}
        result.append(Case(f"sum of {m} x {n}", source, arrays, options=warps(count), exact=True, placements=((0, 0),)))
    return result


def scale_codes(random, dtype, wide, *shape):
    if dtype == "e8m0":
        codes = random.integers(0, 256, shape) if wide else random.integers(117, 137, shape)
        return codes.astype(np.uint8)
    return random.integers(0, 127, shape).astype(np.uint8)


def scaled(name, formats, scales, block, sides, count=4, batch=(), wide=False):
    """dot_scaled; an operand of f4e2m1 is cast from whole numbers, a scale that is "" is absent."""
    m, n, k = sides
    random, arrays, lines, names, parameters = random_for(name), {}, [], [], []
    shapes = ((*batch, m, k), (*batch, k, n)), ((*batch, m, k // block), (*batch, k // block, n))
    for operand, dtype, scale, shape, coarse in zip("ab", formats, scales, *shapes):
        source = "i8" if dtype == "f4e2m1" else dtype
        arrays[operand] = random.integers(-7, 7, shape).astype(np.int8) if source == "i8" \
            else numbers(random, dtype, *shape)
        parameters.append(f"in {operand}: {source}{bracket(shape)}")
        names.append(f"{operand}{place(shape)}" + (".to(f32).to(f4e2m1)" if source == "i8" else ""))
        names.append(f"{operand}s{place(coarse)}" if scale else "None")
        if scale:
            arrays[operand + "s"] = scale_codes(random, scale, wide, *coarse)
            parameters.append(f"in {operand}s: {scale}{bracket(coarse)}")
    shape = (*batch, m, n)
    arrays["c"] = zeros("f32", *shape)
    source = f"""kernel k({', '.join(parameters)}, out c: f32{bracket(shape)}) @grid(1) {{
    c{place(shape)} = dot_scaled({', '.join(names)})
}}"""
    return Case(f"{name} {formats} {scales} {block} {sides}", source, arrays, options=warps(count), placements=((0, 0),))


def scaled_products():
    result = []
    formats = ("f4e2m1", "f8e4m3fn", "f8e5m2", "f16", "bf16")
    for types in itertools.product(formats, formats):
        for scales in (("e8m0", "e8m0"), ("f8e4m3fn", "f8e4m3fn"), ("e8m0", ""), ("", "f8e4m3fn"), ("", "")):
            if scales[0] == scales[1] or types[0] == types[1] or "f16" in types:
                block = 16 if "f8e4m3fn" in scales else 32
                result.append(scaled("scaled", types, scales, block, (32, 16, 64)))
    for types in (("f8e4m3fn", "f8e5m2"), ("f16", "bf16"), ("f4e2m1", "f4e2m1")):
        result.append(scaled("scales of all sizes", types, ("e8m0", "e8m0"), 32, (32, 16, 32), wide=True))
        result.append(scaled("scaled batch", types, ("e8m0", "e8m0"), 16, (16, 16, 32), batch=(3,)))
        result.append(scaled("small scaled", types, ("e8m0", "e8m0"), 16, (4, 4, 48), count=1))
    return result


GROUPS = {function.__name__: function for function in
          (fp8_products, byte_chains, batches, odd_sides, scaled_products)}
