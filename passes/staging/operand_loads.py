"""The loads that feed matrix products."""

from __future__ import annotations

from collections.abc import Iterator

from tilec.dialects.semantics import LayoutRule, layout_rule
from tilec.dialects.tile.attributes import DIRECT
from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops import GatherOp, LoadOp
from tilec.dialects.tile.ops.base import RelatedOp
from tilec.dialects.tile.ops.dots import dot_values
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.mlir import ir
from tilec.isa import Target

from ..analysis.effects import is_shared
from ..search import named, ops_of
from .staging_vectors import copied_async

_FACTORS = ("a", "b")


def operand_loads(function: ir.OpView, target: Target | None) -> list[LoadOp]:
    """Loads from global memory whose tiles become operands of a product, in program order.

    Operands are factors, and metadata and scales that can be copied asynchronously; not what is
    added to. On the way they may go through casts, elementwise ops and views, not through
    conversions, which move the elements anyway.

    Args:
        function: the kernel.
        target: what it is for.
    """
    operands = [item for op in named(function, DOTS) for item in _operands(op.opview)]
    held = ops_of(function, AwaitedProduct)
    operands += [("a", dot.a) for dot in held if "a" in dot.tiles()]
    factors = _feeding([value for name, value in operands if name in _FACTORS])
    others = _feeding([value for name, value in operands if name not in _FACTORS])
    return [
        op
        for op in ops_of(function, LoadOp)
        if _stageable(op)
        and (op.results[0] in factors or (op.results[0] in others and copied_async(op, target)))
    ]


def operand_gathers(function: ir.OpView) -> list[GatherOp]:
    """Gathers from global memory whose tiles become factors of a product, as those of loads do."""
    operands = [item for op in named(function, DOTS) for item in _operands(op.opview)]
    factors = _feeding([value for name, value in operands if name in _FACTORS], GatherOp)
    return [op for op in ops_of(function, GatherOp) if op.tile in factors]


def _operands(op: ir.OpView) -> Iterator[tuple[str, ir.Value]]:
    """What a product multiplies or takes with it, by name."""
    yield from ((n, value) for n, value in dot_values(op).items() if n not in ("c", "d"))


def _feeding(values: list[ir.Value], kind: type[LoadOp | GatherOp] = LoadOp) -> set[ir.Value]:
    """The tiles, loaded by an op of a kind, of which `values` are computed."""
    found: set[ir.Value] = set()
    seen: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        owner = value.owner
        if value in seen or isinstance(owner, ir.Block):
            continue
        seen.add(value)
        op = owner.opview
        if isinstance(op, kind):
            found.add(value)
        elif _stays_in_lanes(op):
            pending += [v for v in owner.operands if isinstance(v.type, ir.RankedTensorType)]
    return found


def _stays_in_lanes(op: ir.OpView) -> bool:
    """Whether an op gives each lane what it has computed from its own elements."""
    if isinstance(op, RelatedOp):
        return op.KEEPS_ELEMENTS
    return layout_rule(op) is LayoutRule.JOINED


def _stageable(load: LoadOp) -> bool:
    """Whether a load is of a matrix in global memory that has a layout, and not pinned."""
    if DIRECT in load.attributes:
        return False
    if is_shared(load.memref) or not isinstance(load.tile.type, ir.RankedTensorType):
        return False
    tile = tile_value(load.tile.type)
    return tile is not None and len(tile.shape) == 2
