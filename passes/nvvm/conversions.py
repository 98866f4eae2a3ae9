"""`tile.convert_layout` within a warp: renamed registers, `movmatrix`, or shuffles.

The plan is computed by `tilec.layout.conversion`; here it is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.ops import ConvertLayoutOp
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm, nvvm
from tilec.ir.ops.arith import CmpI
from tilec.ir.ops.llvm import constant_i32
from tilec.ir.ops.nvvm import Shuffle
from tilec.ir.types import i32, number_of
from tilec.isa import LANES, MovMatrix, TilecError, forms_of
from tilec.layout import LinearLayout
from tilec.layout.conversion import conversion_plans
from tilec.layout.gf2 import Echelon, combine
from tilec.layout.plans import Nothing, Permutation, Shuffles, Transposition

from ..emit import index_constant
from ..fragments.expansion import Expansion, Values
from .lowering import Lowering
from .rearrangement import order_of, rearranged
from .registers import (
    Packing,
    bitcast,
    elements,
    packing,
    registers_of,
)
from .shuffles import butterfly_word, by_words


class Conversions:
    """Lowering of the layout conversions of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def convert(self, op: ConvertLayoutOp, expansion: Expansion) -> list[Values]:
        """`tile.convert_layout` of a fragment."""
        source, result = tile_value(op.source.type), tile_value(op.result.type)
        assert source is not None
        assert result is not None
        if not source.is_fragment:
            raise TilecError("works on fragments here: run tile-to-fragments first")
        offered = conversion_plans(
            source.layout, result.layout, bits_of(source.element), self._kernel.target
        )
        before, after = packing(source), packing(result)
        held = expansion.values(op.source)
        for plan in offered:
            match plan:
                case Nothing():
                    return [held]
                case Permutation():
                    return [rearranged(held, before, order_of(plan.registers), after)]
                case Transposition():
                    return [self._transpose(plan, held, after)]
                case Shuffles():
                    return [registers_of(self._shuffle(plan, elements(held, before)), after)]
        raise TilecError("cannot be done within a warp")

    def _transpose(self, plan: Transposition, held: list[Value], after: Packing) -> list[Value]:
        (form,) = forms_of(MovMatrix)
        moved: dict[int, Value] = {}
        values = []
        for word in range(after.registers):
            (source,) = plan.words(word=word)
            if source not in moved:
                instruction = self._kernel.call_of(form)
                (moved[source],) = self._kernel.call(instruction, [held[source]])
            values.append(bitcast(moved[source], after.type))
        return values

    def _shuffle(self, plan: Shuffles, held: list[Value]) -> list[Value]:
        """The elements of the result, from those of the source."""
        rounds = plan.read.in_sizes["round"]
        together = plan.send.in_sizes["element"]
        received: dict[int, Value] = {}
        for number in range(rounds):
            word = [
                self._pick(plan.send, {"element": e, "round": number}, dict(enumerate(held)))
                for e in range(together)
            ]
            for e, value in enumerate(self._exchange(plan, number, word)):
                (register,) = plan.receive(element=e, round=number)
                received[register] = value
        # A lane places what it read in registers that depend on the lane, linearly: so each
        # register takes its element from the one that far away.
        size = plan.receive.out_sizes["register"]
        place = LinearLayout.of(
            {
                "register": LinearLayout.identity(size, "register", "register").bases["register"],
                "lane": plan.receive.bases["lane"],
            },
            {"register": size},
        )
        filled = {r: self._pick(place, {"register": r}, received) for r in received}
        copies = plan.copies
        return [filled[copies(register=r)[0]] for r in range(copies.in_sizes["register"])]

    def _pick(
        self, layout: LinearLayout, fixed: dict[str, int], values: Mapping[int, Value]
    ) -> Value:
        """The value at index `layout(**fixed, lane=…)`, by selects on the lane."""
        (base,) = layout(**fixed)
        images = [image for (image,) in layout.bases["lane"]]
        span = Echelon()
        independent = [bit for bit, image in enumerate(images) if span.add(image)]
        steps = [images[bit] for bit in independent]
        candidates = [values[base ^ combine(n, steps)] for n in range(1 << len(steps))]
        for bit in reversed(independent):
            half = len(candidates) // 2
            low, high = candidates[:half], candidates[half:]
            candidates = low
            if low != high:
                # Lanes whose image has the step of this bit in it.
                having = [[(span.solve(image) or 0) >> bit & 1] for image in images]
                condition = self._lane_bit(LinearLayout.of({"lane": having}, {"bit": 2}))
                pairs = zip(low, high, strict=True)
                candidates = [llvm.select(condition, b, a) for a, b in pairs]
        return candidates[0]

    def _lane_bit(self, layout: LinearLayout) -> Value:
        """Whether a bit that is linear in the lane is set, an i1."""
        (bit,) = self._kernel.places(layout, "lane")
        with self._kernel.interned:
            return arith.cmpi(CmpI.NE, bit, index_constant(0))

    def _exchange(self, plan: Shuffles, number: int, word: list[Value]) -> list[Value]:
        """The elements that the lane to read from sends in a round."""
        if plan.mask(number) == 0:
            return word
        packed = Packing(number_of(word[0].type), len(word), 1)
        (whole,) = registers_of(word, packed)
        back = by_words(whole, packed.bits, lambda sent: self._read(plan, number, sent))
        return elements([back], packed)

    def _read(self, plan: Shuffles, number: int, value: Value) -> Value:
        """What another lane sends."""
        mask = plan.mask(number)
        if mask is not None:
            return butterfly_word(value, mask)
        (constant,) = plan.read(round=number)
        lanes = LinearLayout.of({"lane": plan.read.bases["lane"]}, {"lane_read": LANES})
        (lane,) = self._kernel.places(lanes, "lane")
        at = arith.index_castui(lane, i32())
        return nvvm.shfl_sync(Shuffle.IDX, value, llvm.xor(at, constant_i32(constant)))
