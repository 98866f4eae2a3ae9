"""`tile-specialize-warps`: further warps load by TMA what the others multiply, on sm_90a."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilec.dialects.semantics import Resource, orders, semantics_of
from tilec.dialects.tile.attributes import STAGES
from tilec.dialects.tile.ops import AsyncCopyOp, StoreOp, WarpgroupDotOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.attributes import signature
from tilec.ir.mlir import gpu, ir, scf
from tilec.ir.types import memref_of
from tilec.isa import WARPGROUP_THREADS, Target, TilecError

from .analysis.effects import Writers, is_shared
from .analysis.index_forms import is_pure
from .analysis.shared_space import SharedSpace, aligned
from .functions import take_positive
from .hopper.box_copies import boxes_of, why_no_map
from .hopper.box_stores import HALF
from .hopper.rings import Needs, Specialised
from .hopper.tile_loops import loop_over_tiles
from .hopper.warp_roles import PRODUCERS, WarpRoles, warp_roles
from .hopper.wgmma_choice import BESIDES
from .kernel_pass import Kernel, KernelPass
from .staging.staged_copies import CopyGroup, StagedCopy, copy_groups

_BARRIERS = 2 * 1024
"""Bytes that the mbarriers of a ring take, as buffers are aligned."""


@dataclass(frozen=True)
class SpecializeWarps(KernelPass):
    """Part a loop of a kernel in two: warps that load, and warps that compute.

    In and out: level 2, kernels that are `tile.automatic`. Of the first loop at the top of a
    kernel whose copies, as tile-stage-wgmma writes them, are all for `tile.warpgroup_dot`s of its
    body, a warpgroup behind those of the kernel makes the copies, by `tile.tma_load`, to a ring of
    as many stages as there is room for, or as `tile.stages` says; mbarriers say that what the same
    products read of a stage is full, and empty. The `scf.if` that holds its work says so, for
    tile-split-roles. A loop stays for tile-pipeline, with a remark that says why, where no tensor
    map describes an array, where the program asks for thread numbers, or where there are too few
    registers or threads. It may stand in a loop over tiles at the top, of a kernel whose CTAs take
    several: then the ring goes on from tile to tile, beside room for the tiles that are stored.

    Attributes:
        enabled: false leaves all loops to tile-pipeline.
        least: warpgroups that must compute. Of one alone an SM holds several CTAs, of which some
            multiply while others wait; a ring that takes all shared memory would leave one.
    """

    name: ClassVar[str] = "tile-specialize-warps"

    enabled: bool = True
    least: int = 2

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        target = kernel.target
        dots = kernel.named(WarpgroupDotOp)
        if not (self.enabled and dots and kernel.is_entry and kernel.is_automatic and target):
            return
        top = kernel.function.regions[0].blocks[0]
        for loop in kernel.named(scf.ForOp):
            own = [dot for dot in dots if dot.operation.block == loop.regions[0].blocks[0]]
            tiles = loop_over_tiles(loop, kernel.function)
            if not own or (loop.operation.block != top and (tiles is None or len(tiles.results))):
                continue
            with kernel.at(loop):
                why = self._too_few(kernel) or _Parting(kernel, target, loop, dots, tiles).run()
                if why:
                    kernel.missed(loop, f"is not shared out to warps that load: {why}")
                    continue
            return

    def _too_few(self, kernel: Kernel) -> str:
        """Why warps that load would not pay."""
        groups = kernel.threads // WARPGROUP_THREADS
        return (
            f"{groups} warpgroups compute, fewer than {self.least}" if groups < self.least else ""
        )


class _Parting:
    """The parting of one loop."""

    def __init__(
        self,
        kernel: Kernel,
        target: Target,
        loop: scf.ForOp,
        dots: list[WarpgroupDotOp],
        tiles: scf.ForOp | None,
    ) -> None:
        self._tiles = tiles
        self._kernel = kernel
        self._target = target
        self._loop = loop
        self._dots = dots

    def run(self) -> str:
        """Part it; why not, if it stays."""
        kernel, loop = self._kernel, self._loop
        writers = Writers(kernel.function)
        groups = copy_groups(loop, writers)
        copies = [copy for group in groups for copy in group.copies]
        needs = self._needs(copies)
        roles = self._roles()
        why = self._obstacle(copies, writers)
        if why:
            return why
        if needs is None:
            return "bounds or indices are not computed from block numbers and arguments alone"
        if roles is None:
            return f"{kernel.threads} threads leave no room for {PRODUCERS} more that load"
        stages = self._stages(copies)
        if stages < 2:
            return "its ring would be of one stage"
        take_positive(self._loop, STAGES)
        self._explain(copies, stages, roles)
        Specialised(loop, copies, stages, roles, needs, self._tiles).run(_frames(groups))
        return ""

    def _obstacle(self, copies: list[StagedCopy], writers: Writers) -> str:
        """Why the copies stay with the threads that compute; empty if they need not."""
        kernel, block = self._kernel, self._loop.regions[0].blocks[0]
        if not copies:
            return "nothing is copied for products in each round"
        size = kernel.block_size
        if size is None or size[1:] != (1, 1):
            return "its threads are numbered in more than one dimension"
        region = kernel.function.regions[0]
        inputs = signature(kernel.function).inputs
        if len(region.blocks) > 1 or len(region.blocks[0].arguments) > len(inputs):
            return "the kernel has several blocks, or declares memory"
        asked = next((op for op in kernel.walk() if _depends_on_threads(op)), None)
        if asked is not None:
            return f"'{asked.operation.name}' may depend on which threads there are"
        before = list(kernel.function.regions[0].blocks[0].operations)
        before = before[: before.index(self._tiles or self._loop)]
        tiles = [] if self._tiles is None else [self._tiles]
        for copy in copies:
            view = copy.copy.opview
            assert isinstance(view, AsyncCopyOp)
            readers = [op for op in copy.loads if not isinstance(op.opview, WarpgroupDotOp)]
            why = copy.obstacle or why_no_map(view.source, kernel.function)
            if readers or any(op.block != block for op in copy.loads):
                why = "not only products of its body read what is copied"
            elif writers.before(before, view.source) is not None:
                why = "what is copied may be written in front of it"
            elif writers.between(tiles, view.source) is not None:
                why = "what is copied may be written by the tile before"
            if why:
                return why
        copied = {copy.copy for copy in copies}
        others = (op for op in block.operations if isinstance(op, AsyncCopyOp))
        if any(op.operation not in copied for op in others):
            return "some of its copies are read elsewhere"
        return ""

    def _needs(self, copies: list[StagedCopy]) -> Needs | None:
        """What bounds and indices are computed from; None if that cannot stand at the top."""
        inside = {op for copy in copies for op in copy.needs}
        taken = [operand for copy in copies for operand in copy.copy.operands]
        taken += [operand for op in inside for operand in op.operands]
        taken += list(self._loop.operands)[:3]
        taken += [] if self._tiles is None else list(self._tiles.operands)[:3]
        top = self._kernel.function.regions[0].blocks[0]
        blocks = [top, *(loop.regions[0].blocks[0] for loop in (self._tiles,) if loop is not None)]
        body = self._loop.regions[0].blocks[0]
        allocs = {copy.alloc for copy in copies}
        found: set[ir.Operation] = set()
        while taken:
            owner = taken.pop().owner
            if isinstance(owner, ir.Block):
                if owner not in (*blocks, body):
                    return None
                continue
            op = owner.operation
            if op in found or op in inside or op in allocs:
                continue
            if op.block not in blocks or not is_pure(op):
                return None
            found.add(op)
            taken += list(op.operands)
        ordered = [[op.operation for op in block.operations] for block in blocks]
        return Needs(*([op for op in ops if op in found] for ops in [*ordered, []][:2]))

    def _roles(self) -> WarpRoles | None:
        threads = self._kernel.threads
        held = max(_registers(dot, threads) for dot in self._dots)
        roles = warp_roles(threads, held, self._target)
        if roles is None:
            return None
        entry = self._target.registers_at_entry(roles.threads)
        widest = max(dot.key.operand("d").registers for dot in self._dots)
        return roles if widest + BESIDES <= entry and held + BESIDES <= roles.consumer else None

    def _stages(self, copies: list[StagedCopy]) -> int:
        """Stages of the ring.

        Raises:
            TilecError: if the loop says more than there is room for.
        """
        size = _size(copies)
        space = SharedSpace(self._kernel.function, self._target)
        kept = _BARRIERS + self._stored()
        room = (space.left(self._tiles or self._loop) + size - kept) // size
        pinned = self._loop.attributes.get(STAGES)
        if not isinstance(pinned, ir.IntegerAttr):
            return room
        if pinned.value > room:
            raise TilecError(
                f"{STAGES} = {pinned.value}, and {room} stages of {size} bytes would fit"
            )
        return pinned.value

    def _stored(self) -> int:
        """Bytes through which tiles leave while boxes of the next one arrive."""
        if self._tiles is None:
            return 0
        return sum(map(_bytes_to_store, self._kernel.named(StoreOp)))

    def _explain(self, copies: list[StagedCopy], stages: int, roles: WarpRoles) -> None:
        computing = roles.threads - PRODUCERS
        self._kernel.remark(
            self._loop,
            f"is shared out: of {roles.threads} threads {computing} compute, with "
            f"{roles.consumer} registers each, and one of the {PRODUCERS} others, with "
            f"{roles.producer}, loads boxes by TMA to a ring of {stages} stages of "
            f"{_size(copies)} bytes",
        )
        for copy in copies:
            view = copy.copy.opview
            assert isinstance(view, AsyncCopyOp)
            boxes = boxes_of(copy.alloc.results[0], view.panels)
            self._kernel.remark(
                view,
                f"is made by TMA, {boxes} a round; what lies outside the array arrives as zeros",
            )


def _registers(dot: WarpgroupDotOp, threads: int) -> int:
    """Registers of a thread that hold the accumulators of a product."""
    type_ = ir.RankedTensorType(dot.d.type)
    return prod(type_.shape) * bits_of(type_.element_type) // 32 // threads


def _bytes_to_store(store: StoreOp) -> int:
    """Of a tile of 16-bit elements that leaves for global memory; 0 of others."""
    type_ = store.tile.type
    if is_shared(store.memref) or not isinstance(type_, ir.RankedTensorType):
        return 0
    bits = bits_of(type_.element_type)
    return aligned(prod(type_.shape) * bits // 8) if bits == HALF else 0


def _depends_on_threads(op: ir.OpView) -> bool:
    """Whether an op may tell threads apart, count them, or meet them in a way of its own."""
    operands, results = len(op.operation.operands), len(op.results)
    if semantics_of(op).effects is None or (operands and orders(op, Resource.BARRIERS)):
        return True
    if operands or not results or isinstance(op, TileOp):
        return False
    is_constant = "value" in op.attributes
    return not (is_constant or isinstance(op, gpu.BlockIdOp | gpu.GridDimOp))


def _size(copies: list[StagedCopy]) -> int:
    """Bytes of a stage."""
    return sum(aligned(shared_buffer(memref_of(copy.alloc.results[0])).bytes) for copy in copies)


def _frames(groups: list[CopyGroup]) -> list[ir.Operation]:
    return [op for group in groups for op in group.frame]
