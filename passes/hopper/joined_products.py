"""Products of a round that do not need each other: one group, with one fence and one wait."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.semantics import is_movable
from tilec.dialects.tile.emit import emit_all, emit_effect, i64
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir

from .dependences import dependents, needed


def join_products(loop: Op) -> None:
    """Join the products of a loop's body, if each gives only what the loop carries.

    All accumulators pass the first fence. The products follow each other, each behind the waits for
    its operands, in one group; after the wait for it come the releases of all stages. A body of
    another form does not change.

    Args:
        loop: an `scf.for` of a program at level 3, as tile-to-fragments writes it.
    """
    block = loop.regions[0].blocks[0]
    *ops, end = [op.operation for op in block.operations]
    fences = [op for op in ops if isinstance(op.opview, WgmmaFenceOp)]
    waits = [op for op in ops if isinstance(op.opview, WgmmaWaitOp)]
    commits = [op for op in ops if isinstance(op.opview, WgmmaCommitOp)]
    if len(waits) < 2 or not len(fences) == len(waits) == len(commits):
        return
    pairs = zip(fences, commits, waits, strict=True)
    order = [op for three in pairs for op in three]
    taken = [value for op in fences for value in op.operands]
    given = [value for op in waits for value in op.operands]
    alike = len({value.type for value in (*taken, *given)}) == 1
    whole = all(attribute(op, "pending", ir.IntegerAttr).value == 0 for op in waits)
    if order != [op for op in ops if op in order] or not (alike and whole):
        return
    first, last = ops.index(fences[0]), ops.index(waits[-1])
    late = dependents(ops, [result for op in waits[:-1] for result in op.results])
    early = [op for op in ops[first:] if op in needed(ops, fences[1:])]
    if not all(map(is_movable, (*late, *early))) or set(late) & set(early):
        return
    for op in early:
        op.move_before(fences[0])
    for fence in fences[1:]:  # orders nothing more; ptxas wants it behind the loop of a wait
        with ir.InsertionPoint(fence), fence.location:
            emit_effect(WgmmaFenceOp, [])
    releases = [op for op in ops[first:last] if isinstance(op.opview, BarrierArriveOp)]
    for op in (*late, *releases):
        op.move_before(end)
    _replace(WgmmaFenceOp, fences, taken, fences[0])
    _replace(WgmmaWaitOp, waits, given, waits[-1], pending=i64(0))
    for op in commits[:-1]:
        op.erase()


def _replace(
    kind: type[TileOp],
    ops: Sequence[ir.Operation],
    operands: list[Value],
    at: ir.Operation,
    **attributes: ir.Attribute,
) -> None:
    """Let one op in front of another stand for several of a kind."""
    with ir.InsertionPoint(at), at.location:
        made = iter(emit_all(kind, operands, [value.type for value in operands], attributes))
    for op in ops:
        for result in op.results:
            result.replace_all_uses_with(next(made))
        op.erase()
