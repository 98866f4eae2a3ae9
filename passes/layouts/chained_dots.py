"""Products whose result is an operand of the next: which way their warps should lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tilec.dialects.tile.ops import TransposeOp
from tilec.ir.mlir import ir

from ..search import defining_op
from .tile_classes import Classes

# (the operand that a result becomes, whether transposed on the way): where all warps of the
# first and of the second product must lie for each to hold what it reads.
_ALONG = {
    ("a", False): ("m", "m"),
    ("b", False): ("n", "n"),
    ("a", True): ("n", "m"),
    ("b", True): ("m", "n"),
}


class Link(NamedTuple):
    """A result that is an operand of another product.

    Attributes:
        first: the `tile.dot` that computes it.
        second: the one that reads it.
        along: the index along which all warps of the first, and of the second, must lie for the
            result to stay where it is: a warp with whole rows of it has whole rows of A.
    """

    first: ir.OpView
    second: ir.OpView
    along: tuple[str, str]


def links(dots: Sequence[ir.OpView], classes: Classes) -> list[Link]:
    """Which results of `tile.dot`s without layouts become operands of others.

    Args:
        dots: the dots of a function.
        classes: its classes.
    """
    results = {classes.of(dot.results[0]): dot for dot in reversed(dots)}
    found = []
    for dot in dots:
        for name, operand in zip("ab", list(dot.operands)[:2], strict=True):
            source, turned = _source(operand)
            first = results.get(classes.of(source)) if classes.knows(source) else None
            if first is not None and first.operation != dot.operation:
                found.append(Link(first, dot, _ALONG[name, turned]))
    return found


def _source(value: ir.Value) -> tuple[ir.Value, bool]:
    """What a value is the transpose of, and whether it is one."""
    transpose = defining_op(value, TransposeOp)
    return (value, False) if transpose is None else (transpose.operands[0], True)
