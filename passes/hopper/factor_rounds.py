"""The rounds of warps that copy scale factors to the stages of a ring, as TMA copies the rest."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import (
    AsyncCommitOp,
    AsyncCopyOp,
    AsyncWaitOp,
    BarrierArriveOp,
    BarrierWaitOp,
)
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, nvvm, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import memref_of

from ..emit import constant_of, index_constant
from ..staging.loop_stages import LoopStages
from ..staging.staged_copies import StagedCopy
from .ring_parts import LOADERS, Part, Ring, next_stage

_AHEAD = 4
"""Rounds, at most, whose copies are in flight while those of the next begin, which cover what
memory takes to answer."""


class FactorRounds:
    """The rounds of warps that copy what TMA would not put in the order of `tcgen05.cp`.

    They wait until a stage is empty and begin its copies by `cp.async`. Some rounds later these
    have come: each thread waits for its own, fences them for the asynchronous proxy, by which
    `tcgen05.cp` reads, and one of each warp arrives at the mbarrier at which the thread that loads
    boxes arrives. After the last round of a tile there are as many more without copies.

    Args:
        loop: the loop, whose buffers have stages.
        parts: of a stage.
        ring: the mbarriers.
        warp: the number of the first of these warps.
    """

    def __init__(self, loop: LoopStages, parts: list[Part], ring: Ring, warp: int) -> None:
        self._loop = loop
        self._parts = [part for part in parts if part.factors]
        self._ring = ring
        self._warps = ir.DenseI64ArrayAttr.get([warp, LOADERS])
        self._ahead = rounds_ahead(loop.stages)

    def emit(self, start: list[Value], known: Mapping[Value, Value]) -> list[Value]:
        """The rounds of a tile, and where the ring is after them.

        Args:
            start: the stage that comes first, and its parity.
            known: what stands for values of the loop over tiles.
        """
        loop = self._loop
        lower, upper, step = (known.get(at, at) for at in (loop.lower, loop.upper, loop.step))
        later = _times(step, self._ahead)
        first = arith.addi(lower, later)
        bounds = [lower, arith.addi(upper, later), step]
        rounds = scf.for_(bounds, [*start, start[0]])
        types = [ir.IndexType.get(), *(value.type for value in (*start, start[0]))]
        block = rounds.regions[0].blocks.append(*types)
        counter, word, parity, behind = block.arguments
        with ir.InsertionPoint(block):
            begins = arith.cmpi(CmpI.SLT, counter, upper)
            with scf.if_(begins):
                self._begin(counter, (word, parity), known)
            emit_effect(AsyncCommitOp)
            ends = arith.cmpi(CmpI.SGE, counter, first)
            with scf.if_(ends):
                self._end(behind)
            on = next_stage(word, parity, loop.stages)
            (after, _) = next_stage(behind, parity, loop.stages)
            scf.yield_(
                [
                    *map(lambda new, old: arith.select(begins, new, old), on, (word, parity)),
                    arith.select(ends, after, behind),
                ]
            )
        state: list[Value] = [*rounds.results]
        return state[:2]

    def _begin(self, counter: Value, at: tuple[Value, Value], known: Mapping[Value, Value]) -> None:
        """Begin the copies to a stage, and a parity says when it is empty."""
        word, parity = at
        stage = arith.index_castui(word, ir.IndexType.get())
        for part in self._parts:
            number = part.barrier(stage, self._loop.stages)
            emit_effect(BarrierWaitOp, [self._ring.empty, number, parity])
            for copy in part.factors:
                self._copy(copy, counter, stage, known)

    def _copy(
        self, copy: StagedCopy, counter: Value, stage: Value, known: Mapping[Value, Value]
    ) -> None:
        """The copy of a round to a stage."""
        source, _, *indices = self._loop.operands_at(copy, counter, known)
        rank = memref_of(source).rank
        buffer = self._loop.buffers[copy.alloc]
        given = [source, buffer, *indices[:rank], stage, *indices[rank:]]
        attributes = {name: copy.copy.attributes[name] for name in copy.copy.attributes}
        emit_effect(AsyncCopyOp, given, copy.copy.location, warps=self._warps, **attributes)

    def _end(self, word: Value) -> None:
        """Wait for the copies to a stage, and say that they have come."""
        emit_effect(AsyncWaitOp, pending=i64(self._ahead))
        nvvm.fence_proxy_async_shared()
        nvvm.warp_barrier()
        stage = arith.index_castui(word, ir.IndexType.get())
        for part in self._parts:
            at = [self._ring.full, part.barrier(stage, self._loop.stages)]
            emit_effect(BarrierArriveOp, at, elected=ir.UnitAttr.get())


def _times(step: Value, count: int) -> Value:
    known = constant_of(step)
    if known is not None:
        return index_constant(known * count)
    return arith.muli(step, index_constant(count))


def rounds_ahead(stages: int) -> int:
    """Rounds whose copies are in flight in a ring of so many stages: no more than half.

    A stage is said to be full when so many later ones have been empty: the rest are full, or read.
    """
    return min(_AHEAD, max(1, stages // 2))
