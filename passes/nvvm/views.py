"""`tile.expand`, `tile.broadcast`, `tile.transpose`, `tile.reshape`, `tile.iota` of fragments."""

from __future__ import annotations

from tilec.dialects.tile.ops import IotaOp
from tilec.dialects.tile.ops.views import ViewOp
from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering
from .rearrangement import order_of, rearranged
from .registers import fragment, packing, registers_of


def view(op: ViewOp, expansion: Expansion) -> list[Values]:
    """A view: registers under other names."""
    source, result = fragment(op.operands[0]), fragment(op.results[0])
    held = expansion.values(op.operands[0])
    order = order_of(op.renaming(source, result))
    return [rearranged(held, packing(source), order, packing(result))]


class Iotas:
    """Lowering of the indices of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def iota(self, op: IotaOp, _: Expansion) -> list[Values]:
        """`tile.iota`: what the lane adds to the index, changed by each register's bits."""
        tile = fragment(op.results[0])
        packed = packing(tile)
        axis = list(tile.layout.out_sizes)[op.axis.value]
        along = tile.layout.restrict(outs=[axis])
        (place,) = self._kernel.places(along, "lane")
        base = arith.index_castui(place, packed.element)
        values: list[Value] = []
        for number in order_of(along):
            changed = llvm.constant(packed.element, number)
            values.append(llvm.xor(base, changed) if number else base)
        return [registers_of(values, packed)]
