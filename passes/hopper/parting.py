"""Whether warps of a kernel may load what the others multiply in a loop, and how."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from tilec.dialects.semantics import Resource, Scope, effects_of, finds, orders, place_of, scope_of
from tilec.dialects.tile.attributes import IN_PAIRS, STAGES
from tilec.dialects.tile.ops import AsyncCopyOp, LoadOp, StoreOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.ir.aliases import Op
from tilec.ir.attributes import signature
from tilec.ir.mlir import ir, scf
from tilec.ir.types import memref_of
from tilec.isa import Target

from ..analysis.costs import BESIDES, CLUSTER_CTAS, LEAST_WARPGROUPS
from ..analysis.effects import Writers, is_shared
from ..analysis.index_forms import is_pure
from ..analysis.shared_space import SharedSpace, aligned, conversion_bytes
from ..blackwell.scale_factors import stages_of_factors
from ..kernel_pass import Kernel
from ..layouts.coalescing import coalesced
from ..staging.staged_copies import StagedCopy, copy_groups
from .box_copies import why_no_map
from .box_stores import HALF, WORD, panels_of, why_no_box_store
from .dependent_launch import Waits, dependences, waits_around
from .ring_parts import is_box
from .rings import Needs
from .tile_loops import guard_at_top, loop_over_tiles
from .warp_roles import PRODUCERS, WarpRoles, equal_roles, warp_roles

_BARRIERS = 1024
"""Bytes that mbarriers take, as buffers are aligned: two for a ring, one for turns."""
_TAKING_OVER = 3 * _BARRIERS
"""Bytes for responses of `clusterlaunchcontrol`, and for the two arrays of their mbarriers."""


class Parting(NamedTuple):
    """How a loop is parted in two.

    Attributes:
        copies: those of its body, which warps that load make.
        frame: ops of the body that nothing needs then.
        stages: of the ring: as many as fit, or as the loop says.
        room: stages that fit.
        roles: registers of each role.
        needs: what bounds and indices are computed from.
        turns: warpgroups that take the tiles of a CTA in turn; 1 where all share each.
        guard: the `scf.if` at the top of the kernel in which the loop stands, if it does.
        waits: for kernels before this one, which threads that load do, too.
    """

    copies: list[StagedCopy]
    frame: list[ir.Operation]
    stages: int
    room: int
    roles: WarpRoles
    needs: Needs
    turns: int
    guard: ir.Operation | None
    waits: Waits

    @property
    def bytes(self) -> int:
        """Bytes of a stage."""
        return _size(self.copies)


def loops_of_products(kernel: Kernel) -> Iterator[tuple[scf.ForOp, scf.ForOp | None]]:
    """The loops with products of warpgroups, and the loop over tiles that each stands in.

    Of loops at the top of a kernel, or in a loop over tiles there that carries nothing.
    """
    top = kernel.function.regions[0].blocks[0]
    dots = kernel.named(AwaitedProduct)
    for loop in kernel.named(scf.ForOp) if dots else ():
        own = [dot for dot in dots if dot.operation.block == loop.regions[0].blocks[0]]
        tiles = loop_over_tiles(loop, kernel.function)
        if own and (loop.operation.block == top or (tiles is not None and not tiles.results)):
            yield loop, tiles


def guarded_loops(kernel: Kernel) -> Iterator[scf.ForOp]:
    """The loops with products of warpgroups in an `scf.if` at the top that CTAs may leave out."""
    around = {dot.operation.parent for dot in kernel.named(AwaitedProduct)}
    for loop in kernel.named(scf.ForOp):
        if loop.operation in around and guard_at_top(loop, kernel.function) is not None:
            yield loop


def loops_elsewhere(kernel: Kernel) -> Iterator[tuple[scf.ForOp, str]]:
    """The loops with products of warpgroups that warps cannot share out where they are, and why."""
    parted = {loop.operation for loop, _ in loops_of_products(kernel)}
    parted |= {loop.operation for loop in guarded_loops(kernel)}
    around = {dot.operation.parent for dot in kernel.named(AwaitedProduct)}
    for loop in kernel.named(scf.ForOp):
        parent = loop.operation.parent
        if loop.operation in parted or loop.operation not in around or parent is None:
            continue
        where = f"stands in '{parent.name}'"
        if loop_over_tiles(loop, kernel.function) is not None:
            where = "stands in a loop that carries values"
        yield loop, f"it {where}, neither at the top of the kernel nor in a loop over tiles there"


def least_warpgroups(kernel: Kernel) -> int:
    """Warpgroups that must compute for warps that load: one where tensor memory holds all sums."""
    dots = kernel.named(AwaitedProduct)
    return LEAST_WARPGROUPS if any(dot.accumulator_registers for dot in dots) else 1


def plan_parting(
    kernel: Kernel,
    target: Target,
    loop: scf.ForOp,
    tiles: scf.ForOp | None,
    *,
    beside_stores: bool = False,
    turns: int = 1,
) -> Parting | str:
    """How a loop is parted; why not, if it stays.

    Args:
        kernel: the kernel.
        target: what it is for.
        loop: with products of warpgroups.
        tiles: the loop over tiles around it, if there is one.
        beside_stores: whether the ring is to leave room for the tiles that are stored, as in a loop
            over tiles it does.
        turns: warpgroups that are to take the tiles in turn; 1 where all share each.
    """
    beside_stores = beside_stores or tiles is not None
    return _Planning(kernel, target, loop, tiles, beside_stores, turns).run()


class _Planning:
    """The planning of one loop."""

    def __init__(
        self,
        kernel: Kernel,
        target: Target,
        loop: scf.ForOp,
        tiles: scf.ForOp | None,
        beside_stores: bool,
        turns: int,
    ) -> None:
        self._tiles = tiles
        self._guard = None if tiles is not None else guard_at_top(loop, kernel.function)
        self._kernel = kernel
        self._target = target
        self._loop = loop
        self._beside_stores = beside_stores
        self._turns = turns

    def run(self) -> Parting | str:
        """The plan; why there is none."""
        kernel, loop = self._kernel, self._loop
        writers = Writers(kernel.function)
        groups = copy_groups(loop, writers)
        copies = [copy for group in groups for copy in group.copies]
        needs = self._needs(copies, writers)
        roles = self._roles()
        why = self._obstacle(copies, writers)
        if why:
            return why
        if self._turns > 1 and not self._alike():
            return "the number of iterations may differ between tiles"
        if needs is None:
            return (
                "bounds or indices are not computed from block numbers, arguments and numbers that "
                "the kernel loads at its top alone"
            )
        if roles is None:
            return f"{self._computing} threads leave no room for {PRODUCERS} more that load"
        room = min(self._room(copies), stages_of_factors(kernel, loop))
        pinned = loop.attributes.get(STAGES)
        stages = pinned.value if isinstance(pinned, ir.IntegerAttr) else room
        if min(stages, room) < 2 and stages <= room:
            return "its ring would be of one stage"
        frame = [op for group in groups for op in group.frame]
        tiles = None if self._tiles is None else self._tiles.operation
        waits = waits_around(kernel, loop.operation, tiles or self._guard)
        return Parting(copies, frame, stages, room, roles, needs, self._turns, self._guard, waits)

    @property
    def _computing(self) -> int:
        """Threads that compute."""
        return self._kernel.threads * self._turns

    def _obstacle(self, copies: list[StagedCopy], writers: Writers) -> str:
        """Why the copies stay with the threads that compute; empty if they need not."""
        kernel, block = self._kernel, self._loop.regions[0].blocks[0]
        if not any(map(is_box, copies)):
            return "no operands of products are copied in each iteration"
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
        before = self._before()
        tiles = [] if self._tiles is None else [self._tiles]
        apart = dependences(kernel)
        for copy in copies:
            view = copy.copy.opview
            assert isinstance(view, AsyncCopyOp)
            readers = [op for op in copy.loads if not isinstance(op.opview, AwaitedProduct)]
            why = copy.obstacle or (
                why_no_map(view.source, kernel.function) if is_box(copy) else ""
            )
            elsewhere = [op for op in copy.loads if op.block != block]
            if readers:
                why = f"'{readers[0].name}' reads copied data, and only products wait for a ring"
            elif elsewhere:
                why = f"'{elsewhere[0].name}' reads the copied data outside of its body"
            elif writers.before(before, view.source, but=apart) is not None:
                why = "the copied data may be written before it"
            elif writers.between(tiles, view.source, but=apart) is not None:
                why = "the copied data may be written by the previous tile"
            if why:
                return why
        copied = {copy.copy for copy in copies}
        others = (op for op in block.operations if isinstance(op, AsyncCopyOp))
        if any(op.operation not in copied for op in others):
            return "some of its copies are read elsewhere"
        return ""

    def _before(self) -> list[ir.Operation]:
        """The ops in front of the loop, or of that over tiles, from the kernel's top on."""
        inner = (self._tiles or self._loop).operation
        found = list[ir.Operation]()
        for op in (self._guard, inner) if self._guard is not None else (inner,):
            ops = [one.operation for one in op.block.operations]
            found += ops[: ops.index(op)]
        return found

    def _is_number(self, op: ir.Operation, writers: Writers) -> bool:
        """Whether an op loads one number from memory that nothing wrote before, or gives it on.

        Threads that load tiles can do it as well, in front of all else at the kernel's top.
        """
        types = [value.type for value in (*op.operands, *op.results)]
        tiles = [ir.RankedTensorType(t) for t in types if isinstance(t, ir.RankedTensorType)]
        if any(prod(tile.shape) > 1 for tile in tiles):
            return False
        view = op.opview
        if isinstance(view, LoadOp) and not is_shared(view.source):
            ops = [one.operation for one in op.block.operations]
            return writers.before(ops[: ops.index(op)], view.source) is None
        return effects_of(op) == () and scope_of(op) <= Scope.WARP

    def _needs(self, copies: list[StagedCopy], writers: Writers) -> Needs | None:
        """What bounds and indices are computed from; None if that cannot stand at the top."""
        inside = {op for copy in copies for op in copy.needs}
        taken = [operand for copy in copies for operand in copy.copy.operands]
        taken += [operand for op in inside for operand in op.operands]
        taken += list(self._loop.operands)[:3]
        taken += [] if self._tiles is None else list(self._tiles.operands)[:3]
        taken += [] if self._guard is None else list(self._guard.operands)
        top = self._kernel.function.regions[0].blocks[0]
        around = self._tiles or self._guard
        blocks = [top, *(one.regions[0].blocks[0] for one in (around,) if one is not None)]
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
            is_number = op.block == top and self._is_number(op, writers)
            if op.block not in blocks or not (is_pure(op) or is_number):
                return None
            found.add(op)
            taken += list(op.operands)
        ordered = [[op.operation for op in block.operations] for block in blocks]
        return Needs(*([op for op in ops if op in found] for ops in [*ordered, []][:2]))

    def _alike(self) -> bool:
        """Whether all tiles of the loop over them take as many iterations."""
        tiles = self._tiles
        if tiles is None:  # of a grid, as tile-make-persistent knows
            return True
        body = tiles.regions[0].blocks[0]
        taken, seen = list(self._loop.operands)[:3], set[Op]()
        while taken:
            owner = taken.pop().owner
            if owner == body:
                return False
            if not isinstance(owner, ir.Block) and owner.operation not in seen:
                seen.add(owner.operation)
                taken += list(owner.operation.operands)
        return True

    def _roles(self) -> WarpRoles | None:
        threads = self._kernel.threads
        dots = self._kernel.named(AwaitedProduct)
        held = max(_registers(dot, threads) for dot in dots)
        if not any(dot.accumulator_registers for dot in dots):
            equal = equal_roles(threads, self._target)
            return equal if equal and held + BESIDES <= equal.consumer else None
        roles = warp_roles(threads, held, self._target, self._turns)
        if roles is None:
            return None
        entry = self._target.registers_at_entry(self._computing + PRODUCERS)
        widest = max(dot.accumulator_registers for dot in dots)
        return roles if widest + BESIDES <= entry and held + BESIDES <= roles.consumer else None

    def _room(self, copies: list[StagedCopy]) -> int:
        """Stages of a ring that fit."""
        size, now = _size(copies), sum(map(_bytes_of, copies))
        function, loaded = self._kernel.function, [copy.alloc for copy in copies]
        space = SharedSpace(function, self._target, self._turns, loaded)
        left = space.left(self._tiles or self._loop)
        kept = (2 if self._turns == 1 else 3) * _BARRIERS
        if self._beside_stores and self._kernel.named(TensorDot):
            kept += _TAKING_OVER
        if self._beside_stores:
            stores = self._kernel.named(StoreOp)
            stored = sum(_bytes_to_store(store, function, self._target) for store in stores)
            kept += stored * self._turns
        if self._beside_stores and self._tiles is None:
            ops = [op.operation for op in self._loop.operation.block.operations]
            others = [op for op in ops if op != self._loop.operation]
            left = min(left, space.left(*others) - now)  # of a ring that is there all the time
        return (left + now - kept) // size


def _registers(dot: AwaitedProduct, threads: int) -> int:
    """Registers of a thread that hold the accumulators of a product."""
    type_ = ir.RankedTensorType(dot.d.type)
    return prod(type_.shape) * bits_of(type_.element_type) // 32 // threads


def _bytes_to_store(store: StoreOp, function: Op, target: Target) -> int:
    """Bytes of shared memory through which a tile will leave: by boxes, or coalesced."""
    type_ = store.tile.type
    if is_shared(store.memref) or not isinstance(type_, ir.RankedTensorType):
        return 0
    bits = bits_of(type_.element_type)
    tile = tile_value(type_)
    by_boxes = (
        bits == WORD
        and tile is not None
        and not why_no_box_store(store, tile, function)
        and panels_of(tile) is not None
    )
    if bits == HALF or by_boxes:
        return aligned(prod(type_.shape) * bits // 8)
    wanted = coalesced(store, function, target)
    if wanted is None or not wanted.pays:
        return 0
    return conversion_bytes(store.tile.type, wanted.type, target)


def _depends_on_threads(op: ir.OpView) -> bool:
    """Whether an op may tell threads apart, count them, or meet them in a way of its own."""
    operands, results = len(op.operation.operands), len(op.results)
    if effects_of(op) is None or (results and finds(op)):
        return True
    if operands and orders(op, Resource.BARRIERS):
        return True
    if operands or not results or isinstance(op, TileOp):
        return False
    is_constant = "value" in op.attributes
    return not is_constant and place_of(op) is None


def _size(copies: list[StagedCopy]) -> int:
    """Bytes of a stage: of what a pair of CTAs is to multiply each loads half of B."""
    return sum(_bytes_of(copy) // (CLUSTER_CTAS if _is_halved(copy) else 1) for copy in copies)


def _bytes_of(copy: StagedCopy) -> int:
    """Bytes of shared memory that a copy fills."""
    return aligned(shared_buffer(memref_of(copy.alloc.results[0])).bytes)


def _is_halved(copy: StagedCopy) -> bool:
    """Whether it is for the right operand of a product that pairs are to compute."""
    return any(
        IN_PAIRS in op.attributes and op.operands[1] == copy.copy.operands[1] for op in copy.loads
    )
