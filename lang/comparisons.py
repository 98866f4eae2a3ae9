"""Comparisons, those of a tile with an integer that its type need not hold among them."""

from __future__ import annotations

from types import MappingProxyType

from .casts import astype, check_computed, matched
from .dtypes import DType, intp, limits, uint64
from .elementwise import apply, compare
from .emit import constant
from .shapes import broadcast_to
from .tile import Operand, Tile

_MIRRORED = MappingProxyType(
    {
        "equal": "equal",
        "not_equal": "not_equal",
        "less": "greater",
        "less_equal": "greater_equal",
        "greater": "less",
        "greater_equal": "less_equal",
    }
)
"""The comparison of exchanged operands."""
_TRUE_BEYOND = ("less", "greater", "not_equal")
"""The comparisons that hold between the nearest number that a type has and one that it has not."""


def compared(name: str, left: Operand, right: Operand) -> Tile:
    """A comparison under numpy's name, of two operands, after broadcasting: truth values.

    Raises:
        TilecError: if their types or shapes do not fit.
    """
    if isinstance(left, Tile) and isinstance(right, Tile):
        if _is_narrower(left, right):
            return _compared_with_integer(name, left, right)
        if _is_narrower(right, left):
            return _compared_with_integer(_MIRRORED[name], right, left)
    one, other = matched(left, right, name)
    check_computed(one, name)
    return compare(name, one, other)


def _is_narrower(tile: Tile, number: Tile) -> bool:
    """Whether the second is an integer of the run that the type of the first need not hold."""
    if number.dtype is not intp or tile.dtype.kind not in ("int", "uint"):
        return False
    return bool(tile.shape and tile.dtype.bits < intp.bits) or tile.dtype is uint64


def _compared_with_integer(name: str, tile: Tile, number: Tile) -> Tile:
    """A comparison with the nearest number that the tile's type has, and of that with `number`."""
    near = _clamped(number, tile.dtype)
    found = compare(name, tile, broadcast_to(astype(near, tile.dtype), tile.shape))
    if near is number:
        return found
    beyond = broadcast_to(compare(name, near, number), tile.shape)
    return apply("arith.ori" if name in _TRUE_BEYOND else "arith.andi", found, beyond)


def _clamped(number: Tile, dtype: type[DType]) -> Tile:
    low, high = limits(dtype)
    if low or not number.natural:
        number = apply("arith.maxsi", number, _integer(low))
    if high < limits(intp)[1]:
        number = apply("arith.minsi", number, _integer(high), natural=number.natural)
    return number


def _integer(number: int) -> Tile:
    return Tile(constant(number, intp), intp)
