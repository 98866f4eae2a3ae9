"""`tile-request-tiles`: CTAs ask for the tiles of clusters that have not started."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from tilec.dialects.tile.attributes import PRODUCER, TAKES_OVER
from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_all, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AsyncCopyOp,
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    QueryCancelOp,
    TmaLoadOp,
    TryCancelOp,
)
from tilec.dialects.tile.ops.launch_control import RESPONSE_BYTES, WORDS
from tilec.ir.aliases import Value
from tilec.ir.attributes import cluster_size
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import gpu as upstream_gpu
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, gpu, nvvm
from tilec.ir.ops import scf as ops_scf
from tilec.ir.types import i1, i32
from tilec.isa import LANES

from .blackwell.carried import carry, pass_on
from .blackwell.rings import is_first_cta
from .emit import index_constant
from .hopper.ring_parts import Ring, next_stage
from .kernel_pass import Kernel, KernelPass
from .search import named

_STAGES = 2
"""Responses: one is waited for while the threads that compute have still to read the other."""


class RequestTiles(KernelPass):
    """Let CTAs ask for tiles of clusters that have not started (`clusterlaunchcontrol`).

    In: level 2, with the loops over tiles that tile-make-persistent marks `tile.takes_over`: of
    one iteration, in which each CTA computes the tile that it was launched for. Out: the same; the
    loops carry the tile's place in the grid and, last, whether the next request succeeded, for
    tile-take-over-tiles. The thread that loads asks at the beginning of each tile, and all threads
    read the response at its end. Two responses alternate; mbarriers signal that one has come, and
    that all threads have read it. Of a cluster the first CTA asks for all.
    """

    name: ClassVar[str] = "tile-request-tiles"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        loops = [op for op in named(kernel.function, [scf.ForOp]) if TAKES_OVER in op.attributes]
        if not loops or kernel.named(QueryCancelOp):
            return
        asks = [_loads(loop) for loop in loops]
        others = [_is_of_producer(loop) for loop in loops]
        if sum(asks) != 1 or all(others):  # its warps have no roles
            for loop in loops:
                del loop.attributes[TAKES_OVER]
            return
        with kernel.at(kernel.function):
            ctas = prod(cluster_size(kernel.function) or ())
            loading = [loop for loop, other in zip(loops, others, strict=True) if other]
            ring, responses = _begin(kernel, ctas, sum(_readers(loop, ctas) for loop in loading))
            for loop, one in zip(loops, asks, strict=True):
                _request(loop, ring, responses, ctas, loads=one)


def _loads(loop: ir.Operation) -> bool:
    """Whether the thread that loads executes a loop, which also asks."""
    return bool(named(loop, [TmaLoadOp]))


def _readers(loop: ir.Operation, ctas: int) -> int:
    """Threads that execute a loop of those that load: one of each CTA of a cluster does not ask.

    Of warps that copy all of each CTA, as their copies say; else those that issue products, one.
    """
    if _loads(loop):
        return ctas - 1 if ctas > 1 else 0
    copies = [op.opview for op in named(loop, [AsyncCopyOp])]
    warps = {copy.warps for copy in copies if isinstance(copy, AsyncCopyOp)}
    counts = {0 if one is None else one[1] for one in warps}
    return max(ctas, 1) * LANES * counts.pop() if counts else 1


def _is_of_producer(op: ir.Operation) -> bool:
    """Whether the threads that load execute an op."""
    parent = op.parent
    while parent is not None:
        if PRODUCER in parent.attributes:
            return True
        parent = parent.operation.parent
    return False


def _begin(kernel: Kernel, ctas: int, loading: int) -> tuple[Ring, Value]:
    """Mbarriers, begun by one thread before any other comes to them, and room for responses.

    Of a cluster the first CTA alone asks, when all threads that compute have read the response
    before, and those of the role that loads that read it.

    Args:
        kernel: the kernel.
        ctas: of a cluster.
        loading: threads of that role, in all its CTAs.
    """
    readers = ctas * kernel.threads + loading
    space = SharedAttr.get(ir.StringAttr.get("none"))
    word = ir.IntegerType.get_signless(64)
    barriers = ir.MemRefType.get([_STAGES], word, memory_space=space)
    block = kernel.function.regions[0].blocks[0]
    top = next(op for op in block.operations if not isinstance(op, AllocSharedOp))
    with ir.InsertionPoint(top), kernel.function.location:
        type_ = ir.MemRefType.get([_STAGES, WORDS], word, memory_space=space)
        responses = emit(AllocSharedOp, [], type_)
        ring = Ring(emit(AllocSharedOp, [], barriers), emit(AllocSharedOp, [], barriers))
        thread = gpu.thread_id(gpu.Dimension.X)
        with ops_scf.if_(arith.cmpi(arith.CmpI.EQ, thread, index_constant(0))):
            for stage in map(index_constant, range(_STAGES)):
                emit_effect(BarrierInitOp, [ring.full, stage], count=i64(1))
                emit_effect(BarrierInitOp, [ring.empty, stage], count=i64(readers))
            nvvm.fence_mbarrier_init()
        if ctas > 1:
            nvvm.cluster_barrier()
        else:
            gpu.barrier()
    return ring, responses


def _request(loop: ir.Operation, ring: Ring, responses: Value, ctas: int, *, loads: bool) -> None:
    """Let a loop carry which tile is next.

    Args:
        loop: of one iteration.
        ring: what signals that responses have come and been read.
        responses: where they come to.
        ctas: of a cluster, of which the first asks for all.
        loads: whether the thread that loads executes it, which also asks.
    """
    with ir.InsertionPoint(loop), loop.location:
        first: list[Value] = [gpu.block_id(axis) for axis in gpu.Dimension]
        state: list[Value] = [arith.integer(i32(), 0), arith.integer(i1(), 0)]
        start = [*state, *first, arith.integer(i1(), 1)]
    own: list[Value] = []
    for value in start:
        loop, argument = carry(loop, value)
        own.append(argument)
    slot, parity, *places, _ = own
    block = loop.regions[0].blocks[0]
    for op in [op for op in _inside(loop) if isinstance(op.opview, upstream_gpu.BlockIdOp)]:
        op.results[0].replace_all_uses_with(places[dimension_of(op)])
        op.erase()
    with ir.InsertionPoint.at_block_begin(block), loop.location:
        stage = arith.index_castui(slot, ir.IndexType.get())
        if loads:
            _ask(ring, responses, (stage, parity), ctas)
    operations = block.operations
    with ir.InsertionPoint(operations[len(operations) - 1]), loop.location:
        emit_effect(BarrierWaitOp, [ring.full, stage, parity])
        index = ir.IndexType.get()
        types = [i1(), index, index, index]
        canceled, *following = emit_all(QueryCancelOp, [responses, stage], types, {})
        # The next response is written by another proxy.
        if not loads:
            nvvm.fence_proxy_async_shared()
            _tell_read(ring, stage, ctas)
        elif ctas > 1:
            with ops_scf.if_(arith.xori(is_first_cta(), arith.integer(i1(), 1))):
                nvvm.fence_proxy_async_shared()
                _tell_read(ring, stage, ctas)
        further = [*next_stage(slot, parity, _STAGES), *following, canceled]
    for value in further:
        pass_on(loop, value)


def _ask(ring: Ring, responses: Value, at: tuple[Value, Value], ctas: int) -> None:
    """Ask for a cluster, once the response before has been read.

    Args:
        ring: the mbarriers.
        responses: where the response comes to, in all CTAs of a cluster.
        at: which response, and its parity.
        ctas: of a cluster, of which the first asks for all.
    """
    stage, parity = at
    before = arith.xori(parity, arith.integer(i1(), 1))
    asked = [responses, stage, ring.full, stage]
    if ctas == 1:
        emit_effect(BarrierWaitOp, [ring.empty, stage, before])
        emit_effect(BarrierExpectOp, [ring.full, stage], bytes=i64(RESPONSE_BYTES))
        emit_effect(TryCancelOp, asked)
        return
    emit_effect(BarrierExpectOp, [ring.full, stage], bytes=i64(RESPONSE_BYTES))
    unit = ir.UnitAttr.get()
    with ops_scf.if_(is_first_cta()):
        emit_effect(BarrierWaitOp, [ring.empty, stage, before], cluster=unit)
        emit_effect(TryCancelOp, asked, multicast=unit)


def _tell_read(ring: Ring, stage: Value, ctas: int) -> None:
    """Say that this thread has read a response: to the CTA that asks."""
    first = [index_constant(0)] if ctas > 1 else []
    emit_effect(BarrierArriveOp, [ring.empty, stage, *first])


def _inside(loop: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    loop.walk(look)
    return found
