"""`tile-coalesce-stores`: results leave in whole sectors."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops import ConvertLayoutOp, StoreOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of, tensor_type, tile_value
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout
from tilec.layout.sectors import Traffic, traffic

from .analysis.effects import is_shared
from .analysis.shared_space import SharedSpace
from .fragments.fragment_types import FragmentTypes
from .kernel_pass import Kernel, KernelPass
from .layouts.layout_wants import memory_layout
from .staging.trip_choice import conversion_cost

_SECTOR = 1
"""What a sector costs, in the unit of a conversion's price. A round figure, not a measurement."""


class CoalesceStores(KernelPass):
    """Convert tiles to a layout of wide, consecutive accesses before they are stored.

    In and out: level 2, kernels that are `tile.automatic`. A `tile.store` to global memory gets a
    `tile.convert_layout` in front where the sectors and instructions that this saves are worth
    more than the way through shared memory costs, and shared memory has room for it without
    fewer CTAs on an SM.
    """

    name: ClassVar[str] = "tile-coalesce-stores"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for store in kernel.named(StoreOp) if kernel.is_automatic else ():
            with kernel.at(store):
                _coalesce(store, kernel)


def _coalesce(store: StoreOp, kernel: Kernel) -> None:
    value, memref, target = store.tile, store.memref, kernel.target
    tile = tile_value(value.type)
    if tile is None or tile.is_fragment or is_shared(memref) or bits_of(tile.element) < 8:
        return
    other = memory_layout(PlainTile(tile.shape, tile.element), [store], tile.warps, ())
    own, better = (_traffic(store, tile, layout) for layout in (tile.layout, other))
    saved = _cost(own) - _cost(better)
    if saved <= 0:
        return
    types = FragmentTypes(kernel.function)
    price = conversion_cost(tile.layout, other, tile.element, target, types)
    said = (
        f"in its tile's own layout takes {own.instructions} instructions and "
        f"{own.sectors} sectors a warp, coalesced {better.instructions} and {better.sectors}"
    )
    if saved <= price:
        kernel.missed(store, f"{said}: not worth a conversion, which costs {price}")
        return
    wanted = tensor_type(tile.shape, tile.element, other)
    if not SharedSpace(kernel.function, target).has_room(store, value.type, wanted):
        kernel.missed(store, f"{said}: no room in shared memory for a conversion")
        return
    kernel.remark(store, f"{said}: worth a conversion, which costs {price}")
    with ir.InsertionPoint(store):
        store.operands[0] = emit(ConvertLayoutOp, [value], wanted)


def _traffic(store: StoreOp, tile: TileValue, layout: LinearLayout) -> Traffic:
    held = TileValue(tile.shape, tile.element, layout, is_fragment=False)
    memory = in_memory(held, transposed=store.is_transposed)
    return traffic(memory, bits_of(tile.element), vector_of(store), store=True)


def _cost(moved: Traffic) -> int:
    return moved.instructions + _SECTOR * moved.sectors
