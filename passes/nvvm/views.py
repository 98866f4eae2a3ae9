"""`tile.expand`, `tile.broadcast`, `tile.transpose`, `tile.reshape`, `tile.iota` of fragments."""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .kernel import Kernel
from .rearrangement import order_of, rearranged
from .registers import fragment, packing, registers_of


def view(op: Any, expansion: Expansion) -> list[Values]:
    """A view: registers under other names."""
    source, result = fragment(op.operands[0]), fragment(op.results[0])
    held = expansion.values(op.operands[0])
    order = order_of(op.renaming(source, result))
    return [rearranged(held, packing(source), order, packing(result))]


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
        (place,) = self._kernel.places(along, "lane")
        base = create("arith.index_castui", [place], packed.element)
        values = []
        for number in order_of(along):
            constant = ir.IntegerAttr.get(packed.element, number)
            changed = create("llvm.mlir.constant", [], packed.element, value=constant)
            values.append(create("llvm.xor", [base, changed], packed.element) if number else base)
        return [registers_of(values, packed)]
