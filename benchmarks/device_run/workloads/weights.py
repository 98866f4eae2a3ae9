"""Products with weights of 4 bits in groups along K, each with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some

ZEROS = 4096
"""Zero points that are different; they repeat."""


class Weights(Workload):
    """C = A·W; of `m`, `n` and `k`. `about` has the `group` and a CTA's `tile`, M and N."""

    def describe(self) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        self.shape, self.flops = (m, n, k), 2 * m * n * k

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        read = size_of((m, k), "f16") + n * k // 2 + 3 * n * k // self.about["group"]
        return read, read + size_of((m, n), "f16")

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        of_groups = n, k // self.about["group"]
        zeros = np.random.Generator(np.random.PCG64(seed)).integers(0, 16, ZEROS, np.uint8)
        matrices["a"] = Matrix(self.cuda, (m, k), "f16", seed)
        matrices["w"] = Matrix(self.cuda, (n, k // 2), "i8", seed + 1)
        matrices["scales"] = Matrix(self.cuda, of_groups, "f16", seed + 2)
        matrices["zeros"] = Matrix(self.cuda, of_groups, "i8", content=zeros)
        matrices["c"] = Matrix(self.cuda, (m, n), "f16")

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs along columns and rows."""
        del fields
        rows, cols = self.about["tile"]
        return -(-self.sizes["n"] // cols), -(-self.sizes["m"] // rows), 1

    def error(self) -> float:
        """Of some elements, over the root of the sum of squared products."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        rows, cols, along = some(m, 8), some(n, 64), np.arange(k)
        left, right = self.sets[0]["a"].numbers(rows, along), self._weights(cols)
        size = np.sqrt((left**2) @ (right.T**2)) + 1e-30
        return deviation(self.sets[0]["c"].read(rows)[:, cols], left @ right.T, size)

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        """Some rows of the weights, (rows, K)."""
        w, scales, zeros = (self.sets[0][name] for name in ("w", "scales", "zeros"))
        packed = w.stored(rows, np.arange(w.shape[1]))[..., 0]
        codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(rows), -1)
        groups = np.arange(self.sizes["k"]) // self.about["group"]
        return (codes - zeros.numbers(rows, groups)) * scales.numbers(rows, groups)

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """cuBLAS on weights of f16 that are as large; PyTorch's of 4 bits, on its own of bf16."""
        n, k = self.sizes["n"], self.sizes["k"]

        def cublas(sets: Tensors) -> Work:
            wide = [torch.randn((n, k), device="cuda", dtype=torch.float16).t() for _ in sets]
            return lambda number: torch.mm(sets[number]["a"], wide[number], out=sets[number]["c"])

        def four_bits(sets: Tensors) -> Work:
            given = []
            for s in sets:
                packed = torch._convert_weight_to_int4pack(s["w"].view(torch.uint8), 8)
                of_groups = torch.ones(
                    (k // self.about["group"], n, 2), device="cuda", dtype=torch.bfloat16
                )
                given.append((s["a"].bfloat16(), packed, of_groups))
            group = self.about["group"]
            return lambda number: torch._weight_int4pack_mm(
                given[number][0], given[number][1], group, given[number][2]
            )

        yield "cuBLAS f16", cublas
        yield "int4pack_mm", four_bits
