"""`tile-store-boxes`: results of warpgroups' kernels leave by TMA, from sm_90a on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from tilec.dialects.semantics import Spread
from tilec.dialects.tile.ops import StoreOp, TmaLoadOp
from tilec.dialects.tile.tiles import TileValue, tile_value
from tilec.isa.wording import counted

from .analysis.cta_accesses import CtaAccess, accesses_of
from .analysis.effects import is_shared, may_alias
from .analysis.index_distance import Distances
from .analysis.shared_space import SharedSpace, aligned
from .analysis.uniformity import Uniformity, control_of
from .base import walk
from .fragments.fragment_types import FragmentTypes
from .fragments.matrix_moves import matrix_moves
from .hopper.box_stores import has_chunks, has_pairs, panels_of, store_boxes, why_no_box_store
from .hopper.tile_loops import loop_over_tiles
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class StoreBoxes(KernelPass):
    """Store tiles of 16-bit or 32-bit elements by TMA in kernels that also load by TMA.

    In and out: level 2, kernels that are `tile.automatic`. A `tile.store` at the top level of a
    kernel, or in a loop over tiles there, to elements that no other op accesses, becomes a store to
    panels in shared memory, by matrix instructions, of the pairs of 32-bit elements that threads
    hold of a wgmma's sum, or of the 16 bytes that threads hold of rows where sums come from tensor
    memory, and a `tile.tma_store` of each panel by one thread. The thread waits for them: in a
    loop, before panels are written again, after the next tile's products, unless another op
    accesses the array earlier. No element's position is compared with the array's extents. A store
    is left to tile-coalesce-stores, with a remark that says why, if no tensor map describes the
    array, if rows may end within 16 bytes, or if shared memory has no room.

    Attributes:
        enabled: false leaves all stores.
    """

    name: ClassVar[str] = "tile-store-boxes"

    enabled: bool = True

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if not (self.enabled and kernel.is_automatic and kernel.named(TmaLoadOp)):
            return
        found: list[tuple[StoreOp, TileValue, str]] = []
        for store in kernel.named(StoreOp):
            tile = tile_value(store.tile.type)
            if tile is None or tile.is_fragment or is_shared(store.memref):
                continue
            with kernel.at(store):
                found.append((store, tile, _obstacle(store, tile, kernel)))
        for store, tile, obstacle in found:
            with kernel.at(store):
                why = obstacle or _store(store, tile, kernel)
                if why:
                    kernel.missed(store, f"is not stored by boxes: {why}")


def _obstacle(store: StoreOp, tile: TileValue, kernel: Kernel) -> str:
    """Why the program does not let a store leave by boxes; empty if it does."""
    why = why_no_box_store(store, tile, kernel.function)
    if why:
        return why
    tiles = loop_over_tiles(store, kernel.function)
    if tiles is None and store.operation.block != kernel.function.regions[0].blocks[0]:
        return "it is neither at the top of the kernel nor in a loop over tiles there"
    if tiles and control_of(Uniformity(kernel.function), store, Spread.CTA) is not None:
        return "not all threads of the CTA reach it"
    if _others(store, kernel):
        return "something else may access its array"
    return ""


def _store(store: StoreOp, tile: TileValue, kernel: Kernel) -> str:
    """Store by boxes; why not, if it stays."""
    kind = panels_of(tile)
    if kind is None:
        return "its rows are not lines of a swizzle"
    moves = matrix_moves(
        tile,
        FragmentTypes(kernel.function).parts(tile),
        kernel.target,
        store=True,
        transposed=False,
    )
    if not (moves or has_chunks(tile) or has_pairs(tile)):
        return "no matrix instruction stores its layout"
    space = SharedSpace(kernel.function, kernel.target)
    wanted = aligned(kind.bytes) * space.turns
    if wanted > space.left(store):
        return f"{counted(wanted, 'byte')} of shared memory are not left"
    panels, lines, width = kind.shape
    kernel.remark(
        store,
        f"leaves by TMA, through {counted(panels, 'panel')} of {counted(lines, 'line')} of "
        f"{counted(width, 'element')} in shared "
        f"memory, swizzled as {kind.swizzle}",
    )
    tiles = loop_over_tiles(store, kernel.function)
    if tiles is not None and _touched_before(store, kernel):
        tiles = None
    form = moves[0].form.ptx if moves else None
    store_boxes(store, tile, kind, form, kernel.function, tiles)
    return ""


def _touched_before(store: StoreOp, kernel: Kernel) -> bool:
    """Whether an op before a store touches its array, as it does again in the next round.

    Boxes are not among them: before panels are written, all boxes have arrived.
    """
    tiles = loop_over_tiles(store, kernel.function)
    before = takewhile(lambda op: op.operation != store.operation, walk(tiles or kernel.function))
    accesses = (access for op in before for access in accesses_of(op, kernel.target))
    return any(one.memref is None or may_alias(one.memref, store.memref) for one in accesses)


def _others(store: StoreOp, kernel: Kernel) -> bool:
    """Whether any other op may touch the memory that a store writes."""
    (own,) = accesses_of(store, kernel.target)
    accesses = (
        access
        for op in kernel.walk()
        if op.operation != store.operation
        for access in accesses_of(op, kernel.target)
    )
    distances = Distances()
    return any(
        one.memref is None
        or (may_alias(one.memref, store.memref) and not _is_beside(one, own, distances))
        for one in accesses
    )


def _is_beside(other: CtaAccess, own: CtaAccess, distances: Distances) -> bool:
    """Whether an access beside a store is of other elements of the array, as another unit's is."""
    if other.memref != own.memref or other.op.operation.block != own.op.operation.block:
        return False
    if not (other.extents and own.extents):
        return False
    apart = (
        distances.between(theirs, ours, frozenset())
        for theirs, ours in zip(other.indices, own.indices, strict=True)
    )
    ends = zip(apart, own.extents, other.extents, strict=True)
    return any(d.least >= extent or -d.greatest >= its for d, extent, its in ends)
