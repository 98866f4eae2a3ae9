"""Which warps of a CTA touched each byte of its shared memory, and whether others know of that."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from .numbers import Array
from .order import Order

COPIED = 63
"""The bit of what copies of boxes and products in tensor memory touched, beside those of warps."""
_COPIED = np.uint64(1 << COPIED)


class Touch(IntEnum):
    """What a warp does to a byte."""

    WRITE = 0
    READ = 1
    UPDATE = 2


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
        self._masks = np.zeros((len(Touch), size), np.uint64)
        if order is not None:
            self._times = np.zeros((len(Touch), warps, size), np.int32)
            self._source = np.zeros((len(Touch), size), np.int32)
            self._arrived = np.zeros((len(Touch), size), np.int32)

    def met(self, top: int) -> None:
        """All warps have come together; of `top` bytes they know what they did."""
        self._masks[:, :top] &= _COPIED

    def read(self, at: Array, warps: Array) -> bool:
        """Note that warps read bytes; whether one wrote them of whom they do not know."""
        kinds = Touch.WRITE, Touch.UPDATE
        wrong = any(self._is_race(at, self._masks[k, at], warps, k) for k in kinds)
        self._add(Touch.READ, at, warps)
        return wrong

    def update(self, at: Array, warps: Array) -> bool:
        """Note that warps update bytes atomically; whether one touched them otherwise."""
        kinds = Touch.WRITE, Touch.READ
        wrong = any(self._is_race(at, self._masks[k, at], warps, k) for k in kinds)
        self._add(Touch.UPDATE, at, warps)
        return wrong

    def write(self, at: Array, warps: Array, same: Array) -> bool:
        """Note that warps write bytes, some of them the same again; whether that is a race."""
        before = self._masks[:, at]
        changed = before[Touch.WRITE] * ~same
        wrong = self._is_race(at, changed, warps, Touch.WRITE)
        for kind in (Touch.READ, Touch.UPDATE):
            wrong = self._is_race(at, before[kind], warps, kind) or wrong
        if self._order is not None:  # who touched it before is known to who writes now
            self._masks[:, at] = np.where(same, before, np.uint64(0))
        self._add(Touch.WRITE, at, warps)
        return wrong

    def copy(self, at: Array, copying: Array) -> bool:
        """Whether a copy may not overwrite bytes that others touched.

        Args:
            at: the bytes.
            copying: the warps that copy together, by their numbers in the cluster.
        """
        before = np.bitwise_or.reduce(self._masks[:, at], axis=0)
        if self._order is None:
            return bool(before.any())
        for warp in bits_of(before):
            there = at[has_bit(before, warp)]
            # Which of them copies a byte is not known: all must know who touched it.
            for copier in copying.tolist():
                if copier == self._first + warp:
                    continue
                known = self._order.known(copier)
                if warp == COPIED:
                    late = any(self._is_late(kind, at, known).any() for kind in Touch)
                else:
                    last = self._times[:, warp, there].max(axis=0)
                    late = bool((last > known[self._first + warp]).any())
                if late:
                    return True
        return False

    def _is_late(self, kind: Touch, at: Array, known: Array, own: int = -1) -> Array:
        """Which bytes a source touched of whose arrival is not known, but for one source."""
        there = at[has_bit(self._masks[kind, at], COPIED)]
        source = self._source[kind, there]
        return np.asarray((source != own) & (self._arrived[kind, there] > known[source]))

    def arrive(self, at: Array, warps: Array) -> None:
        """What warps copied together has arrived."""
        self._add(Touch.WRITE, at, warps)

    def arrive_by(self, at: Array, source: int) -> None:
        """A box has arrived, by a source."""
        self._touched_by(Touch.WRITE, at, source)

    def work(self, kind: Touch, at: Array, issuer: int, source: int) -> bool:
        """Note that work of a source, whose parts are in order, touches bytes; whether that races.

        Args:
            kind: what it does.
            at: the bytes.
            issuer: who has begun it, by its number in the cluster.
            source: by which others know how far it is.
        """
        assert self._order is not None
        known, wrong = self._order.known(issuer), False
        for other in Touch:
            if kind is Touch.READ and other is Touch.READ:
                continue
            wrong = wrong or bool(self._is_late(other, at, known, source).any())
            for warp in bits_of(self._masks[other, at]):
                if warp == COPIED or issuer == self._first + warp:
                    continue
                there = at[has_bit(self._masks[other, at], warp)]
                late = self._times[other, warp, there] > known[self._first + warp]
                wrong = wrong or bool(late.any())
        self._touched_by(kind, at, source)
        return wrong

    def _touched_by(self, kind: Touch, at: Array, source: int) -> None:
        """A source touches bytes now; of what is written nobody needs know what was before."""
        assert self._order is not None
        if kind is Touch.WRITE:
            self._masks[:, at] = 0
        self._masks[kind, at] |= _COPIED
        self._source[kind, at], self._arrived[kind, at] = source, self._order.now

    def _add(self, kind: Touch, at: Array, warps: Array) -> None:
        self._masks[kind, at] |= warps
        if self._order is None:
            return
        for warp in bits_of(warps):
            mine = at if warps.ndim == 0 else at[has_bit(warps, warp)]
            self._times[kind, warp, mine] = self._order.now

    def _is_race(self, at: Array, before: Array, warps: Array, kind: Touch) -> bool:
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
                    late = self._arrived[kind, there] > known[self._source[kind, there]]
                else:
                    late = self._times[kind, other, there] > known[self._first + other]
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
