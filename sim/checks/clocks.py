"""What each warp knows of the others' progress: vector clocks, a CTA at a time.

Time is a number per CTA that grows at every synchronisation. `seen[cta, warp, other]` is the time
up to which what `other` did is known to come before what `warp` does next. A barrier of all threads
makes every warp see everything. An mbarrier passes on what those who arrived had seen and done, a
phase at a time. Fences and atomics publish to, and read from, one clock of the CTA, which takes
more for ordered than strictly is: a race may be missed, none is made up.

Where CTAs form clusters, a warp knows of the warps of all CTAs of its own: by the cluster's
barrier, by mbarriers that peers arrive at, and by what is published, of which a cluster has one.
"""

from __future__ import annotations

import numpy as np

from ..alu import Array


class Clocks:
    """Clocks of the warps of some CTAs. Its arrays are replaced, never changed in place.

    Attributes:
        now: time of each CTA, (CTAs,).
        cluster: CTAs of a cluster.
        known: what each warp has seen of those of its cluster, which are numbered CTA by CTA,
            (CTAs, warps, warps of a cluster).
        seen: of that, what it has seen of those of its CTA, (CTAs, warps, warps).
    """

    def __init__(self, ctas: int, warps: int, cluster: int = 1) -> None:
        self.warps = warps
        self.cluster = cluster
        self.now = np.ones(ctas, np.int64)
        self._learn(np.zeros((ctas, warps, cluster * warps), np.int64))
        self._published = np.zeros((ctas, cluster * warps), np.int64)
        self._arrived: dict[int, Array] = {}
        self._signalled: dict[int, Array] = {}
        self._completed: dict[int, Array] = {}

    def _learn(self, known: Array) -> None:
        """Let the warps know something."""
        self.known = self.seen = known
        if self.cluster > 1:
            own = np.einsum("gcwcv->gcwv", self._split(known, self.warps))
            self.seen = own.reshape(-1, self.warps, self.warps)

    def _split(self, known: Array, *rows: int) -> Array:
        """A view by clusters, the CTAs of each, and the CTAs and warps that are known of."""
        return known.reshape(-1, self.cluster, *rows, self.cluster, self.warps)

    def expand(self, ctas: int) -> None:
        """Give every CTA a copy of the one clock."""
        self.now = np.repeat(self.now, ctas)
        self._learn(np.repeat(self.known, ctas, axis=0))
        self._published = np.repeat(self._published, ctas, axis=0)
        for known in (self._arrived, self._signalled, self._completed):
            for number, clocks in known.items():
                known[number] = np.repeat(clocks, ctas, axis=0)

    def restart(self) -> None:
        """Let every warp have seen everything."""
        self._learn(np.ones(self.known.shape, np.int64))
        self.now = self.now + 1

    def meet(self) -> None:
        """All threads of every CTA meet."""
        known = self.now[:, None]
        if self.cluster > 1:
            known = self.known.max(axis=1)
            own = np.einsum("gccw->gcw", self._split(known))
            own[...] = self.now.reshape(-1, self.cluster, 1)
        self._learn(np.broadcast_to(known[:, None], self.known.shape))
        self.now = self.now + 1

    def meet_warp(self, warps: Array) -> None:
        """The lanes of some warps, (CTAs, warps), meet."""
        self._learn(self._own(warps))
        self._advance(warps)

    def _advance(self, warps: Array) -> None:
        """Let time pass in the CTAs of some warps."""
        self.now = self.now + warps.any(axis=1)

    def _own(self, warps: Array | None = None) -> Array:
        """What each warp has seen, and what some or all have done, as `known`."""
        known = self.known.copy()
        own = np.einsum("gcwcw->gcw", self._split(known, self.warps))
        now = self.now.reshape(-1, self.cluster, 1)
        own[...] = now if warps is None else np.where(warps.reshape(own.shape), now, own)
        return known

    def _join(self, warps: Array) -> Array:
        """What some warps together have seen and done, (CTAs, warps of a cluster)."""
        known = np.where(warps[:, :, None], self._own(), 0)
        return np.asarray(known.max(axis=1))

    def _together(self, known: Array) -> Array:
        """What the CTAs of each cluster know together, for each of them."""
        if self.cluster == 1:
            return known
        most = self._split(known).max(axis=1, keepdims=True)
        return np.asarray(np.broadcast_to(most, self._split(known).shape).reshape(known.shape))

    def _see(self, warps: Array, known: Array) -> None:
        """Some warps see what their CTA, (CTAs, warps of a cluster), has to tell."""
        seen = np.maximum(self.known, known[:, None])
        self._learn(np.where(warps[:, :, None], seen, self.known))

    def publish(self, warps: Array) -> None:
        """Some warps let others see what they have done."""
        self._published = self._together(np.maximum(self._published, self._join(warps)))
        self._advance(warps)

    def acquire(self, warps: Array) -> None:
        """Some warps see what has been published."""
        self._see(warps, self._published)

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
        self._see(warps, known)
        known = np.where(done[:, None], 0, known)
        self._arrived[number] = known

    def leave_cluster(self, number: int, warps: Array) -> None:
        """Some warps go on from a barrier that all CTAs of a cluster have arrived at."""
        known = self._arrived.get(number)
        if known is not None:
            self._see(warps, self._together(known))

    def signal(self, offset: int, warps: Array) -> None:
        """Some warps arrive at the mbarrier at an offset of shared memory."""
        joined = self._join(warps)
        known = self._signalled.get(offset)
        self._signalled[offset] = joined if known is None else np.maximum(known, joined)
        self._advance(warps)

    def signal_peers(self, offset: int, ctas: Array, warps: Array, homes: Array) -> None:
        """Warps arrive at the mbarriers at an offset of other CTAs, `homes`; each (n,)."""
        known = self._signalled.get(offset, np.zeros(self._published.shape, np.int64)).copy()
        np.maximum.at(known, homes, self._own()[ctas, warps])
        self._signalled[offset] = known
        came = np.zeros(self.known.shape[:2], np.bool_)
        came[ctas, warps] = True
        self._advance(came)

    def deliver(self, offset: int, home: int, warp: int, time: int) -> None:
        """What a warp of the cluster sent has come, and the mbarrier of a CTA is told."""
        known = self._signalled.get(offset, np.zeros(self._published.shape, np.int64)).copy()
        known[home, warp] = max(known[home, warp], time)
        self._signalled[offset] = known

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
            self._see(warps, known)

    def toward(self, cta: int, warp: int, other: int) -> Array:
        """What a warp of a CTA has seen of the warps of another of its cluster, (warps,)."""
        first = other % self.cluster * self.warps
        return np.asarray(self.known[cta, warp, first : first + self.warps])

    def floor(self) -> int:
        """The time up to which everything is seen by everyone of its CTA."""
        return int(self.seen.min())
