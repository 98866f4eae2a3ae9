"""`tile.atomic_rmw` and `tile.atomic_cas` of fragments: `atom`, an element at a time."""

from __future__ import annotations

from tilec.dialects.tile.ops.atomic_rmw import FetchingOp
from tilec.ir.aliases import Value
from tilec.ir.ops import nvvm
from tilec.ir.ops.nvvm import Shuffle
from tilec.isa import LANES

from ..fragments.expansion import Expansion, Values
from . import predicated
from .addresses import Address, in_space
from .fragment_access import access_of
from .lowering import Lowering
from .registers import Packing, elements, fragment, packing, registers_of
from .shuffles import by_words
from .takes import lane_of


class Fetches:
    """Lowering of the atomic operations of one kernel that give what memory held."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def fetch(self, op: FetchingOp, expansion: Expansion) -> list[Values]:
        """An operation on a fragment."""
        tile = fragment(op.tile)
        packed = packing(tile)
        width = packed.element.width
        access = access_of(self._kernel, op, tile, expansion, loads=False, widest=width // 8)
        name = op.instruction(self._kernel.target).ptx(op.order, op.scope, op.space)
        given = [elements(expansion.values(value), packed) for value in op.values]
        one = Packing(packed.element, 1, 1)
        got: dict[int, Value] = {}
        for (register, *_), place in access.steps:
            address = access.address(place)
            where = Address(in_space(address.pointer, op.memref.type), address.bytes)
            operands = [held[register] for held in given]
            old = predicated.fetch(name, where, operands, one, access.predicate(place))
            got[register] = self._from_first(old, width, access.copies_of_lanes)
        values = [got[access.copy_of(r)] for r in range(tile.registers)]
        return [registers_of(values, packed)]

    def _from_first(self, value: Value, width: int, copies: int) -> Value:
        """What the first of the lanes got that hold copies of an element."""
        if not copies:
            return value
        lane = self._kernel.once(lane_of, LANES - 1 & ~copies, 0)
        return by_words(value, width, lambda word: nvvm.shfl_sync(Shuffle.IDX, word, lane))
