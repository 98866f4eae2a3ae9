"""`tile.load`, `tile.store` and `tile.alloc_shared`: each lane's elements, as wide as they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.isa import TilecError
from tilec.layout import LinearLayout
from tilec.layout.access import Access, vector_access
from tilec.mlir import dialect, ir

from ..emit import create
from ..expansion import Expansion, Values
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import Packing, bitcast, elements, packing, registers_of
from .shared_memory import SharedAccess, shared_access

VECTOR_BYTES = 16
"""The widest access of one thread."""


class Memory:
    """Lowering of loads and stores of one kernel's fragments."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def load(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.load` of a fragment."""
        whole = _fragment(op.results[0])
        tile = stored_tile(whole, transposed="transposed" in op.attributes)
        source, *indices = op.operands
        moves = _Moves(self._kernel, op, tile, source, expansion.one(source), indices)
        packed = packing(tile)
        loaded: dict[int, Any] = {}
        for registers, place in moves.steps:
            loaded |= zip(registers, moves.load(place, packed.element), strict=True)
        values = [loaded[moves.copy_of(r)] for r in range(tile.registers)]
        type_ = packing(whole).type
        return [[bitcast(value, type_) for value in registers_of(values, packed)]]

    def store(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.store` of a fragment."""
        value, target, *indices = op.operands
        tile = stored_tile(_fragment(value), transposed="transposed" in op.attributes)
        packed = packing(tile)
        moves = _Moves(self._kernel, op, tile, target, expansion.one(target), indices)
        held = elements([bitcast(v, packed.type) for v in expansion.values(value)], packed)
        for registers, place in moves.steps:
            moves.store(place, [held[r] for r in registers])
        return []


def _fragment(value: Any) -> TileValue:
    tile = tile_value(value.type)
    if tile is None or not tile.is_fragment:
        raise TilecError("works on fragments here: run tile-to-fragments first")
    return tile


class _Moves:
    """The accesses of one load or store, each as wide as layout and alignment allow.

    Attributes:
        steps: of each access, the registers that it moves and the place of the first.
    """

    def __init__(
        self,
        kernel: Kernel,
        op: Any,
        tile: TileValue,
        memref: Any,
        lowered: Any,
        indices: list[Any],
    ) -> None:
        self._bits = bits_of(tile.element)
        self._layout = in_memory(tile, transposed="transposed" in op.attributes)
        self._masked = "masked" in op.attributes
        lane = self._layout.restrict(ins=("lane",))
        self._memory: SharedAccess | GlobalAccess
        if isinstance(memref.type.memory_space, SharedAttr):
            shape = tuple(memref.type.shape)
            buffer = shared_buffer(memref.type)
            shared = shared_access(kernel, lowered, buffer, indices, shape, lane, "lane")
            offsets = self._layout.then(buffer.layout)
            aligned, self._memory = shared.alignment(), shared
        else:
            self._memory = GlobalAccess(kernel, memref, indices, lane, "lane")
            offsets = _row_by_row(self._layout)
            aligned = self._memory.alignment(vector_of(op))
        limit = min(aligned * self._bits // 8, VECTOR_BYTES)
        access = vector_access(
            offsets, self._bits, store=op.operation.name == "tile.store", widest=limit
        )
        assert access is not None
        self._width = access.width * 8 // self._bits
        places = [self._layout(register=r) for r in range(tile.registers)]
        self.steps = [(registers, places[registers[0]]) for registers in _registers(access)]
        moved = {places[r]: r for registers, _ in self.steps for r in registers}
        self._copies = [moved[place] for place in places]

    def copy_of(self, register: int) -> int:
        """The register that holds the same element and is moved; itself, unless it is a copy."""
        return self._copies[register]

    def load(self, place: tuple[int, ...], element: Any) -> list[Any]:
        """The elements from `place` on."""
        packed = Packing(element, self._width, 1)
        pointer = self._memory.pointer(place)

        def read() -> Any:
            return create("llvm.load", [pointer], packed.type, alignment=self._alignment())

        value = self._guarded(place, read, packed.type) if self._masked else read()
        return elements([value], packed)

    def store(self, place: tuple[int, ...], values: list[Any]) -> None:
        """Write elements from `place` on."""
        (value,) = registers_of(values, Packing(values[0].type, self._width, 1))
        operands = [value, self._memory.pointer(place)]

        def write() -> None:
            attributes = {"alignment": self._alignment()}
            ir.Operation.create("llvm.store", operands=operands, attributes=attributes)

        if not self._masked:
            write()
            return
        scf = dialect("scf")
        branch = scf.IfOp(self._inside(place))
        with ir.InsertionPoint(branch.then_block):
            write()
            scf.YieldOp([])

    def _alignment(self) -> Any:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self._width * self._bits // 8)

    def _inside(self, place: tuple[int, ...]) -> Any:
        assert isinstance(self._memory, GlobalAccess)
        return self._memory.inside(place)

    def _guarded(self, place: tuple[int, ...], read: Callable[[], Any], type_: Any) -> Any:
        """What `read` emits where the place is inside, else zero."""
        scf = dialect("scf")
        branch = scf.IfOp(self._inside(place), [type_], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([read()])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([create("llvm.mlir.zero", [], type_)])
        return branch.results[0]


def _row_by_row(layout: LinearLayout) -> LinearLayout:
    """-> offset, in elements, as if the tile lay alone in memory, row by row."""
    fastest_first = tuple(reversed(layout.out_sizes))
    return layout.reorder(tuple(layout.in_sizes), fastest_first).flatten_outs("offset")


def _registers(access: Access) -> list[list[int]]:
    """The registers that each instruction moves, low to high."""
    sizes = access.registers.in_sizes
    return [
        [access.registers(element=e, instruction=n)[0] for e in range(sizes["element"])]
        for n in range(sizes["instruction"])
    ]
