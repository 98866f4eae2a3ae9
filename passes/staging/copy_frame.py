"""A group of copies to shared memory, and what stands around it, as `tile-pipeline` reads it."""

from __future__ import annotations

from collections.abc import Callable

from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import AllocSharedOp, AsyncCommitOp, AsyncCopyOp, AsyncWaitOp, LoadOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import gpu

from ..analysis.places import outermost_loop


def new_buffer(function: Op, load: LoadOp, type_: ir.MemRefType) -> Value:
    """A buffer for what a load takes, after those that the kernel has."""
    operations = function.regions[0].blocks[0].operations
    top = next(op for op in operations if not isinstance(op, AllocSharedOp))
    with ir.InsertionPoint(top), load.location:
        return emit(AllocSharedOp, [], type_)


def copy_frame(first: LoadOp, copies: Callable[[], None]) -> None:
    """Copies that are there when the program goes on: barrier, copies, commit, wait, barrier.

    Args:
        first: the load that they replace first.
        copies: emits them.
    """
    if outermost_loop(first) is not None:
        # Whoever still reads what the round before left must be done first.
        gpu.barrier()
    copies()
    emit_effect(AsyncCommitOp)
    emit_effect(AsyncWaitOp, pending=i64(0))
    gpu.barrier()


def copy_of(
    load: LoadOp,
    buffer: Value,
    shape: tuple[int, int],
    vector: int,
    zero: Value,
    *,
    masked: bool = False,
) -> None:
    """The copy of what a load takes to the beginning of a buffer.

    Args:
        load: from global memory.
        buffer: in shared memory.
        shape: rows and columns in memory.
        vector: elements that a thread copies at once.
        zero: an index.
        masked: whether the copy reaches further than the load, maybe outside the array.
    """
    attributes: dict[str, ir.Attribute] = {"shape": ir.DenseI64ArrayAttr.get(list(shape))}
    if masked or load.is_masked:
        attributes["masked"] = ir.UnitAttr.get()
    if vector > 1:
        attributes["vector"] = i64(vector)
    begin = [zero] * ir.MemRefType(buffer.type).rank
    operands = [load.memref, buffer, *load.indices, *begin]
    emit_effect(AsyncCopyOp, operands, load.location, **attributes)
