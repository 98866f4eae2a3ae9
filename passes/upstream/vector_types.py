"""Vectors' types, and those of the tiles that they become."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.layout.extents import check_extents


def is_vector(value: Value) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, ir.VectorType)


def tile_type(type_: ir.VectorType) -> ir.RankedTensorType:
    """The tensor of a vector's shape and elements.

    Raises:
        TilecError: if it is not a tile.
    """
    if type_.scalable:
        raise TilecError(f"is on {type_}; a tile has no scalable extents")
    if not type_.rank:
        raise TilecError(f"is on {type_}; a tile has rank 1 or more: use {type_.element_type}")
    try:
        check_extents(type_.shape)
        bits_of(type_.element_type)
    except TilecError as error:
        raise TilecError(f"is on {type_}; {error}") from None
    return tile(type_.shape, type_.element_type)


def tile(shape: Sequence[int], element: Type) -> ir.RankedTensorType:
    """A tensor type without a layout."""
    return ir.RankedTensorType.get(list(shape), element)


def type_of(value: Value) -> ir.RankedTensorType:
    """The type of a tile."""
    return ir.RankedTensorType(value.type)
