"""The largest error of each f32 function over all 2^32 inputs, on the GPU, against f64.

    python3 ulp.py [--tkc=PATH] [--ptxas=PATH] [--libdevice=PATH]

Compiles functions.tk on the spot and needs torch. The error is counted in units in the last place of
the exact result; results below the normal range may be zero (docs/language.md), and NaN and infinity
must agree. Status 1 when a function is beyond what docs/language.md allows.
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
LEAST_NORMAL = 2.0 ** -126
# Function: (exact in f64, allowed ulp, whether small results may become zero).
FUNCTIONS = {
    "exp": (torch.exp, 2, True),
    "exp2": (torch.exp2, 3, True),
    "log": (torch.log, 2, False),
    "log2": (torch.log2, 2, False),
    "sqrt": (torch.sqrt, 0.5, False),
    "rsqrt": (torch.rsqrt, 2, False),
    "sin": (torch.sin, 2, False),
    "cos": (torch.cos, 2, False),
    "tanh": (torch.tanh, 4, False),
    "erf": (torch.erf, 2, False),
    "sigmoid": (torch.sigmoid, 4, True),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tkc")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--libdevice", default="/usr/local/cuda/nvvm/libdevice/libdevice.10.bc")
    return parser.parse_args()


def unpack_tkc(folder):
    path = folder / "tkc"
    path.write_bytes(lzma.decompress((HERE / "tkc.xz").read_bytes()))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def ulp_errors(got, exact, may_vanish):
    """Errors in ulp, and how many special values disagree."""
    _, exponent = torch.frexp(exact.abs().clamp(min=LEAST_NORMAL))
    unit = torch.ldexp(torch.ones_like(exact), exponent - 24)
    rounded = exact.to(torch.float32)
    special = ~torch.isfinite(rounded)
    same = torch.isnan(got) & torch.isnan(rounded) | (got == rounded)
    # The last finite binade may round either way at its end.
    edge = special & torch.isfinite(exact) & (got.abs() > 3.4e38)
    wrong = int((special & ~same & ~edge).sum())
    error = (got.to(torch.float64) - exact).abs() / unit
    if may_vanish:
        error = torch.where(exact.abs() < LEAST_NORMAL, torch.zeros_like(error), error)
    return torch.where(special, torch.zeros_like(error), error), wrong


def measure(kernel, exact, may_vanish):
    worst, where, wrong = 0.0, 0.0, 0
    for first in range(-(1 << 31), 1 << 31, CHUNK):
        bits = torch.arange(first, first + CHUNK, dtype=torch.int64, device="cuda")
        x = bits.to(torch.int32).view(torch.float32)
        y = torch.empty_like(x)
        kernel(x, y)
        error, bad = ulp_errors(y, exact(x.to(torch.float64)), may_vanish)
        wrong += bad
        at = int(error.argmax())
        if float(error[at]) > worst:
            worst, where = float(error[at]), float(x[at])
        del bits, x, y, error
    return worst, where, wrong


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tkc = arguments.tkc or unpack_tkc(folder)
        cubin = folder / "functions.cubin"
        source = next(p for p in (HERE / "functions.tk", HERE / "sources/functions.tk") if p.exists())
        subprocess.run([tkc, str(source), "--target=sm_90a", "--ptxas=" + arguments.ptxas,
                        "--libdevice=" + arguments.libdevice, "-o", str(cubin)], check=True)
        import tkcrt
        module = tkcrt.Module(str(cubin))
        failed = 0
        print("%-9s %10s %10s  %s" % ("function", "max ulp", "allowed", "at x"))
        for name, (exact, allowed, may_vanish) in FUNCTIONS.items():
            worst, where, wrong = measure(module.kernel(name + "_all"), exact, may_vanish)
            good = worst <= allowed and wrong == 0
            failed += not good
            note = "" if good else "  BEYOND" + (", %d special values differ" % wrong if wrong else "")
            print("%-9s %10.3f %10.1f  %.9g%s" % (name, worst, allowed, where, note), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
