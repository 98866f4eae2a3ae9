"""Recognising copies to shared memory that a loop waits for in the round that begins them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tilec.dialects.semantics import Resource, orders
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AsyncCommitOp,
    AsyncCopyOp,
    AsyncWaitOp,
    LoadOp,
)
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Block, Op
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of

from ..analysis.effects import Writers
from ..analysis.index_forms import is_pure
from ..search import defining_op
from .staging_groups import slice_of

_FRAME: tuple[Callable[[ir.OpView], bool], ...]
"""What the ops of a group are, but for the copies, which follow the first."""


class StagedCopy(NamedTuple):
    """A copy in a loop's body, and what reads its buffer in the same round.

    Attributes:
        copy: the `tile.async_copy`.
        alloc: the `tile.alloc_shared` of its target.
        loads: every `tile.load` from that, and every `tile.warpgroup_dot` of it.
        needs: ops of the body from which the copy's indices are computed, in order.
        obstacle: why it cannot begin in an earlier round; empty if it can.
    """

    copy: ir.Operation
    alloc: ir.Operation
    loads: tuple[ir.Operation, ...]
    needs: tuple[ir.Operation, ...]
    obstacle: str


class CopyGroup(NamedTuple):
    """Barrier, copies, commit, wait for all, barrier.

    Attributes:
        copies: the copies.
        frame: the other ops.
    """

    copies: tuple[StagedCopy, ...]
    frame: tuple[ir.Operation, ...]


def copy_groups(loop: Op, writers: Writers) -> list[CopyGroup]:
    """The groups in the body of an `scf.for`, as `tile-stage-shared` writes them."""
    block = loop.regions[0].blocks[0]
    ops = [op.operation for op in block.operations]
    sequences = list(_sequences(ops))
    frames = {op for _, frame in sequences for op in frame}
    others = [op for op in ops if op not in frames]
    groups = []
    for copies, frame in sequences:
        found = [_staged(copy, loop, others, writers) for copy in copies]
        if all(copy is not None for copy in found):
            groups.append(CopyGroup(tuple(c for c in found if c), frame))
    return groups


def _sequences(
    ops: list[ir.Operation],
) -> Iterator[tuple[list[ir.Operation], tuple[ir.Operation, ...]]]:
    """The copies of each group, and its other ops."""
    copies: list[ir.Operation] = []
    frame: list[ir.Operation] = []
    for op in ops:
        if is_pure(op):
            continue
        view = op.opview
        if isinstance(view, AsyncCopyOp) and len(frame) == 1:
            copies.append(op)
        elif (copies or not frame) and _FRAME[len(frame)](view):
            frame.append(op)
        else:
            copies, frame = [], [op] if _is_barrier(view) else []
        if len(frame) == len(_FRAME):
            yield copies, tuple(frame)
            copies, frame = [], []


def _is_barrier(op: ir.OpView) -> bool:
    return orders(op, Resource.BARRIERS)


def _is_commit(op: ir.OpView) -> bool:
    return isinstance(op, AsyncCommitOp)


def _waits_for_all(op: ir.OpView) -> bool:
    return isinstance(op, AsyncWaitOp) and int(op.pending.value) == 0


_FRAME = (_is_barrier, _is_commit, _waits_for_all, _is_barrier)


def _staged(
    copy: ir.Operation, loop: Op, ops: list[ir.Operation], writers: Writers
) -> StagedCopy | None:
    """The copy, or None if its buffer is not its own; `ops` are the body but for the frames."""
    source, target = list(copy.operands)[:2]
    alloc = defining_op(target, AllocSharedOp)
    if alloc is None:
        return None
    view = copy.opview
    assert isinstance(view, AsyncCopyOp)
    if shared_buffer(memref_of(target)).count != view.panels:
        return None
    users = dict.fromkeys(op for use in target.uses if (op := use.owner.operation) != copy)
    loads = [
        op for op in users if isinstance(op.opview, LoadOp | AwaitedProduct) and _inside(op, loop)
    ]
    if len(loads) < len(users):
        return None
    block = copy.block
    needs = sorted(slice_of(copy, block), key=ops.index)
    obstacle = ""
    writer = writers.between(ops, source)
    if writer is not None:
        obstacle = (
            f"'{writer.operation.name}' in the loop may write what it reads "
            "(an argument that shares no memory with others is llvm.noalias)"
        )
    elif not all(map(is_pure, needs)) or _carried(needs, copy, block):
        obstacle = "its indices depend on more than the loop's counter"
    return StagedCopy(copy, alloc.operation, tuple(loads), tuple(needs), obstacle)


def _inside(op: Op, loop: Op) -> bool:
    parent = op.parent
    while parent is not None and parent.operation != loop.operation:
        parent = parent.operation.parent
    return parent is not None


def _carried(needs: list[ir.Operation], copy: ir.Operation, block: Block) -> bool:
    """Whether a value that the loop carries from round to round is among the operands."""
    carried = list(block.arguments)[1:]
    return any(operand in carried for op in (copy, *needs) for operand in op.operands)
