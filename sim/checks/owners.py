"""Who wrote and read each part of an allocation last, over the whole grid, as epochs of warps.

An epoch is the warp, its CTA's time, how far the access reaches, and the instruction, in 64 bits:

    instruction << 54 | several << 53 | reach << 51 | time << 27 | (1 + CTA) << 5 | warp

0 means nobody. Of those who read since the last write two are known, of different CTAs: the last,
and the last that was of another. `several` marks what CTAs wrote with one value.

Epochs are kept of segments, which lanes that follow each other mostly touch as a whole; where they
do not, or where CTAs meet, a segment is split into granules.
"""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..memory import Allocation

CTA, TIME, REACH, SEVERAL, INSTRUCTION = 5, 27, 51, 53, 54
CTAS, TIMES, INSTRUCTIONS = 1 << 22, (1 << 24) - 1, (1 << 10) - 1
"""How many CTAs there may be, the last time, and the last instruction that is told apart."""
_CTA_BITS = np.uint64((CTAS - 1) << CTA)
_SEGMENT = 128


class Epochs:
    """The epochs of parts of equal size.

    Attributes:
        writer: the last write, (parts,).
        reader: the last read since, (parts,).
        second: the last read since of another CTA, (parts,).
        read: whether anybody has read.
    """

    def __init__(self, parts: int) -> None:
        # Untouched, zeros cost nothing.
        self.writer, self.reader, self.second = (np.zeros(parts, np.uint64) for _ in range(3))
        self.read = False

    def read_by(self, places: Array, stamps: Array) -> None:
        """Parts are read in epochs, which broadcast to their shape."""
        if self.read:
            before = self.reader[places]
            others = foreign(before, stamps)
            if others.any():
                others &= before != 0
                self.second[places[others]] = before[others]
        self.read = True
        self.reader[places] = stamps
        lost = foreign(self.reader[places], stamps)
        if lost.any():
            self.second[places[lost]] = np.broadcast_to(stamps, places.shape)[lost]

    def write_by(self, places: Array, stamps: Array) -> None:
        """Parts are written in epochs, which broadcast to their shape."""
        self.writer[places] = stamps
        if self.read:
            self.forget_readers(places)

    def forget_readers(self, places: Array) -> None:
        """What has read parts no longer matters."""
        self.reader[places] = 0
        self.second[places] = 0

    def readers(self, places: Array) -> tuple[Array, ...]:
        """The epochs of the reads that parts have seen, each of the shape of `places`."""
        return (self.reader[places], self.second[places]) if self.read else ()


class Owners:
    """The epochs of an allocation.

    Attributes:
        allocation: the allocation.
        segment: bytes of a segment.
        granule: bytes of a granule: those of the smallest access to split segments.
        first: what it was in the beginning.
        segments: epochs of segments that are not split.
        granules: epochs of the granules of those that are.
        split: which are, (segments,).
        splits: how many.
    """

    def __init__(self, allocation: Allocation, size: int, segment: int = 0) -> None:
        self.allocation = allocation
        self.segment = segment or min(_SEGMENT, 32 * size)
        self.granule = self.first = size
        self._bytes = allocation.end - allocation.start
        count = -(-self._bytes // self.segment)
        self.segments = Epochs(count)
        self.split = np.zeros(count, np.bool_)
        self.splits = 0
        self.granules = Epochs(0)

    @property
    def any_split(self) -> bool:
        """Whether any segment is split."""
        return self.splits > 0

    @property
    def bytes(self) -> int:
        """What the epochs take."""
        return 24 * (len(self.split) + self.splits * (self.segment // self.granule))

    def touched(self, *, written: bool) -> Array:
        """The bytes of memory that anybody has read, or written: from and to, (n, 2).

        Who read what was written later is forgotten: such bytes count as written alone.
        """
        start, end = self.allocation.start, self.allocation.end
        coarse, fine = (
            epochs.writer if written else epochs.reader for epochs in (self.segments, self.granules)
        )
        first = start + np.flatnonzero((coarse != 0) & ~self.split) * self.segment
        found = np.stack([first, np.minimum(first + self.segment, end)], axis=1)
        if not self.splits:
            return joined(found)
        at = np.flatnonzero(self.split)
        row, column = np.nonzero(fine.reshape(len(self.split), -1)[at])
        first = start + at[row] * self.segment + column * self.granule
        parts = np.stack([first, np.minimum(first + self.granule, end)], axis=1)
        return joined(np.concatenate([found, parts]))

    def refine(self, granule: int) -> None:
        """Tell smaller granules apart."""
        if granule >= self.granule:
            return
        before, times = self.granules, self.granule // granule
        old, self.granule = self.granule, granule
        if not self.splits:
            return
        self.granules = Epochs(len(self.split) * (self.segment // granule))
        self.granules.read = before.read
        at = np.flatnonzero(self.split)
        for name in ("writer", "reader", "second"):
            values = getattr(before, name).reshape(-1, self.segment // old)[at]
            rows = getattr(self.granules, name).reshape(-1, self.segment // granule)
            rows[at] = np.repeat(values, times, axis=1)

    def split_up(self, segments: Array) -> None:
        """Split segments, of which some may be."""
        new = np.unique(segments[~self.split[segments]])
        if not new.size:
            return
        if not self.splits:
            self.granules = Epochs(len(self.split) * (self.segment // self.granule))
        self.splits += new.size
        self.split[new] = True
        self.granules.read |= self.segments.read
        for name in ("writer", "reader", "second"):
            rows = getattr(self.granules, name).reshape(len(self.split), -1)
            rows[new] = getattr(self.segments, name)[new][:, None]


def joined(spans: Array) -> Array:
    """Spans, from and to, (n, 2), in ascending order, as few as possible."""
    if len(spans) < 2:
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    end = np.maximum.accumulate(spans[:, 1])
    new = np.flatnonzero(spans[1:, 0] > end[:-1]) + 1
    first = np.concatenate([[0], new])
    return np.stack([spans[first, 0], end[np.concatenate([new, [len(spans)]]) - 1]], axis=1)


def foreign(before: Array, stamps: Array) -> Array:
    """Whether epochs are of different CTAs."""
    found: Array = (before ^ stamps) & _CTA_BITS != 0
    return found


def field(epoch: Array, at: int, bits: int) -> Array:
    """A part of epochs."""
    found: Array = (epoch >> np.uint64(at) & np.uint64((1 << bits) - 1)).astype(np.int64)
    return found
