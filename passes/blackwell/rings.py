"""Rings whose stages commits of products release, of which no thread waits in each round."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.attributes import PRODUCER
from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    BarrierInitOp,
    BarrierWaitOp,
    Tcgen05CommitOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith
from tilec.ir.types import memref_of

from ..analysis.index_forms import is_pure
from ..hopper.rings import next_stage
from ..kernel_pass import Kernel


class Ring(NamedTuple):
    """What stands around a product in the rounds of a ring of stages.

    Attributes:
        full: the wait until its stage is full.
        empty: the arrival that says that it is empty again.
        rounds: the outermost loop of the threads that load, which carries stage and parity last.
    """

    full: BarrierWaitOp
    empty: BarrierArriveOp
    rounds: ir.Operation

    @property
    def barriers(self) -> Value:
        """The mbarriers that say that stages are empty."""
        return self.empty.operands[0]

    def take_over(self, kernel: Kernel) -> None:
        """Let commits, one a stage, say that stages are empty, and the loader wait for the last.

        Arrivals must have come before the CTA goes.
        """
        for init in kernel.named(BarrierInitOp):
            if init.operands[0] == self.barriers:
                init.attributes["count"] = i64(1)
        with ir.InsertionPoint.after(self.rounds), self.rounds.location:
            at: list[Value] = [*list(self.rounds.results)[-2:]]
            (stages,) = memref_of(self.barriers).shape
            for _ in range(stages):
                stage = arith.index_castui(at[0], ir.IndexType.get())
                emit_effect(BarrierWaitOp, [self.barriers, stage, at[1]])
                at = next_stage(at[0], at[1], stages)

    def await_full(self) -> None:
        """Wait here, by the thread that issues alone."""
        emit_effect(BarrierWaitOp, list(self.full.operands))

    def release(self) -> None:
        """Commit here what was issued, so that the stage is empty when that is done."""
        emit_effect(Tcgen05CommitOp, list(self.empty.operands))

    def erase(self) -> None:
        """Drop what all threads did."""
        self.full.operation.erase()
        self.empty.operation.erase()


def ring_around(dot: TensorDot, kernel: Kernel) -> Ring | None:
    """The ring whose stages a product alone reads; None if others take part in its rounds."""
    block = dot.operation.block
    ops = [op.operation for op in block.operations][:-1]
    others = [op for op in ops if op != dot.operation and not is_pure(op)]
    full = [view for op in others if isinstance(view := op.opview, BarrierWaitOp)]
    empty = [view for op in others if isinstance(view := op.opview, BarrierArriveOp)]
    if len(full) != 1 or len(empty) != 1 or len(others) != 2:
        return None
    if "elected" not in empty[0].attributes:
        return None
    behind = ops[ops.index(dot.operation) :]
    owners = [operand.owner for operand in empty[0].operands]
    if any(not isinstance(one, ir.Block) and one.operation in behind for one in owners):
        return None
    waits = [op for op in kernel.named(BarrierWaitOp) if op.operands[0] == empty[0].operands[0]]
    rounds = [found for op in waits if (found := _rounds(op)) is not None]
    if len(waits) != 1 or len(rounds) != 1:
        return None
    return Ring(full[0], empty[0], rounds[0])


def _rounds(wait: BarrierWaitOp) -> ir.Operation | None:
    """The outermost loop around a wait of threads that load."""
    found, parent = None, wait.operation.parent
    while parent is not None and PRODUCER not in parent.attributes:
        if isinstance(parent.opview, scf.ForOp):
            found = parent.operation
        parent = parent.operation.parent
    return None if parent is None else found
