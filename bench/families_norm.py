"""Layer normalisation, forward and backward, over rows."""

import torch

from family import PRECISION, Family

EPS = 1e-5


class LayerNorm(Family):
    """The matrix is read once and written once; the small arrays count too."""

    outputs = ("y", "mean", "rstd")
    absolute = 2.0**-16  # d * r * w + b cancels

    def work(self):
        return self.bytes_of("x", "w", "b", "y", "mean", "rstd")

    def library(self):
        x, w, b = (self.tensors[name] for name in "xwb")
        n = self.sizes["N"]

        def launch():
            self.kept = torch.native_layer_norm(x, (n,), w, b, EPS)
        return {"torch": launch}

    def reference(self, name, rows):
        x = self.tensors["x"][rows].double()
        mean = x.mean(1, keepdim=True)
        rstd = (x - mean).square().mean(1, keepdim=True).add(EPS).rsqrt()
        if name != "y":
            return (mean if name == "mean" else rstd)[:, 0]
        return (x - mean) * rstd * self.tensors["w"].double() + self.tensors["b"].double()


class LayerNormBackward(Family):
    """Bytes are those of dy, x and dx: partial sums are each side's own affair."""

    outputs = ("dx", "dw", "db")

    def prepare(self):
        x = self.tensors["x"].float()
        self.tensors["mean"].copy_(x.mean(1))
        self.tensors["rstd"].copy_(x.var(1, correction=0).add(EPS).rsqrt())

    def work(self):
        return self.bytes_of("dy", "x", "dx")

    def library(self):
        dy, x, w = (self.tensors[name] for name in ("dy", "x", "w"))
        mean, rstd = (self.tensors[name][:, None] for name in ("mean", "rstd"))
        bias, n = torch.zeros_like(w), self.sizes["N"]
        backward = torch.ops.aten.native_layer_norm_backward

        def launch():
            self.kept = backward(dy, x, [n], mean, rstd, w, bias, [True, True, True])
        return {"torch": launch}

    def tolerance(self, name, wanted):
        """A column of M products may be added up in the type of the inputs, as Triton's is."""
        if name == "dx":
            return super().tolerance(name, wanted) + 2.0**-15
        dtype = self.tensors["x"].dtype
        return wanted.abs() * 2.0 ** -PRECISION[dtype] + 16 * self.sizes["M"]**0.5 * 2.0 ** -PRECISION[dtype]

    def reference(self, name, rows):
        x, dy = self.tensors["x"], self.tensors["dy"]
        mean, rstd = (self.tensors[key].double()[:, None] for key in ("mean", "rstd"))
        if name == "db":
            return dy[:, rows].sum(0, dtype=torch.float64)
        if name == "dw":
            return ((x[:, rows].double() - mean) * rstd * dy[:, rows].double()).sum(0)
        h = (x[rows].double() - mean[rows]) * rstd[rows]
        g = dy[rows].double() * self.tensors["w"].double()
        return (g - g.mean(1, keepdim=True) - h * (g * h).mean(1, keepdim=True)) * rstd[rows]
