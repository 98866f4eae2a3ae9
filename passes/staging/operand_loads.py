"""The loads that feed matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops import CASTS, ELEMENTWISE
from tilec.dialects.tile.ops.dots import dot_values
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.mlir import ir
from tilec.isa import Target

from ..analysis.effects import is_shared
from ..search import named
from .staging_vectors import copied_async

_VIEWS = ("tile.broadcast", "tile.expand", "tile.reshape", "tile.transpose")
_THROUGH = frozenset((*ELEMENTWISE, *CASTS, "arith.select", *_VIEWS))
"""Ops that give each lane what it has computed from its own elements."""
_FACTORS = ("a", "b")
DIRECT = "tile.direct"
"""Attribute of a load that shall go from global memory to registers."""


def operand_loads(function: Any, target: Target | None) -> list[Any]:
    """Loads from global memory whose tiles become operands of a product, in program order.

    Operands are factors, and metadata and scales that can be copied asynchronously; not what is
    added to. On the way they may go through casts, elementwise ops and views, not through
    conversions, which move the elements anyway.

    Args:
        function: the kernel.
        target: what it is for.
    """
    operands = [item for op in named(function, DOTS) for item in _operands(op)]
    factors = _feeding([value for name, value in operands if name in _FACTORS])
    others = _feeding([value for name, value in operands if name not in _FACTORS])
    return [
        op.opview
        for op in named(function, ["tile.load"])
        if _stageable(op)
        and (op.results[0] in factors or (op.results[0] in others and copied_async(op, target)))
    ]


def _operands(op: Any) -> Iterator[tuple[str, Any]]:
    """What a product multiplies or takes with it, by name."""
    yield from ((n, value) for n, value in dot_values(op).items() if n not in ("c", "d"))


def _feeding(values: list[Any]) -> set[Any]:
    """The tiles loaded of which `values` are computed."""
    found: set[Any] = set()
    seen: set[Any] = set()
    pending = list(values)
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
    return found


def _stageable(load: Any) -> bool:
    """Whether a load is of a matrix in global memory that has a layout, and not pinned."""
    memref = load.operands[0]
    if DIRECT in load.attributes:
        return False
    if is_shared(memref) or not isinstance(load.results[0].type, ir.RankedTensorType):
        return False
    tile = tile_value(load.results[0].type)
    return tile is not None and len(tile.shape) == 2
