"""`math`: what scalars, vectors and tensors have alike."""

from __future__ import annotations

from ..aliases import Value
from ..creation import create
from ..mlir import ir
from .shapes import ternary

fma = ternary("math.fma")


def approximate() -> dict[str, ir.Attribute]:
    """The attributes of a function that may be approximated."""
    return {"fastmath": ir.Attribute.parse("#arith.fastmath<afn>")}


def powf(base: Value, exponent: Value) -> ir.OpResult:
    """A power of floats."""
    return create("math.powf", [base, exponent], base.type)
