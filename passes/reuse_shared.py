"""`tile-reuse-shared`: buffers that are not needed at the same time share their memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, takewhile
from typing import ClassVar

from tilec.dialects.semantics import Resource, Scope, orders, scope_of, touches
from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import AllocSharedOp, AsyncWaitOp
from tilec.dialects.tile.shared import allocated_bytes
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.ops import gpu
from tilec.ir.types import memref_of
from tilec.isa import Target

from .analysis.buffer_lifetimes import Lifetime, copies_async, lifetimes
from .analysis.places import places_of
from .analysis.shared_space import aligned
from .base import walk
from .kernel_pass import Kernel, KernelPass
from .search import named


class ReuseShared(KernelPass):
    """Place every `tile.alloc_shared`; buffers with disjoint lifetimes share memory.

    In and out: level 2, kernels that are `tile.automatic`; the position becomes the attribute
    `offset`. Before a buffer that reuses the memory of others is first written, all threads
    must have finished with those: a `gpu.barrier` is inserted there if there is none, and a
    wait for copies to them that may be in flight.
    """

    name: ClassVar[str] = "tile-reuse-shared"

    def run(self, kernel: Kernel) -> None:
        """Place the buffers of a kernel."""
        allocs = named(kernel.function, [AllocSharedOp])
        if kernel.is_automatic and len(allocs) > 1:
            _place(kernel, allocs)


def _place(kernel: Kernel, allocs: list[ir.Operation]) -> None:
    buffers = lifetimes(allocs, places_of(kernel.function), kernel.target)
    placed: list[tuple[int, Lifetime]] = []
    # Large buffers first, so that small ones find room beside each other in their place.
    for buffer in sorted(buffers, key=lambda b: -_size(b)):
        at = _first_gap(buffer, placed)
        placed.append((at, buffer))
        buffer.alloc.attributes["offset"] = i64(at)
    for at, buffer in placed:
        before = [
            other
            for start, other in placed
            if other is not buffer and _overlap(at, buffer, start, other) and buffer.follows(other)
        ]
        if before:
            _order(buffer, before, kernel.target)
    total = max(at + _size(buffer) for at, buffer in placed)
    apart = sum(map(_size, buffers))
    if total < apart:
        kernel.remark(
            kernel.function,
            f"has {len(buffers)} buffers that share {total} bytes of shared memory; apart they "
            f"take {apart}",
        )


def _size(buffer: Lifetime) -> int:
    return aligned(allocated_bytes(memref_of(buffer.alloc.results[0])))


def _first_gap(buffer: Lifetime, placed: list[tuple[int, Lifetime]]) -> int:
    """The lowest place that no buffer needed at the same time takes."""
    at = 0
    for start, other in sorted(placed, key=lambda p: p[0]):
        if buffer.meets(other) and start < at + _size(buffer):
            at = max(at, start + _size(other))
    return at


def _overlap(at: int, buffer: Lifetime, start: int, other: Lifetime) -> bool:
    return at < start + _size(other) and start < at + _size(buffer)


def _order(buffer: Lifetime, others: list[Lifetime], target: Target | None) -> None:
    """See to it that all threads have done with `others` when `buffer` is first written."""
    first = buffer.uses[0]
    barrier = _barrier_before(first)
    if barrier is None:
        with ir.InsertionPoint(first), first.location:
            barrier = gpu.barrier()
    if any(copies_async(use, target) for other in others for use in other.uses):
        with ir.InsertionPoint(barrier), first.location:
            emit_effect(AsyncWaitOp, pending=i64(0))


def _barrier_before(op: ir.Operation) -> ir.Operation | None:
    """The barrier of the same block after which nothing touches shared memory before `op`."""
    before = takewhile(lambda other: other != op, (one.operation for one in op.block.operations))
    for other in reversed(list(before)):
        if orders(other, Resource.BARRIERS):
            return other
        if _uses_shared(other):
            return None
    return None


def _uses_shared(op: ir.Operation) -> bool:
    """Whether an op, or one inside it, may use shared memory, or will when it is lowered."""
    inside: Iterator[Op] = chain([op], walk(op))
    return any(touches(inner, Resource.SHARED) or scope_of(inner) >= Scope.CTA for inner in inside)
