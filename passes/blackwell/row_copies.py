"""Copies of rows between an array and panels in shared memory, by TMA, four rows a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    GatherOp,
    LoadOp,
    StoreOp,
    TmaGatherOp,
    TmaScatterOp,
)
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, memref, nvvm, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import element_of, i1, i32, memref_of
from tilec.isa.limits import ROWS_OF_COPY

from ..analysis.places import outermost_loop
from ..emit import add_constant, index_constant
from ..hopper.operand_buffers import OperandBuffer
from ..staging.loop_stages import make_anew
from .next_round import NextRound
from .row_numbers import RowNumbers


class RowCopy(NamedTuple):
    """How a tile goes through shared memory.

    Attributes:
        rows: what says where the rows are.
        panels: the buffer, as wide as a line of a swizzle.
        form: the matrix instruction between the buffer and registers, or `none`.
    """

    rows: RowNumbers
    panels: OperandBuffer
    form: str

    @property
    def threads(self) -> int:
        """Threads that copy four rows each."""
        return self.panels.shape[1] // ROWS_OF_COPY


class RowCopies:
    """Rewrites the gathers and scatters of one kernel.

    Args:
        function: the kernel.
    """

    def __init__(self, function: Op) -> None:
        self._entry = function.regions[0].blocks[0]
        self._barriers: list[tuple[Value, int]] = []
        self._phases: list[Value] = []

    def gather(self, op: GatherOp, copy: RowCopy, ahead: NextRound | None) -> None:
        """Replace a gather by copies to shared memory, a wait for them, and a load.

        Args:
            op: the gather.
            copy: how.
            ahead: the loop in each round of which the rows of the next one are copied, if there is
                one; the rows of a round are copied in it otherwise.
        """
        stages = 1 if ahead is None else 2
        loops = outermost_loop(op) is not None
        ring = self._ring(op, copy, stages, loops=loops)
        with op.location:
            if ahead is None:
                with ir.InsertionPoint(op):
                    self._numbers_to(ring, loops=loops)
                    ring.copy(index_constant(0), op.indices[1])
                    stage = index_constant(0)
            else:
                self._begin(ring, ahead)
                stage = self._go_on(ring, ahead)
            with ir.InsertionPoint(op):
                ring.wait(stage)
                zero = index_constant(0)
                form = ir.StringAttr.get(copy.form)
                loaded = emit(
                    LoadOp, [ring.buffer, stage, zero, zero, zero], op.tile.type, form=form
                )
        op.tile.replace_all_uses_with(loaded)
        op.operation.erase()

    def scatter(self, op: IndexedOp, copy: RowCopy) -> None:
        """Replace a scatter by a store to shared memory, and copies from there."""
        element = element_of(op.memref.type)
        panels, numbers = self._panels(1, copy, element), self._numbers(copy)
        with ir.InsertionPoint(op), op.location:
            zero = index_constant(0)
            if outermost_loop(op) is not None:
                gpu.barrier()  # the round before has been read
            emit_effect(StoreOp, [copy.rows.emit(), numbers, zero])
            form = ir.StringAttr.get(copy.form)
            emit_effect(StoreOp, [op.tile, panels, zero, zero, zero, zero], form=form)
            nvvm.fence_proxy_async_shared()
            gpu.barrier()
            with _copying(copy.threads) as line:
                rows = _rows_at(numbers, line)
                for panel, column, shape in _boxes(copy.panels, op.indices[1]):
                    at = [*rows, column, zero, panel, line, zero]
                    emit_effect(TmaScatterOp, [panels, op.memref, *at], shape=shape)
                nvvm.cp_async_bulk_commit_group()
                nvvm.cp_async_bulk_wait_group(0)
        op.operation.erase()

    def finish(self) -> None:
        """Initialise all mbarriers where the kernel begins."""
        if not self._barriers:
            return
        top = next(op for op in self._entry.operations if not isinstance(op, AllocSharedOp))
        with ir.InsertionPoint(top), top.location:
            with _first_thread():
                for barriers, threads in self._barriers:
                    for stage in range(memref_of(barriers).shape[0]):
                        at = index_constant(stage)
                        emit_effect(BarrierInitOp, [barriers, at], count=i64(threads))
                nvvm.fence_mbarrier_init()
                for phases in self._phases:
                    for stage in range(memref_of(phases).shape[0]):
                        memref.store(arith.integer(i32(), 1), phases, [index_constant(stage)])
            gpu.barrier()

    def _begin(self, ring: _Ring, ahead: NextRound) -> None:
        """Before a loop: copy the rows of its first round."""
        for need in ahead.before:
            need.move_before(ahead.loop)
        with ir.InsertionPoint(ahead.loop):
            self._numbers_to(ring, loops=outermost_loop(ahead.loop) is not None, flips=False)
            with scf.if_(arith.cmpi(CmpI.SLT, ahead.lower, ahead.upper)):
                self._copy_at(ring, ahead, ahead.lower, index_constant(0))

    def _go_on(self, ring: _Ring, ahead: NextRound) -> Value:
        """In a loop: copy the rows of the next round; the stage of this one."""
        with ahead.after_barrier():
            stage, following = ahead.stages()
            counter = arith.addi(ahead.counter, ahead.step)
            with scf.if_(arith.cmpi(CmpI.SLT, counter, ahead.upper)):
                self._copy_at(ring, ahead, counter, following)
        return stage

    @staticmethod
    def _copy_at(ring: _Ring, ahead: NextRound, counter: Value, stage: Value) -> None:
        """The copies of the round with a counter, to a stage."""
        known: dict[Value, Value] = {ahead.counter: counter}
        make_anew(ahead.needs, known)
        ring.flip(stage)
        ring.copy(stage, known.get(ahead.column, ahead.column))

    @staticmethod
    def _numbers_to(ring: _Ring, *, loops: bool, flips: bool = True) -> None:
        """Write the rows' numbers to where the threads that copy read them."""
        zero = index_constant(0)
        if loops:
            gpu.barrier()  # the round before has read numbers and tile
        emit_effect(StoreOp, [ring.rows.emit(), ring.numbers, zero])
        if flips:
            ring.flip(zero)
        gpu.barrier()

    def _ring(self, op: GatherOp, copy: RowCopy, stages: int, *, loops: bool) -> _Ring:
        """Buffers and mbarriers of a gather."""
        long = ir.IntegerType.get_signless(64)
        buffer = self._panels(stages, copy, element_of(op.memref.type))
        barriers = self._alloc(ir.MemRefType.get([stages], long, memory_space=_plain()))
        self._barriers.append((barriers, copy.threads))
        phases = None
        if loops:
            phases = self._alloc(ir.MemRefType.get([stages], i32(), memory_space=_array()))
            self._phases.append(phases)
        return _Ring(op.memref, copy, buffer, barriers, self._numbers(copy), phases)

    def _panels(self, stages: int, copy: RowCopy, element: ir.Type) -> Value:
        space = SharedAttr.get(ir.StringAttr.get(copy.panels.swizzle))
        shape = [stages, *copy.panels.shape]
        return self._alloc(ir.MemRefType.get(shape, element, memory_space=space))

    def _numbers(self, copy: RowCopy) -> Value:
        """An array for the rows' numbers."""
        _, lines, _ = copy.panels.shape
        return self._alloc(ir.MemRefType.get([lines], i32(), memory_space=_array()))

    def _alloc(self, type_: ir.MemRefType) -> Value:
        top = next(op for op in self._entry.operations if not isinstance(op, AllocSharedOp))
        with ir.InsertionPoint(top), top.location:
            return emit(AllocSharedOp, [], type_)


class _Ring(NamedTuple):
    """What the copies of one gather go through.

    Attributes:
        array: the array.
        how: how its rows are copied.
        buffer: stages of panels.
        barriers: an mbarrier a stage.
        numbers: where the rows' numbers are.
        phases: of each stage, the parity of the phase that its copies end; None if there is but
            one, the first.
    """

    array: Value
    how: RowCopy
    buffer: Value
    barriers: Value
    numbers: Value
    phases: Value | None

    @property
    def rows(self) -> RowNumbers:
        """The rows."""
        return self.how.rows

    def flip(self, stage: Value) -> None:
        """Begin the next phase of a stage, which threads read behind a barrier."""
        if self.phases is None:
            return
        with _first_thread():
            old = memref.load(self.phases, [stage])
            memref.store(arith.xori(old, arith.integer(i32(), 1)), self.phases, [stage])

    def copy(self, stage: Value, column: Value) -> None:
        """Copy all rows, from a column on, to a stage."""
        zero = index_constant(0)
        with _copying(self.how.threads) as line:
            rows = _rows_at(self.numbers, line)
            moved = i64(self.how.panels.bytes // self.how.threads)
            emit_effect(BarrierExpectOp, [self.barriers, stage], bytes=moved)
            for panel, first, shape in _boxes(self.how.panels, column):
                at = [*rows, first, stage, panel, line, zero, stage]
                operands = [self.array, self.buffer, self.barriers, *at]
                emit_effect(TmaGatherOp, operands, shape=shape)

    def wait(self, stage: Value) -> None:
        """Let all threads wait for a stage."""
        if self.phases is None:
            parity: Value = arith.integer(i1(), 0)
        else:
            phase = memref.load(self.phases, [stage])
            parity = arith.cmpi(CmpI.NE, phase, arith.integer(i32(), 0))
        emit_effect(BarrierWaitOp, [self.barriers, stage, parity])


@contextmanager
def _first_thread() -> Iterator[None]:
    """What is emitted inside one thread does."""
    thread = gpu.thread_id(gpu.Dimension.X)
    with scf.if_(arith.cmpi(CmpI.EQ, thread, index_constant(0))):
        yield


@contextmanager
def _copying(threads: int) -> Iterator[Value]:
    """What is emitted inside so many threads do; the first of a thread's four lines."""
    thread = gpu.thread_id(gpu.Dimension.X)
    with scf.if_(arith.cmpi(CmpI.ULT, thread, index_constant(threads))):
        yield arith.muli(thread, index_constant(ROWS_OF_COPY))


def _rows_at(numbers: Value, line: Value) -> list[Value]:
    """The numbers of the four rows from a line on."""
    index = ir.IndexType.get()
    places = (add_constant(line, at) for at in range(ROWS_OF_COPY))
    return [arith.index_cast(memref.load(numbers, [place]), index) for place in places]


def _boxes(panels: OperandBuffer, column: Value) -> Iterator[tuple[Value, Value, ir.Attribute]]:
    """The panels, the column where each begins, and the shape of a copy to it."""
    count, _, width = panels.shape
    shape = ir.DenseI64ArrayAttr.get([ROWS_OF_COPY, width])
    for panel in range(count):
        yield index_constant(panel), add_constant(column, panel * width), shape


def _plain() -> ir.Attribute:
    return SharedAttr.get(ir.StringAttr.get("none"))


def _array() -> ir.Attribute:
    """The memory space of arrays in shared memory."""
    return ir.Attribute.parse("#gpu.address_space<workgroup>")
