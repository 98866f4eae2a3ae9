"""Rings whose stages commits of products release, of which no thread waits in each round."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.attributes import PRODUCER
from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    Tcgen05CommitOp,
    TmaLoadOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.ops.tensor_memory import GROUP
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, nvvm
from tilec.ir.ops import scf as ops_scf
from tilec.ir.types import i32, memref_of

from ..analysis.index_forms import is_pure
from ..emit import index_constant
from ..hopper.ring_parts import next_stage
from ..kernel_pass import Kernel
from ..search import named

PAIR = 2
"""CTAs that compute a product together."""


class Ring(NamedTuple):
    """What stands around a product in the rounds of a ring of stages.

    Attributes:
        full: the wait until its stage is full.
        empty: the arrival that says that it is empty again.
        rounds: the outermost loop of the threads that load, which carries stage and parity last.
        pair: whether the product is one of a pair of CTAs, each with a ring of its own.
    """

    full: BarrierWaitOp
    empty: BarrierArriveOp
    rounds: ir.Operation
    pair: bool = False

    @property
    def barriers(self) -> Value:
        """The mbarriers that say that stages are empty."""
        return self.empty.operands[0]

    @property
    def stages(self) -> int:
        """Stages of it."""
        (found,) = memref_of(self.barriers).shape
        return found

    def take_over(self, kernel: Kernel) -> None:
        """Let commits, one a stage, say that stages are empty, and the loader wait for the last.

        Arrivals must have come before the CTA goes.
        """
        for init in kernel.named(BarrierInitOp):
            if init.operands[0] == self.barriers:
                init.attributes["count"] = i64(1)
        if self.pair:
            self._tell_the_even_cta(kernel)
        with ir.InsertionPoint.after(self.rounds), self.rounds.location:
            at: list[Value] = [*list(self.rounds.results)[-2:]]
            for _ in range(self.stages):
                stage = arith.index_castui(at[0], ir.IndexType.get())
                emit_effect(BarrierWaitOp, [self.barriers, stage, at[1]])
                at = next_stage(at[0], at[1], self.stages)

    def _tell_the_even_cta(self, kernel: Kernel) -> None:
        """Let what both CTAs of a pair load tell the even one, which alone waits for it.

        There one thread arrives for the boxes of both. Of scale factors warps of both arrive, which
        have fenced what the asynchronous proxy of their CTA will read.
        """
        full = self.full.operands[0]
        arrivals = [op for op in kernel.named(BarrierArriveOp) if op.operands[0] == full]
        for init in kernel.named(BarrierInitOp) if arrivals else ():
            if init.operands[0] == full:
                count = ir.IntegerAttr(init.attributes["count"]).value
                init.attributes["count"] = i64(PAIR * (count - 1) + 1)
        for arrival in arrivals:
            attributes = {name: arrival.attributes[name] for name in arrival.attributes}
            with ir.InsertionPoint(arrival), arrival.location:
                given = [*arrival.operands, index_constant(0)]
                attributes["fenced"] = ir.UnitAttr.get()
                emit_effect(BarrierArriveOp, given, arrival.location, **attributes)
            arrival.operation.erase()
        for load in kernel.named(TmaLoadOp):
            if load.operands[2] == full:
                load.attributes[GROUP] = i64(PAIR)
        for expect in kernel.named(BarrierExpectOp):
            if expect.operands[0] != full:
                continue
            bytes_ = ir.IntegerAttr(expect.attributes["bytes"]).value
            expect.attributes["bytes"] = i64(PAIR * bytes_)
            with ir.InsertionPoint(expect), expect.location:
                branch = ops_scf.branch(is_first_cta())
                with ir.InsertionPoint(branch.regions[0].blocks.append()):
                    end = ops_scf.yield_()
            expect.operation.move_before(end)

    def await_full(self) -> None:
        """Wait here, by the thread that issues alone."""
        emit_effect(BarrierWaitOp, list(self.full.operands))

    def release(self) -> None:
        """Commit here what was issued, so that the stage is empty when that is done."""
        commit(*self.empty.operands, pair=self.pair)

    def erase(self) -> None:
        """Drop what all threads did."""
        self.full.operation.erase()
        self.empty.operation.erase()


def await_phase(given: list[Value], *, pair: bool) -> None:
    """Wait for a phase of an mbarrier, of a pair for what threads of the other CTA did, too."""
    if pair:
        emit_effect(BarrierWaitOp, given, cluster=ir.UnitAttr.get())
    else:
        emit_effect(BarrierWaitOp, given)


def is_first_cta() -> Value:
    """Whether this is the first CTA of its cluster: of a pair that whose thread issues for both."""
    return arith.cmpi(arith.CmpI.EQ, nvvm.cluster_rank(), arith.integer(i32(), 0))


def commit(barriers: Value, number: Value, *, pair: bool) -> None:
    """Let an mbarrier have an arrival when what this thread issued is done; of a pair both's."""
    if not pair:
        emit_effect(Tcgen05CommitOp, [barriers, number])
        return
    both = index_constant((1 << PAIR) - 1)
    made = emit_effect(Tcgen05CommitOp, [barriers, number, both])
    made.attributes[GROUP] = i64(PAIR)


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
    loading = [found for op in waits if (found := _rounds(op)) is not None]
    rounds = [loop for loop in loading if named(loop, [TmaLoadOp])]  # not those of scale factors
    if len(loading) != len(waits) or len(rounds) != 1:
        return None
    return Ring(full[0], empty[0], rounds[0], dot.group > 1)


def _rounds(wait: BarrierWaitOp) -> ir.Operation | None:
    """The outermost loop around a wait of threads that load."""
    found, parent = None, wait.operation.parent
    while parent is not None and PRODUCER not in parent.attributes:
        if isinstance(parent.opview, scf.ForOp):
            found = parent.operation
        parent = parent.operation.parent
    return None if parent is None else found
