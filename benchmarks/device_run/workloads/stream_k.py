"""A product whose steps CTAs share out evenly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some


class StreamK(Workload):
    """C = A·B; of `m`, `n` and `k`. `about` has `elements` of A, B and C, and a tile's `block`."""

    @property
    def _ctas(self) -> int:
        """One an SM: each must run while others wait for it."""
        return self.cuda.limits["multiprocessors"]

    def describe(self) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        self.shape, self.flops = (m, n, k), 2 * m * n * k

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        elements = self.about["elements"]
        read = size_of((m, k), elements["a"]) + size_of((k, n), elements["b"])
        return read, read + size_of((m, n), elements["c"])

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        elements, block = self.about["elements"], self.about["block"]
        matrices["a"] = Matrix(self.cuda, (m, k), elements["a"], seed)
        matrices["b"] = Matrix(self.cuda, (k, n), elements["b"], seed + 1)
        matrices["c"] = Matrix(self.cuda, (m, n), elements["c"])
        matrices["parts"] = Matrix(self.cuda, (self._ctas, block, block), "f32")
        matrices["flags"] = Matrix(self.cuda, (self._ctas,), "i32")

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """Every CTA must have a step."""
        del fields
        return self._ctas, 1, 1

    def prepare(self, number: int) -> None:
        """No CTA has raised its flag."""
        self.sets[number]["flags"].clear(0)

    def error(self) -> float:
        """Of some elements, over the root of the sum of squared products."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        rows, cols, along = some(m, 8), some(n, 64), np.arange(k)
        left = self.sets[0]["a"].numbers(rows, along)
        right = self.sets[0]["b"].numbers(along, cols)
        size = np.sqrt((left**2) @ (right**2)) + 1e-30
        return deviation(self.sets[0]["c"].read(rows)[:, cols], left @ right, size)

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """cuBLAS, with a result of the operands' type."""

        def cublas(sets: Tensors) -> Work:
            out = [s["a"].new_empty(s["c"].shape) for s in sets]
            return lambda number: torch.mm(sets[number]["a"], sets[number]["b"], out=out[number])

        yield "cuBLAS", cublas
