"""Costs on the host: compiling a kernel from source, and launching one.

Compile time is the whole process, from source to cubin and JSON, with the toolkit's ptxas; each
figure is the median of 20 runs. Launch cost is that of a warm call with an idle device ahead, from
C and C++ (loader_suite) and from Python, with Triton's launch of the same addition beside it.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import unpack

RUNS = 20


def _median_ms(command):
    samples = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        samples.append((time.perf_counter() - begin) * 1e3)
    return f"{statistics.median(samples):.1f} ms (least {min(samples):.1f})"


def compile_times(folder):
    """{what: text}."""
    with tempfile.TemporaryDirectory() as out:
        tkc = unpack.tool(folder, "tkc")
        ask = [tkc, "--version"]
        version = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
        result = {"version": version, "tkc --version": _median_ms(ask)}
        ptxas = shutil.which("ptxas")
        if not ptxas:
            result["vector add"] = "not measured: no ptxas on PATH"
            return result
        source = os.path.join(folder, "sources", "01_vector_add.tk")
        command = [tkc, source, "-k", "vector_add", "--target=sm_90a", f"--ptxas={ptxas}"]
        result["vector add, source to cubin"] = _median_ms([*command, "-o", f"{out}/a.cubin"])
        result["vector add, source to PTX"] = _median_ms([*command, "-o", f"{out}/a.ptx"])
    return result


def launch_costs_c(folder):
    """{what: microseconds} from C and C++: tests/gpu/runtime/Overhead.cpp."""
    command = [os.path.join(folder, "loader_suite"), "--launch-costs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"from C": f"failed: {done.stderr.strip()}"}
    return json.loads(done.stdout)


def launch_costs_python(kernel):
    """{what: microseconds} from Python: an addition of 1024 elements."""
    import torch  # pylint: disable=import-outside-toplevel

    import harness  # pylint: disable=import-outside-toplevel
    import peers_rows  # pylint: disable=import-outside-toplevel
    x, y, z = (torch.randn(1024, device="cuda") for _ in "xyz")
    bound = kernel.bind(x, y, z)
    stream = torch.cuda.current_stream().cuda_stream
    triton_kernel = peers_rows.vector_add[(1,)]
    measure = harness.host_microseconds
    return {
        "Python, kernel(x, y, z)": measure(lambda: kernel(x, y, z)),
        "Python, kernel(x, y, z, stream=s)": measure(lambda: kernel(x, y, z, stream=stream)),
        "Python, bound()": measure(bound),
        "Python, bound(s)": measure(lambda: bound(stream)),
        "Python, Triton kernel[grid](x, y, z, n)": measure(
            lambda: triton_kernel(x, y, z, 1024, BLOCK=1024, num_warps=4)),
        "Python, torch.add(x, y, out=z)": measure(lambda: torch.add(x, y, out=z)),
    }
