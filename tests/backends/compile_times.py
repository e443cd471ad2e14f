"""Compiles kernels to PTX and compares the processor time with a ceiling.

    compile_times.py --tkc=tkc --llc=llc [--slack=2] [--only=TEXT]

The time is that of the whole process `tkc`, without the assembler and on one thread, since two on a core with two
threads of its own slow each other down. The ceilings are what the compiler took, on an idle core on which llc
compiles `REFERENCE` in REFERENCE_MS. Each run is set beside one of llc right before it, which is work of the same
kind by the same code: a slow core, or one whose caches and units other processes share, slows both, and the
quotient stays. Counted instructions would be steadier, but most virtual machines do not let one count.
Noise adds time to a run and rarely takes any, so the least times of both are compared: a kernel is too slow when
that of RUNS runs is, and the first pair of least times that is fast enough ends the matter. `--slack` times the
ceiling fails. Prints a line a kernel.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
RUNS, SLACK = 12, 2
REFERENCE_MS = 40
STRIPS = """kernel add[T: dtype = f32](in x: T[N], in y: T[N], out z: T[N]) @grid(cdiv(N, 65536)) {
    let i = program_id(0) * 65536
    z[i +: 65536] = x[i +: 65536] + y[i +: 65536]
}
kernel softmax[T: dtype = f32](in x: T[M, N], out y: T[M, N]) @grid(M) @require(65536 >= N) {
    let row = program_id(0)
    let v = x[row, 0 +: 65536, fill=-inf].to(f32)
    let e = exp2(v * LOG2E - max(v, axis=0) * LOG2E)
    y[row, 0 +: 65536] = (e * (1.0 / sum(e, axis=0))).to(T)
}
kernel best[T: dtype = f32](in x: T[M, N], out y: i32[M]) @grid(M) @require(65536 >= N) {
    y[program_id(0)] = argmax(x[program_id(0), 0 +: 65536, fill=-inf], axis=0)
}
kernel turn[T: dtype = f32](in x: T[M, N], out y: T[N, M]) @grid(cdiv(M, 256)) {
    let row = program_id(0) * 256
    y[0 +: 256, row +: 256] = trans(x[row +: 256, 0 +: 256])
}
"""


REFERENCE = """define ptx_kernel void @work{0}(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n) {{
  %v0 = load float, ptr addrspace(1) %p
{1}  store float %v{2}, ptr addrspace(1) %q
  ret void
}}
"""
STEP = """  %a{0} = add i32 %n, {2}
  %w{0} = zext i32 %a{0} to i64
  %g{0} = getelementptr float, ptr addrspace(1) %p, i64 %w{0}
  %l{0} = load float, ptr addrspace(1) %g{0}
  %c{0} = fcmp olt float %l{0}, %v{1}
  %m{0} = fmul float %l{0}, %v{1}
  %v{0} = select i1 %c{0}, float %m{0}, float %l{0}
"""


def reference_module(functions=10, steps=20):
    """LLVM IR for llc, always the same."""
    parts = ['target triple = "nvptx64-nvidia-cuda"\n']
    for number in range(functions):
        body = "".join(STEP.format(i, i - 1, (i + number) * 7919 % 4096) for i in range(1, steps))
        parts.append(REFERENCE.format(number, body, steps - 1))
    return "".join(parts)


def kernels(strips):
    """Source, options and ceiling in milliseconds."""
    for name, options, ceiling in (("01_vector_add", "vector_add", 15), ("02_softmax", "softmax", 20),
                                   ("03_matmul", "matmul", 75),
                                   ("06_attention", "attention -D T=f16 -D D=64 -D CAUSAL=false", 145)):
        yield os.path.join(EXAMPLES, name + ".tk"), ("-k", *options.split()), ceiling
    for kernel in ("add", "softmax", "best", "turn"):
        for warps in (1, 4, 32):
            for dtype in ("f32", "f16"):
                yield strips, ("-k", kernel, "-D", "T=" + dtype, f"--warps={warps}"), 1000


def milliseconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def least_time(command, reference, limit):
    """On the reference core, of as many runs as it takes to come below `limit`."""
    least = least_reference = float("inf")
    for _ in range(RUNS):
        least_reference = min(least_reference, milliseconds(reference))
        least = min(least, milliseconds(command))
        if least * REFERENCE_MS / least_reference <= limit:
            break
    return least * REFERENCE_MS / least_reference


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tkc", required=True)
    parser.add_argument("--llc", required=True)
    parser.add_argument("--slack", type=float, default=SLACK)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        strips = os.path.join(folder, "strips.tk")
        with open(strips, "w", encoding="utf-8") as file:
            file.write(STRIPS)
        module = os.path.join(folder, "reference.ll")
        with open(module, "w", encoding="utf-8") as file:
            file.write(reference_module())
        reference = [arguments.llc, "-O3", "-mcpu=sm_80", module, "-o", os.path.join(folder, "reference.ptx")]
        for source, options, ceiling in kernels(strips):
            if arguments.only not in " ".join((source, *options)):
                continue
            command = [arguments.tkc, source, *options, "--target=sm_90a", "--emit=ptx",
                       "-j1", "-o", os.path.join(folder, "out.ptx")]
            took = least_time(command, reference, arguments.slack * ceiling)
            is_slow = took > arguments.slack * ceiling
            slow += is_slow
            print(f"{' '.join((os.path.basename(source), *options))}: {took:.0f} ms of {ceiling:.0f}"
                  f"{' TOO SLOW' if is_slow else ''}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
