"""Gathers, scatters and atomic updates at tiles of indices: fragment by fragment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import (
    AtomicCasOp,
    AtomicRmwOp,
    AtomicScatterOp,
    FillOp,
    GatherOp,
    ScatterOp,
)
from tilec.dialects.tile.ops.atomic_rmw import FetchingOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.dialects.tile.stored import check_addressable
from tilec.dialects.tile.tiles import TileValue
from tilec.ir.aliases import Attribute, Type
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith
from tilec.isa import TilecError

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
                lowers(AtomicRmwOp, self._fetch),
                lowers(AtomicCasOp, self._fetch),
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

    def _fetch(self, op: FetchingOp, expansion: Expansion) -> list[Values] | None:
        tile = self._types.tile(op.tile.type)
        if tile is None:
            return None
        types, how = self._types.of(op.tile.type) or [], _kept(op)
        places = list(self._places(op, tile, expansion))
        values = [expansion.values(value) for value in op.values]
        kind: type[TileOp] = type(op)

        def fetch() -> Values:
            each = zip(places, types, *values, strict=True)
            return [
                emit(kind, [*own[:1], op.memref, *own[1:], *at], t, **how) for at, t, *own in each
            ]

        copies = tile.layout.free("warp")
        if not copies:
            return [fetch()]
        if "first_warps" not in op.attributes:
            raise TilecError(
                f"has a result that several warps hold by the layout '{tile.layout}'; "
                "legal: layouts in which no two warps share an element, or first_warps, and "
                "a combination of the warps' results"
            )
        branch = scf.IfOp(is_zero(self._thread.warp, copies), types, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp(fetch())
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.else_block):
            nothing = arith.constant(tile.element, _zero(tile.element))
            scf.YieldOp([emit(FillOp, [nothing], t) for t in types])
        return [list(branch.results)]

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


def _zero(element: Type) -> Attribute:
    if isinstance(element, ir.IntegerType):
        return ir.IntegerAttr.get(element, 0)
    return ir.FloatAttr.get(element, 0.0)


_KEPT = ("along", "fn", "masked", "operandSegmentSizes", "order", "scope", "vector")
