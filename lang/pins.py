"""Layouts that the author of a kernel chooses, not tilec."""

from __future__ import annotations

from tilec.dialects.tile.attributes import LAYOUT
from tilec.ir import mlir
from tilec.isa import TilecError

from .tile import Tile


def with_layout(tile: Tile, layout: str) -> Tile:
    """The tile, pinned to a layout: which element is in which register of which lane of which warp.

    Args:
        tile: what an operation gave: not an argument, nor what a loop hands on.
        layout: as `#tile.layout<"…">` has it, `register …; lane …; warp … -> row …, col …`.

    Raises:
        TilecError: if it is not a layout of such a tile.
    """
    from tilec.dialects.tile.tiles import layout_attr, tensor_type, tile_value  # noqa: PLC0415

    owner = tile.value.owner
    if not tile.shape or isinstance(owner, mlir.ir.Block):
        raise TilecError(f"a layout is pinned to the result of an operation, not to {tile!r}")
    tile_value(tensor_type(tile.shape, tile.value.type.element_type, layout))
    owner.attributes[LAYOUT] = layout_attr(layout)
    return tile
