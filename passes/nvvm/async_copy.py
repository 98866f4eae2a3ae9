"""`tile.async_copy` and its groups: `cp.async` on sm_80 and up, loads and stores elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import NamedTuple

from tilec.dialects.tile.ops import AsyncCommitOp, AsyncCopyOp, AsyncWaitOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm, nvvm, scf
from tilec.ir.ops.nvvm import CacheModifier
from tilec.ir.types import integer, memref_of
from tilec.isa import ASYNC_COPY_BYTES, LANES, TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.linear import places
from tilec.layout.tiling import row_tile

from ..emit import add_constant
from ..fragments.expansion import Expansion, Values
from ..functions import threads
from ..thread_index import AMONG
from . import predicated
from .addresses import in_global
from .global_memory import GlobalAccess
from .lowering import Lowering
from .registers import Packing, vector
from .shared_memory import SharedAccess, shared_access


class AsyncCopies:
    """Lowering of the copies of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel
        self._exists = kernel.target is None or kernel.target.has_async_copy

    def copy(self, op: AsyncCopyOp, expansion: Expansion) -> list[Values]:
        """`tile.async_copy`: each thread takes its vectors of the tile."""
        source, indices = op.source, op.indices
        source_type, target_type = memref_of(source), memref_of(op.target)
        rank = source_type.rank
        rows, cols = ir.DenseI64ArrayAttr(op.shape)
        vector, panels = vector_of(op), op.panels
        width = cols // panels
        unit = rows & -rows  # the threads copy so many rows, and the next as many, and so on
        sharing = op.warps  # else all threads do
        warps = threads(self._kernel.function) // LANES if sharing is None else sharing[1]
        number = "thread" if sharing is None else f"{AMONG}{warps * LANES}"
        layout = row_tile(unit, width, vector, warps)
        place = _by_thread(layout, number)
        buffer = shared_buffer(target_type)
        shape = tuple(target_type.shape)
        base = expansion.one(op.target)
        parts = [
            shared_access(self._kernel, base, buffer, at, shape, place, number)
            for at in _panels(indices[rank:], panels)
        ]
        to = parts[0]
        from_ = GlobalAccess(self._kernel, source, indices[:rank], place, number)
        element = source_type.element_type
        size = vector * bits_of(element) // 8
        if not buffer.together(vector) or to.col.constant % vector:
            raise TilecError(
                f"{counted(vector, 'element')} of {element} at a time are not contiguous in "
                f"{target_type}"
            )
        if to.col.multiple % vector:
            raise TilecError(f"the target's column index is not known to be a multiple of {vector}")
        whole = from_.whole(vector)
        pieces = _Pieces(from_, vector, size, "masked" in op.attributes, whole)
        attributes = self._attributes(size)
        each = places(layout, "register")[::vector]
        inside = [(first + row, col) for first in range(0, rows, unit) for row, col in each]
        steps = [
            _Step((row, col + panel * width), part, (row, col))
            for panel, part in enumerate(parts)
            for row, col in inside
        ]
        from_.expect([step.source for step in steps])
        spare = place.free(number)
        with self._first(number, spare) if spare else nullcontext():
            for step in steps:
                if attributes is None:
                    pieces.copy_through_registers(step)
                else:
                    pieces.copy(step, attributes)
        return []

    def commit(self, _: AsyncCommitOp, __: Expansion) -> list[Values]:
        """`tile.async_commit`."""
        if self._exists:
            nvvm.cp_async_commit_group()
        return []

    def wait(self, op: AsyncWaitOp, _: Expansion) -> list[Values]:
        """`tile.async_wait`."""
        if self._exists:
            nvvm.cp_async_wait_group(op.pending.value)
        return []

    def _attributes(self, size: int) -> dict[str, Attribute] | None:
        """Those of the op that copies so many bytes; None if the target has none."""
        if not self._exists or size not in ASYNC_COPY_BYTES:
            return None
        # Only 16-byte copies may bypass L1.
        return nvvm.cp_async_attributes(size, CacheModifier.CG if size == 16 else CacheModifier.CA)

    @contextmanager
    def _first(self, number: str, copies: int) -> Iterator[None]:
        """For one thread of those that would copy the same, by their number."""
        with scf.if_(self._kernel.first_of_copies(number, copies)):
            yield


class _Step(NamedTuple):
    """A vector that a thread copies.

    Attributes:
        source: its place in the tile.
        panel: the matrix that it goes to.
        target: its place in that.
    """

    source: tuple[int, ...]
    panel: SharedAccess
    target: tuple[int, ...]

    def pointer(self) -> Value:
        """Where it goes."""
        return self.panel.pointer(self.target)


def _panels(indices: Sequence[Value], count: int) -> Iterator[list[Value]]:
    """The indices of so many matrices of a buffer, one after the other."""
    *leading, row, col = indices
    for panel in range(count):
        further = [*leading[:-1], add_constant(leading[-1], panel)] if panel else leading
        yield [*further, row, col]


class _Pieces(NamedTuple):
    """The vectors that a thread copies.

    Attributes:
        source: where they come from.
        vector: elements of each.
        size: bytes of each.
        masked: whether what is out of bounds arrives as zero.
        whole: whether all elements of each are in bounds, or none.
    """

    source: GlobalAccess
    vector: int
    size: int
    masked: bool
    whole: bool

    def copy(self, step: _Step, attributes: dict[str, Attribute]) -> None:
        """Copy the vector at a place asynchronously."""
        source = in_global(self.source.pointer(step.source))
        target, count = step.pointer(), None
        if self.masked:
            vector = 1 if self.whole else self.vector
            count = self.source.bytes_inside(step.source, vector, self.size)
        nvvm.cp_async_shared_global(target, source, count, attributes)

    def copy_through_registers(self, step: _Step) -> None:
        """Copy the vector at a place by a load and a store."""
        word = integer(8 * min(self.size, 4))
        moved = Packing.dense(word, max(1, self.size // 4))
        whole = Packing(word, moved.registers, 1)
        source = self.source.address(step.source)
        if self.masked:
            # Elements are inside or outside together, as the attribute `vector` promises.
            value = vector(predicated.load(source, moved, self.source.inside(step.source)))
        else:
            value = llvm.load(source.value(), whole.type, self.size)
        llvm.store(value, step.pointer(), self.size)


@lru_cache(maxsize=1024)
def _by_thread(layout: LinearLayout, number: str) -> LinearLayout:
    """(number of the thread) -> place, of a layout over lanes and warps, register 0."""
    bases = layout.bases
    return LinearLayout.of({number: [*bases["lane"], *bases["warp"]]}, layout.out_sizes)
