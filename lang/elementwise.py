"""Upstream's ops on tiles and scalars of one type and shape, and the choice between two."""

from __future__ import annotations

from types import MappingProxyType

from tilec.ir import ops

from .casts import astype, match_types
from .dtypes import bool_, float32
from .emit import emit, result, type_of
from .shapes import broadcast_shape, broadcast_to, full
from .tile import Operand, Tile

COMPARISONS = MappingProxyType(
    {
        # of cmpf, and of cmpi with and without sign
        "equal": ("OEQ", "EQ", "EQ"),
        "not_equal": ("UNE", "NE", "NE"),
        "less": ("OLT", "SLT", "ULT"),
        "less_equal": ("OLE", "SLE", "ULE"),
        "greater": ("OGT", "SGT", "UGT"),
        "greater_equal": ("OGE", "SGE", "UGE"),
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
    type_ = type_of(bool_, one.shape)
    if one.dtype.kind == "float":
        predicate = ops.arith.CmpF[of_floats]
        value = emit(ops.arith.cmpf, predicate, one.value, other.value, type_)
    else:
        of_integers = ops.arith.CmpI[with_sign if signed else without]
        value = emit(ops.arith.cmpi, of_integers, one.value, other.value, type_)
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
    value = emit(ops.arith.select, condition.value, one.value, other.value)
    return Tile(value, one.dtype, shape, natural=one.natural and other.natural)
