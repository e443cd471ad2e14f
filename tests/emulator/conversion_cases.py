"""Conversions between all types of numbers, in every rounding and overflow, for compare.py."""

import numpy as np

import cases

STORAGE = ("f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "e8m0")
NIBBLES = ("i4", "u4", "f4e2m1")
TYPES = cases.INTEGERS + cases.FLOATS + STORAGE + NIBBLES + ("i1",)
SATURATING = STORAGE + ("f4e2m1",)  # by default
COUNT = 256
# Rules by number: words of the rounding, and whether the overflow is not the default.
RULES = (("", False), ("rne", True), ("rtz", False), ("down", True), ("up", False), ("down", False),
         ("up", True), ("rtz", True))
TARGETS = ("sm_90a", "sm_80")


def is_float(dtype):
    return dtype in cases.FLOATS + SATURATING


def overflow_word(source, target):
    """The word of the overflow that is not the default, or ""."""
    if not is_float(target):
        return "" if is_float(source) or target == "i1" else "saturate"
    if target == "f4e2m1":
        return ""
    if target in STORAGE:
        return "inf" if target == "f8e5m2" else "nan"
    return "saturate"


def conversion(source, target, rule):
    """The call that converts, or None when the rule says nothing here."""
    rounding, changes = RULES[rule]
    if not (is_float(source) or is_float(target)) or target == "i1":
        rounding = ""
    words = [f'round="{rounding}"'] if rounding else []
    if changes and overflow_word(source, target):
        words.append(f'overflow="{overflow_word(source, target)}"')
    if rule and not words:
        return None
    return f".to({', '.join([target, *words])})"


def memory_type(dtype):
    """4-bit elements lie one in each u8 here."""
    return "u8" if dtype in NIBBLES else dtype


def loaded(dtype, text):
    if dtype == "f4e2m1":
        return f"bitcast[f4e2m1]({text}.to(u4))"
    return f"{text}.to({dtype})" if dtype in NIBBLES else text


def stored(dtype, text):
    return f"{text}.to(f32)" if dtype == "f4e2m1" else f"{text}.to(i32)" if dtype in NIBBLES else text


def stored_type(dtype):
    return "f32" if dtype == "f4e2m1" else "i32" if dtype in NIBBLES else dtype


def floats_near_edges(random, count):
    """Numbers of all sizes, many with few digits or just beside such, as ties need them."""
    digits = random.integers(1, 26, count)
    whole = np.trunc(random.uniform(1, 2, count) * 2.0 ** digits)
    nudge = random.choice((0, 0, 0, 2.0 ** -20, -2.0 ** -20), count)
    exponent = random.integers(-12, 20, count)
    exponent[::4] = random.integers(-150, 130, len(exponent[::4]))
    values = np.ldexp(whole / 2.0 ** digits + nudge, exponent)
    values *= random.choice((-1, 1), count)
    values[:18] = (0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 65504, 65520, 448, 464, 57344, 61440,
                   3.4e38, -6.1, 2.5, 0.5, 1e-40)
    return values


def inputs(dtype, count=COUNT):
    random = cases.random_for("conversion " + dtype)
    if dtype == "i1":
        return random.integers(0, 2, count).astype(np.uint8)
    if dtype in NIBBLES:
        return (np.arange(count) % 16).astype(np.uint8)
    if dtype in STORAGE or dtype in ("i8", "u8"):
        return np.arange(count).astype(np.uint8).view(cases.DTYPES.get(dtype, np.uint8))
    if dtype in cases.INTEGERS:
        if count == 1 << 16 and dtype in ("i16", "u16"):
            return np.arange(count).astype(cases.DTYPES[dtype])
        values = cases.corners(dtype, random, count)
        shift = random.integers(0, values.itemsize * 8, count).astype(values.dtype)
        values[90:] >>= shift[90:]
        return values
    if dtype in ("f16", "bf16"):
        codes = np.arange(count) if count == 1 << 16 else random.integers(0, 1 << 16, count)
        codes = codes.astype(np.uint16)
        if count < 1 << 16:
            codes[:8] = (0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xff80, 0x3c00)
        return codes if dtype == "bf16" else codes.view(np.float16)
    return floats_near_edges(random, count).astype(cases.DTYPES[dtype])


def case(source, rule, target, count=COUNT):
    texts = [(to, conversion(source, to, rule)) for to in TYPES if to != source]
    texts = [(to, text) for to, text in texts if text]
    if not texts:
        return None
    outputs = "".join(f",\n         out y{n}: {stored_type(to)}[N]" for n, (to, _) in enumerate(texts))
    body = "".join(f"    y{n}[i +: {COUNT}] = {stored(to, 'A' + text)}\n"
                   for n, (to, text) in enumerate(texts))
    text = f"""kernel k(in a: {memory_type(source)}[N]{outputs}) @grid(N // {COUNT}) {{
    let i = program_id(0) * {COUNT}
    let A = {loaded(source, f"a[i +: {COUNT}]")}
{body}}}"""
    arrays = {"a": inputs(source, count)}
    arrays.update({f"y{n}": cases.zeros(stored_type(to), count) for n, (to, _) in enumerate(texts)})
    return cases.Case(f"{source} {RULES[rule]} {target}", text, arrays, options=cases.warps(4),
                      placements=(cases.ALIGNED,), exact=True, target=target)


def everything(count):
    """Every pair and rule, once; all codes of types of 16 bits when `count` is that many."""
    result = [case(source, rule, "sm_90a", count) for source in TYPES for rule in range(len(RULES))]
    return [one for one in result if one]


def conversions(part):
    """Every pair of types; each type meets half of the rules, the old chip half of these. All of
    them meet on a GPU (tests/gpu/prepare_cases.py)."""
    result = []
    for number, source in enumerate(TYPES):
        if number % 4 != part:
            continue
        for rule in range((number // 4) % 2, len(RULES), 2):
            for target in TARGETS if rule % 4 < 2 else TARGETS[:1]:
                result.append(case(source, rule, target))
    return [one for one in result if one]


GROUPS = {f"conversions{part}": lambda part=part: conversions(part) for part in range(4)}
