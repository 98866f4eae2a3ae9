"""What the author of a kernel chooses, not tilec: layouts, and how CTAs share the grid."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.attributes import (
    CTA_CLUSTER,
    LAYOUT,
    PERSISTENT,
    PINGPONG,
    RASTERIZE,
    SCHEDULE,
)
from tilec.ir import mlir
from tilec.isa import TilecError

from .emit import flag, i64, i64s, text
from .settings import Pins
from .tile import Tile


def attributes_of(pins: Pins) -> dict[str, Any]:
    """The attributes of a `gpu.func` that say what its kernel asks for."""
    order = pins.rasterize
    rows = text(order) if isinstance(order, str) else None if order is None else i64(order)
    found = {
        CTA_CLUSTER: None if pins.cluster is None else i64s(pins.cluster),
        PERSISTENT: None if pins.persistent is None else flag(pins.persistent),
        PINGPONG: None if pins.pingpong is None else flag(pins.pingpong),
        RASTERIZE: rows,
        SCHEDULE: None if pins.schedule is None else text(pins.schedule),
    }
    return {name: value for name, value in found.items() if value is not None}


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
