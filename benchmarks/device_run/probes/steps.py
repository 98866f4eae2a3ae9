"""Sums of products in steps that a hypothesis lays out, by the simulator's own step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tilec.isa import Product
from tilec.runtime import from_bits, to_bits
from tilec.sim.tensor.arithmetic import Step, arithmetic
from tilec.sim.tensor.dot import ZERO, Factors, factors, fused


@dataclass(frozen=True)
class Products:
    """The products of one instruction, as they are stored.

    Attributes:
        a: (stored k, m, 1).
        b: (stored k, m or 1, n), what each meets.
        c: (m, n), the addend, in its own format.
        column: (stored k, m), the logical column of each.
    """

    a: Factors
    b: Factors
    c: np.ndarray
    column: np.ndarray

    @classmethod
    def of(
        cls, form: Product, a: np.ndarray, b: np.ndarray, c: np.ndarray, column: np.ndarray
    ) -> Products:
        """Of matrices of numbers: A as stored, (m, stored k), B, (k, n), and C, (m, n)."""

        def held(name: str, matrix: np.ndarray) -> np.ndarray:
            type_ = form.operand(name).type
            return from_bits(to_bits(matrix, type_), type_).astype(np.float32)

        left = held("a", a).T[:, :, None]
        right = held("b", b)[column.T]  # (stored k, m, n)
        type_a, type_b = form.operand("a").type, form.operand("b").type
        c_type = np.float16 if form.operand("c").type.name == "f16" else np.float32
        return cls(
            factors(np.ascontiguousarray(left), type_a),
            factors(np.ascontiguousarray(right), type_b),
            c.astype(c_type),
            column.T,
        )

    def step(self, step: Step, members: np.ndarray, c: np.ndarray) -> np.ndarray:
        """One step over the products of a mask, (stored k, m); the others take no part."""
        mask = members[:, :, None]
        some = Factors(
            np.where(mask, self.a.values, 0.0), np.where(mask, self.a.exponents, np.int16(ZERO))
        )
        return fused(step, some, self.b, c)

    def chain(self, step: Step, parts: Sequence[np.ndarray], *, c_last: bool) -> np.ndarray:
        """Steps over masks, each adding to the last; bits.

        Args:
            step: the step.
            parts: the products of each step.
            c_last: whether C is added at the end, to nearest, rather than in the first step.
        """
        d = np.zeros_like(self.c) if c_last else self.c
        for part in parts:
            d = self.step(step, part, d)
        if c_last:
            with np.errstate(all="ignore"):
                d = d + self.c + np.zeros((), d.dtype)
        return d.view(f"u{d.dtype.itemsize}")


def step_of(form: Product, target: str) -> Step:
    """The step that the simulator takes for a form."""
    return arithmetic(form, target).step
