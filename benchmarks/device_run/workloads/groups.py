"""Products of many sizes in one launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some


class Groups(Workload):
    """C[g] = A[g]·B[g]; of `m`, the rows of each, and `n` and `k` of all.

    `about` has `elements` of A, B and C, and the `block` that a CTA computes at a time.
    """

    def describe(self) -> None:
        """See `Workload`."""
        m, n, k = self.sizes["m"], self.sizes["n"], self.sizes["k"]
        self.shape = (len(m), sum(m), n, k)
        self.flops = 2 * sum(m) * n * k

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        m, n, k = self.sizes["m"], self.sizes["n"], self.sizes["k"]
        elements = self.about["elements"]
        read = size_of((sum(m), k), elements["a"]) + size_of((len(m), k, n), elements["b"])
        return read, read + size_of((sum(m), n), elements["c"])

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        m, n, k = self.sizes["m"], self.sizes["n"], self.sizes["k"]
        elements = self.about["elements"]
        for g, rows in enumerate(m):
            matrices[f"a.{g}"] = Matrix(self.cuda, (rows, k), elements["a"], seed + g)
            matrices[f"b.{g}"] = Matrix(self.cuda, (k, n), elements["b"], seed + 100 + g)
            matrices[f"c.{g}"] = Matrix(self.cuda, (rows, n), elements["c"])

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """As many CTAs as the GPU holds at once."""
        del fields
        return self.cuda.limits["multiprocessors"] * self.about["ctas_per_sm"], 1, 1

    def error(self) -> float:
        """Of elements of every product, over the root of the sum of squared products."""
        n, along = self.sizes["n"], np.arange(self.sizes["k"])
        worst, cols = 0.0, some(n, 16)
        for g, count in enumerate(self.sizes["m"]):
            a, b, c = (self.sets[0][f"{name}.{g}"] for name in "abc")
            rows = some(count, 4)
            left, right = a.numbers(rows, along), b.numbers(along, cols)
            size = np.sqrt((left**2) @ (right**2)) + 1e-30
            worst = max(worst, deviation(c.read(rows)[:, cols], left @ right, size))
        return worst

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """cuBLAS, one product after the other; PyTorch's grouped product, of bf16."""
        yield "cuBLAS each", lambda sets: self._each(torch, sets)
        yield "grouped_mm", lambda sets: self._grouped(torch, sets)

    def _each(self, torch: Any, sets: Tensors) -> Work:
        """With results of the operands' type."""
        count = range(len(self.sizes["m"]))
        out = [[s[f"a.{g}"].new_empty(s[f"c.{g}"].shape) for g in count] for s in sets]

        def work(number: int) -> None:
            for g in count:
                torch.mm(sets[number][f"a.{g}"], sets[number][f"b.{g}"], out=out[number][g])

        return work

    def _grouped(self, torch: Any, sets: Tensors) -> Work:
        """On matrices of its own, which lie behind each other."""
        count = range(len(self.sizes["m"]))
        ends = torch.tensor(np.cumsum(self.sizes["m"]), dtype=torch.int32, device="cuda")
        given = [
            (
                torch.cat([s[f"a.{g}"] for g in count]).bfloat16(),
                torch.stack([s[f"b.{g}"].t().contiguous().t() for g in count])
                .bfloat16()
                .transpose(1, 2)
                .contiguous()
                .transpose(1, 2),
            )
            for s in sets
        ]

        def work(number: int) -> None:
            a, b = given[number]
            torch._grouped_mm(a, b, offs=ends)

        return work
