"""How far the warps of a wave have come: their clocks, and the stamps that accesses leave.

While all CTAs of the wave do the same at once, one of them stands for all.
"""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..wave import Wave
from .clocks import Clocks
from .stamps import PENDING, TIME

LIMIT = PENDING - 2


class Progress:
    """What the warps of a wave know of each other.

    Attributes:
        ctas: CTAs that have clocks of their own; 1 while one stands for all.
        clocks: what the warps know of each other.
        stamp: the stamp of each thread at the present time, (CTAs, warps, lanes).
        floor: time up to which every warp has seen everything.
        restarts: times that time has begun again in this wave; what came before has been seen by
            all.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, _ = self.wave.shape
        cluster = self.wave.geometry.cluster_ctas
        self.ctas = 1 if cluster == 1 else ctas
        self.restarts = 0
        self.clocks = Clocks(self.ctas, warps, cluster)
        self._thread = np.arange(warps * LANES, dtype=np.uint32).reshape(1, warps, LANES)
        self._tick()

    def expand(self) -> None:
        """Give every CTA clocks of its own."""
        ctas = self.wave.shape[0]
        if self.ctas != ctas:
            self.ctas = ctas
            self.clocks.expand(ctas)
            self._tick()

    @property
    def past(self) -> int:
        """Time that passed before it began again, if that ever was in this wave."""
        return self.restarts * LIMIT

    def seen_by_all(self, cta: int) -> int:
        """Time, at least 1, up to which every warp of a CTA's cluster has seen what others did."""
        known, cluster = self.clocks.known, self.clocks.cluster
        first = cta // cluster * cluster
        its = known if len(known) == 1 else known[first : first + cluster]
        return max(int(its.min()), 1)

    def _tick(self) -> None:
        """Take note of the time."""
        if int(self.clocks.now.max()) >= LIMIT:
            self.restarts += 1
            self.clocks = Clocks(self.ctas, self.clocks.warps, self.clocks.cluster)
            self.clocks.restart()
        time = self.clocks.now.astype(np.uint32)[:, None, None]
        self.stamp = time << TIME | self._thread
        self.floor = self.clocks.floor()

    def _warps(self, threads: Array | None = None) -> Array:
        """Warps of the active threads, or of some, (CTAs, warps)."""
        mask = self.wave.mask if threads is None else threads
        warps = self.clocks.warps
        if mask is None:
            return np.ones((self.ctas, warps), np.bool_)
        if mask.shape[0] > 1:
            self.expand()
        found = np.broadcast_to(mask, (mask.shape[0], warps, LANES)).any(axis=2)
        return np.broadcast_to(found, (self.ctas, warps))

    def pass_time(self, cta: int) -> None:
        """Set what a CTA does next apart from what it has done."""
        ctas = np.arange(self.ctas)
        self.clocks.now = self.clocks.now + (ctas == cta)
        self._tick()

    def meet(self) -> None:
        """All threads meet at a barrier."""
        self.clocks.meet()
        self._tick()

    def meet_warp(self) -> None:
        """Lanes of the active warps meet."""
        self.clocks.meet_warp(self._warps())
        self._tick()

    def arrive(self, number: int, threads: Array) -> None:
        """Threads arrive at a numbered barrier."""
        self.expand()
        self.clocks.arrive(number, self._warps(threads))
        self._tick()

    def leave(self, number: int, threads: Array, done: Array) -> None:
        """Threads go on from a numbered barrier that is complete in the CTAs `done`."""
        self.expand()
        self.clocks.leave(number, self._warps(threads), done)
        self._tick()

    def leave_cluster(self, number: int, threads: Array) -> None:
        """Threads go on from a barrier of all CTAs of their cluster."""
        self.expand()
        self.clocks.leave_cluster(number, self._warps(threads))
        self._tick()

    def publish(self, threads: Array | None = None) -> None:
        """Threads release what they have done."""
        self.clocks.publish(self._warps(threads))
        self._tick()

    def acquire(self, threads: Array | None = None) -> None:
        """Threads see what has been released."""
        self.clocks.acquire(self._warps(threads))
        self._tick()

    def signal(self, offset: int, threads: Array) -> None:
        """Threads arrive at an mbarrier of their CTA."""
        self.clocks.signal(offset, self._warps(threads))
        self._tick()

    def signal_peers(self, offset: int, threads: Array, homes: Array) -> None:
        """Threads, (n, 3), arrive at the mbarriers at an offset of other CTAs, (n,)."""
        self.clocks.signal_peers(offset, threads[:, 0], threads[:, 1], homes)
        self._tick()

    def complete(self, offset: int, ctas: Array) -> None:
        """The mbarrier at an offset completes a phase in some CTAs."""
        if self.wave.shape[0] > 1:
            self.expand()
        done = np.zeros(self.ctas, np.bool_)
        done[ctas] = True
        self.clocks.complete(offset, done)

    def observe(self, offset: int, threads: Array) -> None:
        """Threads see that a phase of an mbarrier is complete."""
        self.clocks.observe(offset, self._warps(threads))
        self._tick()
