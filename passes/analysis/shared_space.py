"""Shared memory that a kernel takes and has left, before all its buffers are there.

Buffers that are not needed at the same time will share their memory (`tile-reuse-shared`), so what
counts is what is needed at some place of the program.
"""

from __future__ import annotations

from math import prod

from tilec.dialects.tile.ops import AllocSharedOp, ConvertLayoutOp, ReduceOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.ir.aliases import Op, Type
from tilec.ir.mlir import ir
from tilec.isa import TARGETS, Target
from tilec.layout import LayoutError
from tilec.layout.conversion import convert
from tilec.layout.plans import SharedTrip

from ..nvvm.shared_buffers import ALIGNMENT
from ..search import named
from .buffer_lifetimes import lifetimes
from .places import places_of


class SharedSpace:
    """Shared memory of one kernel as it is now, with what conversions and reductions will take.

    Attributes:
        limit: bytes that a CTA may have.
    """

    def __init__(self, function: Op, target: Target | None) -> None:
        self._target = target
        targets = [target] if target else list(TARGETS.values())
        self.limit = max(t.shared_per_cta for t in targets)
        self._whole = max(t.shared_per_sm for t in targets)
        self._places = places_of(function)
        allocs = named(function, [AllocSharedOp])
        self._spans = [
            (buffer.first, buffer.last, aligned(shared_buffer(buffer.alloc.result.type).bytes))
            for buffer in lifetimes(allocs, self._places, target)
        ]
        for op in named(function, [ConvertLayoutOp, ReduceOp]):
            self._spans.append((*self._places[op], self._trip(op)))

    def left(self, *within: Op) -> int:
        """Bytes that nothing takes, wherever in these ops: those inside them, too."""
        begins = [begin for begin, _, _ in self._spans]
        taken = [
            self._taken(number)
            for first, last in (self._places[op.operation] for op in within)
            for number in (first, *(begin for begin in begins if first < begin <= last))
        ]
        return max(0, self.limit - max(taken, default=0))

    def has_room(self, at: Op, source: Type, result: Type) -> bool:
        """Whether a conversion of a type to another before `at` leaves an SM as many CTAs."""
        now = max((self._taken(first) for first, _, _ in self._spans), default=0)
        more = self._taken(self._places[at.operation][0]) + self._conversion(source, result)
        then = max(now, more)
        return then <= self.limit and (not now or self._whole // then == self._whole // now)

    def _taken(self, number: int) -> int:
        """Bytes that are needed at an op."""
        return sum(size for first, last, size in self._spans if first <= number <= last)

    def _trip(self, operation: ir.Operation) -> int:
        """Bytes through which a conversion, or a reduction over warps, goes."""
        op = operation.opview
        if isinstance(op, ConvertLayoutOp):
            return self._conversion(op.source.type, op.result.type)
        return _reduction(op) if isinstance(op, ReduceOp) else 0

    def _conversion(self, source_type: Type, result_type: Type) -> int:
        source, result = tile_value(source_type), tile_value(result_type)
        if source is None or result is None or source.is_fragment:
            return 0
        bits = bits_of(source.element)
        try:
            plan = convert(source.layout, result.layout, bits, self._target)
        except LayoutError:  # elements that share a byte go as bytes
            plan = None
        same_warps = source.layout.columns_of("warp") == result.layout.columns_of("warp")
        if plan is not None and same_warps and not isinstance(plan, SharedTrip):
            return 0
        return aligned(prod(source.shape) * max(bits, 8) // 8)


def _reduction(op: ReduceOp) -> int:
    source = tile_value(op.source.type)
    if source is None:
        return 0
    axis = op.axis.value
    rest = prod(source.shape) // source.shape[axis]
    return aligned(rest * source.warps * max(bits_of(source.element), 8) // 8) * any(
        image[axis] for image in source.layout.bases["warp"]
    )


def aligned(size: int) -> int:
    """The bytes that a buffer of `size` takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT
