"""Gathers, scatters and atomic updates at tiles of indices: fragment by fragment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AtomicScatterOp, GatherOp, ScatterOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.dialects.tile.stored import check_addressable
from tilec.dialects.tile.tiles import TileValue
from tilec.ir.aliases import Attribute
from tilec.ir.mlir import ir, scf

from ..emit import add, add_constant, is_zero, linear
from ..thread_index import ThreadIndex
from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes


class IndexedMemory:
    """The accesses of one kernel whose elements have indices of their own.

    Args:
        types: its tiles' fragments.
        thread: its thread index.
    """

    def __init__(self, types: FragmentTypes, thread: ThreadIndex) -> None:
        self._types = types
        self._thread = thread

    def handlers(self) -> Mapping[str, Handler]:
        """The handler of each op."""
        return dict(
            (
                lowers(GatherOp, self._gather),
                lowers(ScatterOp, self._scatter),
                lowers(AtomicScatterOp, self._scatter),
            )
        )

    def _gather(self, op: GatherOp, expansion: Expansion) -> list[Values] | None:
        tile = self._types.tile(op.tile.type)
        if tile is None:
            return None
        types, how = self._types.of(op.tile.type) or [], _kept(op)
        parts = zip(self._places(op, tile, expansion), types, strict=True)
        return [[emit(GatherOp, [op.memref, *places], t, **how) for places, t in parts]]

    def _scatter(
        self, op: ScatterOp | AtomicScatterOp, expansion: Expansion
    ) -> list[Values] | None:
        tile = self._types.tile(op.tile.type)
        if tile is None:
            return None
        values, parts = expansion.values(op.tile), list(self._places(op, tile, expansion))
        kind: type[TileOp] = type(op)
        how = _kept(op)

        def store() -> None:
            for value, places in zip(values, parts, strict=True):
                emit_effect(kind, [value, op.memref, *places], None, **how)

        copies = tile.layout.free("warp")
        if not copies:
            store()
            return []
        # Of warps that hold the same, one stores it.
        branch = scf.IfOp(is_zero(self._thread.warp, copies))
        with ir.InsertionPoint(branch.then_block):
            store()
            scf.YieldOp([])
        return []

    def _places(self, op: IndexedOp, tile: TileValue, expansion: Expansion) -> Iterator[Values]:
        """The indices, offsets and condition of each fragment of a tile."""
        check_addressable(tile.layout)
        parts = self._types.parts(tile)
        warps = linear(parts.warps, "warp", self._thread.warp) if tile.warps > 1 else []
        first = len(op.indices) - len(tile.shape)
        moved = [d for d in range(first, len(op.indices)) if d not in op.along and tile.warps > 1]
        starts = [
            add(index, warps[dim - first]) if dim in moved else index
            for dim, index in enumerate(op.indices)
        ]
        own = [expansion.values(value) for value in op.by_element]
        for number in range(parts.count):
            origin = (0,) * first + parts.repeats(register=number)
            indices = [
                start if dim in op.along else add_constant(start, further)
                for dim, (start, further) in enumerate(zip(starts, origin, strict=True))
            ]
            yield [*indices, *(values[number] for values in own)]


def _kept(op: IndexedOp) -> dict[str, Attribute]:
    """The attributes that the fragments' accesses have, too."""
    return {name: op.attributes[name] for name in _KEPT if name in op.attributes}


_KEPT = ("along", "fn", "masked", "operandSegmentSizes", "vector")
