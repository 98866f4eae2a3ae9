"""`tile-coalesce-stores`: results leave in whole sectors."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConvertLayoutOp, StoreOp
from tilec.ir.mlir import ir
from tilec.isa.wording import counted

from .analysis.shared_space import SharedSpace
from .kernel_pass import Kernel, KernelPass
from .layouts.coalescing import coalesced


class CoalesceStores(KernelPass):
    """Convert tiles to a layout of wide, consecutive accesses before they are stored.

    In and out: level 2, kernels that are `tile.automatic`. A `tile.convert_layout` is inserted
    before a `tile.store` to global memory if the sectors and instructions that this saves are
    worth more than the round trip through shared memory costs, and if shared memory has room
    without reducing the number of CTAs on an SM.
    """

    name: ClassVar[str] = "tile-coalesce-stores"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for store in kernel.named(StoreOp) if kernel.is_automatic else ():
            with kernel.at(store):
                _coalesce(store, kernel)


def _coalesce(store: StoreOp, kernel: Kernel) -> None:
    found, target = coalesced(store, kernel.function, kernel.target), kernel.target
    if found is None:
        return
    own, better = found.own, found.better
    said = (
        f"in its tile's own layout takes {counted(own.instructions, 'instruction')} and "
        f"{counted(own.sectors, 'sector')} per warp, coalesced {better.instructions} and "
        f"{better.sectors}"
    )
    if not found.pays:
        kernel.missed(store, f"{said}: not worth a conversion, which costs {found.price}")
        return
    if not SharedSpace(kernel.function, target).has_room(store, store.tile.type, found.type):
        kernel.missed(store, f"{said}: no room in shared memory for a conversion")
        return
    kernel.remark(store, f"{said}: worth a conversion, which costs {found.price}")
    with ir.InsertionPoint(store):
        store.operands[0] = emit(ConvertLayoutOp, [store.tile], found.type)
