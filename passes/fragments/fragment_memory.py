"""Fragments of a tile in memory: which instruction moves them, and from where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from tilec.dialects.tile.dialect import FragType, SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AtomicOp, LdmatrixOp, LoadOp, StmatrixOp, StoreOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.memory import NO_MATRICES
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import stored_places, stored_tile
from tilec.dialects.tile.tiles import TileValue, frag_type
from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import memref_of
from tilec.isa import Target, TilecError
from tilec.layout.linear import places

from ..analysis.multiples import multiple_of
from ..emit import add, add_constant, constant_of, index_constant
from .decomposition import Decomposition
from .expansion import Values
from .matrix_moves import MatrixMove, matrix_moves
from .parts import cut, join

Transfer: TypeAlias = LoadOp | StoreOp | AtomicOp


class FragmentMemory:
    """Loads and stores of a tile's fragments.

    Args:
        target: what has the matrix instructions that are used; None for those of every target.
    """

    def __init__(self, target: Target | None) -> None:
        self._target = target

    @staticmethod
    def offset(
        indices: list[Value], places: list[Value] | None, *, transposed: bool
    ) -> list[Value]:
        """Add a place in the tile to the memory's last indices."""
        if places is None:
            return indices
        if transposed:
            places = [*places[:-2], places[-1], places[-2]]
        first = len(indices) - len(places)
        return [
            *indices[:first],
            *(add(i, p) for i, p in zip(indices[first:], places, strict=True)),
        ]

    def load(
        self, op: LoadOp, source: Value, at: list[Value], tile: TileValue, parts: Decomposition
    ) -> Values:
        """The fragments, loaded from `source` at indices `at` of the first."""
        move = self._move(op, source, at, tile, parts)
        kind: type[TileOp] = LoadOp if move is None else LdmatrixOp
        panels = _goes_on(op, source, tile)
        size = _together(source, parts, panels) if move is None else move.fragments
        part, whole = _group_type(parts, 1, tile), _group_type(parts, size, tile)
        how = _kept(op) | _form(move)
        values: Values = []
        for origin in self._origins(op, at, tile, parts, size):
            if panels:
                origin = _in_panel(origin, memref_of(source), whole)  # noqa: PLW2901
            values += cut(emit(kind, [source, *origin], whole, **how), size, part)
        return values

    def store(
        self,
        op: StoreOp | AtomicOp,
        values: Values,
        target: Value,
        at: list[Value],
        tile: TileValue,
        parts: Decomposition,
    ) -> None:
        """Store the fragments, or let them update what is there, at indices `at` of the first."""
        move = self._move(op, target, at, tile, parts)
        kind: type[TileOp] = type(op) if move is None else StmatrixOp
        panels = _goes_on(op, target, tile)
        size = _together(target, parts, panels) if move is None else move.fragments
        whole = _group_type(parts, size, tile)
        how = _kept(op) | _form(move)
        for number, origin in enumerate(self._origins(op, at, tile, parts, size)):
            if panels:
                origin = _in_panel(origin, memref_of(target), whole)  # noqa: PLW2901
            stored = join(values[number * size : (number + 1) * size], whole)
            emit_effect(kind, [stored, target, *origin], None, **how)

    @staticmethod
    def _origins(
        op: Transfer, at: list[Value], tile: TileValue, parts: Decomposition, size: int
    ) -> Iterator[list[Value]]:
        """The indices of every `size`-th fragment, `at` being those of the first."""
        transposed = "transposed" in op.attributes
        repeats = stored_places(parts.repeats, tile.element, transposed=transposed)
        for place in places(repeats, "register")[::size]:
            origin = list(place)
            if transposed:
                origin[-2:] = reversed(origin[-2:])
            first = len(at) - len(origin)
            inner = zip(at[first:], origin, strict=True)
            yield [*at[:first], *(add_constant(index, further) for index, further in inner)]

    def _move(
        self, op: Transfer, memory: Value, at: list[Value], tile: TileValue, parts: Decomposition
    ) -> MatrixMove | None:
        """The matrix instruction that the op names, or the widest that fits; None for none.

        Raises:
            TilecError: if the one that it names does not fit.
        """
        named = op.form
        type_ = memref_of(memory)
        if named == NO_MATRICES or not isinstance(type_.memory_space, SharedAttr):
            return None
        buffer = shared_buffer(type_)
        moves = matrix_moves(
            tile,
            parts,
            self._target,
            store=not isinstance(op, LoadOp),
            transposed=op.is_transposed,
        )
        found = [
            move
            for move in moves
            if move.finds_rows(buffer) and multiple_of(at[-1]) % move.row(buffer) == 0
        ]
        if named is None:
            return next(iter(found), None)
        chosen = next((move for move in found if move.form.ptx == named), None)
        if chosen is None:
            legal = ", ".join((*(move.form.ptx for move in found), NO_MATRICES))
            raise TilecError(f"cannot move '{tile.layout}' by {named}; legal: {legal}")
        return chosen


def _goes_on(op: Transfer, memory: Value, tile: TileValue) -> bool:
    """Whether a tile goes on in the matrix of a buffer after, being wider than one."""
    type_ = memref_of(memory)
    if op.is_transposed or not isinstance(type_.memory_space, SharedAttr):
        return False
    return bool(stored_tile(tile, transposed=False).shape[-1] > type_.shape[-1])


def _in_panel(at: list[Value], type_: ir.MemRefType, moved: FragType) -> list[Value]:
    """The indices of what is moved of such a tile: in its matrix.

    Raises:
        TilecError: if it is not known which that is, or it lies in several.
    """
    width, taken = type_.shape[-1], moved.tile.shape[-1]
    *leading, panel, row, col = at
    place = constant_of(col)
    if place is None and taken <= width and multiple_of(col) % taken == 0:
        wide = index_constant(width)
        return [*leading, add(panel, arith.divui(col, wide)), row, arith.remui(col, wide)]
    if place is None or taken > width - place % width:
        raise TilecError(
            "is wider than a matrix of the buffer, in which not all of its fragments lie whole, "
            "at a column that is known"
        )
    return [
        *leading,
        add_constant(panel, place // width),
        row,
        index_constant(place % width),
    ]


def _group_type(parts: Decomposition, size: int, tile: TileValue) -> FragType:
    layout = parts.group(size)
    return frag_type(tuple(layout.out_sizes.values()), tile.element, layout)


def _together(memory: Value, parts: Decomposition, panels: bool) -> int:
    """How many fragments an access that is not a matrix instruction moves.

    All from and to shared memory: neighbours in a swizzle may be of different fragments. Where a
    tile goes on in the matrix after, as many as lie in one.
    """
    type_, size = memref_of(memory), parts.count
    if not isinstance(type_.memory_space, SharedAttr):
        return 1
    while panels and size > 1 and [*parts.group(size).out_sizes.values()][-1] > type_.shape[-1]:
        size //= 2
    return size


def _form(move: MatrixMove | None) -> dict[str, Attribute]:
    """The attribute of the op that is one matrix instruction."""
    return {} if move is None else {"form": ir.StringAttr.get(move.form.ptx)}


def _kept(op: Transfer) -> dict[str, Attribute]:
    """The attributes of an access that its parts have, too."""
    return {
        name: op.attributes[name]
        for name in ("fn", "transposed", "masked", "vector")
        if name in op.attributes
    }
