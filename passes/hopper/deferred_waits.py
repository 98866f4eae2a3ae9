"""Loops with one group of products of warpgroups, for which the next round can wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tilec.dialects.semantics import is_movable
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    ConcatOp,
    JoinWarpsOp,
    SliceOp,
    WarpPartOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)
from tilec.dialects.tile.warpgroup import warpgroup_tile
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir

from ..search import defining_op
from .dependences import dependents, needed

Place = tuple[int, int, int]
"""Where a warp's fragment lies: the number of the accumulator, a column of it, a slice of that."""

_NO_PRODUCT = "its body is not one group of products of warpgroups and its wait"
_NO_RING = "its wait is not followed by the release of a stage alone"
_NO_CHAIN = "its product is not the accumulator of the next iteration"
_IN_ROUND = "what it releases depends on more than numbers that it carries"


class DeferredWait(NamedTuple):
    """The body of a loop with one group of products of warpgroups, and the wait for it.

    Attributes:
        fence: gives the accumulators to the first instructions.
        wait: gives them back.
        parting: ops that part what the wait gives, for the loop to carry.
        releases: what says that a stage is empty, and ops that compute which, in order.
        first: what begins the product: all ops but the wait, its `parting` and the releases.
        before: ops of `first` in front of the fence, but those that join.
        others: ops of `first` after it.
        carried: which of the loop's values are parts of the accumulators.
        roots: arguments of the body from which the releases are computed.
    """

    fence: ir.Operation
    wait: ir.Operation
    parting: list[ir.Operation]
    releases: list[ir.Operation]
    first: list[ir.Operation]
    before: list[ir.Operation]
    others: list[ir.Operation]
    carried: list[int]
    roots: Sequence[Value]


def deferred_wait(loop: Op) -> DeferredWait | str:
    """What a loop's body consists of; why each round waits for its product, if it has to.

    Args:
        loop: an `scf.for` of a program at level 3, as tile-to-fragments writes it.
    """
    block = loop.regions[0].blocks[0]
    *ops, end = [op.operation for op in block.operations]
    fences = [op for op in ops if isinstance(op.opview, WgmmaFenceOp) and len(op.operands)]
    waits = [op for op in ops if isinstance(op.opview, WgmmaWaitOp)]
    if len(fences) != 1 or len(waits) != 1 or any(len(op.regions) for op in ops):
        return _NO_PRODUCT
    (fence,), (wait,) = fences, waits
    acting = [op for op in ops[ops.index(wait) + 1 :] if not is_movable(op)]
    if not acting or not all(isinstance(op.opview, BarrierArriveOp) for op in acting):
        return _NO_RING
    passed, arguments = list(end.operands), list(block.arguments)[1:]
    given = {value: place for value in passed if (place := _given(value, wait)) is not None}
    taken = _taken(fence)
    carried = [number for number, value in enumerate(passed) if value in given]
    held = {arguments[number]: given[passed[number]] for number in carried}
    if held != taken or len(carried) != len(given):
        return _NO_CHAIN
    joining = dependents(ops[: ops.index(fence)], held)
    parting = dependents(ops[ops.index(wait) + 1 :], wait.results)
    if any(use.owner.operation not in {*joining, fence} for one in held for use in one.uses):
        return _NO_CHAIN
    numbers = [op for op in parting if not isinstance(op.opview, WarpPartOp | SliceOp)]
    for_releases = needed(ops, acting)
    if numbers or any(op in parting or not is_movable(op) for op in for_releases):
        return _NO_CHAIN if numbers else _IN_ROUND
    releases = [op for op in ops if op in for_releases or op in acting]
    roots = [one for one in arguments if any(one in list(op.operands) for op in releases)]
    if any(block.arguments[0] in list(op.operands) for op in releases):
        return _IN_ROUND
    late = {wait, *parting, *acting}
    first = [op for op in ops if op not in late]
    at = first.index(fence)
    before = [op for op in first[:at] if op not in set(joining)]
    return DeferredWait(
        fence, wait, parting, releases, first, before, first[at + 1 :], carried, roots
    )


def _given(value: Value, wait: ir.Operation) -> Place | None:
    """Where in what a wait gives a fragment lies; None if it comes from elsewhere."""
    piece = defining_op(value, SliceOp)
    part = defining_op(value if piece is None else piece.operands[0], WarpPartOp)
    if part is None or part.operands[0] not in list(wait.results):
        return None
    number = list(wait.results).index(part.operands[0])
    index = 0 if piece is None else attribute(piece, "index", ir.IntegerAttr).value
    return number, attribute(part, "column", ir.IntegerAttr).value, index


def _taken(fence: ir.Operation) -> dict[Value, Place]:
    """The fragments that a fence takes, and where in its operands they lie."""
    found: dict[Value, Place] = {}
    for number, whole in enumerate(fence.operands):
        joined, tile = defining_op(whole, JoinWarpsOp), warpgroup_tile(whole.type)
        parts = [] if joined is None else list(joined.operands)
        for at, part in enumerate(parts):
            assert tile is not None
            concat = defining_op(part, ConcatOp)
            pieces = [part] if concat is None else list(concat.operands)
            column = at * (tile.shape[1] // len(parts))
            found |= {piece: (number, column, index) for index, piece in enumerate(pieces)}
    return found
