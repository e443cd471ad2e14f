"""`tkc bench` on a vector sum and a product, beside bench/harness.py's times of the same code; the last
part of tuning.py."""

import json
import xml.dom.minidom

AGREE = 1.03  # two ways of timing the same code may be 3 % apart
VECTOR = 16777216
SIDE = 4096
# kernel, shape, (this, baseline) configurations, and what its best rate may be of its bound.
CASES = [("add", {"N": VECTOR}, (1, 0), "copy_bytes_per_second", "bytes", (0.6, 1.3)),
         ("matmul", {"M": SIDE, "N": SIDE, "K": SIDE}, (3, 7), "matrix_flops_per_second_16bit", "flops", (0.2, 1.0))]


def _sizes(kernel, shape):
    """Extents of each argument."""
    if kernel == "add":
        return [(shape["N"],)] * 3, "float32"
    return [(shape["M"], shape["K"]), (shape["K"], shape["N"]), (shape["M"], shape["N"])], "float16"


def _harness(checks, kernel, shape, bundles):
    """{"this": us, "baseline": us} by bench/harness.py."""
    import harness  # pylint: disable=import-outside-toplevel
    import tkcrt  # pylint: disable=import-outside-toplevel
    import torch  # pylint: disable=import-outside-toplevel
    sizes, dtype = _sizes(kernel, shape)
    tensors = [torch.empty(*size, device="cuda", dtype=getattr(torch, dtype)).uniform_(-1, 1) for size in sizes]
    timer = harness.Timer()
    bound = {label: tkcrt.Module(str(checks.work / path)).kernel(kernel).bind(*tensors)
             for label, path in bundles.items()}
    found = {label: timing.median for label, timing in harness.compare(timer, bound, 5, 40).items()}
    copy = harness.copy_ceiling(timer, 3, 40, 1 << 30)
    del timer, bound, tensors
    torch.cuda.empty_cache()
    return found, copy


def _check_svg(checks, path):
    lines = xml.dom.minidom.parse(str(path)).getElementsByTagName("polyline")
    checks.expect(len(lines) == 2, f"the plot has {len(lines)} lines, needed 2")


def _check_rates(checks, device, shape, us, case):
    """The device's facts and the share of its bound, printed."""
    kernel, _, _, bound, what, (low, high) = case
    for fact in ("pin_bytes_per_second", "copy_bytes_per_second", "matrix_flops_per_second_16bit"):
        checks.expect(device.get(fact, 0) > 0, f"the device has no {fact}")
    copy_share = device["copy_bytes_per_second"] / max(device["pin_bytes_per_second"], 1)
    checks.expect(0.5 < copy_share < 1, f"a copy is {copy_share:.2f} of the memory's peak")
    share = shape[what] / us * 1e6 / device[bound]
    checks.expect(low < share < high or checks.options.virtual, f"{kernel} is {share:.2f} of {bound}")
    print(f"memory's peak {device['pin_bytes_per_second'] / 1e9:.0f} GB/s, a copy "
          f"{device['copy_bytes_per_second'] / 1e9:.0f}, matrix units "
          f"{device['matrix_flops_per_second_16bit'] / 1e12:.0f} TFLOP/s; {kernel} is {100 * share:.1f} % of {bound}")


def _compare(checks, case, us, bundles):
    """Each side's median beside harness.py's."""
    kernel, shape, *_ = case
    theirs, copy = _harness(checks, kernel, shape, bundles)
    for label, median in us.items():
        ratio = theirs[label] / median
        print(f"{kernel}, {label}: tkc bench {median:.2f} us, harness.py {theirs[label]:.2f} us, ratio {ratio:.3f}")
        checks.expect(1 / AGREE < ratio < AGREE, f"{kernel}, {label}: the two ways of timing are {ratio:.3f} apart")
    print(f"torch's copy of 1 GiB: {copy:.0f} GB/s")


def _run_case(checks, source, case):
    kernel, shape, configs, *_ = case
    bundles = {"this": f"{kernel}-this.tkb", "baseline": f"{kernel}-base.tkb"}
    for path, config in zip(bundles.values(), configs):
        checks.tkc(source, "-k", kernel, "--target=sm_90a", f"--config={config}", "-o", path)
    words = ["bench", bundles["this"], "-k", kernel, f"--baseline={bundles['baseline']}",
             "--shape=" + ",".join(f"{name}={value}" for name, value in shape.items())]
    text, _ = checks.tkc(*words, f"--svg={kernel}.svg")
    print(text, end="")
    checks.expect("the baseline takes" in text and "% of a copy" in text, "the table lacks a comparison or a rate")
    _check_svg(checks, checks.work / f"{kernel}.svg")
    out, _ = checks.tkc(*words, "--json")
    report = json.loads(out)
    found = report["shapes"][0]
    us = {c["label"]: c["us"] for c in found["candidates"]}
    checks.expect(set(us) == {"this", "baseline"}, f"the report has {sorted(us)}")
    for candidate in found["candidates"]:
        checks.expect(len(candidate["times"]) == candidate["samples"] >= 25, "a side has too few launches")
        checks.expect(not candidate.get("host_bound") or checks.options.virtual, "the device waited for the host")
    _check_rates(checks, report["device"], found, us["this"], case)
    if not checks.options.virtual:
        _compare(checks, case, us, bundles)
    checks.results.setdefault("bench", {})[kernel] = us


def run(checks, source):
    for case in CASES:
        _run_case(checks, source, case)
