"""The results as a table for people, as Markdown for docs/performance.md, and their means.

A row is {"family", "shape", "dtype", "work", "unit", "tkc": [candidate...], "triton": [...],
"library": [...], "problems": [...]}; a candidate is {"label", "us", "least_us", "spread",
"host_bound"}; the unit is GB/s of bytes or TFLOP/s of operations. Ratios are the peer's time over
tkc's: above 1, tkc is faster. The library is what PyTorch calls.
"""

import math

SIDES = {"tkc": "tkc", "triton": "Triton", "library": "library"}
PEERS = ("triton", "library")
_PER_MICROSECOND = {"GB/s": 1e3, "TFLOP/s": 1e6}


def best(row, side):
    """The fastest candidate of a side, or None."""
    return min(row[side], key=lambda candidate: candidate["us"], default=None)


def ratio(row, side):
    """Best time of a peer over best time of tkc, or None when either is missing."""
    ours, theirs = best(row, "tkc"), best(row, side)
    return theirs["us"] / ours["us"] if ours and theirs else None


def rate(row, candidate):
    """What a candidate reached, in the row's unit."""
    return row["work"] / candidate["us"] / _PER_MICROSECOND[row["unit"]]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _cell(row, side):
    """(microseconds, rate, configuration) as text."""
    candidate = best(row, side)
    if candidate is None:
        return "-", "-", "-"
    mark = "!" if candidate["host_bound"] else ""
    return f"{candidate['us']:.1f}{mark}", f"{rate(row, candidate):.0f}", candidate["label"]


def _number(value):
    return "-" if value is None else f"{value:.3f}"


def table_lines(rows):
    """Headings and one list of texts per row."""
    head = ["name", "shape", "type", "unit"]
    for name in SIDES.values():
        head += [f"{name} us", f"{name} rate", "configuration"]
    head += [f"{SIDES[side]}/tkc" for side in PEERS]
    lines = []
    for row in rows:
        cells = [text_of for side in SIDES for text_of in _cell(row, side)]
        lines.append([row["family"], row["shape"], row["dtype"], row["unit"], *cells,
                      *(_number(ratio(row, side)) for side in PEERS)])
    return head, lines


def summary(rows):
    """{family: {side: (geometric mean, least)}} of the ratios."""
    result = {}
    for family in dict.fromkeys(row["family"] for row in rows):
        result[family] = {}
        for side in PEERS:
            ratios = [ratio(row, side) for row in rows if row["family"] == family]
            ratios = [value for value in ratios if value is not None]
            if ratios:
                result[family][side] = (geometric_mean(ratios), min(ratios))
    return result


def _summary_lines(rows):
    for family, sides in summary(rows).items():
        for side, (mean, least) in sides.items():
            yield f"{family}: {SIDES[side]} time / tkc time: geometric mean {mean:.3f}, " \
                  f"least {least:.3f}"


def host_lines(results):
    """Compile time and host cost, a sentence each."""
    for name, value in results.get("compile", {}).items():
        yield f"compile: {name}: {value}"
    for name, value in results.get("host", {}).items():
        text_of = f"{value:.2f} us" if isinstance(value, float) else value
        yield f"host: {name}: {text_of}"


def text(results):
    """The whole report, the table last."""
    rows = results["rows"]
    out = [f"{row['family']} {row['shape']} {row['dtype']}: {problem}"
           for row in rows for problem in row["problems"]]
    out += list(host_lines(results))
    if "copy_gbs" in results:
        out.append(f"copy of 4 GiB: {results['copy_gbs']:.0f} GB/s read and written")
    head, lines = table_lines(rows)
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    for line in [head, *lines]:
        out.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    out += list(_summary_lines(rows))
    if any(c["host_bound"] for row in rows for side in SIDES
           for c in row[side]):
        out.append("!: the device waited for the host in most rounds")
    return "\n".join(out)


def markdown(results):
    """The table for docs/performance.md."""
    head, lines = table_lines(results["rows"])
    out = [f"{results['device']}, {results['versions']}, {results['date']}.", ""]
    if "copy_gbs" in results:
        out += [f"Copy of 4 GiB, bytes read and written: {results['copy_gbs']:.0f} GB/s.", ""]
    out += ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]]
    out += ["", *(f"- {line}" for line in _summary_lines(results["rows"]))]
    out += [f"- {line}" for line in host_lines(results)]
    return "\n".join(out) + "\n"
