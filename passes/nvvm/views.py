"""`tile.expand`, `tile.broadcast`, `tile.transpose`, `tile.reshape`, `tile.iota` of fragments."""

from __future__ import annotations

from typing import Any

from tilec.layout import LinearLayout
from tilec.layout.plans import whole_words
from tilec.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .kernel import Kernel
from .memory import fragment
from .registers import Packing, elements, packing, registers_of


def view(op: Any, expansion: Expansion) -> list[Values]:
    """A view: registers under other names."""
    source, result = fragment(op.operands[0]), fragment(op.results[0])
    held = expansion.values(op.operands[0])
    order = op.renaming(source, result)
    return [renamed(held, packing(source), order, packing(result))]


def renamed(held: list[Any], before: Packing, order: LinearLayout, after: Packing) -> list[Any]:
    """Registers of elements taken from others.

    Args:
        held: registers.
        before: how elements lie in them.
        order: register of the result -> register of the source, both in elements.
        after: how elements lie in the result's registers.
    """
    together = before.per_register
    taken = [order(register=r)[0] for r in range(order.in_sizes["register"])]
    if together == after.per_register and whole_words(order, together):
        return [held[register // together] for register in taken[::together]]
    own = elements(held, before)
    return registers_of([own[register] for register in taken], after)


class Iotas:
    """Lowering of the indices of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def iota(self, op: Any, _: Expansion) -> list[Values]:
        """`tile.iota`: what the lane adds to the index, changed by each register's bits."""
        tile = fragment(op.results[0])
        packed = packing(tile)
        axis = list(tile.layout.out_sizes)[int(op.attributes["axis"].value)]
        along = tile.layout.restrict(outs=[axis])
        own = along.restrict(ins=["register"])
        numbers = [own(register=r)[0] for r in range(tile.registers)]
        (place,) = self._kernel.places(along, "lane")
        base = create("arith.index_castui", [place], packed.element)
        values = []
        for number in numbers:
            constant = ir.IntegerAttr.get(packed.element, number)
            changed = create("llvm.mlir.constant", [], packed.element, value=constant)
            values.append(create("llvm.xor", [base, changed], packed.element) if number else base)
        return [registers_of(values, packed)]
