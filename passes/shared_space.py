"""Shared memory that a kernel takes and has left, before all its buffers are there."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.isa import TARGETS, Target
from tilec.layout.conversion import convert
from tilec.layout.plans import SharedTrip

from .base import walk
from .nvvm.shared_buffers import ALIGNMENT


class SharedSpace:
    """Shared memory of one kernel, and of the layout conversions in it that will take some.

    Attributes:
        limit: bytes that a CTA may have.
    """

    def __init__(self, function: Any, target: Target | None) -> None:
        self._function = function
        self._target = target
        self._conversions = sum(
            self._trip(op) for op in walk(function) if op.operation.name == "tile.convert_layout"
        )
        self.limit = max(t.shared_per_cta for t in ([target] if target else TARGETS.values()))

    def left(self) -> int:
        """Bytes that no buffer takes yet."""
        buffers = (op for op in walk(self._function) if op.operation.name == "tile.alloc_shared")
        taken = sum(aligned(shared_buffer(op.results[0].type).bytes) for op in buffers)
        return max(0, self.limit - taken - self._conversions)

    def _trip(self, op: Any) -> int:
        """Bytes through which a conversion goes."""
        source, result = tile_value(op.operands[0].type), tile_value(op.results[0].type)
        if source is None or result is None or source.is_fragment:
            return 0
        plan = convert(source.layout, result.layout, bits_of(source.element), self._target)
        return aligned(plan.bytes) if isinstance(plan, SharedTrip) else 0


def aligned(size: int) -> int:
    """The bytes that a buffer of `size` takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT
