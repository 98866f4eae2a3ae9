"""Two accumulators in turn: one is loaded while products of the next tile go to the other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from tilec.dialects.tile.attributes import ACCUMULATORS, PRODUCER
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    BarrierWaitOp,
    TensorDotScaledOp,
    TensorLoadOp,
    TensorStoreOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, gpu, nvvm
from tilec.ir.ops import scf as ops_scf
from tilec.ir.types import i1, i32
from tilec.isa import LANES
from tilec.isa.tensor_memory import COLUMNS

from ..base import walk
from ..emit import index_constant
from ..hopper.ordered_turns import needed
from ..hopper.ring_parts import next_stage
from ..kernel_pass import Kernel
from ..search import named
from ..staging.loop_stages import make_anew
from .carried import Carried, carry, loops_around, pass_on
from .issue import fence, issue
from .rings import Ring, await_phase, commit, is_first_cta
from .scale_factors import ScaleFactors, columns_of_factors

TWO = 2
"""Accumulators."""


def why_one(kernel: Kernel, dot: TensorDot, held: Carried, ring: Ring) -> str:
    """Why a product has one accumulator; empty if two can be in turn.

    Args:
        kernel: the kernel.
        dot: the product.
        held: where the loop carries its sums.
        ring: whose stages it reads.
    """
    around = loops_around(held.loop)
    if len(kernel.named(TensorDot)) > 1:
        return "tensor memory also holds what other products need"
    if len(around) != 1 or around[0].block != kernel.function.regions[0].blocks[0]:
        return "its CTAs take one tile"
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    columns = rows * cols // dot.matrix_shape[0]
    if TWO * columns > COLUMNS:
        return f"{TWO} x {columns} columns are more than the {COLUMNS} of an SM"
    factors = columns_of_factors(dot) if isinstance(dot, TensorDotScaledOp) else 0
    if TWO * columns + ring.stages * factors > COLUMNS:
        return (
            f"{TWO} x {columns} columns, and {ring.stages} x {factors} of scale factors, are more "
            f"than the {COLUMNS} of an SM"
        )
    inner = [op for op in named(ring.rounds, [scf.ForOp]) if op != ring.rounds]
    if len(inner) != 1:
        return "its CTAs take one tile"
    if _states(dot, ring) is None:
        return "its operands are not only at stages of a ring"
    return ""


def wanted(held: Carried, default: int) -> int:
    """Accumulators that a loop pins, or those that the pass has."""
    given = held.loop.attributes.get(ACCUMULATORS)
    return given.value if isinstance(given, ir.IntegerAttr) else default


def arrivals(kernel: Kernel, dot: TensorDot) -> list[int]:
    """Of mbarriers: two that tell that sums are complete, and two that they have been loaded."""
    return [1] * TWO + [kernel.threads // LANES * dot.group] * TWO


class Alternation:
    """The rewriting of a product whose tiles take two accumulators in turn.

    The second warp of those that load issues the products of all tiles; the threads that compute
    wait for the sums of a tile, load them, and say that they have.

    Args:
        kernel: the kernel.
        dot: the product.
        ring: whose stages it reads.
        accumulators: both, in tensor memory.
        barriers: with so many arrivals as `arrivals` says.
        factors: the product's scale factors in tensor memory, if it has some.
    """

    def __init__(
        self,
        kernel: Kernel,
        dot: TensorDot,
        ring: Ring,
        accumulators: Value,
        barriers: Value,
        factors: ScaleFactors | None = None,
    ) -> None:
        self._kernel, self._dot, self._ring = kernel, dot, ring
        self._factors = factors
        self._accumulators, self._barriers = accumulators, barriers
        self._pair = dot.group > 1

    def run(self, held: Carried) -> None:
        """Rewrite it, and the loop that carries its sums."""
        with self._dot.location:
            self._issue_tiles(held)
            self._ring.take_over(self._kernel)
            self._load_tiles(held)

    def _issue_tiles(self, held: Carried) -> None:
        """The loop over tiles of the thread that issues."""
        producer = self._ring.rounds.parent
        while producer is not None and PRODUCER not in producer.attributes:
            producer = producer.operation.parent
        assert producer is not None
        operations = producer.regions[0].blocks[0].operations
        with ir.InsertionPoint(operations[len(operations) - 1]):
            first = index_constant(self._kernel.threads + LANES)
            number = arith.subi(gpu.thread_id(gpu.Dimension.X), first)
            is_second = arith.cmpi(arith.CmpI.ULT, number, index_constant(LANES))
            with ops_scf.if_(is_second), ops_scf.if_(nvvm.elect_sync()), self._of_one_cta():
                zero, false = arith.integer(i32(), 0), arith.integer(i1(), 0)
                known: dict[Value, Value] = {}
                make_anew([self._ring.rounds], known)
                tiles = _owner(known[self._ring.rounds.results[0]])
                tiles.operands[3], tiles.operands[4] = zero, false  # until a stage is full
                tiles, word = carry(tiles, zero)
                tiles, phase = carry(tiles, false)
        self._issue_rounds(tiles, held, (word, phase))

    def _issue_rounds(self, tiles: ir.Operation, held: Carried, at: tuple[Value, Value]) -> None:
        """The products of a tile: where boxes were loaded, wait for them, and issue."""
        (rounds,) = (op for op in named(tiles, [scf.ForOp]) if op != tiles)
        word, phase = at
        with ir.InsertionPoint(rounds):
            slot = arith.index_castui(word, ir.IndexType.get())
            before = arith.xori(phase, arith.integer(i1(), 1))
            self._await(self._loaded(slot), before)
        (wait,) = named(rounds, [BarrierWaitOp])
        full = self._ring.full.operands[0]
        for op in [one for one in walk(rounds) if full in one.operands]:  # what fills the stage
            op.operation.erase()
        wait.operands[0] = full
        counter, *state = rounds.regions[0].blocks[0].arguments
        states = _states(self._dot, self._ring)
        assert states is not None
        known: dict[Value, Value] = dict(zip(states, (counter, *state), strict=True))
        with ir.InsertionPoint.after(wait):
            fence("after")
            begin = _owner(held.start)
            ops = [op.operation for op in self._dot.operation.block.operations]
            make_anew([begin], known)
            known[self._dot.operands[2]] = known[held.start]
            make_anew(needed(ops, list(self._dot.operands)), known)
            make_anew([self._dot.operation], known)
            copy = _owner(known[self._dot.d]).opview
            assert isinstance(copy, TensorDot)
            adds = arith.cmpi(arith.CmpI.NE, counter, rounds.operands[0])
            issue(copy, self._accumulators, adds, self._factors, which=slot)
            commit(self._ring.barriers, wait.operands[1], pair=self._pair)
            copy.operation.erase()
            _owner(known[held.start]).erase()
        with ir.InsertionPoint.after(rounds):
            commit(self._barriers, slot, pair=self._pair)
            further = next_stage(word, phase, TWO)
        for value in further:
            pass_on(tiles, value)

    def _load_tiles(self, held: Carried) -> None:
        """The loop over tiles of the threads that compute, which load what the other issues."""
        dot, loop = self._dot, held.loop
        (tiles,) = loops_around(loop)
        with ir.InsertionPoint(tiles):
            start = [arith.integer(i32(), 0), arith.integer(i1(), 0)]
        tiles, word = carry(tiles, start[0])
        tiles, phase = carry(tiles, start[1])
        lower, upper = held.bounds
        warps = dot.attributes["warps"]
        with ir.InsertionPoint(loop):
            slot = arith.index_castui(word, ir.IndexType.get())
            if not held.surely_runs:  # then what is loaded is what it starts with
                with ops_scf.if_(arith.cmpi(arith.CmpI.SLE, upper, lower)):
                    put = [held.start, self._accumulators, slot]
                    emit_effect(TensorStoreOp, put, warps=warps)
            self._await(slot, phase)
            taken = [self._accumulators, slot]
            found = emit(TensorLoadOp, taken, dot.d.type, warps=warps)
            fence("before")
            even = [index_constant(0)] if self._pair else []
            told = [self._barriers, self._loaded(slot), *even]
            emit_effect(BarrierArriveOp, told, elected=ir.UnitAttr.get())
            further = next_stage(word, phase, TWO)
        for number, result in enumerate(loop.results):
            value = found if number == held.number else loop.operands[3 + number]
            result.replace_all_uses_with(value)
        loop.erase()
        for value in further:
            pass_on(tiles, value)

    def _of_one_cta(self) -> AbstractContextManager[None]:
        """What one CTA alone does: of a pair the first."""
        return ops_scf.if_(is_first_cta()) if self._pair else nullcontext()

    def _loaded(self, slot: Value) -> Value:
        """The number of the mbarrier that tells that the sums of an accumulator were loaded."""
        return arith.addi(slot, index_constant(TWO))

    def _await(self, number: Value, parity: Value) -> None:
        """Wait for an mbarrier of accumulators."""
        given = [self._barriers, number, parity]
        await_phase(given, pair=self._pair)
        fence("after")


def _owner(value: Value) -> ir.Operation:
    """The op that gives a value."""
    owner = value.owner
    assert not isinstance(owner, ir.Block)
    return owner.operation


def _states(dot: TensorDot, ring: Ring) -> list[Value] | None:
    """What of a round the operands of a product follow from: counter, stage and parity.

    None if they follow from something else that is not at the top of the kernel.
    """
    block = dot.operation.block
    ops = [op.operation for op in block.operations]
    _, at, parity = ring.full.operands
    given = [value for number, value in enumerate(dot.operands) if number != 2]
    taken = needed(ops, [*given, at])
    inside = {result for op in taken for result in op.results}
    outer = [one for op in taken for one in op.operands if one not in inside]
    outer += [one for one in (*given, at) if one not in inside]
    words = {one for one in outer if one.owner == block and isinstance(one.type, ir.IntegerType)}
    others = [one for one in outer if one not in words]
    top = block.owner.operation
    while top.parent is not None and top.parent.name != "gpu.func":
        top = top.parent.operation
    if len(words) != 1 or any(
        isinstance(one.owner, ir.Block) or one.owner.operation.block != top.block for one in others
    ):
        return None
    return [block.arguments[0], *words, parity]
