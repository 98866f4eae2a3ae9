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
        TilecError: for elements that are not integers.
    """
    _check(one, "left_shift")
    return _shift_zeros_in("arith.shli", one, count)


def right_shift(one: Tile, count: Tile) -> Tile:
    """`one >> count` of one type and shape; of a negative number the sign comes in.

    Raises:
        TilecError: for elements that are not integers.
    """
    _check(one, "right_shift")
    if one.dtype.kind == "uint" or one.natural:
        return _shift_zeros_in("arith.shrui", one, count)
    return apply("arith.shrsi", one, count if _is_within(count) else _clamp(count))


def _shift_zeros_in(op: str, one: Tile, count: Tile) -> Tile:
    """A shift that brings zeros in."""
    natural = one.natural and op == "arith.shrui"
    shifted = apply(op, one, count, natural=natural)
    if _is_within(count):
        return shifted
    return where(compare("less", count, _width(count), signed=False), shifted, 0)


def _check(one: Tile, name: str) -> None:
    if one.dtype.kind not in _INTEGERS:
        raise TilecError(f"{name} does not take {one.dtype!r}: shifts take integers")


def _is_within(count: Tile) -> bool:
    """Whether no count is the width or more."""
    most = at_most(count)
    return most is not None and most < count.dtype.bits


def _clamp(count: Tile) -> Tile:
    """A count that is less than the width, if it was not, one less than that."""
    return apply("arith.minui", count, _width(count, -1))


def _width(count: Tile, more: int = 0) -> Tile:
    dtype, shape = count.dtype, count.shape
    return Tile(constant(dtype.bits + more, dtype, shape), dtype, shape)
