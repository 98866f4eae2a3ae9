"""Shared memory that a kernel takes and has left, before all its buffers are there."""

from __future__ import annotations

from math import prod
from typing import Any

from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.isa import TARGETS, Target
from tilec.layout import LayoutError
from tilec.layout.conversion import convert
from tilec.layout.plans import SharedTrip

from .base import walk
from .nvvm.shared_buffers import ALIGNMENT


class SharedSpace:
    """Shared memory of one kernel, with what conversions and reductions in it will take at most.

    Attributes:
        limit: bytes that a CTA may have.
    """

    def __init__(self, function: Any, target: Target | None) -> None:
        self._function = function
        self._target = target
        targets = [target] if target else list(TARGETS.values())
        self.limit = max(t.shared_per_cta for t in targets)
        self._whole = max(t.shared_per_sm for t in targets)
        self._trips = 0
        for op in walk(function):
            if op.operation.name == "tile.convert_layout":
                self._trips += self._conversion(op.operands[0].type, op.results[0].type)
            elif op.operation.name == "tile.reduce":
                self._trips += _reduction(op)

    def left(self) -> int:
        """Bytes that no buffer takes yet."""
        return max(0, self.limit - self._taken())

    def has_room(self, source: Any, result: Any) -> bool:
        """Whether a conversion between two types leaves an SM as many CTAs as it has room for."""
        taken = self._taken()
        more = taken + self._conversion(source, result)
        return more <= self.limit and (not taken or self._whole // more == self._whole // taken)

    def _taken(self) -> int:
        buffers = (op for op in walk(self._function) if op.operation.name == "tile.alloc_shared")
        return self._trips + sum(aligned(shared_buffer(op.results[0].type).bytes) for op in buffers)

    def _conversion(self, source_type: Any, result_type: Any) -> int:
        """Bytes through which a conversion goes."""
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


def _reduction(op: Any) -> int:
    """Bytes through which the parts of a reduction over warps go."""
    source = tile_value(op.operands[0].type)
    if source is None:
        return 0
    axis = int(op.attributes["axis"].value)
    rest = prod(source.shape) // source.shape[axis]
    return aligned(rest * source.warps * max(bits_of(source.element), 8) // 8) * any(
        image[axis] for image in source.layout.bases["warp"]
    )


def aligned(size: int) -> int:
    """The bytes that a buffer of `size` takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT
