"""Attention backward: the gradients of queries, keys and values."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some


class Gradients(Workload):
    """Gradients by three kernels; of `heads` and `count`, queries and keys of each.

    The result of attention, O, and the logarithms of its sums are given, not computed: the kernels
    are right for any. `about` has the head size `deep` and `causal`; each kernel has its `rows`, of
    which a CTA takes so many.
    """

    @property
    def _shape(self) -> tuple[int, int, int]:
        return self.sizes["heads"], self.sizes["count"], self.about["deep"]

    def describe(self) -> None:
        """See `Workload`."""
        self.shape = heads, count, deep = self._shape
        self.flops = 10 * heads * count**2 * deep // (2 if self.about["causal"] else 1)
        self.scalars = {"scale": deep**-0.5}
        # What the sum of so many powers of normal numbers comes to.
        self._level = float(np.float32(math.log2(count) + math.log2(math.e) / 2))

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        one = size_of(self._shape, "f16")
        return 5 * one, 8 * one

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        heads, count, _ = self._shape
        for number, name in enumerate(("q", "k", "v", "o", "do")):
            matrices[name] = Matrix(self.cuda, self._shape, "f16", seed + number)
        for name in ("dq", "dk", "dv"):
            matrices[name] = Matrix(self.cuda, self._shape, "f16")
        level = np.full(count, self._level, np.float32)
        matrices["sums"] = Matrix(self.cuda, (heads, count), "f32", content=level)
        matrices["delta"] = Matrix(self.cuda, (heads, count), "f32")

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs along rows and heads."""
        return -(-self.sizes["count"] // fields["rows"]), self.sizes["heads"], 1

    def error(self) -> float:
        """Of some rows of the last head and of all gradients, over their deviation."""
        heads, count, deep = self._shape
        first, along, scale = (heads - 1) * count, np.arange(deep), self.scalars["scale"]
        everything = {
            name: self.sets[0][name].numbers(first + np.arange(count), along)
            for name in ("q", "k", "v", "o", "do")
        }
        q, k, v, o, do = everything.values()
        delta = (o * do).sum(axis=1)
        chosen = some(count, 8)

        def powers(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
            found = np.exp2(q[queries] @ k[keys].T * scale * math.log2(math.e) - self._level)
            hidden = keys[None, :] > queries[:, None]
            return np.where(hidden, 0.0, found) if self.about["causal"] else found

        every = np.arange(count)
        of_rows = powers(chosen, every)
        of_scores = of_rows * (do[chosen] @ v.T - delta[chosen, None])
        of_keys = powers(every, chosen)
        of_columns = of_keys * (do @ v[chosen].T - delta[:, None])
        wanted = {
            "dq": of_scores @ k * scale,
            "dk": of_columns.T @ q * scale,
            "dv": of_keys.T @ do,
        }
        worst = 0.0
        for name, want in wanted.items():
            size = np.sqrt((want**2).mean())
            worst = max(worst, deviation(self.sets[0][name].read(first + chosen), want, size))
        return worst

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """The backward passes of cuDNN and FlashAttention, through PyTorch; and FA where it is."""
        for name, backend in (("cuDNN", "CUDNN_ATTENTION"), ("Flash", "FLASH_ATTENTION")):
            yield name, lambda sets, backend=backend: self._sdpa(torch, sets, backend)
        for name, module in (("FA3", "flash_attn_interface"), ("FA2", "flash_attn")):
            yield name, lambda sets, module=module: self._flash(torch, sets, module)

    def _sdpa(self, torch: Any, sets: Tensors, backend: str) -> Work:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        attend = torch.nn.functional.scaled_dot_product_attention

        def forward(q: Any, k: Any, v: Any) -> Any:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return attend(q, k, v, is_causal=bool(self.about["causal"]))

        return _backward(torch, sets, forward, lambda x: x[None])

    def _flash(self, torch: Any, sets: Tensors, module: str) -> Work:
        attend = importlib.import_module(module).flash_attn_func

        def forward(q: Any, k: Any, v: Any) -> Any:
            found = attend(q, k, v, causal=bool(self.about["causal"]))
            return found[0] if isinstance(found, tuple) else found

        return _backward(torch, sets, forward, lambda x: x.transpose(0, 1)[None].contiguous())


def _backward(
    torch: Any, sets: Tensors, forward: Callable[..., Any], laid_out: Callable[[Any], Any]
) -> Work:
    """Launches of the backward pass alone, of a forward pass that has run."""
    given = []
    for s in sets:
        inputs = [laid_out(s[name]).detach().requires_grad_() for name in "qkv"]
        given.append((forward(*inputs), inputs, laid_out(s["do"])))

    def work(number: int) -> None:
        result, inputs, grad = given[number]
        torch.autograd.grad(result, inputs, grad, retain_graph=True)

    return work
