"""`tile.reduce` of a fragment: registers first, then the lanes that share an element.

Which registers and lanes those are `tilec.layout.reduction` computes; here it is carried out.
Narrow elements are combined as vectors, as many at once as a register holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.ops import ReduceOp
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.aliases import Value
from tilec.ir.creation import create
from tilec.ir.ops import nvvm
from tilec.ir.ops.nvvm import Redux
from tilec.isa import LANES
from tilec.layout.gf2 import Echelon, combine
from tilec.layout.plans import whole_words
from tilec.layout.reduction import Exchange, Reduction, reduction
from tilec.layout.views import register_map

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering
from .rearrangement import order_of, rearranged
from .registers import Packing, elements, fragment, packing, registers_of
from .shuffles import butterfly

_REDUX = {
    "arith.addi": Redux.ADD,
    "arith.andi": Redux.AND,
    "arith.maxsi": Redux.MAX,
    "arith.maxui": Redux.UMAX,
    "arith.minsi": Redux.MIN,
    "arith.minui": Redux.UMIN,
    "arith.ori": Redux.OR,
    "arith.xori": Redux.XOR,
}
"""What `redux.sync` does to 32-bit integers."""


class Reductions:
    """Lowering of the reductions of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        target = kernel.target
        self._has_redux = target is not None and target.has_redux

    def reduce(self, op: ReduceOp, expansion: Expansion) -> list[Values]:
        """`tile.reduce`."""
        source = fragment(op.source)
        plan = reduction(source.layout, op.axis.value)
        before = packing(source)
        # Dense, to exchange as few words as there are.
        after = Packing.dense(before.element, plan.result.in_sizes["register"])
        steps = _Steps(op.fn.value, after)
        values = steps.registers(expansion.values(op.source), plan, before)
        if self._has_redux and steps.is_redux(plan):
            values = [steps.redux(value) for value in values]
        else:
            for exchange in plan.exchanges:
                values = steps.exchange(values, exchange)
        result = tile_value(op.result.type)
        if result is None:  # a scalar
            return [elements(values, after)]
        order = register_map(plan.result, result.layout)
        assert order is not None  # verified
        return [rearranged(values, after, order_of(order), packing(result))]


class _Steps:
    """The steps of one reduction.

    Args:
        fn: the upstream op that combines two elements.
        packed: how the elements of the result lie in registers.
    """

    def __init__(self, fn: str, packed: Packing) -> None:
        self._fn = fn
        self._packed = packed

    def registers(self, held: list[Value], plan: Reduction, before: Packing) -> list[Value]:
        """What each lane makes of its own registers: one value a register of the result."""
        together = 1 if before.is_sub_byte else before.per_register
        values = elements(held, before) if together < before.per_register else held
        whole, inside = _apart(plan.registers, together)
        words = _sums([difference // together for difference in whole])
        combined: dict[int, Value] = {}

        def word(register: int) -> Value:
            """The register's word, combined with all words it goes together with."""
            number = register // together
            first = min(number ^ step for step in words)
            if first not in combined:
                combined[first] = self._tree([values[first ^ step] for step in words])
            return combined[first]

        kept = order_of(plan.kept)
        size = self._packed.per_register
        if not inside and size == together and whole_words(plan.kept, together):
            return [word(register) for register in kept[::together]]
        taken: dict[Value, list[Value]] = {}

        def element(register: int) -> Value:
            whole = word(register)
            if whole not in taken:
                taken[whole] = elements([whole], Packing(before.element, together, 1))
            return taken[whole][register % together]

        own = [self._tree([element(r ^ step) for step in _sums(inside)]) for r in kept]
        return registers_of(own, self._packed)

    def exchange(self, values: list[Value], exchange: Exchange) -> list[Value]:
        """Combine with what the lane of an exchange has."""
        packed = self._packed
        order = [r ^ exchange.registers for r in range(len(values) * packed.per_register)]
        sent = rearranged(values, packed, order, packed)
        got = [butterfly(value, packed.bits, exchange.mask) for value in sent]
        return [self._combine(a, b) for a, b in zip(values, got, strict=True)]

    def is_redux(self, plan: Reduction) -> bool:
        """Whether `redux.sync` does all the exchanges: all lanes, each word with the same one."""
        return (
            self._fn in _REDUX
            and self._packed.element.width == 32
            and 1 << len(plan.exchanges) == LANES
            and not any(exchange.registers for exchange in plan.exchanges)
        )

    def redux(self, value: Value) -> Value:
        """`redux.sync` over the warp."""
        return nvvm.redux_sync(_REDUX[self._fn], value)

    def _tree(self, values: list[Value]) -> Value:
        """All combined, by pairs: short chains, and sums of floats that lose little."""
        while len(values) > 1:
            half = len(values) // 2
            pairs = zip(values[:half], values[half:], strict=True)
            values = [self._combine(a, b) for a, b in pairs]
        return values[0]

    def _combine(self, a: Value, b: Value) -> Value:
        packed = self._packed
        if a.type == packed.element or not packed.is_sub_byte:
            return create(self._fn, [a, b], a.type)
        pairs = zip(elements([a], packed), elements([b], packed), strict=True)
        (both,) = registers_of(
            [create(self._fn, list(pair), packed.element) for pair in pairs], packed
        )
        return both


def _apart(differences: Sequence[int], together: int) -> tuple[list[int], list[int]]:
    """A basis of the same registers: differences of whole words, and those inside them."""
    low = Echelon()
    inside = [difference for difference in differences if low.add(difference % together)]
    return [combine(selector, differences) for selector in low.kernel], inside


def _sums(basis: Sequence[int]) -> list[int]:
    """Every sum of a basis."""
    return [combine(selector, basis) for selector in range(1 << len(basis))]
