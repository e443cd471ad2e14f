"""axpy and softmax on the device named on the command line, cpu (NumPy) or cuda (torch).

    tkc ../kernels.tk --target=sm_80,sm_90a,cpu -o kernels.tkb
    python3 main.py kernels.tkb cpu
"""

import sys

import numpy as np
import tkcrt


class Host:
    """NumPy's arrays, for the CPU device."""

    upload = staticmethod(np.array)
    download = staticmethod(np.asarray)


class Cuda:
    """torch's tensors in device memory."""

    @staticmethod
    def upload(array):
        import torch
        return torch.from_numpy(array).cuda()

    @staticmethod
    def download(tensor):
        return tensor.cpu().numpy()


def run_axpy(module, memory, device):
    x = (np.arange(100000) % 1000).astype(np.float32)
    dx, dy = memory.upload(x), memory.upload(np.ones_like(x))
    axpy = module.kernel("axpy")
    print(f"axpy on {device}: {axpy.why(2.0, dx, dy)}")
    axpy(2.0, dx, dy)
    wrong = int((memory.download(dy) != 2 * x + 1).sum())
    print(f"axpy on {device}: {wrong} of {x.size} wrong")
    return wrong == 0


def run_softmax(module, memory, device):
    x = (np.arange(50 * 333) * 7919 % 1000 / 100).astype(np.float32).reshape(50, 333)
    dx, dy = memory.upload(x), memory.upload(np.zeros_like(x))
    module.kernel("softmax")(dx, dy)
    wanted = np.exp(x.astype(np.float64))
    wanted /= wanted.sum(axis=1, keepdims=True)
    furthest = np.abs(memory.download(dy) / wanted - 1).max()
    print(f"softmax on {device}: off by {furthest:.1e} at most")
    return furthest < 1e-5


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("cpu", "cuda"):
        sys.exit(__doc__)
    path, device = sys.argv[1:]
    module = tkcrt.Module(path, backend=device)
    memory = Cuda if device == "cuda" else Host
    return 0 if run_axpy(module, memory, device) and run_softmax(module, memory, device) else 1


if __name__ == "__main__":
    sys.exit(main())
