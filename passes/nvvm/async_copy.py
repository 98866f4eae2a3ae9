"""`tile.async_copy` and its groups: `cp.async` on sm_80 and up, loads and stores elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of
from tilec.isa import ASYNC_COPY_BYTES, LANES, TilecError
from tilec.layout import LinearLayout
from tilec.layout.tiling import row_tile
from tilec.mlir import dialect, ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from ..functions import threads
from .global_memory import GlobalAccess
from .kernel import Kernel
from .registers import constant_i32, element_type, i32, i64
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
        steps = [
            layout(register=register) for register in range(0, layout.in_sizes["register"], vector)
        ]

        def emit() -> None:
            for step in steps:
                self._piece(op, from_, to, step, vector, size)

        self._by_holders(place, emit)
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

    def _by_holders(self, place: LinearLayout, emit: Callable[[], None]) -> None:
        """Emit for one thread of those that would copy the same."""
        spare = place.free("thread")
        if not spare:
            emit()
            return
        index = ir.IndexType.get()
        mask = create("arith.constant", [], index, value=ir.IntegerAttr.get(index, spare))
        zero = create("arith.constant", [], index, value=ir.IntegerAttr.get(index, 0))
        own = create("arith.andi", [self._kernel.thread.thread, mask], index)
        arith, scf = dialect("arith"), dialect("scf")
        branch = scf.IfOp(arith.cmpi(arith.CmpIPredicate.eq, own, zero))
        with ir.InsertionPoint(branch.then_block):
            emit()
            scf.YieldOp([])

    def _piece(
        self,
        op: Any,
        from_: GlobalAccess,
        to: SharedAccess,
        step: tuple[int, int],
        vector: int,
        size: int,
    ) -> None:
        """Copy one vector."""
        masked = "masked" in op.attributes
        source = from_.pointer(step)
        target = to.pointer(step)
        if not self._exists or size not in ASYNC_COPY_BYTES:
            self._through_registers(op, from_, source, target, step, vector)
            return
        source = (
            create("llvm.addrspacecast", [source], ir.Type.parse("!llvm.ptr<1>"))
            if str(source.type) == "!llvm.ptr"
            else source
        )
        operands = [target, source]
        if masked:
            operands.append(self._bytes_inside(from_, step, vector, size))
        ir.Operation.create(
            "nvvm.cp.async.shared.global",
            operands=operands,
            attributes={
                "size": ir.IntegerAttr.get(i32(), size),
                # Only 16-byte copies may bypass L1.
                "modifier": ir.Attribute.parse(
                    f"#nvvm<load_cache_modifier {'cg' if size == 16 else 'ca'}>"
                ),
            },
        )

    def _bytes_inside(
        self, from_: GlobalAccess, step: tuple[int, int], vector: int, size: int
    ) -> Any:
        """How many bytes of the vector lie in bounds; the rest arrives as zero."""
        if from_.whole(vector):  # ptxas makes a predicate of all or nothing, and much more of less
            return create(
                "llvm.select", [from_.inside(step), constant_i32(size), constant_i32(0)], i32()
            )
        left = from_.left(step[-1], vector)
        count = create("llvm.trunc", [left], i32())
        count = create("llvm.mul", [count, constant_i32(size // vector)], i32())
        return create("llvm.select", [from_.inside(step), count, constant_i32(0)], i32())

    def _through_registers(
        self,
        op: Any,
        from_: GlobalAccess,
        source: Any,
        target: Any,
        step: tuple[int, int],
        vector: int,
    ) -> None:
        element = element_type(op.operands[0].type.element_type)
        type_ = element if vector == 1 else ir.VectorType.get([vector], element)
        size = ir.IntegerAttr.get(i64(), vector * int(element.width) // 8)
        if "masked" in op.attributes:
            scf = dialect("scf")
            # Elements are inside or outside together, as the attribute `vector` promises.
            branch = scf.IfOp(from_.inside(step), [type_], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                scf.YieldOp([create("llvm.load", [source], type_, alignment=size)])
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp([create("llvm.mlir.zero", [], type_)])
            value = branch.results[0]
        else:
            value = create("llvm.load", [source], type_, alignment=size)
        ir.Operation.create("llvm.store", operands=[value, target], attributes={"alignment": size})


def _by_thread(layout: LinearLayout) -> LinearLayout:
    """(thread) -> place, of a layout over lanes and warps, register 0."""
    bases = layout.bases
    return LinearLayout.of({"thread": [*bases["lane"], *bases["warp"]]}, layout.out_sizes)
