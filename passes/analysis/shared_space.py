"""Shared memory that a kernel takes and has left, before all its buffers are there.

Buffers that are not needed at the same time will share their memory (`tile-reuse-shared`), so what
counts is what is needed at some place of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from tilec.dialects.tile.ops import AllocSharedOp, ConvertLayoutOp, ReduceOp
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.dialects.tile.shared import ALIGNMENT, allocated_bytes
from tilec.dialects.tile.tiles import TileValue, bits_of, tile_value
from tilec.ir.aliases import Op, Type
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of
from tilec.isa import TARGETS, Target
from tilec.layout import LayoutError, LinearLayout

from ..hopper.turns import has_each, turns_of
from ..layouts.conversion_choice import choose_conversion
from ..layouts.reduction_choice import gathering
from ..search import named
from .buffer_lifetimes import lifetimes
from .places import places_of

BESIDE_TENSOR_MEMORY = 2 * ALIGNMENT
"""Bytes for the mbarriers of products in tensor memory, and for the address of their columns."""


class SharedSpace:
    """Shared memory of one kernel as it is now, with what conversions and reductions will take.

    Attributes:
        limit: bytes that a CTA may have, less what products in tensor memory will need.
        turns: warpgroups that take tiles in turn, each with buffers of its own; 1 without.

    Args:
        function: the kernel.
        target: what it is for.
        turns: if warpgroups are only about to take tiles in turn, how many.
        loaded: the `tile.alloc_shared`s that another warpgroup is then to fill for all.
    """

    def __init__(
        self,
        function: Op,
        target: Target | None,
        turns: int = 0,
        loaded: Collection[Op] = (),
    ) -> None:
        self._target = target
        targets = [target] if target else list(TARGETS.values())
        self.limit = max(t.shared_per_cta for t in targets)
        if named(function, [TensorDot]):
            self.limit -= BESIDE_TENSOR_MEMORY
        self._whole = max(t.shared_per_sm for t in targets)
        self._places = places_of(function)
        allocs = named(function, [AllocSharedOp])
        self.turns = turns = turns or turns_of(function)
        self._spans = []
        for buffer in lifetimes(allocs, self._places, target):
            size = aligned(allocated_bytes(memref_of(buffer.alloc.result)))
            if turns > 1 and buffer.alloc not in loaded and has_each(buffer.alloc):
                size *= turns
            self._spans.append((buffer.first, buffer.last, size))
        for op in named(function, _TRIPS):
            self._spans.append((*self._places[op], trip_bytes(op, target) * turns))

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
        trip = conversion_bytes(source, result, self._target)
        more = self._taken(self._places[at.operation][0]) + trip * self.turns
        then = max(now, more)
        return then <= self.limit and (not now or self._whole // then == self._whole // now)

    def _taken(self, number: int) -> int:
        """Bytes that are needed at an op."""
        return sum(size for first, last, size in self._spans if first <= number <= last)


def trip_bytes(operation: ir.Operation, target: Target | None) -> int:
    """Bytes through which a conversion, or a reduction over warps, will go."""
    op = operation.opview
    for kind, of_kind in _TRIPS.items():
        if isinstance(op, kind):
            return of_kind(op, target)
    return 0


def _reduction(op: ReduceOp, target: Target | None) -> int:
    source = tile_value(op.source.type)
    if source is None or source.is_fragment:
        return 0
    found = gathering(source.layout, op.axis.value)
    return 0 if found is None else _trip_bytes(found.before, found.after, source, target)


def conversion_bytes(source_type: Type, result_type: Type, target: Target | None) -> int:
    """Bytes through which a tile of one type will become one of another."""
    source, result = tile_value(source_type), tile_value(result_type)
    if source is None or result is None or source.is_fragment:
        return 0
    return _trip_bytes(source.layout, result.layout, source, target)


def _trip_bytes(
    before: LinearLayout, after: LinearLayout, tile: TileValue, target: Target | None
) -> int:
    """Bytes through which elements like a tile's go from one layout to another."""
    try:
        trip = choose_conversion(before, after, bits_of(tile.element), target).trip
    except LayoutError:  # an error of the pass that does it
        return 0
    return 0 if trip is None else aligned(trip.bytes)


_TRIPS: Mapping[type[TileOp], Callable[[Any, Target | None], int]] = {
    ConvertLayoutOp: lambda op, target: conversion_bytes(op.source.type, op.result.type, target),
    ReduceOp: _reduction,
}
"""The ops that `tile-stage-conversions` and `tile-stage-reductions` send through shared memory."""


def aligned(size: int) -> int:
    """The bytes that a buffer of `size` takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT
