"""`tile.load` and `tile.store` of fragments: each lane's elements, as wide as they lie."""

from __future__ import annotations

from itertools import count

from tilec.dialects.tile.ops import LoadOp, StoreOp
from tilec.dialects.tile.stored import stored_tile
from tilec.ir.aliases import Value
from tilec.ir.ops import llvm

from ..fragments.expansion import Expansion, Values
from . import predicated
from .fragment_access import FragmentAccess
from .lowering import Lowering
from .rearrangement import rearranged, repacked
from .registers import Packing, bitcast, fragment, packing


class Memory:
    """Lowering of loads and stores of one kernel's fragments."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def load(self, op: LoadOp, expansion: Expansion) -> list[Values]:
        """`tile.load` of a fragment."""
        whole = fragment(op.tile)
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        source, indices = op.source, op.indices
        access = FragmentAccess(
            self._kernel, op, tile, source, expansion.one(source), indices, loads=True
        )
        packed = packing(tile)
        moved = access.packing(packed.element)
        words: list[Value] = []
        at: dict[int, int] = {}  # where a register's element is among those of the words
        for registers, place in access.steps:
            at |= zip(registers, count(len(words) * moved.per_register), strict=False)
            words += _load(access, place, moved)
        order = [at[access.copy_of(r)] for r in range(tile.registers)]
        stored = Packing.dense(packing(whole).element, whole.registers)
        values = [bitcast(v, stored.type) for v in rearranged(words, moved, order, packed)]
        return [repacked(values, stored, packing(whole))]

    def store(self, op: StoreOp, expansion: Expansion) -> list[Values]:
        """`tile.store` of a fragment."""
        value, target, indices = op.tile, op.target, op.indices
        whole = fragment(value)
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        access = FragmentAccess(
            self._kernel, op, tile, target, expansion.one(target), indices, loads=False
        )
        stored = Packing.dense(packing(whole).element, whole.registers)
        packed = packing(tile)
        held = [
            bitcast(v, packed.type)
            for v in repacked(expansion.values(value), packing(whole), stored)
        ]
        moved = access.packing(packed.element)
        words = [rearranged(held, packed, registers, moved) for registers, _ in access.steps]
        for parts, (_, place) in zip(words, access.steps, strict=True):
            _store(access, place, parts, moved)
        return []


def _load(access: FragmentAccess, place: tuple[int, ...], moved: Packing) -> list[Value]:
    """The registers of one access; zeros where its predicate is false."""
    address, predicate = access.address(place), access.predicate(place)
    if predicate is not None:
        return predicated.load(address, moved, predicate)
    return [llvm.load(address.value(), moved.type, access.alignment)]


def _store(
    access: FragmentAccess, place: tuple[int, ...], registers: list[Value], moved: Packing
) -> None:
    """Store registers by one access."""
    address, predicate = access.address(place), access.predicate(place)
    if predicate is not None:
        predicated.store(address, registers, moved, predicate)
        return
    (word,) = registers
    llvm.store(word, address.value(), access.alignment)
