"""`tile.load` and `tile.store` of fragments: each lane's elements, as wide as they lie."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import TileValue, tile_value
from tilec.isa import TilecError
from tilec.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .fragment_access import FragmentAccess
from .kernel import Kernel
from .registers import Packing, bitcast, elements, packing, registers_of


class Memory:
    """Lowering of loads and stores of one kernel's fragments."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def load(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.load` of a fragment."""
        whole = fragment(op.results[0])
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        source, *indices = op.operands
        access = FragmentAccess(
            self._kernel, op, tile, source, expansion.one(source), indices, loads=True
        )
        packed = packing(tile)
        moved = Packing(packed.element, access.width, 1)
        loaded: dict[int, Any] = {}
        for registers, place in access.steps:
            pointer = access.pointer(place)

            def read(pointer: Any = pointer) -> Any:
                return create(
                    "llvm.load", [pointer], moved.type, alignment=alignment(access.alignment)
                )

            value = access.read(place, read, moved.type)
            loaded |= zip(registers, elements([value], moved), strict=True)
        values = [loaded[access.copy_of(r)] for r in range(tile.registers)]
        type_ = packing(whole).type
        return [[bitcast(value, type_) for value in registers_of(values, packed)]]

    def store(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.store` of a fragment."""
        value, target, *indices = op.operands
        tile = stored_tile(fragment(value), transposed="transposed" in op.attributes)
        packed = packing(tile)
        access = FragmentAccess(
            self._kernel, op, tile, target, expansion.one(target), indices, loads=False
        )
        held = elements([bitcast(v, packed.type) for v in expansion.values(value)], packed)
        moved = Packing(packed.element, access.width, 1)
        with access.held_once():
            for registers, place in access.steps:
                (word,) = registers_of([held[r] for r in registers], moved)
                operands = [word, access.pointer(place)]

                def write(operands: list[Any] = operands) -> None:
                    attributes = {"alignment": alignment(access.alignment)}
                    ir.Operation.create("llvm.store", operands=operands, attributes=attributes)

                access.write(place, write)
        return []


def fragment(value: Any) -> TileValue:
    """The fragment that a value is.

    Raises:
        TilecError: if it is a tile of level 2.
    """
    tile = tile_value(value.type)
    if tile is None or not tile.is_fragment:
        raise TilecError("works on fragments here: run tile-to-fragments first")
    return tile


def alignment(bytes_: int) -> Any:
    """The attribute of LLVM's loads and stores."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), bytes_)
