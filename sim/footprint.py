"""Which bytes of global memory CTAs read and write."""

from __future__ import annotations

import numpy as np

from .access import Access
from .alu import Array
from .memory import Memory

_ONES: dict[int, Array] = {
    **{size: np.frombuffer(b"\1" * size, f"u{size}") for size in (1, 2, 4, 8)},
    16: np.frombuffer(b"\1" * 16, np.complex128),
}
"""Numbers of so many bytes, each of which is 1."""
_WIDEST = max(_ONES)


class Footprint:
    """The bytes that were read and written, as one byte for each.

    What nobody may write is left out.

    Attributes:
        read, written: 1 where that was done, (bytes of global memory,).
    """

    def __init__(self, memory: Memory) -> None:
        size = memory.shared_base
        # Untouched, zeros cost nothing.
        self.read, self.written = (np.zeros(size, np.uint8) for _ in range(2))
        end = size // 16 * 16
        self._views = {
            marks: {n: marked[:end].view(one.dtype) for n, one in _ONES.items()}
            for marks, marked in (("read", self.read), ("written", self.written))
        }

    def access(self, offsets: Array, size: int, mask: Array | None, kind: Access) -> None:
        """Threads touch `size` bytes each; only where a mask, if there is one, is set."""
        if mask is not None:
            shape = np.broadcast_shapes(offsets.shape, mask.shape)
            offsets = np.broadcast_to(offsets, shape)[np.broadcast_to(mask, shape)]
        if size > _WIDEST:
            offsets = offsets[..., None] + np.arange(0, size, _WIDEST)
            size = _WIDEST
        index, ones = offsets >> (size.bit_length() - 1), _ONES[size]
        if kind.reads:
            self._views["read"][size][index] = ones
        if kind.writes:
            self._views["written"][size][index] = ones

    def span(self, start: int, size: int, kind: Access) -> None:
        """Bytes that follow each other are touched."""
        if kind.reads:
            self.read[start : start + size] = 1
        if kind.writes:
            self.written[start : start + size] = 1


def spans(marks: Array) -> Array:
    """Where bytes that are not 0 follow each other: from, and to, (n, 2)."""
    edges = np.flatnonzero(np.diff(marks, prepend=np.uint8(0), append=np.uint8(0)))
    found: Array = edges.reshape(-1, 2)
    return found
