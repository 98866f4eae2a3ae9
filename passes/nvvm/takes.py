"""`tile.take` of a fragment: registers renamed, and shuffles where lanes change."""

from __future__ import annotations

from functools import partial

from tilec.dialects.tile.ops import TakeOp
from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm, nvvm
from tilec.ir.ops.llvm import constant_i32
from tilec.ir.ops.nvvm import Shuffle
from tilec.ir.types import i32
from tilec.isa import LANES
from tilec.layout.taking import Taking, taking

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering
from .rearrangement import rearranged
from .registers import fragment, packing
from .shuffles import butterfly_word, by_words


class Takes:
    """Lowering of the elements taken in one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def take(self, op: TakeOp, expansion: Expansion) -> list[Values]:
        """`tile.take`: which register is static, and the lane is the same for all registers."""
        tile = fragment(op.source)
        packed = packing(tile)
        steps = taking(tile.layout, op.axis.value, op.keep.value, op.flip.value)
        sent = rearranged(expansion.values(op.source), packed, steps.registers, packed)
        if steps.keep == LANES - 1 and not steps.flip:
            return [sent]
        read = partial(self._word, steps)
        got: dict[Value, Value] = {}
        for value in sent:  # of which several may be the same
            if value not in got:
                got[value] = by_words(value, packed.bits, read)
        return [[got[value] for value in sent]]

    def _word(self, steps: Taking, word: Value) -> Value:
        """The i32 of the lane that it is taken from."""
        if steps.keep == LANES - 1:
            return butterfly_word(word, steps.flip)
        lane = self._kernel.once(lane_of, steps.keep, steps.flip)
        return nvvm.shfl_sync(Shuffle.IDX, word, lane)


def lane_of(kernel: Lowering, keep: int, flip: int) -> Value:
    """The lane `(lane & keep) ^ flip`, i32."""
    lane = arith.index_cast(kernel.thread.number("lane"), i32())
    return llvm.xor(llvm.and_(lane, constant_i32(keep)), constant_i32(flip))
