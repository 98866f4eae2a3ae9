"""Loads, stores, gathers and scatters of fragments: each lane's elements, as wide as they lie."""

from __future__ import annotations

from itertools import count

from tilec.dialects.tile.ops import GatherOp, LoadOp, ScatterOp, StoreOp
from tilec.dialects.tile.stored import stored_tile
from tilec.ir.aliases import Value
from tilec.ir.ops import llvm

from ..fragments.expansion import Expansion, Values
from . import predicated
from .fragment_access import FragmentAccess, access_of
from .lowering import Lowering
from .rearrangement import rearranged, repacked
from .registers import Packing, bitcast, fragment, packing


class Memory:
    """Lowering of what moves one kernel's fragments from and to memory."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel

    def load(self, op: LoadOp | GatherOp, expansion: Expansion) -> list[Values]:
        """`tile.load` or `tile.gather` of a fragment."""
        whole = fragment(op.tile)
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        access = access_of(self._kernel, op, tile, expansion, loads=True)
        self._kernel.accesses.note(op, access.alignment)
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

    def store(self, op: StoreOp | ScatterOp, expansion: Expansion) -> list[Values]:
        """`tile.store` or `tile.scatter` of a fragment."""
        value = op.tile
        whole = fragment(value)
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        access = access_of(self._kernel, op, tile, expansion, loads=False)
        self._kernel.accesses.note(op, access.alignment)
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
