"""Costs on the host: compiling a kernel from source, and launching one.

Compile time is the whole process, from source to cubin and JSON, with the toolkit's ptxas; each
figure is the median of 20 runs. Launch cost is that of a warm call with an idle device ahead, from
C (host_launch.c) and from Python, with Triton's launch of the same addition beside it.
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


def _build_host_launch(folder, out):
    """host_launch compiled here, where the bundle's own does not start."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    include = os.path.join(out, "include", "tkc")
    os.makedirs(include, exist_ok=True)
    shutil.copy2(os.path.join(folder, "runtime.h"), include)
    program = os.path.join(out, "host_launch")
    subprocess.run([compiler, "-O2", "-std=c11", os.path.join(folder, "host_launch.c"), "-o",
                    program, "-I", os.path.join(out, "include"),
                    os.path.join(folder, "libtkcrt.so.1"), f"-Wl,-rpath,{folder}", "-ldl"],
                   check=True, capture_output=True)
    return program


def launch_costs_c(folder, cubin):
    """{what: microseconds} from C."""
    program = os.path.join(folder, "host_launch")
    with tempfile.TemporaryDirectory() as out:
        try:
            done = subprocess.run([program, cubin, "vector_add"], capture_output=True, text=True,
                                  check=False)
        except OSError:
            done = None
        if done is None or done.returncode:
            program = _build_host_launch(folder, out)
            if program is None:
                return {"from C": done.stderr.strip() if done else "host_launch does not start"}
            done = subprocess.run([program, cubin, "vector_add"], capture_output=True, text=True,
                                  check=False)
        if done.returncode:
            return {"from C": f"failed: {done.stderr.strip()}"}
    return {f"C, {name}": value for name, value in json.loads(done.stdout).items()}


def launch_costs_python(kernel):
    """{what: microseconds} from Python: an addition of 1024 elements."""
    import torch  # pylint: disable=import-outside-toplevel

    import harness  # pylint: disable=import-outside-toplevel
    import peers  # pylint: disable=import-outside-toplevel
    x, y, z = (torch.randn(1024, device="cuda") for _ in "xyz")
    bound = kernel.bind(x, y, z)
    stream = torch.cuda.current_stream().cuda_stream
    triton_kernel = peers.vector_add[(1,)]
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
