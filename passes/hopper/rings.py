"""A loop parted in two: threads that load, by TMA, and threads that compute; a ring between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tilec.dialects.tile.attributes import PRODUCER
from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AsyncCopyOp,
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    WarpgroupIdOp,
)
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, nvvm, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import i1, i32, memref_of
from tilec.isa import LANES, WARPGROUP_THREADS

from ..emit import index_constant
from ..staging.loop_stages import LoopStages
from ..staging.staged_copies import StagedCopy
from .box_copies import load_boxes
from .warp_roles import PRODUCERS, WarpRoles


class Ring(NamedTuple):
    """Mbarriers of a ring of stages: that a stage is full, and that it is empty again."""

    full: Value
    empty: Value


class Specialised(LoopStages):
    """The rewriting of one loop at the top of a kernel.

    Behind the threads that compute stands a warpgroup of which one thread loads. In each round it
    waits until a stage is empty, and copies boxes to it; the others wait until it is full, and say
    when they have read it. The phase before the first counts as ended: so the first waits for
    empty stages end at once.

    Args:
        loop: the `scf.for`.
        copies: those of its body, all of which move.
        stages: of the ring.
        roles: registers of each role.
        needs: ops of the kernel's block from which bounds and indices are computed, in order.
    """

    def __init__(
        self,
        loop: Op,
        copies: list[StagedCopy],
        stages: int,
        roles: WarpRoles,
        needs: list[ir.Operation],
    ) -> None:
        super().__init__(loop, copies, stages)
        self._roles = roles
        self._needs = needs
        self._computing = roles.threads - PRODUCERS

    def run(self, frames: Iterable[Op]) -> None:
        """Rewrite the loop.

        Args:
            frames: ops of the body that nothing needs any more.
        """
        self.enlarge()
        block = self.loop.block
        top = next(op.operation for op in block.operations if not isinstance(op, AllocSharedOp))
        for op in self._needs:
            if op != top:
                op.move_before(top)
            else:
                operations = list(block.operations)
                at = next(n for n, one in enumerate(operations) if one.operation == top)
                top = operations[at + 1].operation
        with ir.InsertionPoint(top), self.loop.location:
            ring = self._begin()
            self._produce(ring)
        self._consume(ring)
        self.erase(frames)

    def _begin(self) -> Ring:
        """The mbarriers, begun by one thread before any other comes to them."""
        space = SharedAttr.get(ir.StringAttr.get("none"))
        type_ = ir.MemRefType.get(
            [self.stages], ir.IntegerType.get_signless(64), memory_space=space
        )
        ring = Ring(emit(AllocSharedOp, [], type_), emit(AllocSharedOp, [], type_))
        zero = index_constant(0)
        thread = gpu.thread_id(gpu.Dimension.X)
        with scf.if_(arith.cmpi(CmpI.EQ, thread, zero)):
            for stage in range(self.stages):
                at = index_constant(stage)
                emit_effect(BarrierInitOp, [ring.full, at], count=i64(1))
                emit_effect(BarrierInitOp, [ring.empty, at], count=i64(self._computing // LANES))
            nvvm.fence_mbarrier_init()
        gpu.barrier()
        return ring

    def _produce(self, ring: Ring) -> None:
        """The rounds of the thread that loads."""
        group = emit(WarpgroupIdOp, [], ir.IndexType.get())
        own = index_constant(self._computing // WARPGROUP_THREADS)
        branch = scf.branch(arith.cmpi(CmpI.EQ, group, own))
        branch.attributes[PRODUCER] = ir.DenseI64ArrayAttr.get(list(self._roles))
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            nvvm.setmaxregister(self._roles.producer)
            thread = gpu.thread_id(gpu.Dimension.X)
            first = index_constant(self._computing + LANES)
            with scf.if_(arith.cmpi(CmpI.ULT, thread, first)), scf.if_(nvvm.elect_sync()):
                self._rounds(ring)
            scf.yield_()

    def _rounds(self, ring: Ring) -> None:
        start = [arith.integer(i32(), 0), arith.integer(i1(), 1)]
        loop = scf.for_([self.lower, self.upper, self.step], start)
        types = [ir.IndexType.get(), *(value.type for value in start)]
        block = loop.regions[0].blocks.append(*types)
        counter, word, parity = block.arguments
        size = sum(shared_buffer(memref_of(c.alloc.results[0])).bytes for c in self.copies)
        with ir.InsertionPoint(block):
            stage = arith.index_castui(word, ir.IndexType.get())
            emit_effect(BarrierWaitOp, [ring.empty, stage, parity])
            emit_effect(BarrierExpectOp, [ring.full, stage], bytes=i64(size))
            for copy in self.copies:
                view = copy.copy.opview
                assert isinstance(view, AsyncCopyOp)
                source = self.source_at(copy, counter)
                load_boxes(view, source, self.buffers[copy.alloc], ring.full, stage)
            scf.yield_(self._next(word, parity))

    def _consume(self, ring: Ring) -> None:
        """The rounds of the threads that compute."""
        with ir.InsertionPoint(self.loop):
            start: list[Value] = [arith.integer(i32(), 0), arith.integer(i1(), 0)]
        word, parity = self.carry(start)
        with ir.InsertionPoint.at_block_begin(self.block):
            stage = arith.index_castui(word, ir.IndexType.get())
            emit_effect(BarrierWaitOp, [ring.full, stage, parity])
        self.reload(stage)
        with self.at_end(), scf.if_(nvvm.elect_sync()):
            emit_effect(BarrierArriveOp, [ring.empty, stage])
        further: Callable[[], Iterable[Value]] = lambda: self._next(word, parity)  # noqa: E731
        self.pass_on(further)

    def _next(self, stage: Value, parity: Value) -> list[Value]:
        """The stage behind this, and its parity: the other one where the ring begins anew."""
        following = arith.addi(stage, arith.integer(i32(), 1))
        wraps = arith.cmpi(CmpI.EQ, following, arith.integer(i32(), self.stages))
        begin = arith.integer(i32(), 0)
        return [arith.select(wraps, begin, following), arith.xori(parity, wraps)]
