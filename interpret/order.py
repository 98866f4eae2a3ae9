"""What happens before what among the warps of a cluster: vector clocks.

Time counts releases. A warp knows of another up to when what that one did happens before what it
does next itself. Mbarriers are followed, too: of each, until when its copies have arrived.
"""

from __future__ import annotations

import numpy as np

from .numbers import Array


class Order:
    """What each warp knows of the others, and of copies.

    Attributes:
        now: the time.
    """

    def __init__(self, warps: int) -> None:
        self.now = 1
        self._known = np.zeros((warps, warps), np.int64)

    def new_source(self) -> int:
        """A number for something that copies arrive by."""
        self._known = np.pad(self._known, ((0, 0), (0, 1)))
        return self._known.shape[1] - 1

    def known(self, warp: int) -> Array:
        """Until when a warp knows of each warp and source."""
        found: Array = self._known[warp]
        return found

    def release(self, warps: Array) -> Array:
        """What warps hand on together to who waits for them."""
        self._known[warps, warps] = self.now
        self.now += 1
        found: Array = self._known[warps].max(axis=0)
        return found

    def acquire(self, warps: Array, clock: Array) -> None:
        """Let warps know what was handed on."""
        part = self._known[:, : len(clock)]
        part[warps] = np.maximum(part[warps], clock)

    def release_copies(self, source: int) -> Array:
        """What copies hand on that have arrived by a source."""
        clock = np.zeros(self._known.shape[1], np.int64)
        clock[source] = self.now
        self.now += 1
        return clock

    def meet(self, warps: Array) -> None:
        """Let warps know of each other."""
        self.acquire(warps, self.release(warps))


def later(one: Array | None, other: Array) -> Array:
    """What follows from both of what was handed on."""
    if one is None:
        return other
    size = max(len(one), len(other))
    wide = [np.pad(clock, (0, size - len(clock))) for clock in (one, other)]
    found: Array = np.maximum(*wide)
    return found
