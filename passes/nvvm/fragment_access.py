"""Where a fragment lies in memory, and the accesses that move it, as wide as they may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.memory import MemoryOp, vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import check_addressable
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.ir.aliases import Number, Value
from tilec.ir.types import memref_of
from tilec.layout import LinearLayout
from tilec.layout.access import Access, vector_access

from ..fragments.expansion import Expansion
from .addresses import Address
from .global_memory import GlobalAccess
from .indexed_memory import Elements, IndexedAccess
from .lowering import Lowering
from .registers import Packing, elements, packing_of
from .shared_memory import SharedAccess, shared_access

VECTOR_BYTES = 16
"""The widest access of one thread."""
_NONE: Mapping[int, Elements] = MappingProxyType({})


class FragmentAccess:
    """The accesses of one op to memory, each as wide as layout and alignment allow.

    Args:
        kernel: the kernel.
        op: the op, with the attributes of `tile.load`.
        tile: the fragment, in units of what memory holds.
        memref: the memory.
        lowered: what stands for it.
        indices: of the fragment's origin.
        offsets: by dimension, how far each element lies from the index, where they are not
            consecutive.
        mask: whether each element is moved; None if all are.
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
        kernel: Lowering,
        op: TileOp,
        tile: TileValue,
        memref: Value,
        lowered: Value,
        indices: Sequence[Value],
        *,
        offsets: Mapping[int, Elements] = _NONE,
        mask: Elements | None = None,
        loads: bool,
        widest: int = VECTOR_BYTES,
    ) -> None:
        self._kernel = kernel
        bits = bits_of(tile.element)
        self._layout = in_memory(tile, transposed="transposed" in op.attributes)
        self._masked = "masked" in op.attributes
        check_addressable(tile.layout)
        lane = _by_lane(self._layout)
        self._memory: SharedAccess | GlobalAccess | IndexedAccess
        type_ = memref_of(memref)
        if isinstance(type_.memory_space, SharedAttr):
            shape = tuple(type_.shape)
            buffer = shared_buffer(type_)
            shared = shared_access(kernel, lowered, buffer, indices, shape, lane, "lane")
            memory: LinearLayout | None = buffer.layout
            aligned, self._memory = shared.alignment(), shared
        else:
            if offsets or mask is not None:
                self._memory = IndexedAccess(kernel, memref, indices, offsets, mask, self._layout)
            else:
                self._memory = GlobalAccess(kernel, memref, indices, lane, "lane")
            memory = None
            aligned = self._memory.alignment(vector_of(op))
        self._copies_of_lanes = 0 if loads else self._layout.free("lane")
        self._guarded = self._masked or mask is not None or self._copies_of_lanes != 0
        limit = min(aligned * bits // 8, widest)
        moves = _moves(self._layout, memory, bits, limit, store=not loads)
        self.width = moves.bytes * 8 // bits
        self.alignment = moves.bytes
        self.steps = moves.steps
        self._copies = moves.copies
        if isinstance(self._memory, GlobalAccess):
            self._memory.expect(place for _, place in self.steps)

    def copy_of(self, register: int) -> int:
        """The register that holds the same element and is moved; itself, unless it is a copy."""
        return self._copies[register]

    @property
    def copies_of_lanes(self) -> int:
        """Bits of the lane's number that tell copies apart, of which the first alone stores."""
        return self._copies_of_lanes

    def packing(self, element: Number) -> Packing:
        """How the elements of one access lie in registers: one, but of those with a predicate."""
        if self._guarded:
            return Packing.dense(element, self.width)
        return Packing(element, self.width, 1)

    def address(self, place: tuple[int, ...]) -> Address:
        """The address of this lane's elements from `place` on."""
        return self._memory.address(place)

    def predicate(self, place: tuple[int, ...]) -> Value | None:
        """Whether this lane moves its elements from `place` on, an i1; None if it does anyway.

        Masked, it does those in bounds. Of lanes that hold the same elements, only the first stores
        them: writes of several to one place are a race, whatever they write.
        """
        if not self._guarded:
            return None
        copies = self._copies_of_lanes
        first = [self._kernel.first_of_copies("lane", copies)] if copies else []
        if isinstance(self._memory, IndexedAccess):
            return self._memory.inside(place, first, bounds=self._masked)
        if not self._masked:
            return first[0]
        assert isinstance(self._memory, GlobalAccess)
        return self._memory.inside(place, *first)


def access_of(
    kernel: Lowering,
    op: MemoryOp,
    tile: TileValue,
    expansion: Expansion,
    *,
    loads: bool,
    widest: int = VECTOR_BYTES,
) -> FragmentAccess:
    """The accesses of an op on a fragment.

    Args:
        kernel: the kernel.
        op: the op.
        tile: the fragment, in units of what memory holds.
        expansion: has what stands for the op's operands.
        loads: whether memory is only read.
        widest: bytes that an access may move.
    """
    own = {v: elements(expansion.values(v), packing_of(v)) for v in op.by_element}
    offsets = zip(op.along, op.offsets, strict=True)
    return FragmentAccess(
        kernel,
        op,
        tile,
        op.memref,
        expansion.one(op.memref),
        op.indices,
        offsets={dim: own[tile] for dim, tile in offsets},
        mask=None if op.mask is None else own[op.mask],
        loads=loads,
        widest=widest,
    )


class _Moves(NamedTuple):
    """How accesses share a fragment.

    Attributes:
        bytes: those of an access.
        steps: of each access, the registers that it moves and the place of the first.
        copies: of each register, that which holds the same element and is moved.
    """

    bytes: int
    steps: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    copies: tuple[int, ...]


@lru_cache(maxsize=1024)
def _moves(
    layout: LinearLayout, memory: LinearLayout | None, bits: int, widest: int, *, store: bool
) -> _Moves:
    """The accesses to a fragment.

    Args:
        layout: (register, lane, …) -> place.
        memory: place -> offset, in elements; None if rows follow each other.
        bits: bits of an element.
        widest: bytes that an access may move.
        store: whether it stores.
    """
    offsets = _row_by_row(layout) if memory is None else layout.then(memory)
    access = vector_access(offsets, bits, store=store, widest=widest)
    assert access is not None
    places = [layout(register=r) for r in range(layout.in_size("register"))]
    steps = tuple((registers, places[registers[0]]) for registers in _registers(access))
    moved = {places[r]: r for registers, _ in steps for r in registers}
    return _Moves(access.width, steps, tuple(moved[place] for place in places))


@lru_cache(maxsize=1024)
def _by_lane(layout: LinearLayout) -> LinearLayout:
    """(lane) -> place, of register 0."""
    return layout.restrict(ins=("lane",))


def _row_by_row(layout: LinearLayout) -> LinearLayout:
    """-> offset, in elements, as if the tile lay alone in memory, row by row."""
    fastest_first = tuple(reversed(layout.out_sizes))
    return layout.reorder(tuple(layout.in_sizes), fastest_first).flatten_outs("offset")


def _registers(access: Access) -> list[tuple[int, ...]]:
    """The registers that each instruction moves, low to high."""
    sizes = access.registers.in_sizes
    return [
        tuple(access.registers(element=e, instruction=n)[0] for e in range(sizes["element"]))
        for n in range(sizes["instruction"])
    ]
