"""Batched products, of operands as they are or transposed, and products in parts of K."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..compare import Tensors
from ..matrix import BYTES, Matrix
from ..timing import Work
from .workload import Workload, deviation, size_of, some


class Products(Workload):
    """D = A·B for every matrix of a batch; of `m`, `n`, `k`, `batches` and `parts` of K.

    `about` has `elements` of A, B and D, `turned`, which of A and B are transposed, and `tile`.
    """

    @property
    def _shapes(self) -> dict[str, tuple[int, int, int]]:
        m, n, k = (self.sizes[axis] for axis in "mnk")
        batches = self.sizes["batches"]
        a_turned, b_turned = self.about["turned"]
        return {
            "a": (batches, k, m) if a_turned else (batches, m, k),
            "b": (batches, n, k) if b_turned else (batches, k, n),
            "d": (batches, m, n),
        }

    def describe(self) -> None:
        """See `Workload`."""
        m, n, k, batches = (self.sizes[axis] for axis in ("m", "n", "k", "batches"))
        self.shape = (*((batches,) if batches > 1 else ()), m, n, k)
        self.flops = 2 * batches * m * n * k
        self.bits = 8 * BYTES[self.about["elements"]["a"]]
        self.scalars = {"part": k // self.sizes["parts"]}

    def bytes(self) -> tuple[int, int]:
        """See `Workload`."""
        each = [size_of(self._shapes[name], self.about["elements"][name]) for name in "abd"]
        return each[0] + each[1], sum(each)

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """See `Workload`."""
        for number, (name, shape) in enumerate(self._shapes.items()):
            given = None if name == "d" else seed + number
            matrices[name] = Matrix(self.cuda, shape, self.about["elements"][name], given)

    def grid(self, fields: Mapping[str, Any]) -> tuple[int, int, int]:
        """CTAs along columns, rows, and batches or parts of K."""
        del fields
        rows, cols, _ = self.about["tile"]
        deep = self.sizes["batches"] * self.sizes["parts"]
        return -(-self.sizes["n"] // cols), -(-self.sizes["m"] // rows), deep

    def prepare(self, number: int) -> None:
        """Parts are added to zeros."""
        if self.sizes["parts"] > 1:
            self.sets[number]["d"].clear(0)

    def error(self) -> float:
        """Of elements of the last matrix, over the root of the sum of squared products."""
        m, n, k = (self.sizes[axis] for axis in "mnk")
        last = self.sizes["batches"] - 1
        rows, cols, along = some(m, 8), some(n, 64), np.arange(k)
        a, b, d = (self.sets[0][name] for name in "abd")
        a_turned, b_turned = self.about["turned"]
        left = (
            a.numbers(last * k + along, rows).T if a_turned else a.numbers(last * m + rows, along)
        )
        right = (
            b.numbers(last * n + cols, along).T if b_turned else b.numbers(last * k + along, cols)
        )
        size = np.sqrt((left**2) @ (right**2)) + 1e-30
        return deviation(d.read(last * m + rows)[:, cols], left @ right, size)

    def peers(self, torch: Any) -> Iterator[tuple[str, Callable[[Tensors], Work]]]:
        """cuBLAS; Triton."""
        yield "cuBLAS", lambda sets: self._cublas(torch, sets)
        if self.sizes["parts"] == 1:
            yield "Triton", self._triton

    def _triton(self, sets: Tensors) -> Work:
        from .. import triton_gemm  # where it is not installed, this peer refuses, and no other

        return triton_gemm.batched(sets, self.about)

    def _cublas(self, torch: Any, sets: Tensors) -> Work:
        """By the function for the element type; 8-bit elements one matrix after the other."""
        torch.backends.cuda.matmul.allow_tf32 = True
        a_turned, b_turned = self.about["turned"]
        triples = [
            (
                s["a"].transpose(1, 2) if a_turned else s["a"],
                s["b"].transpose(1, 2) if b_turned else s["b"],
                s["d"],
            )
            for s in sets
        ]
        one = torch.ones((), device="cuda")
        kind = self.about["elements"]["a"]
        to_f32 = self.about["elements"]["d"] == "f32" != kind  # what cuBLAS gives in f16 here
        out = [torch.empty_like(a.new_empty(d.shape)) for a, _, d in triples] if to_f32 else []

        def work(number: int) -> None:
            a, b, d = triples[number]
            if kind == "i8":
                for x, y, z in zip(a, b, d, strict=True):
                    torch._int_mm(x, y, out=z)
            elif kind.startswith("f8"):
                for x, y, z in zip(a, b, d, strict=True):
                    torch._scaled_mm(x, y, one, one, out_dtype=d.dtype, out=z)
            else:
                torch.bmm(a, b, out=out[number] if out else d)

        return work
