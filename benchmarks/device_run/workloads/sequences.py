"""Attention of sequences behind each other, heads of queries that share one of keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some


class Sequences(Workload):
    """Attention; of the `lengths` of the sequences, and `heads`.

    `about` has the head size `deep`, `causal`, `shared`, the heads of queries to one of keys, and
    the `tile` of a CTA, queries and keys.
    """

    @property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *self.sizes["lengths"]]).astype(np.int32)

    def _shape(self, name: str) -> tuple[int, int, int]:
        heads = self.sizes["heads"] // (self.about["shared"] if name in "kv" else 1)
        return heads, sum(self.sizes["lengths"]), self.about["deep"]

    def describe(self) -> None:
        """See `Workload`."""
        heads, total, deep = self._shape("q")
        self.shape = (len(self.sizes["lengths"]), heads, total, deep)
        squares = sum(length**2 for length in self.sizes["lengths"])
        self.flops = 4 * heads * squares * deep // (2 if self.about["causal"] else 1)
        self.scalars = {"scale": math.log2(math.e) / math.sqrt(deep)}

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        read = sum(size_of(self._shape(name), "f16") for name in "qkv")
        return read, read + size_of(self._shape("o"), "f16")

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        for number, name in enumerate("qkv"):
            matrices[name] = Matrix(self.cuda, self._shape(name), "f16", seed + number)
        matrices["o"] = Matrix(self.cuda, self._shape("o"), "f16")
        starts = self._starts
        matrices["starts"] = Matrix(self.cuda, starts.shape, "i32", content=starts)

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs along the blocks of the longest sequence, heads and sequences."""
        del fields
        blocks = -(-max(self.sizes["lengths"]) // self.about["tile"][0])
        return blocks, self.sizes["heads"], len(self.sizes["lengths"])

    def error(self) -> float:
        """Of some queries of every sequence and the last head, over the deviation of the result."""
        heads, total, deep = self._shape("q")
        along, worst = np.arange(deep), 0.0
        q, k, v, o = (self.sets[0][name] for name in "qkvo")
        head, of_keys = (heads - 1) * total, (heads - 1) // self.about["shared"] * total
        for first, end in pairwise(self._starts.tolist()):
            chosen = some(end - first, 4)
            at = first + np.arange(end - first)
            x = q.numbers(head + first + chosen, along)
            y, z = (one.numbers(of_keys + at, along) for one in (k, v))
            scores = x @ y.T * self.scalars["scale"]
            if self.about["causal"]:
                scores[np.arange(end - first) > chosen[:, None]] = -np.inf
            powers = np.exp2(scores - scores.max(axis=1, keepdims=True))
            want = powers @ z / powers.sum(axis=1, keepdims=True)
            size = np.sqrt((want**2).mean(axis=1, keepdims=True))
            worst = max(worst, deviation(o.read(head + first + chosen), want, size))
        return worst

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """FlashAttention 3 and 2 where they are installed; PyTorch's, one after the other."""
        yield "FA3", lambda sets: self._flash(torch, sets, "flash_attn_interface")
        yield "FA2", lambda sets: self._flash(torch, sets, "flash_attn")
        yield "SDPA each", lambda sets: self._each(torch, sets)

    def _flash(self, torch: Any, sets: Tensors, module: str) -> Work:
        import importlib

        attend = importlib.import_module(module).flash_attn_varlen_func
        longest = max(self.sizes["lengths"])
        starts = torch.tensor(self._starts, device="cuda")
        # It has heads inside of places.
        given = [[s[name].transpose(0, 1).contiguous() for name in "qkv"] for s in sets]
        causal = bool(self.about["causal"])

        def work(number: int) -> None:
            attend(*given[number], starts, starts, longest, longest, causal=causal)

        return work

    def _each(self, torch: Any, sets: Tensors) -> Work:
        attend = torch.nn.functional.scaled_dot_product_attention
        pairs = list(pairwise(self._starts.tolist()))
        given = [
            [[s[name][None, :, first:end] for name in "qkv"] for first, end in pairs] for s in sets
        ]
        causal, shared = bool(self.about["causal"]), self.about["shared"] > 1

        def work(number: int) -> None:
            for q, k, v in given[number]:
                attend(q, k, v, is_causal=causal, enable_gqa=shared)

        return work
