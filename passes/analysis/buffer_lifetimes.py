"""From where to where in a kernel a buffer in shared memory is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilec.dialects.semantics import is_loop
from tilec.dialects.tile.ops import AsyncCopyOp, StoreOp
from tilec.dialects.tile.shared import shared_buffer

from ..emit import constant_of

Places = dict[Any, tuple[int, int]]
"""Of each op its number in program order, and the number of the last op inside it."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """When a buffer is needed.

    Attributes:
        alloc: the `tile.alloc_shared`.
        uses: the ops that touch it, in program order.
        first, last: numbers, in program order, of the ops between which it must stay.
        loop: the outermost loop around its first use, or None.
    """

    alloc: Any
    uses: list[Any]
    first: int
    last: int
    loop: Any

    def meets(self, other: Lifetime) -> bool:
        """Whether both are needed at some time."""
        return self.first <= other.last and other.first <= self.last

    def follows(self, other: Lifetime) -> bool:
        """Whether some time it is written after the other was used: later, or a round later."""
        looped = self.loop is not None and other.loop is not None and self.loop == other.loop
        return other.last < self.first or looped


def lifetimes(allocs: list[Any], places: Places) -> list[Lifetime]:
    """The lifetimes of the buffers that are used.

    A buffer used in a loop is needed throughout, for what it holds may be carried from round to
    round; not so one that each round first writes as a whole and uses in one block.

    Args:
        allocs: the `tile.alloc_shared` of a kernel, outside of loops.
        places: of the kernel's ops.
    """
    found = []
    for alloc in allocs:
        users = {use.owner.operation for use in alloc.results[0].uses}
        uses = sorted(users, key=places.__getitem__)
        if not uses:
            uses = [alloc.operation]
        if _begins_anew(uses, alloc.results[0]):
            spans = [places[use] for use in uses]
        else:
            spans = [places[_outermost_loop(use) or use] for use in uses]
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        found.append(Lifetime(alloc, uses, first, last, _outermost_loop(uses[0])))
    return found


def places_of(function: Any) -> Places:
    """The places of the ops of a kernel."""
    places: Places = {}

    def visit(op: Any) -> None:
        for region in op.regions:
            for block in region:
                for inner in block:
                    operation, number = inner.operation, len(places)
                    places[operation] = number, number
                    if len(operation.regions):
                        visit(operation)
                        places[operation] = number, len(places) - 1

    visit(function.operation)
    return places


def _outermost_loop(op: Any) -> Any:
    found = None
    parent = op.parent
    while parent is not None and parent.name != "gpu.func":
        if is_loop(parent):
            found = parent
        parent = parent.parent
    return found


def _begins_anew(uses: list[Any], buffer: Any) -> bool:
    """Whether the first of the uses writes the whole buffer, and the others follow in its block."""
    first = uses[0]
    if any(use.block != first.block for use in uses):
        return False
    whole = shared_buffer(buffer.type)
    op = first.opview
    if isinstance(op, StoreOp):
        indices, shape = op.indices, tuple(op.tile.type.shape)
    elif isinstance(op, AsyncCopyOp):
        indices, shape = op.target_indices, tuple(op.shape)
    else:
        return False
    return (
        whole.count == 1
        and shape == (whole.rows, whole.cols)
        and all(constant_of(index) == 0 for index in indices)
    )
