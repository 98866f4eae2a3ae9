"""What each warp knows of the others' progress: vector clocks, a CTA at a time.

Time is a number per CTA that grows at every synchronisation. `seen[cta, warp, other]` is the time
up to which what `other` did is known to come before what `warp` does next. A barrier of all threads
makes every warp see everything. An mbarrier passes on what those who arrived had seen and done, a
phase at a time. Fences and atomics publish to, and read from, one clock of the CTA, which takes
more for ordered than strictly is: a race may be missed, none is made up.
"""

from __future__ import annotations

import numpy as np

from ..alu import Array


class Clocks:
    """Clocks of the warps of some CTAs. Its arrays are replaced, never changed in place.

    Attributes:
        now: time of each CTA, (CTAs,).
        seen: (CTAs, warps, warps).
    """

    def __init__(self, ctas: int, warps: int) -> None:
        self.warps = warps
        self.now = np.ones(ctas, np.int64)
        self.seen = np.zeros((ctas, warps, warps), np.int64)
        self._published = np.zeros((ctas, warps), np.int64)
        self._arrived: dict[int, Array] = {}
        self._signalled: dict[int, Array] = {}
        self._completed: dict[int, Array] = {}

    def expand(self, ctas: int) -> None:
        """Give every CTA a copy of the one clock."""
        self.now = np.repeat(self.now, ctas)
        self.seen = np.repeat(self.seen, ctas, axis=0)
        self._published = np.repeat(self._published, ctas, axis=0)
        for known in (self._arrived, self._signalled, self._completed):
            for number, clocks in known.items():
                known[number] = np.repeat(clocks, ctas, axis=0)

    def meet(self) -> None:
        """All threads of every CTA meet."""
        self.seen = np.broadcast_to(self.now[:, None, None], self.seen.shape)
        self.now = self.now + 1

    def meet_warp(self, warps: Array) -> None:
        """The lanes of some warps, (CTAs, warps), meet."""
        self.seen = self.seen.copy()
        own = np.einsum("cww->cw", self.seen)
        own[...] = np.where(warps, self.now[:, None], own)
        self._advance(warps)

    def _advance(self, warps: Array) -> None:
        """Let time pass in the CTAs of some warps."""
        self.now = self.now + warps.any(axis=1)

    def _own(self) -> Array:
        """What each warp has seen and done, (CTAs, warps, warps)."""
        known = self.seen.copy()
        own = np.einsum("cww->cw", known)
        own[...] = self.now[:, None]
        return known

    def _join(self, warps: Array) -> Array:
        """What some warps together have seen and done, (CTAs, warps)."""
        known = np.where(warps[:, :, None], self._own(), 0)
        return np.asarray(known.max(axis=1))

    def publish(self, warps: Array) -> None:
        """Some warps let others see what they have done."""
        self._published = np.maximum(self._published, self._join(warps))
        self._advance(warps)

    def acquire(self, warps: Array) -> None:
        """Some warps see what has been published."""
        self.seen = np.where(
            warps[:, :, None], np.maximum(self.seen, self._published[:, None]), self.seen
        )

    def arrive(self, number: int, warps: Array) -> None:
        """Some warps arrive at a barrier."""
        joined = self._join(warps)
        known = self._arrived.get(number)
        self._arrived[number] = joined if known is None else np.maximum(known, joined)
        self._advance(warps)

    def leave(self, number: int, warps: Array, done: Array) -> None:
        """Some warps go on from a barrier that is complete in the CTAs `done`."""
        known = self._arrived.get(number)
        if known is None:
            return  # time has begun again since they came: all is seen
        self.seen = np.where(warps[:, :, None], np.maximum(self.seen, known[:, None]), self.seen)
        known = np.where(done[:, None], 0, known)
        self._arrived[number] = known

    def signal(self, offset: int, warps: Array) -> None:
        """Some warps arrive at the mbarrier at an offset of shared memory."""
        joined = self._join(warps)
        known = self._signalled.get(offset)
        self._signalled[offset] = joined if known is None else np.maximum(known, joined)
        self._advance(warps)

    def complete(self, offset: int, done: Array) -> None:
        """The mbarrier at an offset completes a phase in the CTAs `done`."""
        known = self._signalled.get(offset)
        if known is None:
            return
        arrived = np.where(done[:, None], known, 0)
        before = self._completed.get(offset)
        self._completed[offset] = arrived if before is None else np.maximum(before, arrived)
        self._signalled[offset] = np.where(done[:, None], 0, known)

    def observe(self, offset: int, warps: Array) -> None:
        """Some warps see that a phase of the mbarrier at an offset is complete."""
        known = self._completed.get(offset)
        if known is not None:
            self.seen = np.where(
                warps[:, :, None], np.maximum(self.seen, known[:, None]), self.seen
            )

    def floor(self) -> int:
        """The time up to which everything is seen by everyone."""
        return int(self.seen.min())
