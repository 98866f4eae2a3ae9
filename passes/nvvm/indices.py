"""Indices taken into what is known and what is not, so that addresses share their arithmetic."""

from __future__ import annotations

from typing import NamedTuple

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir

from ..analysis.multiples import ANY, multiple_of
from ..emit import add, constant_in, constant_of, index_constant


class Index(NamedTuple):
    """A sum of a value and a constant.

    Attributes:
        value: of type index, or None where there is only the constant.
        constant: the constant.
    """

    value: Value | None
    constant: int

    @property
    def multiple(self) -> int:
        """A power of two that divides the value."""
        return ANY if self.value is None else multiple_of(self.value)

    def emit(self) -> Value:
        """The sum as one value of type index."""
        if self.value is None:
            return index_constant(self.constant)
        return self.value if not self.constant else add(self.value, index_constant(self.constant))


def split(value: Value) -> Index:
    """Peel the constants that are added to an index."""
    constant = 0
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return Index(value, constant)
        known = constant_in(owner)
        if known is not None:
            return Index(None, constant + known)
        if owner.name != "arith.addi":
            return Index(value, constant)
        left, right = owner.operands
        for kept, added in ((left, constant_of(right)), (right, constant_of(left))):
            if added is not None:
                value, constant = kept, constant + added
                break
        else:
            return Index(value, constant)
