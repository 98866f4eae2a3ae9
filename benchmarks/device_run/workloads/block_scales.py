"""Products of 8-bit floats with scales: for 128 of a row of A, and for 128x128 of B."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some

BLOCK = 128


class BlockScales(Workload):
    """C = A·Bᵀ; of `m`, `n` and `k`, multiples of 128. `about` has a CTA's `tile`."""

    def describe(self) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        self.shape, self.flops = (m, n, k), 2 * m * n * k
        self.bits = 8

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        read = (m + n) * k + size_of((m, k // BLOCK), "f32")
        return read, read + size_of((m, n), "bf16")

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        matrices["a"] = Matrix(self.cuda, (m, k), "f8E4M3FN", seed)
        matrices["b"] = Matrix(self.cuda, (n, k), "f8E4M3FN", seed + 1)
        matrices["scale_a"] = Matrix(self.cuda, (m, k // BLOCK), "f32", seed + 2)
        matrices["scale_b"] = Matrix(self.cuda, (n // BLOCK, k // BLOCK), "f32", seed + 3)
        matrices["c"] = Matrix(self.cuda, (m, n), "bf16")

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs along columns and rows."""
        del fields
        rows, cols, _ = self.about["tile"]
        return -(-self.sizes["n"] // cols), -(-self.sizes["m"] // rows), 1

    def error(self) -> float:
        """Of some elements, over the root of the sum of squared products."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        rows, cols, along = some(m, 8), some(n, 64), np.arange(k)
        a, b, of_a, of_b = (self.sets[0][name] for name in ("a", "b", "scale_a", "scale_b"))
        left = a.numbers(rows, along) * of_a.numbers(rows, along // BLOCK)
        right = b.numbers(cols, along) * of_b.numbers(cols // BLOCK, along // BLOCK)
        size = np.sqrt((left**2) @ (right.T**2)) + 1e-30
        return deviation(self.sets[0]["c"].read(rows)[:, cols], left @ right.T, size)

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """cuBLAS with such scales, and with one for each matrix; DeepGEMM."""
        yield "cuBLAS", lambda sets: self._cublas(torch, sets, blocks=True)
        yield "cuBLAS, one scale", lambda sets: self._cublas(torch, sets, blocks=False)
        yield "DeepGEMM", self._deep_gemm

    @staticmethod
    def _cublas(torch: Any, sets: Tensors, *, blocks: bool) -> Work:
        one = torch.ones((), device="cuda")
        given = []
        for s in sets:
            # As cuBLAS has them: of A column by column, of B as it is transposed.
            of_a = s["scale_a"].t().contiguous().t() if blocks else one
            of_b = s["scale_b"].t() if blocks else one
            given.append((s["a"], s["b"].t(), of_a, of_b, s["c"]))

        def work(number: int) -> None:
            a, b, of_a, of_b, c = given[number]
            torch._scaled_mm(a, b, of_a, of_b, out_dtype=c.dtype, out=c)

        return work

    @staticmethod
    def _deep_gemm(sets: Tensors) -> Work:
        import deep_gemm

        run = getattr(deep_gemm, "fp8_gemm_nt", None) or deep_gemm.gemm_fp8_fp8_bf16_nt

        def work(number: int) -> None:
            s = sets[number]
            run((s["a"], s["scale_a"]), (s["b"], s["scale_b"]), s["c"])

        return work
