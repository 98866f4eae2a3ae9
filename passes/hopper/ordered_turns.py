"""Warpgroups that take the tiles of a loop in turn: which, from where of a ring, and when.

Each goes through its loop of products while the others store, or wait: an mbarrier for each, the
order barrier, says that the one before has come to the end of its. Without, it might wait for a
phase of the ring's mbarriers of which the parity has come before. The rounds of the others' tiles
are left out of a warpgroup's place in the ring.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_all, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    BarrierArriveOp,
    BarrierInitOp,
    BarrierWaitOp,
    TurnOp,
)
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import i1, i32

from ..emit import add_constant, index_constant


class OrderedTurns:
    """The turns of one loop over tiles, as one of its warpgroups goes through it.

    Args:
        count: warpgroups that take turns.
        warps: of each.
        stages: of the ring.
    """

    def __init__(self, count: int, warps: int, stages: int) -> None:
        self._count = count
        self._warps = warps
        self._stages = stages

    def allocate(self) -> None:
        """The mbarriers."""
        space = SharedAttr.get(ir.StringAttr.get("none"))
        word = ir.IntegerType.get_signless(64)
        type_ = ir.MemRefType.get([self._count], word, memory_space=space)
        self._order = emit(AllocSharedOp, [], type_)

    def begin(self) -> None:
        """What one thread does before any comes to them."""
        for number in range(self._count):
            at = index_constant(number)
            emit_effect(BarrierInitOp, [self._order, at], count=i64(self._warps))

    def enter(self, bounds: Sequence[Value]) -> list[Value]:
        """The stage, its parity, and that of the own turn with which the first tile begins.

        Args:
            bounds: lower, upper and step of the loop of products, the same for every tile.
        """
        index = ir.IndexType.get()
        self._number, self._among = emit_all(TurnOp, [], [index, index], {})
        zero = index_constant(0)
        following = add_constant(self._number, 1)
        is_last = arith.cmpi(CmpI.EQ, following, self._among)
        self._following = arith.select(is_last, zero, following)
        rounds = _rounds(*bounds)
        others = arith.muli(rounds, arith.subi(self._among, index_constant(1)))
        self._left_out = self._place(others)
        is_first = arith.cmpi(CmpI.EQ, self._number, zero)  # whose turn it is without a signal
        return [*self._place(arith.muli(rounds, self._number)), is_first]

    def tiles(self, bounds: Sequence[Value]) -> list[Value]:
        """Lower, upper and step of the loop over the tiles that are the warpgroup's."""
        first, count, step = bounds
        begin = arith.addi(first, arith.muli(step, self._number))
        return [begin, count, arith.muli(step, self._among)]

    def wait(self, parity: Value) -> None:
        """Wait until the warpgroup before has come to the end of its loop of products."""
        emit_effect(BarrierWaitOp, [self._order, self._number, parity])

    def signal(self) -> None:
        """Let the next one begin its loop of products."""
        elected = ir.UnitAttr.get()
        emit_effect(BarrierArriveOp, [self._order, self._following], elected=elected)

    def further(self, stage: Value, parity: Value, turn: Value) -> list[Value]:
        """With what the next tile begins, behind those of the others."""
        rest, is_odd = self._left_out
        following = arith.addi(stage, rest)
        stages = arith.integer(i32(), self._stages)
        wraps = arith.cmpi(CmpI.UGE, following, stages)
        stage = arith.select(wraps, arith.subi(following, stages), following)
        parity = arith.xori(arith.xori(parity, is_odd), wraps)
        return [stage, parity, arith.xori(turn, arith.integer(i1(), 1))]

    def _place(self, rounds: Value) -> tuple[Value, Value]:
        """The stage, and its parity, after so many rounds of the ring."""
        stages = index_constant(self._stages)
        stage = arith.index_cast(arith.remui(rounds, stages), i32())
        times = arith.index_cast(arith.divui(rounds, stages), i32())
        one = arith.integer(i32(), 1)
        return stage, arith.cmpi(CmpI.EQ, arith.andi(times, one), one)


def _rounds(lower: Value, upper: Value, step: Value) -> Value:
    """How often a loop is gone through."""
    zero = index_constant(0)
    span = arith.subi(upper, lower)
    some = arith.select(arith.cmpi(CmpI.SGT, span, zero), span, zero)
    return arith.divui(arith.addi(some, arith.subi(step, index_constant(1))), step)


def needed(ops: Sequence[ir.Operation], values: Sequence[Value]) -> list[ir.Operation]:
    """Those of some ops that values are computed from, in order."""
    found: set[Op] = set()
    taken = list(values)
    while taken:
        owner = taken.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in found or owner.operation not in ops:
            continue
        found.add(owner.operation)
        taken += list(owner.operation.operands)
    return [op for op in ops if op in found]
