"""Which warps of a CTA touched each byte of its shared memory, and whether others know of that."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .numbers import Array
from .order import Order

COPIED = 63
"""The bit of what copies of boxes wrote, beside those of warps."""
_COPIED = np.uint64(1 << COPIED)


class Touches:
    """Touches since all warps met last; of programs whose warps meet otherwise, when they were.

    Args:
        size: bytes.
        warps: of the CTA.
        order: among the warps of its cluster; None where all of a CTA meet or none.
        first: the number of its first warp there.
    """

    def __init__(self, size: int, warps: int, order: Order | None, first: int) -> None:
        self._order, self._first = order, first
        self._writers = np.zeros(size, np.uint64)
        self._readers = np.zeros(size, np.uint64)
        if order is not None:
            self._written = np.zeros((warps, size), np.int32)
            self._read = np.zeros((warps, size), np.int32)
            self._source = np.zeros(size, np.int32)
            self._arrived = np.zeros(size, np.int32)

    def met(self, top: int) -> None:
        """All warps have come together; of `top` bytes they know what they did."""
        self._writers[:top] &= _COPIED
        self._readers[:top] = 0

    def read(self, at: Array, warps: Array) -> bool:
        """Note that warps read bytes; whether one wrote them of whom they do not know."""
        before = self._writers[at]
        wrong = self._is_race(at, before, warps, written=True)
        self._readers[at] |= warps
        self._note(at, warps, written=False)
        return wrong

    def write(self, at: Array, warps: Array, same: Array) -> bool:
        """Note that warps write bytes, some of them the same again; whether that is a race."""
        writers, readers = self._writers[at], self._readers[at]
        if self._order is None:
            wrong = bool(_others(writers * ~same | readers, warps).any())
            self._writers[at] = writers | warps
            return wrong
        wrong = self._is_race(at, writers * ~same, warps, written=True)
        wrong = wrong or self._is_race(at, readers, warps, written=False)
        # Who wrote before is known to who does now.
        self._writers[at] = np.where(same, writers, 0) | warps
        self._readers[at] = np.where(same, readers, 0)
        self._note(at, warps, written=True)
        return wrong

    def copy(self, at: Array, copying: Array) -> bool:
        """Whether a copy may not overwrite bytes that others touched.

        Args:
            at: the bytes.
            copying: the warps that copy together, by their numbers in the cluster.
        """
        before = self._readers[at] | self._writers[at]
        if self._order is None:
            return bool(before.any())
        for warp in bits_of(before):
            there = at[has_bit(before, warp)]
            # Which of them copies a byte is not known: all must know who touched it.
            for copier in copying.tolist():
                if copier == self._first + warp:
                    continue
                if warp == COPIED:
                    known = self._order.known(copier)[self._source[there]]
                    late = self._arrived[there] > known
                else:
                    last = np.maximum(self._written[warp, there], self._read[warp, there])
                    late = last > self._order.known(copier)[self._first + warp]
                if late.any():
                    return True
        return False

    def arrive(self, at: Array, warps: Array) -> None:
        """What warps copied together has arrived."""
        self._writers[at] |= warps
        self._note(at, warps, written=True)

    def arrive_by(self, at: Array, source: int) -> None:
        """A box has arrived, by a source."""
        assert self._order is not None
        self._writers[at], self._readers[at] = _COPIED, 0
        self._source[at], self._arrived[at] = source, self._order.now

    def _note(self, at: Array, warps: Array, *, written: bool) -> None:
        if self._order is None:
            return
        times = self._written if written else self._read
        for warp in bits_of(warps):
            mine = at if warps.ndim == 0 else at[has_bit(warps, warp)]
            times[warp, mine] = self._order.now

    def _is_race(self, at: Array, before: Array, warps: Array, *, written: bool) -> bool:
        """Whether one of `warps` does not know of one that touched bytes before."""
        doubtful = _others(before, warps)
        if self._order is None or not doubtful.any():
            return bool(doubtful.any())
        before = before * doubtful
        present = list(bits_of(before))
        for warp in bits_of(warps):
            known = self._order.known(self._first + warp)
            for other in present:
                there = at[has_bit(before, other) & has_bit(warps, warp)]
                if other == warp or not there.size:
                    continue
                if other == COPIED:
                    late = self._arrived[there] > known[self._source[there]]
                else:
                    times = self._written if written else self._read
                    late = times[other, there] > known[self._first + other]
                if late.any():
                    return True
        return False


def has_bit(masks: Array, bit: int) -> Array:
    """Which masks have a bit."""
    return np.asarray((masks >> np.uint64(bit)) & np.uint64(1)).astype(bool)


def bits_of(masks: Array) -> Iterator[int]:
    """The bits that are set in any of masks."""
    whole = int(np.bitwise_or.reduce(np.atleast_1d(masks), axis=None)) if masks.size else 0
    return (bit for bit in range(COPIED + 1) if whole >> bit & 1)


def _others(before: Array, warps: Array) -> Array:
    """Where more than one warp is meant, and somebody was there before."""
    together = before | warps
    return np.asarray((before != 0) & ((together & (together - np.uint64(1))) != 0))
