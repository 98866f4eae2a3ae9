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
from .hopper.turns import has_each, turns_of
from .kernel_pass import Kernel, KernelPass
from .search import named


class ReuseShared(KernelPass):
    """Place every `tile.alloc_shared`; buffers with disjoint lifetimes share memory.

    In and out: level 2, kernels that are `tile.automatic`; the position becomes the attribute
    `offset`. Buffers that each warpgroup needs which takes tiles in turn are placed beside each
    other behind the rest, with as many bytes left behind them as they take; that number becomes
    `apart`. Before a buffer that reuses the memory of others is first written, all threads
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
    turns = turns_of(kernel.function)
    each = [buffer for buffer in buffers if turns > 1 and has_each(buffer.alloc)]
    placed = _packed([buffer for buffer in buffers if buffer not in each], 0)
    if each:
        start = _end(placed)
        of_each = _packed(each, start)
        for _, buffer in of_each:
            buffer.alloc.attributes["apart"] = i64(_end(of_each) - start)
        placed += of_each
    for at, buffer in placed:
        buffer.alloc.attributes["offset"] = i64(at)
    for at, buffer in placed:
        before = [
            other
            for start, other in placed
            if other is not buffer and _overlap(at, buffer, start, other) and buffer.follows(other)
        ]
        if before:
            _order(buffer, before, kernel.target)
    total = _end(placed)
    apart = sum(map(_size, buffers))
    if total < apart:
        kernel.remark(
            kernel.function,
            f"has {len(buffers)} buffers that share {total} bytes of shared memory; apart they "
            f"take {apart}",
        )


def _packed(buffers: list[Lifetime], start: int) -> list[tuple[int, Lifetime]]:
    """Buffers, and where each is placed, from an offset on."""
    placed: list[tuple[int, Lifetime]] = []
    # Large buffers first, so that small ones find room beside each other in their place.
    for buffer in sorted(buffers, key=lambda b: -_size(b)):
        placed.append((_first_gap(buffer, placed, start), buffer))
    return placed


def _end(placed: list[tuple[int, Lifetime]]) -> int:
    """Where the last buffer ends."""
    return max((at + _size(buffer) for at, buffer in placed), default=0)


def _size(buffer: Lifetime) -> int:
    return aligned(allocated_bytes(memref_of(buffer.alloc.results[0])))


def _first_gap(buffer: Lifetime, placed: list[tuple[int, Lifetime]], start: int) -> int:
    """The lowest place, from an offset on, that no buffer needed at the same time takes."""
    at = start
    for begin, other in sorted(placed, key=lambda p: p[0]):
        if buffer.meets(other) and begin < at + _size(buffer):
            at = max(at, begin + _size(other))
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
