"""Vectors' types, and those of the tiles that they become."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.tiles import bits_of
from tilec.ir.mlir import ir
from tilec.isa import TilecError


def is_vector(value: Any) -> bool:
    """Whether a value is a vector."""
    return isinstance(value.type, ir.VectorType)


def tile_type(type_: Any) -> Any:
    """The tensor of a vector's shape and elements.

    Raises:
        TilecError: if it is no tile.
    """
    if type_.scalable:
        raise TilecError(f"is on {type_}; a tile has no scalable extents")
    if not type_.rank:
        raise TilecError(f"is on {type_}; a tile has rank 1 or more: use {type_.element_type}")
    for extent in type_.shape:
        if extent & (extent - 1):
            wider = 1 << extent.bit_length()
            raise TilecError(
                f"is on {type_}; extents of a tile are powers of two: make {extent} {wider}, and "
                "let transfers go out of bounds"
            )
    try:
        bits_of(type_.element_type)
    except TilecError as error:
        raise TilecError(f"is on {type_}; {error}") from None
    return ir.RankedTensorType.get(list(type_.shape), type_.element_type)


def tile(shape: tuple[int, ...] | list[int], element: Any) -> Any:
    """A tensor type without a layout."""
    return ir.RankedTensorType.get(list(shape), element)
