"""Fragments of a tile in memory: which instruction moves them, and from where."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.matrices import matrices_of
from tilec.dialects.tile.ops import LdmatrixOp, LoadOp, StmatrixOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.stored import stored_places
from tilec.dialects.tile.tiles import TileValue, bits_of, frag_type
from tilec.ir.mlir import ir
from tilec.isa import Family, MatrixMemory, Target, forms_of

from ..analysis.multiples import multiple_of
from ..emit import add, add_constant
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
        if found is None:
            kind, size, how = LoadOp, _together(source, parts), {}
        else:
            form, size = found
            kind, how = LdmatrixOp, {"form": ir.StringAttr.get(form.ptx)}
        part, whole = _group_type(parts, 1, tile), _group_type(parts, size, tile)
        how |= _kept(op)
        values: Values = []
        for origin in self._origins(op, at, tile, parts, size):
            values += cut(emit(kind, [source, *origin], whole, **how), size, part)
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
            kind, size, how = type(op), _together(target, parts), {}
        else:
            form, size = found
            kind, how = StmatrixOp, {"form": ir.StringAttr.get(form.ptx)}
        whole = _group_type(parts, size, tile)
        how |= _kept(op)
        for number, origin in enumerate(self._origins(op, at, tile, parts, size)):
            stored = join(values[number * size : (number + 1) * size], whole)
            emit_effect(kind, [stored, target, *origin], **how)

    @staticmethod
    def _origins(
        op: Any, at: list[Any], tile: TileValue, parts: Decomposition, size: int
    ) -> Iterator[list[Any]]:
        """The indices of every `size`-th fragment, `at` being those of the first."""
        transposed = "transposed" in op.attributes
        places = stored_places(parts.repeats, tile.element, transposed=transposed)
        for part in range(0, parts.count, size):
            origin = list(places(register=part))
            if transposed:
                origin[-2:] = reversed(origin[-2:])
            first = len(at) - len(origin)
            yield at[:first] + [add_constant(i, o) for i, o in zip(at[first:], origin, strict=True)]

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
    return tuple(f for f in forms_of(MatrixMemory) if f.source is None and f.family is family)


def _group_type(parts: Decomposition, size: int, tile: TileValue) -> Any:
    layout = parts.group(size)
    return frag_type(tuple(layout.out_sizes.values()), tile.element, layout)


def _together(memory: Any, parts: Decomposition) -> int:
    """How many fragments an access that is no matrix instruction moves.

    All from and to shared memory: neighbours in a swizzle may be of different fragments.
    """
    return parts.count if isinstance(memory.type.memory_space, SharedAttr) else 1


def _kept(op: Any) -> dict[str, Any]:
    """The attributes of an access that its parts have, too."""
    return {
        name: op.attributes[name]
        for name in ("fn", "transposed", "masked", "vector")
        if name in op.attributes
    }
