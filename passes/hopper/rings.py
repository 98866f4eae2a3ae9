"""A loop parted in two: threads that load, by TMA, and threads that compute; a ring between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from tilec.dialects.tile.attributes import MULTICAST, PRODUCER, TAKES_OVER
from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AsyncCopyOp,
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    WarpgroupIdOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, nvvm, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import i1, i32
from tilec.isa import LANES, WARPGROUP_THREADS

from ..emit import index_constant
from ..search import defining_op
from ..staging.loop_stages import LoopStages, make_anew
from ..staging.staged_copies import StagedCopy
from .box_copies import Share, load_boxes
from .dependent_launch import NO_WAITS, Waits, wait_again
from .factor_rounds import FactorRounds
from .ordered_turns import OrderedTurns, needed
from .ring_parts import LOADERS, Part, Ring, next_stage, parts_of
from .warp_roles import PRODUCERS, WarpRoles


class Needs(NamedTuple):
    """What bounds of loops and indices of copies are computed from.

    Attributes:
        top: ops of the kernel's block, in order.
        of_tile: ops of the loop over tiles around the loop, or of the `scf.if`, in order.
    """

    top: list[ir.Operation]
    of_tile: list[ir.Operation]


Rounds: TypeAlias = Callable[[list[Value], Mapping[Value, Value]], Sequence[Value]]
"""What emits the rounds of one tile from the first stage and its parity on, and gives those after
them; it is told what stands for values of the loop over tiles."""


class Specialised(LoopStages):
    """The rewriting of one loop at the top of a kernel, or of a loop over tiles or a branch there.

    After the threads that compute stands a warpgroup of which one thread loads, and two further
    warps, if there are scale factors, those (`FactorRounds`). In each round it
    waits until a part of a stage is empty, and copies boxes to it; the others wait until it is full
    in front of the first op that reads it, and say after the last that they have. The phase before
    the first counts as ended: so the first waits for empty stages end at once. In a loop over tiles
    the ring goes on from tile to tile, so that boxes of the next are loaded while what others have
    computed of this one is stored.

    Args:
        loop: the `scf.for`.
        copies: those of its body, all of which move.
        stages: of the ring.
        roles: registers of each role.
        needs: what bounds and indices are computed from.
        tiles: the loop over tiles around it, if there is one; it carries nothing.
        ctas: of a cluster, in which each loads a part of what `tile.multicast` says of for all.
        turns: warpgroups that take the tiles in turn; the loop is rewritten for any number of them.
        guard: the `scf.if` at the top of the kernel in which the loop stands, if it does.
        waits: for kernels before this one, which threads that load do, too.
    """

    def __init__(
        self,
        loop: Op,
        copies: list[StagedCopy],
        stages: int,
        roles: WarpRoles,
        needs: Needs,
        tiles: Op | None = None,
        ctas: int = 1,
        turns: int = 1,
        guard: ir.Operation | None = None,
        waits: Waits = NO_WAITS,
    ) -> None:
        super().__init__(loop, copies, stages)
        self._guard = guard
        self._waits = waits
        self._tiles = None if tiles is None else tiles.operation
        self._roles = roles
        self._needs = needs
        self._computing = roles.threads - PRODUCERS
        self._share: Share | None = None
        self._turns: OrderedTurns | None = None
        if turns > 1:
            self._turns = OrderedTurns(turns, self._computing // LANES, stages)
        if ctas == 1:
            for copy in copies:
                if MULTICAST in copy.copy.attributes:
                    del copy.copy.attributes[MULTICAST]
        self._parts = parts_of(loop, copies)
        self._ctas = ctas if any(part.is_shared for part in self._parts) else 1

    def run(self, frames: Iterable[Op]) -> None:
        """Rewrite the loop.

        Args:
            frames: ops of the body that nothing needs any more.
        """
        self.enlarge()
        block = (self._tiles or self._guard or self.loop).block
        top = next(op.operation for op in block.operations if not isinstance(op, AllocSharedOp))
        for buffer in self.buffers.values():
            alloc = defining_op(buffer, AllocSharedOp)
            if alloc is not None and top.is_before_in_block(alloc.operation):
                alloc.operation.move_before(top)
        for op in self._needs.top:
            if op != top:
                op.move_before(top)
            else:
                operations = list(block.operations)
                at = next(n for n, one in enumerate(operations) if one.operation == top)
                top = operations[at + 1].operation
        with ir.InsertionPoint(top), self.loop.location:
            ring = self._begin()
            self._produce(ring)
        if self._ctas > 1:  # until here others may load for this one, and tell it
            with ir.InsertionPoint(list(block.operations)[-1]), self.loop.location:
                nvvm.cluster_barrier()
        self._consume(ring)
        self.erase(frames)

    def _begin(self) -> Ring:
        """The mbarriers, begun by one thread before any other comes to them."""
        space = SharedAttr.get(ir.StringAttr.get("none"))
        type_ = ir.MemRefType.get(
            [len(self._parts) * self.stages],
            ir.IntegerType.get_signless(64),
            memory_space=space,
        )
        ring = Ring(emit(AllocSharedOp, [], type_), emit(AllocSharedOp, [], type_))
        if self._turns is not None:
            self._turns.allocate()
        zero = index_constant(0)
        thread = gpu.thread_id(gpu.Dimension.X)
        with scf.if_(arith.cmpi(CmpI.EQ, thread, zero)):
            for number in range(len(self._parts) * self.stages):
                at = index_constant(number)
                part = self._parts[number // self.stages]
                readers = self._readers(part)
                emit_effect(BarrierInitOp, [ring.full, at], count=i64(part.arrivals))
                emit_effect(BarrierInitOp, [ring.empty, at], count=i64(readers))
            if self._turns is not None:
                self._turns.begin()
            nvvm.fence_mbarrier_init()
        if self._ctas > 1 or self._of_pairs:
            nvvm.cluster_barrier()
        else:
            gpu.barrier()
        return ring

    @property
    def _of_pairs(self) -> bool:
        """Whether the other CTA of a pair also comes to the mbarriers of this one."""
        readers = [one.opview for part in self._parts for one in part.readers]
        return any(isinstance(one, TensorDot) and one.group > 1 for one in readers)

    def _readers(self, part: Part) -> int:
        """Warps that read a part before it is empty, those of other CTAs that load it too."""
        return self._computing // LANES * (self._ctas if part.is_shared else 1)

    def _produce(self, ring: Ring) -> None:
        """The rounds of the thread that loads."""
        group = emit(WarpgroupIdOp, [], ir.IndexType.get())
        own = index_constant(self._computing // WARPGROUP_THREADS)
        branch = scf.branch(arith.cmpi(CmpI.EQ, group, own))
        branch.attributes[PRODUCER] = ir.DenseI64ArrayAttr.get(list(self._roles))
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            if self._roles.differ:
                nvvm.setmaxregister(self._roles.producer)
            thread = gpu.thread_id(gpu.Dimension.X)
            first = index_constant(self._computing + LANES)
            with scf.if_(arith.cmpi(CmpI.ULT, thread, first)), scf.if_(nvvm.elect_sync()):
                if self._ctas > 1:
                    place = gpu.block_id(gpu.Dimension.X)
                    rank = arith.remui(place, index_constant(self._ctas))
                    self._share = Share(self._ctas, rank)
                self._all_rounds(partial(self._rounds, ring))
            if any(part.factors for part in self._parts):
                warp = (self._computing + PRODUCERS) // LANES - LOADERS
                with scf.if_(arith.cmpi(CmpI.UGE, thread, index_constant(warp * LANES))):
                    self._all_rounds(FactorRounds(self, self._parts, ring, warp).emit)
            scf.yield_()

    def _all_rounds(self, rounds: Rounds) -> None:
        """The rounds of all tiles, as threads that load make those of one."""
        start: list[Value] = [arith.integer(i32(), 0), arith.integer(i1(), 1)]
        wait_again(self._waits.top)
        if self._tiles is not None:
            self._tiles_of_rounds(rounds, start, self._tiles)
        elif self._guard is not None:
            with scf.if_(self._guard.operands[0]):
                known: dict[Value, Value] = {}
                make_anew(self._needs.of_tile, known)
                wait_again(self._waits.before)
                rounds(start, known)
        else:
            rounds(start, {})

    def _tiles_of_rounds(self, rounds: Rounds, start: list[Value], tiles: ir.Operation) -> None:
        """The rounds of each tile; the ring goes on."""
        mark = TAKES_OVER
        same = {mark: tiles.attributes[mark]} if mark in tiles.attributes else {}
        loop = scf.for_(list(tiles.operands)[:3], start, same)
        types = [ir.IndexType.get(), *(value.type for value in start)]
        block = loop.regions[0].blocks.append(*types)
        state: list[Value] = [*block.arguments][1:]
        known: dict[Value, Value] = {tiles.regions[0].blocks[0].arguments[0]: block.arguments[0]}
        with ir.InsertionPoint(block):
            make_anew(self._needs.of_tile, known)
            wait_again(self._waits.before)
            state = list(rounds(state, known))
            wait_again(self._waits.behind)
            scf.yield_(state)

    def _rounds(
        self, ring: Ring, start: list[Value], known: Mapping[Value, Value]
    ) -> Sequence[Value]:
        """The rounds of one tile, and where the ring is after them.

        Args:
            ring: the mbarriers.
            start: the stage that comes first, and its parity.
            known: what stands for values of the loop over tiles.
        """
        bounds = [known.get(bound, bound) for bound in (self.lower, self.upper, self.step)]
        loop = scf.for_(bounds, start)
        types = [ir.IndexType.get(), *(value.type for value in start)]
        block = loop.regions[0].blocks.append(*types)
        counter, word, parity = block.arguments
        with ir.InsertionPoint(block):
            stage = arith.index_castui(word, ir.IndexType.get())
            for part in self._parts:
                at = self._barrier(part, stage)
                emit_effect(BarrierWaitOp, [ring.empty, at, parity])
                emit_effect(BarrierExpectOp, [ring.full, at], bytes=i64(part.bytes))
                for copy in part.boxes:
                    view = copy.copy.opview
                    assert isinstance(view, AsyncCopyOp)
                    source = self.source_at(copy, counter, known)
                    share = self._share if MULTICAST in copy.copy.attributes else None
                    buffer, barrier = self.buffers[copy.alloc], (ring.full, at)
                    load_boxes(view, source, buffer, barrier, stage, share)
            scf.yield_(self._next(word, parity))
        return list(loop.results)

    def _barrier(self, part: Part, stage: Value) -> Value:
        """The number of the mbarrier of a part of a stage."""
        return part.barrier(stage, self.stages)

    def _consume(self, ring: Ring) -> None:
        """The rounds of the threads that compute."""
        with ir.InsertionPoint(self._tiles or self.loop):
            start: list[Value] = [arith.integer(i32(), 0), arith.integer(i1(), 0)]
            if self._turns is not None:
                start = self._turns.enter(self._bounds_of_all())
        if self._tiles is not None:
            start = self._carry_over_tiles(self._tiles, start)
        word, parity = self.carry(start[:2])
        with ir.InsertionPoint.at_block_begin(self.block):
            stage = arith.index_castui(word, ir.IndexType.get())
        unit = ir.UnitAttr.get()
        for part in self._parts:
            with ir.InsertionPoint(part.readers[0]):
                emit_effect(BarrierWaitOp, [ring.full, self._barrier(part, stage), parity])
            with ir.InsertionPoint.after(part.readers[-1]):
                at = self._barrier(part, stage)
                whose = {"ctas": i64(self._ctas)} if part.is_shared else {"elected": unit}
                emit_effect(BarrierArriveOp, [ring.empty, at], **whose)
        self.reload(stage)
        further: Callable[[], Iterable[Value]] = lambda: self._next(word, parity)  # noqa: E731
        self.pass_on(further)
        if self._tiles is not None:
            self._go_on(start)

    def _go_on(self, start: list[Value]) -> None:
        """Let the loop over tiles go on from where the ring is, in turns of warpgroups if so.

        Args:
            start: with what a tile begins.
        """
        end = list(self.loop.block.operations)[-1].operation
        *_, stage, parity = self.loop.results
        on: list[Value] = [stage, parity]
        if self._turns is not None:
            with ir.InsertionPoint(self.loop), self.loop.location:
                self._turns.wait(start[-1])
            with ir.InsertionPoint.after(self.loop), self.loop.location:
                self._turns.signal()
        with ir.InsertionPoint(end), self.loop.location:
            if self._turns is not None:
                on = self._turns.further(stage, parity, start[-1])
            scf.yield_(on)
        end.erase()

    def _bounds_of_all(self) -> list[Value]:
        """The bounds of the loop, which are the same for every tile, before that over tiles."""
        bounds = [self.lower, self.upper, self.step]
        known: dict[Value, Value] = {}
        make_anew(needed(self._needs.of_tile, bounds), known)
        return [known.get(bound, bound) for bound in bounds]

    def _carry_over_tiles(self, tiles: ir.Operation, start: list[Value]) -> list[Value]:
        """Let the loop over tiles carry where the ring is; the arguments that hold it."""
        attributes = {name: tiles.attributes[name] for name in tiles.attributes}
        bounds: list[Value] = list(tiles.operands)[:3]
        with ir.InsertionPoint(tiles), tiles.location:
            if self._turns is not None:
                bounds = self._turns.tiles(bounds)
            carrying = scf.for_(bounds, start, attributes)
        block = tiles.regions[0].blocks[0]
        block.append_to(carrying.regions[0])
        arguments: list[Value] = [block.add_argument(v.type, tiles.location) for v in start]
        tiles.erase()
        return arguments

    def _next(self, stage: Value, parity: Value) -> list[Value]:
        """The stage after this, and its parity."""
        return next_stage(stage, parity, self.stages)
