"""`tile.load`, `tile.store` and their kin: tiles and fragments from and to memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import EllipsisType

import numpy as np
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.dialects.tile.ops.matrix_memory import matrix_form
from tilec.dialects.tile.tiles import PlainTile
from tilec.interpret.call import Call
from tilec.interpret.memory import View, dtype_of, packed, unpacked
from tilec.interpret.numbers import BYTE, Array, Number
from tilec.interpret.places import Tile, find_places, held, holders, is_fragment, touched
from tilec.interpret.registry import meaning
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import Family


@meaning("tile.alloc_shared")
def _alloc(call: Call) -> View:
    known = call.cta.buffers
    if call.node not in known:
        type_ = ir.MemRefType(call.result_type())
        offset = call.integer("offset") if call.has("offset") else None
        known[call.node] = call.cta.shared.allocate(type_, offset, call.arithmetic)
    found: View = known[call.node]
    return found


class Access:
    """What a tile's op does to memory.

    Attributes:
        tile: the tile.
        number: its element type.
        places: of the elements in memory, in elements of the memory.
        inside: which are inside, and meant to be touched.
    """

    def __init__(self, call: Call, type_: Type, view: View, indices: Sequence[Array]) -> None:
        tile = call.tile(type_)
        assert tile is not None
        self.call, self.view, self.tile = call, view, tile
        self.number: Number = call.number(type_)
        self.transposed = call.has("transposed")
        self.each = is_fragment(tile)
        self._axis = -2 if self.transposed and len(tile.shape) > 1 else -1
        self.as_bytes = view.buffer.number == BYTE and self.number != BYTE
        self.places, inside = find_places(
            call, view, indices, self._shape(tile.shape), each=self.each, transposed=self.transposed
        )
        # Of what shares a byte a lane holds the whole byte.
        self.inside = touched(call, tile, inside, held(tile) if self.number.bits >= 8 else None)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The tile in elements of the memory."""
        found = list(shape)
        if self.number.bits < 8:
            found[self._axis] //= 8 // self.number.bits
        return tuple(found)

    def read(self) -> Array:
        """The elements; zero where they are not read."""
        data = self.view.buffer.data
        self._watch(None)
        found = data[self.places]
        found = np.where(self.inside, found, np.zeros((), data.dtype))
        if self.as_bytes:
            return unpacked(found, self.number, self.call.arithmetic, self._axis)
        return self._as_tile(found)

    def write(self, values: Array) -> None:
        """Set the elements."""
        if self.as_bytes:
            values = packed(values, self.number, self.call.arithmetic, self._axis)
        values = np.broadcast_to(values, self.places.shape)
        self._watch(values)
        data = self.view.buffer.data
        data[self.places[self.inside]] = values[self.inside].astype(data.dtype)

    def _as_tile(self, found: Array) -> Array:
        """Values of the memory's type as the tile's."""
        old = self.view.buffer.number
        if old.is_float and old != self.number and not is_kept(old, self.number):
            return self.call.arithmetic.convert(found, old, self.number)
        return found.astype(dtype_of(self.number, self.call.arithmetic), copy=False)

    def _watch(self, values: Array | None) -> None:
        """Tell shared memory who touches what."""
        if self.view.buffer.shared < 0:
            return
        if self.each:
            for warp in np.flatnonzero(self.call.warps):
                self._touch(int(warp), np.asarray(np.uint64(1 << int(warp))), values)
        else:
            self._touch(..., _warps_of(self.tile, self.view, self.as_bytes), values)

    def _touch(self, part: int | EllipsisType, warps: Array, values: Array | None) -> None:
        inside, places = self.inside[part], self.places[part]
        who = warps[inside] if warps.ndim else warps
        shared, buffer = self.call.cta.shared, self.view.buffer
        if values is None:
            shared.read(buffer, places[inside], who, self.call.report)
        else:
            new = values[part][inside]
            shared.write(buffer, places[inside], who, new, self.call.report)


def is_kept(memory: Number, tile: Number) -> bool:
    """Whether a tile has the very bits of memory: a tf32 is an f32, of which products take less."""
    return memory.name == "f32" and tile.name == "tf32"


def _warps_of(tile: Tile, view: View, as_bytes: bool) -> Array:
    """Which warps hold each element; one for all where that is not known, or makes no difference.

    Tiles go to arrays in program order, for which `tile-order-memory` cares, whoever holds them.
    """
    if isinstance(tile, PlainTile) or as_bytes or view.buffer.is_array:
        return np.asarray(np.uint64(1))
    return holders(tile)


@meaning("tile.load", "tile.ldmatrix")
def _load(call: Call, view: View, *indices: Array) -> Array:
    if call.node.name == "tile.ldmatrix" and call.fact("unpacks", lambda: _unpacks(call)):
        call.unknown("a form that unpacks elements")
    return Access(call, call.result_type(), view, indices).read()


def _unpacks(call: Call) -> bool:
    return matrix_form(call.word("form"), Family.LDMATRIX).source is not None


@meaning("tile.store", "tile.stmatrix")
def _store(call: Call, values: Array, view: View, *indices: Array) -> None:
    Access(call, call.operand_type(0), view, indices).write(values)


def indexed_access(
    call: Call, view: View, rest: Sequence[Array], tile: Tile
) -> tuple[Array, Array]:
    """Places of a tile whose elements have indices of their own, and which are touched.

    Args:
        call: a `tile.gather` or one of its kin.
        view: the memory.
        rest: its operands after tile and memory: indices, offsets, condition.
        tile: what is moved.
    """
    op = call.op
    assert isinstance(op, IndexedOp)
    along = call.fact("along", lambda: op.along)
    counts = call.fact("counts", lambda: (len(op.indices), len(op.offsets)))
    indices, offsets = rest[: counts[0]], rest[counts[0] : sum(counts)]
    condition = rest[sum(counts) :]
    by_dimension = dict(zip(along, offsets, strict=True))
    places, inside = find_places(
        call, view, indices, tile.shape, each=is_fragment(tile), offsets=by_dimension
    )
    meant = held(tile)
    if condition:
        meant = condition[0] if meant is None else condition[0] & meant
    return places, touched(call, tile, inside, meant)


def touches_of(
    call: Call, view: View, tile: Tile, inside: Array
) -> Iterator[tuple[int | EllipsisType, Array]]:
    """Who touches which elements of shared memory that have indices of their own.

    Args:
        call: the op.
        view: the memory.
        tile: what is moved.
        inside: which elements are touched.

    Yields:
        The part of the elements, by its index, and the warps of each that is touched, or of all.
    """
    if view.buffer.shared < 0:
        return
    if is_fragment(tile):
        for warp in np.flatnonzero(call.warps):
            yield int(warp), np.asarray(np.uint64(1 << int(warp)))
        return
    warps = _warps_of(tile, view, as_bytes=False)
    yield ..., warps[inside] if warps.ndim else warps


@meaning("tile.gather")
def _gather(call: Call, view: View, *rest: Array) -> Array:
    tile = call.tile(call.result_type())
    assert tile is not None
    number = call.number(call.result_type())
    places, inside = indexed_access(call, view, rest, tile)
    for part, warps in touches_of(call, view, tile, inside):
        at = places[part][inside[part]]
        call.cta.shared.read(view.buffer, at, warps, call.report)
    found = np.where(inside, view.buffer.data[places], np.zeros((), view.buffer.data.dtype))
    if view.buffer.number == BYTE and number != BYTE:
        return unpacked(found, number, call.arithmetic, -1)
    return found


@meaning("tile.scatter")
def _scatter(call: Call, values: Array, view: View, *rest: Array) -> None:
    tile = call.tile(call.operand_type(0))
    assert tile is not None
    places, inside = indexed_access(call, view, rest, tile)
    if view.buffer.number == BYTE and call.number(call.operand_type(0)) != BYTE:
        values = packed(values, call.number(call.operand_type(0)), call.arithmetic, -1)
    values = np.broadcast_to(values, places.shape)
    for part, warps in touches_of(call, view, tile, inside):
        where, given = places[part][inside[part]], values[part][inside[part]]
        call.cta.shared.write(view.buffer, where, warps, given, call.report)
    at, new = places[inside], values[inside]
    data = view.buffer.data
    data[at] = new
    if len(at) and (data[at] != new).any():
        call.report("unspecified", "stores different elements to one position")
