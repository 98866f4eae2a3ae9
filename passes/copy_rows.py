"""`tile-copy-rows`: rows of matrices that are gathered or scattered are copied by TMA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.semantics import Spread
from tilec.dialects.tile.attributes import COPY_ROWS
from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.ops import GatherOp, ScatterOp
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.dialects.tile.ops.memory import NO_MATRICES
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir
from tilec.ir.types import element_of
from tilec.isa import Target, TilecError
from tilec.isa.bulk_copies import copies_rows
from tilec.isa.limits import MAP_ALIGNMENT, ROWS_OF_COPY
from tilec.isa.wording import counted

from .analysis.contiguity import not_negative
from .analysis.cta_accesses import Role, accesses_of
from .analysis.effects import Writers, is_shared, may_alias
from .analysis.memory_facts import memory_facts
from .analysis.places import outermost_loop
from .analysis.shared_space import SharedSpace, aligned
from .analysis.uniformity import Uniformity, control_of
from .blackwell.next_round import next_round
from .blackwell.row_copies import RowCopies, RowCopy
from .blackwell.row_numbers import row_numbers
from .fragments.fragment_types import FragmentTypes
from .fragments.matrix_moves import matrix_moves
from .hopper.box_copies import why_no_map
from .hopper.box_stores import HALF
from .hopper.operand_buffers import OperandBuffer, operand_buffer
from .kernel_pass import Kernel, KernelPass
from .staging.operand_loads import operand_gathers


@dataclass(frozen=True)
class CopyRows(KernelPass):
    """Copy rows at a tile of indices by TMA, four with an instruction, from sm_100 on.

    In and out: level 2, kernels that are `tile.automatic`. A `tile.gather` of whole rows of a
    matrix becomes `tile.tma_gather`s to shared memory, a wait on an mbarrier, and a load from
    there; a `tile.scatter` of rows a store to shared memory and `tile.tma_scatter`s. The
    indices go through shared memory to the threads that copy; a row that the mask leaves out
    gets the index -1, which no array has, so that it is zero, or not stored. In a loop whose
    rounds take columns of the same rows, each round copies those of the next.

    This is done for gathers whose tile becomes a factor of a product, and for scatters of 16-bit
    elements, unless `tile.copy_rows` is false; for others if it is true. An op is left as it is,
    with a remark that says why, if indices or mask differ within a row, if indices have 64 bits,
    if no tensor map describes the array, if anything else may access the elements, if rows of a
    scatter may end within 16 bytes, or if shared memory has no room.

    Attributes:
        enabled: false leaves all ops that do not say `tile.copy_rows`.
    """

    name: ClassVar[str] = "tile-copy-rows"

    enabled: bool = True

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        ops = [op for op in kernel.named(IndexedOp) if op.update is None]
        wanted = [(op, self._wants(op, kernel)) for op in ops]
        if not any(wants for _, wants in wanted) or not kernel.is_automatic:
            return
        target = kernel.target
        if target is None or not copies_rows(target):
            return
        rewriting = _Rewriting(kernel, target)
        for op, wants in wanted:
            with kernel.at(op):
                why = rewriting.run(op) if wants else ""
                if why:
                    kernel.missed(op, f"does not copy rows by TMA: {why}")
        rewriting.copies.finish()

    def _wants(self, op: IndexedOp, kernel: Kernel) -> bool:
        """Whether the op is to become copies, if it can."""
        given = given_attribute(op, COPY_ROWS, ir.BoolAttr)
        if given is not None:
            del op.attributes[COPY_ROWS]
            return bool(given.value)
        if not self.enabled or is_shared(op.memref):
            return False
        if isinstance(op, ScatterOp):
            return _size(op) * 8 == HALF
        return op in operand_gathers(kernel.function)


class _Rewriting:
    """The rewriting of one kernel."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel = kernel
        self._target = target
        self._uniformity = Uniformity(kernel.function)
        self._types = FragmentTypes(kernel.function)
        self.copies = RowCopies(kernel.function)

    def run(self, op: IndexedOp) -> str:
        """Replace an op; why not, if it stays."""
        why = self._obstacle(op)
        if why or not isinstance(op, GatherOp):
            return why or self._scatter(op)
        return self._gather(op)

    def _gather(self, op: GatherOp) -> str:
        copy = self._copy(op)
        if isinstance(copy, str):
            return copy
        ahead = next_round(op, copy.rows, Writers(self._kernel.function))
        stages = 1 if isinstance(ahead, str) else 2
        if stages > 1 and self._no_room(copy, stages):
            stages, ahead = 1, "shared memory has no room for them"
        if why := self._no_room(copy, stages):
            return why
        rounds = "; each round copies those of the next"
        if isinstance(ahead, str):
            loops = outermost_loop(op) is not None
            rounds = f"; each round waits for its own, as {ahead}" if loops else ""
        self._kernel.remark(op, f"{_described(copy)}{rounds}")
        self.copies.gather(op, copy, None if isinstance(ahead, str) else ahead)
        return ""

    def _scatter(self, op: IndexedOp) -> str:
        copy = self._copy(op)
        if isinstance(copy, str):
            return copy
        if why := self._no_room(copy, 1):
            return why
        self._kernel.remark(op, _described(copy))
        self.copies.scatter(op, copy)
        return ""

    def _obstacle(self, op: IndexedOp) -> str:
        """Why the program does not let rows be copied; empty if it does."""
        kernel, type_ = self._kernel, ir.MemRefType(op.memref.type)
        if isinstance(op, ScatterOp) and not copies_rows(self._target, back=True):
            return f"{self._target} has no instruction that stores rows at indices"
        if not kernel.is_entry or kernel.block_size != (kernel.threads, 1, 1):
            return "threads are not those of a kernel with one row of threads"
        tile = tile_value(op.tile.type)
        if type_.rank != _MATRIX or tile is None or tile.is_fragment or len(tile.shape) != _MATRIX:
            return "it is not of rows of a matrix"
        if why := why_no_map(op.memref, kernel.function):
            return why
        if control_of(self._uniformity, op, Spread.CTA) is not None:
            return "not all threads of the CTA reach it"
        if isinstance(op, ScatterOp):
            if memory_facts(op.memref).sizes[1] * _size(op) % MAP_ALIGNMENT:
                return "rows are not known to be multiples of 16 bytes long (tile.sizes may say so)"
            if not not_negative(op.indices[1]):
                return "it is not known that the column is not negative"
            if self._is_accessed(op, Role):
                return "something else may access its array"
        elif self._is_accessed(op, (Role.WRITE, Role.UPDATE)):
            return "the kernel may write its array"
        return ""

    def _is_accessed(self, op: IndexedOp, roles: Iterable[Role]) -> bool:
        """Whether another op may access the array that an op does, in one of these roles."""
        others = (
            access
            for other in self._kernel.walk()
            if other.operation != op.operation
            for access in accesses_of(other, self._target)
        )
        return any(
            access.role in roles and (access.memref is None or may_alias(access.memref, op.memref))
            for access in others
        )

    def _copy(self, op: IndexedOp) -> RowCopy | str:
        """How an op's tile goes through shared memory; why it does not."""
        tile = tile_value(op.tile.type)
        assert tile is not None
        rows = row_numbers(op)
        if isinstance(rows, str):
            return rows
        try:
            panels = operand_buffer("a", tile.shape, bits_of(tile.element), False)
        except TilecError as error:
            return f"its tile {error}"
        copy = RowCopy(rows, panels, self._form(op, tile, panels))
        if copy.threads > self._kernel.threads:
            return (
                f"{counted(panels.shape[1], 'row')} take {copy.threads} threads, "
                f"{ROWS_OF_COPY} rows each, of {self._kernel.threads}"
            )
        if copy.form == NO_MATRICES and panels.shape[0] > 1:
            return (
                "its rows are wider than a line of 128 bytes, and no matrix instruction moves its "
                "layout"
            )
        return copy

    def _form(self, op: IndexedOp, tile: TileValue, panels: OperandBuffer) -> str:
        """The matrix instruction between the buffer and registers."""
        space = SharedAttr.get(ir.StringAttr.get(panels.swizzle))
        buffer = shared_buffer(ir.MemRefType.get(panels.shape, tile.element, memory_space=space))
        parts, is_store = self._types.parts(tile), isinstance(op, ScatterOp)
        moves = matrix_moves(tile, parts, self._target, store=is_store, transposed=False)
        return next((m.form.ptx for m in moves if m.finds_rows(buffer)), NO_MATRICES)

    def _no_room(self, copy: RowCopy, stages: int) -> str:
        """What is lacking of shared memory, in words."""
        needed = aligned(stages * copy.panels.bytes) + _BESIDE * stages
        needed += aligned(copy.panels.shape[1] * 4)
        function = self._kernel.function
        top = function.regions[0].blocks[0].operations
        if needed <= SharedSpace(function, self._target).left(*top):
            return ""
        return f"{counted(needed, 'byte')} of shared memory are not left"


_MATRIX = 2
_BESIDE = 256
"""Bytes of shared memory, at most, that mbarriers and phases of a stage take."""


def _size(op: IndexedOp) -> int:
    """Bytes of an element."""
    return bits_of(element_of(op.memref.type)) // 8


def _described(copy: RowCopy) -> str:
    count, lines, width = copy.panels.shape
    return (
        f"copies {counted(lines, 'row')} by TMA, four with an instruction, through "
        f"{counted(count, 'panel')} of {counted(width, 'element')} a row in shared memory, "
        f"swizzled as {copy.panels.swizzle}"
    )
