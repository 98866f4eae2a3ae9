"""`tile-reuse-shared`: buffers that are not needed at the same time share their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.mlir import ir
from tilec.isa import Target

from .analysis.buffer_lifetimes import Lifetime, copies_async, lifetimes
from .analysis.places import places_of
from .analysis.shared_space import aligned
from .base import Pass, remark, walk
from .functions import functions, gpu_modules, is_automatic, target_of
from .search import named


@dataclass(frozen=True)
class ReuseShared(Pass):
    """Give every `tile.alloc_shared` its place, the same to buffers whose lifetimes are apart.

    In and out: level 2, kernels that are `tile.automatic`; the place becomes the attribute
    `offset`. Before a buffer that takes the place of others is first written, all threads must
    have done with those: a `gpu.barrier` is put there where none stands, and a wait for the copies
    to them that may be under way.
    """

    name: ClassVar[str] = "tile-reuse-shared"

    def apply(self, module: Any) -> None:
        """Place the buffers of every kernel of `module`."""
        for gpu_module in gpu_modules(module):
            target = target_of(gpu_module)
            for function in functions(gpu_module):
                allocs = named(function, ["tile.alloc_shared"])
                if is_automatic(function) and len(allocs) > 1:
                    _place(function, allocs, target)


def _place(function: Any, allocs: list[Any], target: Target | None) -> None:
    buffers = lifetimes(allocs, places_of(function), target)
    placed: list[tuple[int, Lifetime]] = []
    i64 = ir.IntegerType.get_signless(64)
    # Large buffers first, so that small ones find room beside each other in their place.
    for buffer in sorted(buffers, key=lambda b: -_size(b)):
        at = _first_gap(buffer, placed)
        placed.append((at, buffer))
        buffer.alloc.attributes["offset"] = ir.IntegerAttr.get(i64, at)
    for at, buffer in placed:
        before = [
            other
            for start, other in placed
            if other is not buffer and _overlap(at, buffer, start, other) and buffer.follows(other)
        ]
        if before:
            _order(buffer, before, target)
    total = max(at + _size(buffer) for at, buffer in placed)
    apart = sum(map(_size, buffers))
    if total < apart:
        remark(
            function.location,
            f"{len(buffers)} buffers share {total} bytes of shared memory; apart they take {apart}",
        )


def _size(buffer: Lifetime) -> int:
    return aligned(shared_buffer(buffer.alloc.results[0].type).bytes)


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
            barrier = ir.Operation.create("gpu.barrier")
    if any(copies_async(use, target) for other in others for use in other.uses):
        i64 = ir.IntegerType.get_signless(64)
        with ir.InsertionPoint(barrier), first.location:
            none = {"pending": ir.IntegerAttr.get(i64, 0)}
            ir.Operation.create("tile.async_wait", attributes=none)


def _barrier_before(op: Any) -> Any:
    """The barrier of the same block behind which nothing touches shared memory before `op`."""
    found = None
    for other in op.block.operations:
        operation = other.operation
        if operation == op:
            return found
        if operation.name == "gpu.barrier":
            found = operation
        elif _touches(operation):
            found = None
    return None


def _touches(op: Any) -> bool:
    names = (inner.operation.name for inner in (op, *walk(op)))
    return any(name.startswith("tile.") and name != "tile.alloc_shared" for name in names)
