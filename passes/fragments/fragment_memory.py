"""Fragments of a tile in memory: which instruction moves them, and from where."""

from __future__ import annotations

from functools import cache
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.matrices import matrices_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import stored_places
from tilec.dialects.tile.tiles import TileValue, bits_of, frag_type
from tilec.isa import Family, MatrixMemory, Target, forms
from tilec.mlir import ir

from ..analysis.multiples import multiple_of
from ..emit import add, add_constant, create
from .decomposition import Decomposition
from .expansion import Values
from .parts import cut, join

ROW_BYTES = 16
"""Bytes of a row that `ldmatrix` and `stmatrix` address."""


class FragmentMemory:
    """Loads and stores of a tile's fragments.

    Args:
        target: decides whether `stmatrix` exists; None allows neither it nor `ldmatrix` to be
            ruled out, so only `ldmatrix`, which every target has, is used.
    """

    def __init__(self, target: Target | None) -> None:
        self._target = target

    @staticmethod
    def offset(indices: list[Any], places: list[Any] | None, *, transposed: bool) -> list[Any]:
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
        self, op: Any, source: Any, at: list[Any], tile: TileValue, parts: Decomposition
    ) -> Values:
        """The fragments, loaded from `source` at indices `at` of the first."""
        found = self._matrices(Family.LDMATRIX, op, source, at, tile, parts)
        part = _group_type(parts, 1, tile)
        values: Values = []
        if found is None:
            # All at once from shared memory: neighbours in a swizzle may be of different fragments.
            size = parts.count if isinstance(source.type.memory_space, SharedAttr) else 1
            whole = _group_type(parts, size, tile)
            for p in range(0, parts.count, size):
                operands = [source, *self._at(op, at, tile, parts, p)]
                loaded = create("tile.load", operands, whole, **_keep(op))
                values += cut(loaded, size, part)
            return values
        form, size = found
        whole = _group_type(parts, size, tile)
        for first in range(0, parts.count, size):
            operands = [source, *self._at(op, at, tile, parts, first)]
            loaded = create(
                "tile.ldmatrix", operands, whole, form=ir.StringAttr.get(form.ptx), **_keep(op)
            )
            values += cut(loaded, size, part)
        return values

    def store(
        self,
        op: Any,
        values: Values,
        target: Any,
        at: list[Any],
        tile: TileValue,
        parts: Decomposition,
    ) -> None:
        """Store the fragments, or let them update what is there, at indices `at` of the first."""
        found = self._matrices(Family.STMATRIX, op, target, at, tile, parts)
        if found is None:
            # All at once to shared memory: neighbours in a swizzle may be of different fragments.
            size = parts.count if isinstance(target.type.memory_space, SharedAttr) else 1
            whole = _group_type(parts, size, tile)
            for p in range(0, parts.count, size):
                stored = join(values[p : p + size], whole)
                operands = [stored, target, *self._at(op, at, tile, parts, p)]
                ir.Operation.create(op.operation.name, operands=operands, attributes=_keep(op))
            return
        form, size = found
        whole = _group_type(parts, size, tile)
        for first in range(0, parts.count, size):
            group = values[first : first + size]
            stored = join(group, whole)
            ir.Operation.create(
                "tile.stmatrix",
                operands=[stored, target, *self._at(op, at, tile, parts, first)],
                attributes={"form": ir.StringAttr.get(form.ptx), **_keep(op)},
            )

    def _at(
        self, op: Any, at: list[Any], tile: TileValue, parts: Decomposition, part: int
    ) -> list[Any]:
        transposed = "transposed" in op.attributes
        places = stored_places(parts.repeats, tile.element, transposed=transposed)
        origin = list(places(register=part))
        if transposed:
            origin[-2:] = reversed(origin[-2:])
        first = len(at) - len(origin)
        return [*at[:first], *(add_constant(i, o) for i, o in zip(at[first:], origin, strict=True))]

    def _matrices(
        self,
        family: Family,
        op: Any,
        memory: Any,
        at: list[Any],
        tile: TileValue,
        parts: Decomposition,
    ) -> tuple[MatrixMemory, int] | None:
        """The widest form of `family` that moves whole fragments, and how many at once."""
        if not isinstance(memory.type.memory_space, SharedAttr) or "masked" in op.attributes:
            return None
        bits = max(8, bits_of(tile.element))
        row = ROW_BYTES * 8 // bits
        buffer = shared_buffer(memory.type)
        # A row must lie in one piece, on a multiple of its size.
        if not buffer.together(row) or buffer.cols < row or multiple_of(at[-1]) < row:
            return None
        transposed = "transposed" in op.attributes
        best: tuple[MatrixMemory, int] | None = None
        shape = tuple(parts.unit.out_sizes.values())
        one = TileValue(shape, tile.element, parts.unit, is_fragment=True)
        for form in _forms(family):
            if not self._has(form):
                continue
            found = matrices_of(form, one, transposed=transposed)
            if found is None:
                continue
            size, rest = divmod(form.matrices, found.in_sizes["register"])
            if not rest and size and size <= parts.count and (best is None or size > best[1]):
                best = (form, size)
        return best

    def _has(self, form: MatrixMemory) -> bool:
        if self._target is None:
            return form.family is Family.LDMATRIX and form.rows == 8
        return form.min_ptx(self._target) is not None


@cache
def _forms(family: Family) -> tuple[MatrixMemory, ...]:
    """The forms that move elements as they are."""
    moves = (f for f in forms().values() if isinstance(f, MatrixMemory) and f.source is None)
    return tuple(f for f in moves if f.family is family)


def _group_type(parts: Decomposition, size: int, tile: TileValue) -> Any:
    layout = parts.group(size)
    return frag_type(tuple(layout.out_sizes.values()), tile.element, layout)


def _keep(op: Any) -> dict[str, Any]:
    return {
        name: op.attributes[name]
        for name in ("fn", "transposed", "masked", "vector")
        if name in op.attributes
    }
