"""Upstream's ops on tiles and scalars of one type and shape, and the choice between two."""

from __future__ import annotations

from types import MappingProxyType

from .casts import astype, match_types
from .dtypes import bool_, float32
from .emit import i64, result, type_of
from .shapes import broadcast_shape, broadcast_to, full
from .tile import Operand, Tile

COMPARISONS = MappingProxyType(
    {
        # predicates of cmpf, and of cmpi with and without sign
        "equal": (1, 0, 0),
        "not_equal": (13, 1, 1),
        "less": (4, 2, 6),
        "less_equal": (5, 3, 7),
        "greater": (2, 4, 8),
        "greater_equal": (3, 5, 9),
    }
)
"""Upstream's predicates by numpy's name."""


def apply(name: str, *operands: Tile, natural: bool = False) -> Tile:
    """The op called `name` of operands of one type, whose result is of that type as well.

    Args:
        name: upstream's.
        operands: of one element type and shape.
        natural: whether the result is known not to be negative.
    """
    first = operands[0]
    value = result(name, [o.value for o in operands], type_of(first.dtype, first.shape))
    return Tile(value, first.dtype, first.shape, natural=natural)


def compare(name: str, one: Tile, other: Tile, *, signed: bool | None = None) -> Tile:
    """A comparison under numpy's name of operands of one type and shape: truth values.

    Args:
        name: one of `COMPARISONS`.
        one: its left operand.
        other: its right operand.
        signed: whether integers have a sign; by default as their type says.
    """
    of_floats, with_sign, without = COMPARISONS[name]
    if signed is None:
        signed = one.dtype.kind in ("int", "index")
    if one.dtype.kind == "float":
        op, predicate = "arith.cmpf", of_floats
    else:
        op, predicate = "arith.cmpi", with_sign if signed else without
    operands = [one.value, other.value]
    value = result(op, operands, type_of(bool_, one.shape), {"predicate": i64(predicate)})
    return Tile(value, bool_, one.shape)


def where(condition: Tile | bool, x: Operand, y: Operand) -> Tile:
    """Elements of `x` where `condition` holds, of `y` elsewhere; all broadcast together."""
    if not isinstance(x, Tile) and not isinstance(y, Tile):
        y = full((), y, float32 if isinstance(x, float) else None)
    one, other = match_types(x, y, "where")
    if isinstance(condition, bool):
        return one if condition else other
    condition = astype(condition, bool_)
    shape = broadcast_shape(condition.shape, one.shape)
    one, other = broadcast_to(one, shape), broadcast_to(other, shape)
    # a scalar condition chooses whole tiles
    if condition.shape:
        condition = broadcast_to(condition, shape)
    operands = [condition.value, one.value, other.value]
    value = result("arith.select", operands, type_of(one.dtype, shape))
    return Tile(value, one.dtype, shape, natural=one.natural and other.natural)
