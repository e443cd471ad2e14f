"""The families by name, and those that move memory a row at a time."""

import torch

from families_norm import LayerNorm, LayerNormBackward
from families_products import Attention, Matmul
from family import Family


class VectorAdd(Family):
    """z = x + y; three arrays are moved."""

    outputs = ("z",)

    def work(self):
        return self.bytes_of("x", "y", "z")

    def library(self):
        x, y, z = (self.tensors[name] for name in "xyz")
        return {"torch": lambda: torch.add(x, y, out=z)}

    def reference(self, name, rows):
        return (self.tensors["x"][rows] + self.tensors["y"][rows]).double()


class Softmax(Family):
    """Over rows; the matrix is read once and written once."""

    outputs = ("y",)

    def work(self):
        return self.bytes_of("x", "y")

    def library(self):
        x, y = self.tensors["x"], self.tensors["y"]
        return {"torch": lambda: torch.softmax(x, 1, out=y)}

    def reference(self, name, rows):
        return torch.softmax(self.tensors["x"][rows].double(), 1)


class RmsNorm(Family):
    """Over rows with a weight; the matrix is read once and written once, the weight read once."""

    outputs = ("y",)

    def work(self):
        return self.bytes_of("x", "w", "y")

    def library(self):
        x, w = self.tensors["x"], self.tensors["w"]
        n = self.sizes["N"]

        def launch():
            self.kept = torch.nn.functional.rms_norm(x, (n,), w, 1e-5)
        return {"torch": launch}

    def reference(self, name, rows):
        x = self.tensors["x"][rows].double()
        scale = (x * x).mean(1, keepdim=True).add(1e-5).rsqrt()
        return x * scale * self.tensors["w"].double()


FAMILIES = {"vector_add": VectorAdd, "softmax": Softmax, "rms_norm": RmsNorm,
            "layer_norm": LayerNorm, "layer_norm_backward": LayerNormBackward,
            "matmul": Matmul, "attention": Attention}
