"""`tile-place-accumulators`: the sums of `tile.tensor_dot`s come to lie in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import copysign, prod
from typing import ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AllocTensorOp,
    BarrierArriveOp,
    BarrierInitOp,
    BarrierWaitOp,
    TensorDotScaledOp,
    TensorLoadOp,
    TensorStoreOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.tensor_dots import left_type, matrix_type
from tilec.ir.aliases import Value
from tilec.ir.attributes import cluster_size
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, nvvm, scf
from tilec.ir.types import i1
from tilec.isa import LANES

from .blackwell.alternation import TWO, Alternation, arrivals, wanted, why_one
from .blackwell.carried import Carried, carried, carried_phase, let_go, loops_around
from .blackwell.issue import fence, issue
from .blackwell.rings import PAIR, Ring, await_phase, commit, is_first_cta, ring_around
from .blackwell.scale_factors import ScaleFactors
from .emit import index_constant
from .kernel_pass import Kernel, KernelPass
from .search import defining_op


@dataclass(frozen=True)
class PlaceAccumulators(KernelPass):
    """Give each `tile.tensor_dot` an accumulator in tensor memory, and issue its instructions.

    In: level 2. Out: the same, without `tile.tensor_dot`s: an elected thread of the first warp
    issues `tile.tcgen05_mma`s and a commit, and all threads wait for the mbarrier that it signals,
    whose phase the loops around carry. A left operand that is a tile is stored to tensor memory in
    front of that. Sums that a loop carries for one product stay in tensor
    memory in all its rounds, of which the first does not add where they begin with zero; they
    are loaded after the loop. Other sums are stored before the product, and loaded after. In the
    rounds of a ring that tile-specialize-warps has made no thread waits for the product: a commit
    releases the stage, and one after the loop tells that the sums are complete.

    Of a product of a pair of CTAs only a thread of the CTA of rank 0 issues: when threads of both
    have arrived at an mbarrier there, as they do when their operands are in shared memory and their
    sums loaded. Its commit arrives in both. The cluster has just these two CTAs.

    Scale factors are copied to tensor memory in front of the products, those of each stage of a
    ring to columns of their own.

    In a loop over tiles with a ring two accumulators are taken in turn, where their columns fit: a
    warp of those that load issues the products of all tiles, those of the next one while the
    threads that compute load and store the sums of one.

    Attributes:
        accumulators: 1 has the threads that compute issue the products of a tile, and wait for
            them. `tile.accumulators` of a loop comes first.
    """

    name: ClassVar[str] = "tile-place-accumulators"

    accumulators: int = TWO

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        dots = kernel.named(TensorDot)
        if not dots:
            return
        pairs = [dot for dot in dots if dot.group > 1]
        size = cluster_size(kernel.function)
        if pairs and (size is None or prod(size) != PAIR):
            given = "no cluster" if size is None else f"a cluster of {'x'.join(map(str, size))}"
            kernel.error(
                pairs[0],
                f"is a product of a pair of CTAs in a kernel with {given}; legal: "
                "known_cluster_size = array<i32: 2, 1, 1>",
            )
            return
        if self._take_turns(kernel, dots):
            return
        with kernel.at(kernel.function):
            count = len(dots)
            done = _mbarriers(kernel, [1] * count + [2] * count * bool(pairs), pair=bool(pairs))
            for number, dot in enumerate(dots):
                with kernel.at(dot):
                    _Placed(kernel, dot, done, number, count + number).run()

    def _take_turns(self, kernel: Kernel, dots: list[TensorDot]) -> bool:
        """Let the tiles of a ring take two accumulators in turn; whether they do."""
        for dot in dots:
            held = carried(dot)
            ring = None if held is None or "a" not in dot.memories() else ring_around(dot, kernel)
            if held is None or ring is None:
                continue
            with kernel.at(dot):
                if wanted(held, self.accumulators) != TWO:
                    continue
                why = why_one(kernel, dot, held, ring)
                if not why and not _is_zero(held.start):
                    why = "its sums do not begin with zero"
                if why:
                    kernel.missed(dot, f"has one accumulator: {why}")
                    continue
                pair = dot.group > 1
                barriers = _mbarriers(kernel, arrivals(kernel, dot), pair=pair)
                both = _accumulators(kernel, dot, TWO)
                alloc = defining_op(both, AllocTensorOp)
                assert alloc is not None
                with ir.InsertionPoint.after(alloc), dot.location:
                    factors = _factors_of(dot, ring)
                Alternation(kernel, dot, ring, both, barriers, factors).run(held)
                kernel.remark(
                    kernel.function,
                    "has two accumulators in tensor memory, which tiles take in turn: another warp "
                    "issues the products of the next tile while the sums of one are loaded",
                )
                return True
        return False


def _accumulators(kernel: Kernel, dot: TensorDot, count: int = 1) -> Value:
    """Tensor memory for the sums of a product, or several such accumulators."""
    product, type_ = dot.key, ir.RankedTensorType(dot.d.type)
    rows, cols = type_.shape
    buffer = matrix_type(product, (rows, cols), type_.element_type)
    if count > 1:
        space = buffer.memory_space
        shape = [count, *buffer.shape]
        buffer = ir.MemRefType.get(shape, buffer.element_type, memory_space=space)
    block = kernel.function.regions[0].blocks[0]
    top = next(op for op in block.operations if not isinstance(op, AllocSharedOp))
    with ir.InsertionPoint(top), dot.location:
        if dot.group > 1:
            return emit(AllocTensorOp, [], buffer, cta_group=i64(2))
        return emit(AllocTensorOp, [], buffer)


def _mbarriers(kernel: Kernel, counts: list[int], *, pair: bool) -> Value:
    """Mbarriers that one thread has begun before others come to them.

    Args:
        kernel: whose first ops they become.
        counts: arrivals at each.
        pair: whether threads of another CTA come to them, too.
    """
    space = SharedAttr.get(ir.StringAttr.get("none"))
    word = ir.IntegerType.get_signless(64)
    block = kernel.function.regions[0].blocks[0]
    top = next(op for op in block.operations if not isinstance(op, AllocSharedOp))
    with ir.InsertionPoint(top), kernel.function.location:
        done = emit(AllocSharedOp, [], ir.MemRefType.get([len(counts)], word, memory_space=space))
        thread = gpu.thread_id(gpu.Dimension.X)
        with scf.if_(arith.cmpi(arith.CmpI.EQ, thread, index_constant(0))):
            for number, count in enumerate(counts):
                emit_effect(BarrierInitOp, [done, index_constant(number)], count=i64(count))
            nvvm.fence_mbarrier_init()
        if pair:
            nvvm.cluster_barrier()
        else:
            gpu.barrier()
    return done


class _Placed:
    """The rewriting of one product."""

    def __init__(
        self, kernel: Kernel, dot: TensorDot, done: Value, number: int, both_ready: int
    ) -> None:
        self._kernel = kernel
        self._dot = dot
        self._done = done
        self._number = number
        self._pair = dot.group > 1
        self._both_ready = both_ready
        self._accumulator = _accumulators(kernel, dot)
        self._ring = None if "a" in dot.tiles() else ring_around(dot, kernel)
        alloc = defining_op(self._accumulator, AllocTensorOp)
        assert alloc is not None
        with ir.InsertionPoint.after(alloc), dot.location:
            self._left = _left_of(dot)
            self._factors = _factors_of(dot, self._ring)

    def run(self) -> None:
        """Rewrite it."""
        dot = self._dot
        held = carried(dot)
        if held is None:
            self._alone(carried_phase(dot.operation))
            return
        ring = self._ring
        phase = carried_phase(dot.operation if ring is None else held.loop)
        held = carried(dot)  # the loop that carries the phase is another
        assert held is not None
        self._in_loop(held, phase, ring)

    def _alone(self, phase: Value) -> None:
        """A product whose sums are stored before, and loaded after."""
        dot = self._dot
        with ir.InsertionPoint(dot), dot.location:
            starts = not _is_zero(dot.c)
            self._explain("stored before and loaded after it" if starts else "loaded after it")
            if starts:
                self._put(dot.c)
            self._ready(stored=starts)
            self._issue(arith.integer(i1(), int(starts)), phase)
            result = self._load(dot.d.type, again=bool(loops_around(dot.operation)))
        dot.d.replace_all_uses_with(result)
        dot.operation.erase()

    def _in_loop(self, held: Carried, phase: Value, ring: Ring | None) -> None:
        """A product whose sums stay where they are while a loop runs."""
        dot, loop = self._dot, held.loop
        lower, upper = held.bounds
        type_, starts = dot.d.type, not _is_zero(held.start)
        self._explain("kept there by all rounds of the loop, and loaded after it")
        with ir.InsertionPoint(loop), loop.location:
            if starts:
                self._put(held.start)
                _meet()
            elif not held.surely_runs:  # then what is loaded is what it starts with
                with scf.if_(arith.cmpi(arith.CmpI.SLE, upper, lower)):
                    self._put(held.start)
            if ring is not None and self._pair:
                self._both_are_ready(phase)
        counter = dot.operation.block.arguments[0]
        with ir.InsertionPoint(dot), dot.location:
            adds = arith.integer(i1(), 1) if starts else arith.cmpi(arith.CmpI.NE, counter, lower)
            if ring is None:
                self._ready(stored=False)
                self._issue(adds, phase)
            else:
                self._issue_in_ring(adds, ring)
        with ir.InsertionPoint.after(loop), loop.location:
            if ring is not None:
                with self._by_one_thread():
                    commit(self._done, index_constant(self._number), pair=self._pair)
                self._wait(phase)
            result = self._load(type_, again=bool(loops_around(loop)))
        loop.results[held.number].replace_all_uses_with(result)
        # What the body yields and takes of the old sums goes with them.
        dot.d.replace_all_uses_with(dot.c)
        dot.operation.erase()
        let_go(loop, held.number)

    def _explain(self, how: str) -> None:
        self._kernel.remark(self._dot, f"has its sums in tensor memory, {how}")

    def _put(self, tile: Value) -> None:
        emit_effect(TensorStoreOp, [tile, self._accumulator], warps=self._dot.attributes["warps"])

    def _ready(self, *, stored: bool) -> None:
        """Let the thread that issues see what threads have stored to tensor memory.

        Args:
            stored: whether there is something besides the left operand.
        """
        if self._left is not None:
            warps = self._dot.attributes["warps"]
            emit_effect(TensorStoreOp, [self._dot.a, self._left], warps=warps)
        if stored or self._left is not None or self._pair:
            _meet()

    def _issue(self, adds: Value, phase: Value) -> None:
        """The instructions, and the wait for them."""
        with scf.if_(_is_first_warp()), scf.if_(nvvm.elect_sync()):
            if self._pair:
                self._issue_of_pair(adds, phase)
            else:
                fence("after")
                issue(self._dot, self._accumulator, adds, self._factors, self._left)
                commit(self._done, index_constant(self._number), pair=False)
        self._wait(phase)

    def _issue_of_pair(self, adds: Value, phase: Value) -> None:
        """Tell the even CTA that this one is ready; there, when both are, issue for both."""
        self._tell_ready()
        with scf.if_(is_first_cta()):
            self._await_ready(phase)
            issue(self._dot, self._accumulator, adds, self._factors)
            commit(self._done, index_constant(self._number), pair=True)

    def _both_are_ready(self, phase: Value) -> None:
        """Let the thread that issues wait until both CTAs have loaded the sums before."""
        with scf.if_(_is_first_warp()), scf.if_(nvvm.elect_sync()):
            self._tell_ready()
            with scf.if_(is_first_cta()):
                self._await_ready(phase)

    def _tell_ready(self) -> None:
        ready = index_constant(self._both_ready)
        emit_effect(BarrierArriveOp, [self._done, ready, index_constant(0)])

    def _await_ready(self, phase: Value) -> None:
        ready = index_constant(self._both_ready)
        emit_effect(BarrierWaitOp, [self._done, ready, phase], cluster=ir.UnitAttr.get())
        fence("after")

    @contextmanager
    def _by_one_thread(self) -> Iterator[None]:
        """What the thread does that issues: one of the CTA, or of the even one of a pair."""
        with scf.if_(_is_first_warp()), scf.if_(nvvm.elect_sync()):
            if not self._pair:
                yield
                return
            with scf.if_(is_first_cta()):
                yield

    def _issue_in_ring(self, adds: Value, ring: Ring) -> None:
        """The instructions, as soon as the stage is full; it is empty again when they are done."""
        with self._by_one_thread():
            ring.await_full()
            fence("after")
            issue(self._dot, self._accumulator, adds, self._factors)
            ring.release()
        ring.take_over(self._kernel)
        ring.erase()

    def _wait(self, phase: Value) -> None:
        """The wait of all threads for the products."""
        found = [self._done, index_constant(self._number), phase]
        await_phase(found, pair=self._pair)
        fence("after")

    def _load(self, type_: ir.Type, *, again: bool) -> Value:
        """The sums; where products come here again, they begin when all warps have theirs."""
        warps = self._dot.attributes["warps"]
        found = emit(TensorLoadOp, [self._accumulator], type_, warps=warps)
        if again:
            _meet()
        return found


def _factors_of(dot: TensorDot, ring: Ring | None) -> ScaleFactors | None:
    """Tensor memory for scale factors: of all stages of a ring that the product alone reads."""
    if not isinstance(dot, TensorDotScaledOp):
        return None
    return ScaleFactors(dot, 1 if ring is None else ring.stages)


def _left_of(dot: TensorDot) -> Value | None:
    """Tensor memory for a left operand that is a tile."""
    if "a" in dot.memories():
        return None
    type_ = ir.RankedTensorType(dot.a.type)
    rows, cols = type_.shape
    return emit(AllocTensorOp, [], left_type((rows, cols), type_.element_type))


def _meet() -> None:
    """Let all threads see what each has done in tensor memory, after a fence of theirs."""
    fence("before")
    gpu.barrier()


def _is_first_warp() -> Value:
    """Whether this is the warp of which a thread issues."""
    thread = gpu.thread_id(gpu.Dimension.X)
    return arith.cmpi(arith.CmpI.ULT, thread, index_constant(LANES))


def _is_zero(tile: Value) -> bool:
    """Whether a tile is of zeros, without a sign."""
    owner = tile.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return False
    value = owner.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        return False
    number = value.get_splat_value()
    if isinstance(number, ir.FloatAttr):
        return number.value == 0 and copysign(1, number.value) > 0
    return isinstance(number, ir.IntegerAttr) and number.value == 0
