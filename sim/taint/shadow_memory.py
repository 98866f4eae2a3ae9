"""The undefined bits of shared and local memory, in an array that is laid out as memory is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..alu import Array
from ..memory import Memory, Space

_RUN = 16
"""Bytes of a thread that lie together in every space."""

_CHANGING = ("shared", "shared::cluster", "local")


def is_followed(space: Space) -> bool:
    """Whether what a space holds may be undefined: global memory is what the host has put there."""
    return space.name in _CHANGING


class ShadowMemory:
    """Shadows of the bytes of a wave's memory.

    Only what is touched takes room: pages of zeros do not.

    Attributes:
        data: 1 where a bit of a byte is undefined.
        origin: where that was read, of each byte; `UNWRITTEN` where nobody has.
        views: `data` as elements of 8 to 128 bits.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.data = np.zeros(0, np.uint8)
        self.origin = np.zeros(0, np.int32)
        self.views: dict[int, Array] = {}

    def begin(self) -> None:
        """All that memory holds is defined."""
        size = self.memory.data.size
        self.data, self.origin = np.zeros(size, np.uint8), np.zeros(size, np.int32)
        self._view()

    def end(self) -> None:
        """Give back the room."""
        self.data, self.origin, self.views = self.data[:0], self.origin[:0], {}

    def _view(self) -> None:
        self.views = {b: self.data.view(v.dtype) for b, v in self.memory.views.items()}

    def follow(self) -> None:
        """Be as large as memory is: local memory grows."""
        missing = self.memory.data.size - self.data.size
        if missing:
            self.data = np.concatenate([self.data, np.zeros(missing, np.uint8)])
            self.origin = np.concatenate([self.origin, np.zeros(missing, np.int32)])
            self._view()

    def legal(self, space: Space, offsets: Array, size: int, mask: Array | None) -> Array:
        """The threads whose bytes are in a space; the others' are defined, whatever they do."""
        memory = self.memory
        if space.name == "shared::cluster":
            inside = space.place(offsets) < memory.data.size
        else:
            limit = memory.shared_bytes if space.name == "shared" else memory.local_bytes
            inside = (offsets >= 0) & (offsets <= limit - size)
        return np.asarray(inside if mask is None else inside & mask)

    def runs(self, space: Space, offsets: Array, size: int, mask: Array) -> Iterator[Array]:
        """Places of the bytes of the threads of a mask, run by run: (threads, bytes)."""
        for first in range(0, size, _RUN):
            places = space.place(offsets + first if first else offsets)
            shape = np.broadcast_shapes(places.shape, mask.shape)
            chosen = np.broadcast_to(places, shape)[np.broadcast_to(mask, shape)]
            yield chosen[:, None] + np.arange(min(size - first, _RUN))

    def origins(self, space: Space, offsets: Array, size: int, mask: Array) -> Array:
        """An origin of the undefined bytes of each thread of a mask; 0 where none is."""
        shape = np.broadcast_shapes(space.place(offsets).shape, mask.shape)
        found = np.zeros(shape, np.int32)
        chosen = np.broadcast_to(mask, shape)
        for places in self.runs(space, offsets, size, mask):
            each = np.where(self.data[places] != 0, self.origin[places], 0).max(axis=1)
            found[chosen] = np.maximum(found[chosen], each)
        return found

    def mark(self, space: Space, offsets: Array, size: int, mask: Array, origin: Array) -> None:
        """The bytes of the threads of a mask, if undefined, have an origin, of each thread."""
        shape = np.broadcast_shapes(space.place(offsets).shape, mask.shape, origin.shape)
        chosen = np.broadcast_to(mask, shape)
        each = np.broadcast_to(origin, shape)[chosen]
        for places in self.runs(space, offsets, size, chosen):
            self.origin[places] = each[:, None]

    def set(self, space: Space, offsets: Array, size: int, mask: Array, bits: int) -> None:
        """The bytes of the threads of a mask have these undefined bits each."""
        for places in self.runs(space, offsets, size, mask):
            self.data[places] = bits
