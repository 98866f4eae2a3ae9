"""The loads that feed the operands of matrix products."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.ops import CASTS, ELEMENTWISE
from tilec.dialects.tile.tiles import tile_value
from tilec.mlir import ir

from .base import walk
from .effects import is_shared

_VIEWS = ("tile.broadcast", "tile.expand", "tile.reshape", "tile.transpose")
_THROUGH = frozenset((*ELEMENTWISE, *CASTS, "arith.select", *_VIEWS))
"""Ops that give each lane what it has computed from its own elements."""
DIRECT = "tile.direct"
"""Attribute of a load that shall go from global memory to registers."""

_PRODUCTS = frozenset({"tile.dot", "tile.dot_scaled", "tile.dot_sp", "tile.dot_sp_scaled"})
"""Ops that multiply their first two operands."""


def operand_loads(function: Any) -> list[Any]:
    """Loads from global memory whose tiles become factors of a product, in program order.

    On the way they may go through casts, elementwise ops and views, not through conversions,
    which move the elements anyway.
    """
    found: set[Any] = set()
    seen: set[Any] = set()
    pending = [
        value
        for op in walk(function)
        if op.operation.name in _PRODUCTS
        for value in list(op.operation.operands)[:2]
    ]
    while pending:
        value = pending.pop()
        owner = value.owner
        if value in seen or isinstance(owner, ir.Block):
            continue
        seen.add(value)
        if owner.name == "tile.load":
            found.add(value)
        elif owner.name in _THROUGH:
            pending += [v for v in owner.operands if isinstance(v.type, ir.RankedTensorType)]
    return [
        op
        for op in walk(function)
        if op.operation.name == "tile.load" and op.results[0] in found and _stageable(op)
    ]


def _stageable(load: Any) -> bool:
    """Whether a load is of a matrix in global memory that has a layout, and not pinned."""
    memref = load.operands[0]
    if DIRECT in load.attributes:
        return False
    if is_shared(memref) or not isinstance(load.results[0].type, ir.RankedTensorType):
        return False
    tile = tile_value(load.results[0].type)
    return tile is not None and len(tile.shape) == 2
