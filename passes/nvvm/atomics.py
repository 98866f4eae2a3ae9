"""`tile.atomic` of fragments: `red`, on as many elements at once as the target has it for."""

from __future__ import annotations

from tilec.dialects.tile.ops import AtomicOp, AtomicScatterOp
from tilec.dialects.tile.ops.atomic import state_space, updates
from tilec.dialects.tile.tiles import Element
from tilec.isa.reductions import Reduction

from ..fragments.expansion import Expansion, Values
from . import predicated
from .addresses import Address, in_space
from .fragment_access import access_of
from .lowering import Lowering
from .rearrangement import rearranged
from .registers import Packing, fragment, packing


class Atomics:
    """Lowering of the atomic updates of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def atomic(self, op: AtomicOp | AtomicScatterOp, expansion: Expansion) -> list[Values]:
        """`tile.atomic` or `tile.atomic_scatter` of a fragment."""
        value = op.tile
        tile = fragment(value)
        forms = self._forms(op.fn.value, tile.element, state_space(op.memref))
        packed = packing(tile)
        size = packed.element.width // 8
        access = access_of(self._kernel, op, tile, expansion, loads=False, widest=max(forms) * size)
        form = forms[access.width]
        held = expansion.values(value)
        moved = Packing(packed.element, access.width // form.registers, form.registers)
        for registers, place in access.steps:
            address = access.address(place)
            predicated.update(
                form.ptx,
                Address(in_space(address.pointer, op.memref.type), address.bytes),
                rearranged(held, packed, registers, moved),
                moved,
                access.predicate(place),
            )
        return []

    def _forms(self, fn: str, element: Element, space: str) -> dict[int, Reduction]:
        """The target's instructions, by their number of elements; of any target the plain one.

        Raises:
            TilecError: if it has none.
        """
        target = self._kernel.target
        found = updates(fn, element, target, space)
        return {one.elements: one for one in (found if target is not None else found[:1])}
