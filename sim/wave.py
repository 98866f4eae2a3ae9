"""The threads of a wave of CTAs, which of them are active, and the memory that they see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES
from tilec.isa.launch import Extents

from .alu import Array
from .memory import Memory


@dataclass(frozen=True, slots=True)
class Geometry:
    """Extents of a launch, x first.

    Attributes:
        grid: CTAs.
        block: threads of a CTA.
        cluster: CTAs of a cluster, which divide those of the grid.
        explicit: whether the launch or the kernel says how many.
    """

    grid: Extents
    block: Extents
    cluster: Extents = (1, 1, 1)
    explicit: bool = False

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def cluster_ctas(self) -> int:
        """CTAs of a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    @property
    def clusters(self) -> Extents:
        """Clusters of the grid."""
        x, y, z = (n // of for n, of in zip(self.grid, self.cluster, strict=True))
        return x, y, z

    def cta(self, number: int) -> Extents:
        """Where a CTA is in the grid; they are numbered cluster by cluster."""
        cluster, rank = divmod(number, self.cluster_ctas)
        first, inside = _split(cluster, self.clusters), _split(rank, self.cluster)
        x, y, z = (at * of + here for at, of, here in zip(first, self.cluster, inside, strict=True))
        return x, y, z

    def number(self, at: Extents) -> int:
        """The number of the CTA at a place in the grid; `cta` of it is that place."""
        outer = _join([n // of for n, of in zip(at, self.cluster, strict=True)], self.clusters)
        inner = _join([n % of for n, of in zip(at, self.cluster, strict=True)], self.cluster)
        return outer * self.cluster_ctas + inner

    @property
    def warps(self) -> int:
        """Warps of a CTA; the last may not be whole."""
        return -(-self.threads // LANES)


def _split(number: int, extents: Extents) -> Extents:
    x, y, _ = extents
    return number % x, number // x % y, number // (x * y)


def _join(at: Sequence[int], extents: Extents) -> int:
    return at[0] + extents[0] * (at[1] + extents[1] * at[2])


class Wave:
    """Threads in flight.

    Attributes:
        geometry: extents of the launch.
        memory: its memory.
        dynamic_shared: bytes of dynamic shared memory of a CTA.
        mask: active threads; None if they are all of the wave.
        merge: threads that a write to a register may change; None where the others' values are
            dead, because they have exited.
        live: threads that have not exited; None if they are all of the wave.
        shape: (CTAs, warps, lanes) of the wave.
        started: the number in the grid of each CTA that has started, in the order of starting.
        first_cta: place in `started` of the wave's first CTA.
        steps: instructions run so far, each for all its threads at once.
    """

    def __init__(self, geometry: Geometry, memory: Memory, dynamic_shared: int) -> None:
        self.memory = memory
        self.dynamic_shared = dynamic_shared
        self.restart(geometry)

    def restart(self, geometry: Geometry) -> None:
        """Begin a launch, which has no wave yet."""
        self.geometry = geometry
        self.mask: Array | None = None
        self.merge: Array | None = None
        self.live: Array | None = None
        self.shape = (0, 0, 0)
        self.started = np.zeros(0, np.int64)
        self.first_cta = 0
        self.steps = 0

    @property
    def numbers(self) -> Array:
        """The number in the grid of each CTA of the wave."""
        return self.started[self.first_cta :]

    def place(self, cta: int) -> Extents:
        """The place in the grid of a CTA, given its place in `started`."""
        return self.geometry.cta(int(self.started[cta]))

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin the wave of CTAs with these numbers in the grid, of whole clusters."""
        ctas = len(numbers)
        self.first_cta = len(self.started)
        self.started = np.concatenate([self.started, np.array(numbers, np.int64)])
        self.shape = (ctas, self.geometry.warps, LANES)
        self.live = None
        threads = self.geometry.threads
        if threads % LANES:
            lanes = np.arange(self.geometry.warps * LANES).reshape(1, -1, LANES) < threads
            self.live = np.ascontiguousarray(np.broadcast_to(lanes, self.shape))
        self.mask, self.merge = self.live, None
        self.memory.wave(ctas)

    def full(self, value: Array) -> Array:
        """A value spread over all threads of the wave."""
        return np.broadcast_to(value, self.shape)

    def active(self) -> Array:
        """The active threads as a whole array."""
        if self.mask is None:
            return np.ones(self.shape, np.bool_)
        return np.broadcast_to(self.mask, self.shape)

    def thread_name(self, thread: tuple[int, int, int]) -> str:
        """What findings call a thread, given its place in the wave."""
        cta, warp, lane = thread
        x, y, _ = self.geometry.block
        number = warp * LANES + lane
        tid = (number % x, number // x % y, number // (x * y))
        return f"thread {tid} of {self.cta_name(cta)}"

    def cta_name(self, cta: int) -> str:
        """What findings call a CTA, given its place in the wave."""
        return f"CTA {self.place(self.first_cta + cta)}"
