"""Triton's autotuner on the same configurations and shapes as `tkc tune`, for tuning.py.

    tuning_triton.py --folder=FOLDER --configs=JSON --shapes=JSON

`configs` is a list of {BM, BN, BK, warps, stages}, `shapes` of [M, N, K]. Prints a line of JSON for
each shape: the wall time, the best configuration and its time as the autotuner measured it. The kernel
is that of bench/peers_products.py; do_bench has its own defaults.
"""

import argparse
import json
import sys
import time

GROUP = 8


def autotuned(configs):
    import peers_products  # pylint: disable=import-outside-toplevel
    import triton  # pylint: disable=import-outside-toplevel
    choices = [triton.Config({name: config[name] for name in ("BM", "BN", "BK")}, num_warps=config["warps"],
                             num_stages=config["stages"]) for config in configs]
    return triton.autotune(configs=choices, key=["m", "n", "k"])(peers_products.matmul)


def tune(kernel, m, n, k):
    """What the autotuner finds for a shape, and how long that takes."""
    import torch  # pylint: disable=import-outside-toplevel
    import triton  # pylint: disable=import-outside-toplevel
    a, b, c = (torch.empty(*size, device="cuda", dtype=torch.float16).uniform_(-1, 1)
               for size in ((m, k), (k, n), (m, n)))

    def grid(meta):
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    torch.cuda.synchronize()
    begin = time.monotonic()
    kernel[grid](a, b, c, m, n, k, k, n, n, GROUP=GROUP)
    torch.cuda.synchronize()
    wall = time.monotonic() - begin
    best = kernel.best_config
    timing = kernel.configs_timings[best]
    return {"wall_s": wall, "us": 1e3 * (timing[0] if isinstance(timing, (list, tuple)) else timing),
            "config": {**{name: best.kwargs[name] for name in ("BM", "BN", "BK")}, "warps": best.num_warps,
                       "stages": best.num_stages}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--configs", type=json.loads, required=True)
    parser.add_argument("--shapes", type=json.loads, required=True)
    options = parser.parse_args()
    sys.path.insert(0, options.folder)
    kernel = autotuned(options.configs)
    for shape in options.shapes:
        print(json.dumps(tune(kernel, *shape)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
