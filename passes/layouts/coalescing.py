"""Whether a tile is worth another layout before it is stored: one of wide, consecutive accesses."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops import StoreOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of, tensor_type, tile_value
from tilec.ir.aliases import Op, Type
from tilec.isa import Target
from tilec.layout import LinearLayout
from tilec.layout.sectors import Traffic, traffic

from ..analysis.effects import is_shared
from ..fragments.fragment_types import FragmentTypes
from ..staging.trip_choice import conversion_cost
from .layout_wants import memory_layout

_SECTOR = 1
"""What a sector costs, in the unit of a conversion's price. A round figure, not a measurement."""


class Coalesced(NamedTuple):
    """A store as it is, and coalesced.

    Attributes:
        type: the tile's type in the other layout.
        own: traffic of the store as it is.
        better: traffic in the other layout, which costs less.
        price: of the conversion.
    """

    type: Type
    own: Traffic
    better: Traffic
    price: int

    @property
    def pays(self) -> bool:
        """Whether the conversion costs less than it saves."""
        return _cost(self.own) - _cost(self.better) > self.price


def coalesced(store: StoreOp, function: Op, target: Target | None) -> Coalesced | None:
    """A store to global memory in the layout that suits memory; None if its own costs no more."""
    value, memref = store.tile, store.memref
    tile = tile_value(value.type)
    if tile is None or tile.is_fragment or is_shared(memref) or bits_of(tile.element) < 8:
        return None
    other = memory_layout(PlainTile(tile.shape, tile.element), [store], tile.warps, ())
    own, better = (_traffic(store, tile, layout) for layout in (tile.layout, other))
    if _cost(own) <= _cost(better):
        return None
    types = FragmentTypes(function)
    price = conversion_cost(tile.layout, other, tile.element, target, types)
    return Coalesced(tensor_type(tile.shape, tile.element, other), own, better, price)


def _traffic(store: StoreOp, tile: TileValue, layout: LinearLayout) -> Traffic:
    held = TileValue(tile.shape, tile.element, layout, is_fragment=False)
    memory = in_memory(held, transposed=store.is_transposed)
    return traffic(memory, bits_of(tile.element), vector_of(store), store=True)


def _cost(moved: Traffic) -> int:
    return moved.instructions + _SECTOR * moved.sectors
