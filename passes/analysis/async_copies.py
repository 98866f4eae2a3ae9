"""Which copies are in flight, and until when no wait covers them."""

from __future__ import annotations

from tilec.dialects.semantics import is_loop
from tilec.dialects.tile.ops import AsyncCommitOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.isa import ASYNC_COPY_BYTES, Target

from .places import Places


def is_asynchronous(copy: Op, target: Target | None) -> bool:
    """Whether a `tile.async_copy` is made of `cp.async`."""
    size = bits_of(ir.MemRefType(copy.operands[0].type).element_type) // 8
    return asynchronous_bytes(vector_of(copy) * size, target)


def asynchronous_bytes(size: int, target: Target | None) -> bool:
    """Whether the target has a `cp.async` of so many bytes."""
    return size in ASYNC_COPY_BYTES and (target is None or target.has_async_copy)


def open_span(copy: ir.Operation, places: Places) -> tuple[int, int]:
    """From where to where the group of an asynchronous copy is open, so that no wait covers it.

    Args:
        copy: the `tile.async_copy`.
        places: of the kernel's ops.
    """
    first, last = places[copy]
    op = copy
    while op.name != "gpu.func":
        commit = _commit_after(op)
        if commit is not None:
            return first, places[commit][1]
        parent = op.parent
        assert parent is not None
        op = parent.operation
        if is_loop(op):  # the copy is still open when the next round begins
            first, last = places[op]
    return first, max(last, *(end for _, end in places.values()))


def _commit_after(op: ir.Operation) -> ir.Operation | None:
    """The first `tile.async_commit` that follows `op` in its block, or None."""
    behind = False
    for other in op.block.operations:
        if behind and isinstance(other, AsyncCommitOp):
            return other.operation
        behind |= other.operation == op
    return None
