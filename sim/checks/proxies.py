"""By which proxy shared memory was written. PTX ISA, "Proxies", "Async proxy"."""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..wave import Wave


class Proxies:
    """Of each granule, who last wrote it by the generic proxy, and when threads fenced that."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave

    def begin(self, granules: int) -> None:
        """Begin a wave of so many granules, of all CTAs."""
        self._written = np.zeros(granules, np.int64)
        self._writer = np.zeros(granules, np.int32)
        self._line = np.zeros(granules, np.int64)
        self._fenced = np.zeros(self.wave.shape, np.int64)
        self._tick = 1

    def wrote(self, flat: Array, threads: Array, position: int) -> None:
        """Threads, by their places in the wave, write granules by the generic proxy."""
        self._tick += 1
        self._written[flat] = self._tick
        self._writer[flat] = threads
        self._line[flat] = position

    def fence(self, threads: Array) -> None:
        """Threads execute `fence.proxy.async`."""
        self._tick += 1
        self._fenced[np.broadcast_to(threads, self.wave.shape)] = self._tick

    def replaced(self, flat: Array) -> None:
        """Granules are written by the asynchronous proxy."""
        self._written[flat] = 0

    def unfenced(self, threads: list[tuple[int, int, int]], flat: Array) -> tuple[int, int] | None:
        """A granule whose generic write no fence precedes what threads have done by the other.

        Returns:
            The granule, and the instruction that wrote it by its position; None if there is none.
        """
        when = self._written[flat]
        own = max(int(self._fenced[thread]) for thread in threads)
        missing = (when > own) & (self._fenced.reshape(-1)[self._writer[flat]] < when)
        if not missing.any():
            return None
        at = int(flat[missing.argmax()])
        return at, int(self._line[at])

    def number(self, ctas: Array, warps: Array, lanes: Array) -> Array:
        """Places in the wave of some threads."""
        return np.asarray((ctas * self.wave.shape[1] + warps) * LANES + lanes)
