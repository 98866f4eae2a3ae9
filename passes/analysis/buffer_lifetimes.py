"""From where to where in a kernel a buffer in shared memory is needed."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.semantics import LayoutRule, layout_rule
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.attributes import PRODUCER
from tilec.dialects.tile.ops import AsyncCopyOp, TmaGatherOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.shared import is_barriers, shared_buffer
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of
from tilec.isa import Target

from ..emit import constant_of
from .async_copies import is_asynchronous, open_span
from .places import Places, outermost_loop


class Lifetime(NamedTuple):
    """When a buffer is needed.

    Attributes:
        alloc: the `tile.alloc_shared`.
        uses: the ops that touch it, in program order.
        first, last: numbers, in program order, of the ops between which it must stay.
        loop: the outermost loop around its first use, or None.
    """

    alloc: ir.Operation
    uses: list[ir.Operation]
    first: int
    last: int
    loop: ir.Operation | None

    def meets(self, other: Lifetime) -> bool:
        """Whether both are needed at some time."""
        return self.first <= other.last and other.first <= self.last

    def follows(self, other: Lifetime) -> bool:
        """Whether some time it is written after the other was used: later, or a round later."""
        looped = self.loop is not None and other.loop is not None and self.loop == other.loop
        return other.last < self.first or looped


def lifetimes(allocs: list[ir.Operation], places: Places, target: Target | None) -> list[Lifetime]:
    """The lifetimes of the buffers that are used.

    A buffer used in a loop is needed throughout, for what it holds may be carried from round to
    round; not so one that each round first writes as a whole and uses in one block. One that is
    copied to is needed until the copies' group is closed, whoever reads it: from there on a wait
    for all groups covers them. Mbarriers are needed always, and what `tile.tma_gather` fills, or
    threads that load for others alone touch.

    Args:
        allocs: the `tile.alloc_shared` of a kernel, outside of loops.
        places: of the kernel's ops.
        target: what the kernel is for.
    """
    found = []
    for alloc in allocs:
        users = {use.owner.operation for use in alloc.result.uses}
        uses = sorted(users, key=places.__getitem__)
        if not uses:
            uses = [alloc]
        if _begins_anew(uses, alloc.result):
            spans = [places[use] for use in uses]
        else:
            spans = [places[outermost_loop(use) or use] for use in uses]
        spans += [open_span(use, places) for use in uses if copies_async(use, target)]
        own_memory = is_barriers(memref_of(alloc.result)) or any(map(_copies_rows, uses))
        own_memory = own_memory or all(map(_is_of_producer, uses))
        if own_memory or is_passed_on(alloc.result):
            # Mbarriers, whose memory is for nothing else, what single threads fill while the CTA
            # goes on, what only warps with a role of their own touch meanwhile, and what other
            # names may be used of.
            spans.append((0, len(places)))
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        found.append(Lifetime(alloc, uses, first, last, outermost_loop(uses[0])))
    return found


def is_passed_on(buffer: Value) -> bool:
    """Whether a buffer is used under other names: its views', a choice's, or a region's results."""
    return any(_passes_on(use.owner.operation) for use in buffer.uses)


def _passes_on(use: ir.Operation) -> bool:
    if layout_rule(use) is LayoutRule.CARRIED:
        return True
    return any(isinstance(result.type, ir.MemRefType) for result in use.results)


def copies_async(use: ir.Operation, target: Target | None) -> bool:
    """Whether a use of a buffer is an asynchronous copy to it."""
    return isinstance(use.opview, AsyncCopyOp) and is_asynchronous(use, target)


def _copies_rows(use: ir.Operation) -> bool:
    """Whether a use of a buffer is one of several threads' copies to it."""
    return isinstance(use.opview, TmaGatherOp)


def _is_of_producer(use: ir.Operation) -> bool:
    """Whether threads that load for others execute a use, while these go on."""
    parent = use.parent
    while parent is not None and PRODUCER not in parent.attributes:
        parent = parent.operation.parent
    return parent is not None


def _begins_anew(uses: list[ir.Operation], buffer: Value) -> bool:
    """Whether the first of the uses writes the whole buffer, and the others follow in its block."""
    first = uses[0]
    if any(use.block != first.block for use in uses) or is_shared_array(buffer.type):
        return False
    op = first.opview
    region = op.overwritten() if isinstance(op, TileOp) else None
    if region is None:
        return False
    whole = shared_buffer(memref_of(buffer))
    return (
        whole.count == 1
        and region.shape == (whole.rows, whole.cols)
        and all(constant_of(index) == 0 for index in region.indices)
    )
