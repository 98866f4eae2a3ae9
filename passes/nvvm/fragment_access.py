"""Where a fragment lies in memory, and the accesses that move it, as wide as they may be."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import check_addressable
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.layout import LinearLayout
from tilec.layout.access import Access, vector_access

from .addresses import Address
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import Packing
from .shared_memory import SharedAccess, shared_access

VECTOR_BYTES = 16
"""The widest access of one thread."""


class FragmentAccess:
    """The accesses of one op to memory, each as wide as layout and alignment allow.

    Args:
        kernel: the kernel.
        op: the op, with the attributes of `tile.load`.
        tile: the fragment, in units of what memory holds.
        memref: the memory.
        lowered: what stands for it.
        indices: of the fragment's origin.
        loads: whether memory is only read.
        widest: bytes that an access may move.

    Raises:
        TilecError: if registers and lanes set bits of a place in common.

    Attributes:
        steps: of each access, the registers that it moves and the place of the first.
        width: elements of an access.
        alignment: bytes of it.
    """

    def __init__(
        self,
        kernel: Kernel,
        op: Any,
        tile: TileValue,
        memref: Any,
        lowered: Any,
        indices: list[Any],
        *,
        loads: bool,
        widest: int = VECTOR_BYTES,
    ) -> None:
        self._kernel = kernel
        bits = bits_of(tile.element)
        self._layout = in_memory(tile, transposed="transposed" in op.attributes)
        self._masked = "masked" in op.attributes
        check_addressable(tile.layout)
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
        stores_once = isinstance(self._memory, GlobalAccess) and not loads
        self._copies_of_lanes = self._layout.free("lane") if stores_once else 0
        self._guarded = self._masked or self._copies_of_lanes != 0
        limit = min(aligned * bits // 8, widest)
        access = vector_access(offsets, bits, store=not loads, widest=limit)
        assert access is not None
        self.width = access.width * 8 // bits
        self.alignment = access.width
        places = [self._layout(register=r) for r in range(tile.registers)]
        self.steps = [(registers, places[registers[0]]) for registers in _registers(access)]
        if isinstance(self._memory, GlobalAccess):
            self._memory.expect(place for _, place in self.steps)
        moved = {places[r]: r for registers, _ in self.steps for r in registers}
        self._copies = [moved[place] for place in places]

    def copy_of(self, register: int) -> int:
        """The register that holds the same element and is moved; itself, unless it is a copy."""
        return self._copies[register]

    def packing(self, element: Any) -> Packing:
        """How the elements of one access lie in registers: one, but of those with a predicate."""
        if self._guarded:
            return Packing.dense(element, self.width)
        return Packing(element, self.width, 1)

    def address(self, place: tuple[int, ...]) -> Address:
        """The address of this lane's elements from `place` on."""
        return self._memory.address(place)

    def predicate(self, place: tuple[int, ...]) -> Any:
        """Whether this lane moves its elements from `place` on, an i1; None if it does anyway.

        Masked, it does those in bounds. Of lanes that hold the same elements of global memory, only
        the first stores them.
        """
        if not self._guarded:
            return None
        assert isinstance(self._memory, GlobalAccess)
        copies = self._copies_of_lanes
        first = [self._kernel.first_of_copies("lane", copies)] if copies else []
        return self._memory.inside(place, *first) if self._masked else first[0]


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
