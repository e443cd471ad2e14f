"""The largest error of each function over all inputs of f32, f16 and bf16, on the GPU, against f64.

    python3 ulp.py [--tkc=PATH] [--ptxas=PATH] [--libdevice=PATH] [--only=NAME]

Compiles functions.tk on the spot and needs torch. The error is counted in units in the last place of
the exact result; results below the normal range may be zero (docs/language.md), and NaN and infinity
must agree. Status 1 when a function is beyond what docs/language.md allows. f64 is compared with the
interpreter, by checks_cases.py.
"""

import argparse
import lzma
import pathlib
import stat
import subprocess
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
CHUNK = 1 << 28
# Type: (torch's, of its bits, digits, exponent of the least normal number).
TYPES = {
    "f32": (torch.float32, torch.int32, 24, -126),
    "f16": (torch.float16, torch.int16, 11, -14),
    "bf16": (torch.bfloat16, torch.int16, 8, -126),
}


def cube_root(x):
    """One step of Newton's on the power, whose error is that of a rounded exponent."""
    root = torch.sign(x) * torch.pow(x.abs(), 1.0 / 3.0)
    better = root - (root * root * root - x) / (3.0 * root * root)
    return torch.where(torch.isfinite(better), better, root)


# Function: (exact in f64, allowed ulp).
FUNCTIONS = {
    "exp": (torch.exp, 2), "exp2": (torch.exp2, 3), "expm1": (torch.expm1, 2),
    "exp10": (lambda x: torch.pow(10.0, x), 2),
    "log": (torch.log, 2), "log2": (torch.log2, 2), "log10": (torch.log10, 2),
    "log1p": (torch.log1p, 2), "sqrt": (torch.sqrt, 0.5), "rsqrt": (torch.rsqrt, 2),
    "cbrt": (cube_root, 2), "sin": (torch.sin, 2), "cos": (torch.cos, 2), "tan": (torch.tan, 4),
    "sinh": (torch.sinh, 4), "cosh": (torch.cosh, 4), "tanh": (torch.tanh, 4),
    "asin": (torch.asin, 2), "acos": (torch.acos, 2), "atan": (torch.atan, 2),
    "asinh": (torch.asinh, 4), "acosh": (torch.acosh, 4), "atanh": (torch.atanh, 4),
    "erf": (torch.erf, 2), "erfc": (torch.erfc, 5), "erfinv": (torch.erfinv, 5),
    "lgamma": (torch.lgamma, 6), "sigmoid": (torch.sigmoid, 4),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tkc")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--only", choices=FUNCTIONS, action="append")
    parser.add_argument("--libdevice", default="/usr/local/cuda/nvvm/libdevice/libdevice.10.bc")
    return parser.parse_args()


def unpack_tkc(folder):
    path = folder / "tkc"
    path.write_bytes(lzma.decompress((HERE / "tkc.xz").read_bytes()))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def scale_of(name, x, exact):
    """What ulps are units of: the result, and for lgamma below 3 more (docs/language.md)."""
    if name != "lgamma":
        return exact.abs()
    below = torch.where(x < 0, torch.lgamma(1.0 - x).abs(), torch.zeros_like(x))
    return torch.where(x < 3, exact.abs() + 1.0 + torch.nan_to_num(below), exact.abs())


def ulp_errors(name, dtype, x, got):
    """Errors in ulp, and how many special values disagree."""
    torch_type, _, digits, least = TYPES[dtype]
    exact = FUNCTIONS[name][0](x)
    scale = scale_of(name, x, exact).clamp(min=2.0**least)
    _, exponent = torch.frexp(torch.nan_to_num(scale))
    unit = torch.ldexp(torch.ones_like(exact), exponent - digits)
    rounded = exact.to(torch_type).to(torch.float64)
    got = got.to(torch.float64)
    special = ~torch.isfinite(rounded)
    same = torch.isnan(got) & torch.isnan(rounded) | (got == rounded)
    # The last finite binade may round either way at its end.
    edge = special & torch.isfinite(exact) & (got.abs() > 0.99 * torch.finfo(torch_type).max)
    wrong = int((special & ~same & ~edge).sum())
    error = (got - exact).abs() / unit
    vanished = (exact.abs() < 2.0**least) & (got == 0)
    return torch.where(special | vanished, torch.zeros_like(error), error), wrong


def measure(kernel, name, dtype):
    torch_type, bits_type, _, _ = TYPES[dtype]
    half = 1 << (8 * torch.empty((), dtype=bits_type).element_size() - 1)
    worst, where, wrong = 0.0, 0.0, 0
    for first in range(-half, half, CHUNK):
        bits = torch.arange(first, min(first + CHUNK, half), dtype=torch.int64, device="cuda")
        x = bits.to(bits_type).view(torch_type)
        y = torch.empty_like(x)
        kernel(x, y)
        error, bad = ulp_errors(name, dtype, x.to(torch.float64), y)
        wrong += bad
        at = int(error.argmax())
        if float(error[at]) > worst:
            worst, where = float(error[at]), float(x[at])
        del bits, x, y, error
    return worst, where, wrong


def compile_functions(arguments, folder, dtype):
    tkc = arguments.tkc or unpack_tkc(folder)
    cubin = folder / f"functions-{dtype}.cubin"
    source = next(p for p in (HERE / "functions.tk", HERE / "sources/functions.tk") if p.exists())
    subprocess.run([tkc, str(source), "--target=sm_90a", "--ptxas=" + arguments.ptxas, f"-DT={dtype}",
                    "--libdevice=" + arguments.libdevice, "-o", str(cubin)], check=True)
    return str(cubin)


def main():
    arguments = parse_arguments()
    import tkcrt  # pylint: disable=import-outside-toplevel
    failed = 0
    print("%-9s %-5s %10s %10s  %s" % ("function", "type", "max ulp", "allowed", "at x"))
    with tempfile.TemporaryDirectory() as name:
        for dtype in TYPES:
            module = tkcrt.Module(compile_functions(arguments, pathlib.Path(name), dtype))
            for function in arguments.only or FUNCTIONS:
                allowed = FUNCTIONS[function][1]
                worst, where, wrong = measure(module.kernel(function + "_all"), function, dtype)
                good = worst <= allowed and wrong == 0
                failed += not good
                note = "" if good else "  BEYOND" + (f", {wrong} special values differ" if wrong else "")
                print("%-9s %-5s %10.3f %10.1f  %.9g%s" % (function, dtype, worst, allowed, where, note),
                      flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
