"""`tile.async_copy` and its groups: `cp.async` on sm_80 and up, loads and stores elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.mlir import dialect, ir
from tilec.isa import ASYNC_COPY_BYTES, LANES, TilecError
from tilec.layout import LinearLayout
from tilec.layout.tiling import row_tile

from ..emit import create
from ..fragments.expansion import Expansion, Values
from ..functions import threads
from . import predicated
from .addresses import in_global
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import Packing, i32, i64, vector
from .shared_memory import SharedAccess, shared_access


class AsyncCopies:
    """Lowering of the copies of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._exists = kernel.target is None or kernel.target.has_async_copy

    def copy(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.async_copy`: each thread takes its vectors of the tile."""
        source, target, *indices = op.operands
        rank = source.type.rank
        rows, cols = ir.DenseI64ArrayAttr(op.attributes["shape"])
        vector = vector_of(op)
        layout = row_tile(rows, cols, vector, threads(self._kernel.function) // LANES)
        place = _by_thread(layout)
        buffer = shared_buffer(target.type)
        shape = tuple(target.type.shape)
        base = expansion.one(target)
        to = shared_access(self._kernel, base, buffer, indices[rank:], shape, place, "thread")
        from_ = GlobalAccess(self._kernel, source, indices[:rank], place, "thread")
        element = source.type.element_type
        size = vector * bits_of(element) // 8
        if not buffer.together(vector) or to.col.constant % vector:
            raise TilecError(
                f"{vector} elements of {element} at a time are not contiguous in {target.type}"
            )
        if to.col.multiple % vector:
            raise TilecError(f"the target's column index is not known to be a multiple of {vector}")
        whole = from_.whole(vector)
        pieces = _Pieces(from_, to, vector, size, "masked" in op.attributes, whole)
        attributes = self._attributes(size)
        registers = range(0, layout.in_size("register"), vector)
        steps = [layout(register=register) for register in registers]
        from_.expect(steps)
        spare = place.free("thread")
        with self._first(spare) if spare else nullcontext():
            for step in steps:
                if attributes is None:
                    pieces.copy_through_registers(step)
                else:
                    pieces.copy(step, attributes)
        return []

    def commit(self, _: Any, __: Expansion) -> list[Values]:
        """`tile.async_commit`."""
        if self._exists:
            ir.Operation.create("nvvm.cp.async.commit.group")
        return []

    def wait(self, op: Any, _: Expansion) -> list[Values]:
        """`tile.async_wait`."""
        if self._exists:
            count = ir.IntegerAttr.get(i32(), int(op.attributes["pending"].value))
            ir.Operation.create("nvvm.cp.async.wait.group", attributes={"n": count})
        return []

    def _attributes(self, size: int) -> dict[str, Any] | None:
        """Those of the op that copies so many bytes; None if the target has none."""
        if not self._exists or size not in ASYNC_COPY_BYTES:
            return None
        # Only 16-byte copies may bypass L1.
        modifier = f"#nvvm<load_cache_modifier {'cg' if size == 16 else 'ca'}>"
        return {"size": ir.IntegerAttr.get(i32(), size), "modifier": ir.Attribute.parse(modifier)}

    @contextmanager
    def _first(self, copies: int) -> Iterator[None]:
        """For one thread of those that would copy the same."""
        scf = dialect("scf")
        branch = scf.IfOp(self._kernel.first_of_copies("thread", copies))
        with ir.InsertionPoint(branch.then_block):
            yield
            scf.YieldOp([])


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The vectors that a thread copies.

    Attributes:
        source: where they come from.
        target: where they go.
        vector: elements of each.
        size: bytes of each.
        masked: whether what is out of bounds arrives as zero.
        whole: whether all elements of each are in bounds, or none.
    """

    source: GlobalAccess
    target: SharedAccess
    vector: int
    size: int
    masked: bool
    whole: bool

    def copy(self, step: tuple[int, ...], attributes: dict[str, Any]) -> None:
        """Copy the vector at a place asynchronously."""
        source = in_global(self.source.pointer(step))
        operands = [self.target.pointer(step), source]
        if self.masked:
            vector = 1 if self.whole else self.vector
            operands.append(self.source.bytes_inside(step, vector, self.size))
        ir.Operation.create("nvvm.cp.async.shared.global", operands=operands, attributes=attributes)

    def copy_through_registers(self, step: tuple[int, ...]) -> None:
        """Copy the vector at a place by a load and a store."""
        word = ir.IntegerType.get_signless(8 * min(self.size, 4))
        moved = Packing.dense(word, max(1, self.size // 4))
        whole = Packing(word, moved.registers, 1)
        aligned = ir.IntegerAttr.get(i64(), self.size)
        source = self.source.address(step)
        if self.masked:
            # Elements are inside or outside together, as the attribute `vector` promises.
            value = vector(predicated.load(source, moved, self.source.inside(step)))
        else:
            value = create("llvm.load", [source.value()], whole.type, alignment=aligned)
        ir.Operation.create(
            "llvm.store",
            operands=[value, self.target.pointer(step)],
            attributes={"alignment": aligned},
        )


@lru_cache(maxsize=1024)
def _by_thread(layout: LinearLayout) -> LinearLayout:
    """(thread) -> place, of a layout over lanes and warps, register 0."""
    bases = layout.bases
    return LinearLayout.of({"thread": [*bases["lane"], *bases["warp"]]}, layout.out_sizes)
