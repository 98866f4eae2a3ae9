"""Shifts, defined for every count.

To LLVM a shift by the width or more is undefined. In kernels it moves every bit out, as in numpy,
where a negative count is a large one.
"""

from __future__ import annotations

from tilec.isa import TilecError

from .elementwise import apply, compare, where
from .emit import constant
from .known import at_most
from .tile import Tile

_INTEGERS = ("int", "uint", "index")


def left_shift(one: Tile, count: Tile) -> Tile:
    """`one << count` of one type and shape.

    Raises:
        TilecError: for elements that are no integers.
    """
    _check(one, "left_shift")
    shifted = apply("arith.shli", one, count)
    return shifted if _is_within(count) else where(_below_width(count), shifted, 0)


def right_shift(one: Tile, count: Tile) -> Tile:
    """`one >> count` of one type and shape; of a negative number the sign comes in.

    Raises:
        TilecError: for elements that are no integers.
    """
    _check(one, "right_shift")
    if one.dtype.kind == "uint" or one.natural:
        shifted = apply("arith.shrui", one, count, natural=one.natural)
        return shifted if _is_within(count) else where(_below_width(count), shifted, 0)
    if not _is_within(count):
        count = apply("arith.minui", count, _width(count, -1))
    return apply("arith.shrsi", one, count)


def _check(one: Tile, name: str) -> None:
    if one.dtype.kind not in _INTEGERS:
        raise TilecError(f"no {name} of {one.dtype!r}: shifts take integers")


def _is_within(count: Tile) -> bool:
    """Whether no count is the width or more."""
    most = at_most(count)
    return most is not None and most < count.dtype.bits


def _below_width(count: Tile) -> Tile:
    return compare("less", count, _width(count), signed=False)


def _width(count: Tile, more: int = 0) -> Tile:
    dtype, shape = count.dtype, count.shape
    return Tile(constant(dtype.bits + more, dtype, shape), dtype, shape)
