"""Matrix products and attention: floating-point operations count, not bytes."""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from family import PRECISION, Family

_BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


class Matmul(Family):
    """c = a @ b, both row-major; added up in f32."""

    outputs = ("c",)
    unit = "TFLOP/s"

    def prepare(self):
        # Sums of K products, each addition truncated as matrix units do.
        self.absolute = 2.0**-10 * self.sizes["K"]**0.5

    def work(self):
        return 2 * self.sizes["M"] * self.sizes["N"] * self.sizes["K"]

    def library(self):
        a, b, c = (self.tensors[name] for name in "abc")
        return {"cuBLAS": lambda: torch.matmul(a, b, out=c)}

    def reference(self, name, rows):
        return self.tensors["a"][rows].double() @ self.tensors["b"].double()


class Attention(Family):
    """Forward; what a causal mask leaves out counts for nothing."""

    outputs = ("o", "lse")
    unit = "TFLOP/s"
    absolute = 2.0**-11

    def work(self):
        pairs = self.sizes["S"]**2 // (2 if self.sizes["CAUSAL"] else 1)
        return 4 * self.sizes["Z"] * self.sizes["H"] * self.sizes["D"] * pairs

    def _call(self, backend):
        q, k, v = (self.tensors[name] for name in "qkv")
        is_causal = bool(self.sizes["CAUSAL"])

        def launch():
            with sdpa_kernel(backend):
                self.kept = torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=is_causal)
        return launch

    def library(self):
        return {name: self._call(backend) for name, backend in _BACKENDS.items()}

    def tolerance(self, name, wanted):
        """Weights are rounded to the type of the inputs ahead of the second product."""
        if name == "lse":
            return wanted.abs() * 2.0**-12 + 2.0**-12
        return wanted.abs() * 2.0 ** (2 - PRECISION[self.tensors[name].dtype]) + self.absolute

    def reference(self, name, rows):
        """A slice of the batch, a head at a time; both outputs at once would save little."""
        q, k, v = (self.tensors[key][rows].flatten(0, 1) for key in "qkv")
        heads, length, depth = q.shape
        mask = torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1)
        result = []
        for head in range(heads):
            scores = q[head].double() @ k[head].double().T * depth**-0.5
            if self.sizes["CAUSAL"]:
                scores.masked_fill_(mask, -torch.inf)
            result.append(scores.logsumexp(1) if name == "lse"
                          else scores.softmax(1) @ v[head].double())
        return torch.stack(result).view_as(self.tensors[name][rows])
