"""By which proxy shared memory was written. PTX ISA, "Proxies", "Async proxy"."""

from __future__ import annotations

import numpy as np

from .numbers import Array
from .touches import bits_of, has_bit


class Proxies:
    """Of each byte who wrote it last by the generic proxy, and when; and when warps fenced that.

    Args:
        size: bytes.
        warps: of the CTA.
    """

    def __init__(self, size: int, warps: int) -> None:
        self._time = 1
        self._when = np.zeros(size, np.int32)
        self._writers = np.zeros(size, np.uint64)
        self._fenced = np.zeros(warps, np.int32)

    def write(self, at: Array, warps: Array) -> None:
        """Warps write bytes by the generic proxy."""
        self._time += 1
        self._when[at], self._writers[at] = self._time, warps

    def copy(self, at: Array) -> None:
        """Bytes are written by the asynchronous proxy."""
        self._when[at] = 0

    def fence(self, warps: int) -> None:
        """Warps execute `fence.proxy.async`."""
        for warp in range(len(self._fenced)):
            if warps >> warp & 1:
                self._fenced[warp] = self._time

    def is_unfenced(self, at: Array, issuer: int | None) -> bool:
        """Whether no fence stands between a write and what a warp has done by the other proxy.

        Either who wrote may have fenced that, or who issues what comes after it, if that is a warp
        of the same CTA.
        """
        late = at[self._when[at] > (0 if issuer is None else self._fenced[issuer])]
        return any(
            (self._when[there] > self._fenced[warp]).any()
            for warp in bits_of(self._writers[late])
            for there in (late[has_bit(self._writers[late], warp)],)
        )
