"""Loops in each round of which rows of the next round may be copied."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tilec.dialects.semantics import Resource, is_movable, orders
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.ir.aliases import Block, Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, gpu

from ..analysis.effects import Writers
from ..analysis.index_forms import is_pure
from ..emit import constant_of, index_constant
from .row_numbers import RowNumbers


@dataclass
class NextRound:
    """A loop whose counter alone says which columns a gather of its body takes.

    Attributes:
        op: the gather.
        loop: the `scf.for`.
        before: ops of its body of which the rows' numbers are computed, the same in all rounds.
        needs: ops of its body of which the column is computed.
        column: where the rows begin.
    """

    op: IndexedOp
    loop: ir.Operation
    before: list[ir.Operation]
    needs: list[ir.Operation]
    column: Value

    @property
    def lower(self) -> Value:
        """Where the loop begins."""
        return self.loop.operands[0]

    @property
    def upper(self) -> Value:
        """Where it ends."""
        return self.loop.operands[1]

    @property
    def step(self) -> Value:
        """What each round adds."""
        return self.loop.operands[2]

    @property
    def counter(self) -> Value:
        """The number of the round."""
        return self.loop.regions[0].blocks[0].arguments[0]

    def after_barrier(self) -> AbstractContextManager[object]:
        """Where all threads have done with the round before: a barrier is there, or emitted."""
        barrier = None
        for op in self.op.operation.block.operations:
            if op.operation == self.op.operation:
                break
            if barrier is None and orders(op, Resource.BARRIERS):
                barrier = op.operation
        if barrier is None:
            with ir.InsertionPoint(self.op):
                barrier = gpu.barrier()
        return ir.InsertionPoint.after(barrier)

    def stages(self) -> tuple[Value, Value]:
        """The stage of a round, and that of the next: 0 and 1 in turn."""
        gone = arith.subi(self.counter, self.lower)
        number = arith.divui(gone, self.step)
        one = index_constant(1)
        stage = arith.andi(number, one)
        return stage, arith.xori(stage, one)


def next_round(op: IndexedOp, rows: RowNumbers, writers: Writers) -> NextRound | str:
    """The loop whose next round's rows can be copied in each round; why there is none.

    Args:
        op: a gather.
        rows: what says where its rows are.
        writers: what writes global memory in the kernel.
    """
    parent = op.operation.parent
    view = None if parent is None else parent.operation.opview
    if not isinstance(view, scf.ForOp):
        return "it is not in the body of a loop"
    loop = view.operation
    if constant_of(loop.operands[2]) is None:
        return "the step of the loop is not a constant"
    if writers.between([loop], op.memref) is not None:
        return "the loop orders memory"
    block = loop.regions[0].blocks[0]
    fixed = [rows.numbers] if rows.moved is None else [rows.numbers, rows.moved]
    before = _needs(fixed, block)
    if before is None or any(not is_movable(one) for one in before) or _uses(before, fixed, block):
        return "the rows are not the same in all of its rounds"
    counter = block.arguments[0]
    needs = _needs([op.indices[1]], block)
    if needs is None or not all(map(is_pure, needs)):
        return "the column is not computed of the loop's counter alone"
    taken = {argument for argument in block.arguments if argument != counter}
    if any(operand in taken for one in needs for operand in one.operands) or (
        op.indices[1] in taken
    ):
        return "the column is not computed of the loop's counter alone"
    return NextRound(op, loop, before, needs, op.indices[1])


def _needs(values: Sequence[Value], block: Block) -> list[ir.Operation] | None:
    """The ops of a block of which values are computed, in order; None if one holds others."""
    found: set[ir.Operation] = set()
    pending = list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block) or owner.operation.block != block:
            continue
        if owner.operation in found:
            continue
        if len(owner.regions):
            return None
        found.add(owner.operation)
        pending += owner.operands
    return [op.operation for op in block.operations if op.operation in found]


def _uses(ops: Sequence[ir.Operation], values: Sequence[Value], block: Block) -> bool:
    """Whether ops, or values, take what a block is given anew in each round."""
    given = [*values, *(operand for op in ops for operand in op.operands)]
    arguments = list(block.arguments)
    return any(value in arguments for value in given)
