"""Accesses to global memory by whole warps, whose lanes touch bytes that follow each other.

What such an access touches is told by few numbers: the first byte, the warp, and the bytes of a
lane. While all accesses to a part of memory since the last barrier of all threads are of one kind,
no thread has touched what another has, and nothing has to be looked for there.
"""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..memory import Allocation

PERIOD = 40
"""The lowest bit of the period in a mark; below, the warp, and a lane's bytes and its place."""
SEVERAL = (1 << PERIOD) - 1
"""What stands below it where several read."""
_PERIODS = (1 << (63 - PERIOD)) - 1
_SEGMENT = 128


class Marks:
    """Who touched the segments of an allocation last, as warps do.

    Attributes:
        allocation: the allocation.
        segment: bytes of a segment.
        written, read: the marks of the last write and the last read, (segments,).
    """

    def __init__(self, allocation: Allocation, size: int) -> None:
        self.allocation = allocation
        self.segment = min(_SEGMENT, LANES * size)
        count = -(-(allocation.end - allocation.start) // self.segment)
        self.written, self.read = np.zeros(count, np.int64), np.zeros(count, np.int64)


class WholeWarps:
    """The marks of a wave.

    Attributes:
        period: the number of barriers of all threads so far, and waves; marks of others are void.
    """

    def __init__(self) -> None:
        self.period = 1
        self._marks: dict[int, Marks] = {}

    def settle(self) -> None:
        """All threads meet: what they have touched no longer matters."""
        self.period += 1
        if self.period > _PERIODS:
            self._marks.clear()
            self.period = 1

    def of(self, allocation: Allocation, size: int) -> Marks:
        """The marks of an allocation, first asked for by accesses of so many bytes a lane."""
        found = self._marks.get(allocation.start)
        if found is None or found.allocation is not allocation:
            found = self._marks[allocation.start] = Marks(allocation, size)
        return found
