"""The memory of a launch: one array of bytes for all state spaces.

    | guard | global, const, parameters | shared of each CTA | local of each thread |

Global, constant and kernel-parameter addresses are generic addresses. Shared and local ones
are offsets into a window of the generic space. Local memory is interleaved over the threads
16 bytes at a time, so that it can grow at its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilec.isa import LANES
from tilec.isa.launch import LOCAL_LIMIT
from tilec.isa.wording import counted

from .alu import Array
from .errors import LaunchError

GLOBAL_BASE = 0x7F00_0000_0000
SHARED_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7D00_0000_0000
WINDOW_SIZE = 1 << 32
FUNCTION_BASE = 0x7C00_0000_0000
"""Addresses of functions, which can be called and never read."""

RANK_SHIFT = 24
RANK_OFFSET = (1 << RANK_SHIFT) - 1
"""An address of `.shared::cluster` has 1 + the CTA's rank above the offset in its shared memory;
with 0 there, as in an address of `.shared::cta`, it is one's own."""

_LOCAL_ROOM = 4096
"""Bytes of local memory that a thread has room for at first; untouched they cost nothing."""

_GUARD = 256
_DTYPES: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
    # Only ever copied: numpy moves its 16 bytes at once.
    128: np.dtype(np.complex128),
}


@dataclass(frozen=True, slots=True)
class Allocation:
    """Global memory that belongs together.

    Attributes:
        name: how findings call it.
        start, end: byte range in the array of bytes.
        writable: whether a kernel may store there.
    """

    name: str
    start: int
    end: int
    writable: bool


@dataclass(frozen=True, slots=True)
class Space:
    """A state space during a wave.

    Attributes:
        name: as PTX writes it.
        window: generic address of its byte 0.
        place: offset in the space to offset in the array of bytes; both int64, any shape.
    """

    name: str
    window: int
    place: Callable[[Array], Array]

    @property
    def flat(self) -> bool:
        """Whether it is a part of the global address space."""
        return self.window == GLOBAL_BASE


class Memory:
    """Bytes of all state spaces.

    Attributes:
        allocations: global allocations in ascending order.
        views: the bytes as elements of 8, 16, 32, 64 and 128 bits.
        local_base: where the local memory of threads begins.
        spaces: state spaces by name; `const` and kernel `param` are the global one.
        shared_bytes: shared memory of a CTA.
        workspace: address of what a cooperative launch has for its grid's barrier; 0 without.
    """

    def __init__(self) -> None:
        self._local_end = 0
        self._local_room = _LOCAL_ROOM
        self.restart()

    def restart(self) -> None:
        """Begin a launch: there is no memory but the local one that functions have asked for."""
        self.allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._parts: list[tuple[int, Array]] = []
        self._end = _GUARD
        self._threads = 0
        self._cta = self._thread = np.zeros((0, 1, 1), np.int64)
        self._fresh = False
        self._cluster = 1
        self.shared_base = 0
        self.shared_bytes = 0
        self.shared_stride = 0
        self.local_base = 0
        self.workspace = 0
        self.data = np.zeros(0, np.uint8)
        self.views: dict[int, Array] = {}
        self.spaces: dict[str, Space] = {}

    # Before the launch

    def allocate(
        self, name: str, size: int, *, data: Array | None = None, writable: bool = True
    ) -> int:
        """A global allocation aligned to 256 bytes, filled with `data` or zeros; its address."""
        address = self.reserve(size)
        self.admit(name, address, size, writable=writable)
        if data is not None:
            self.fill(address, data)
        return address

    def reserve(self, size: int) -> int:
        """Room in global memory that nobody may touch before it is admitted; its address."""
        start = self._end
        # One guard at least between allocations, so that an overrun meets none.
        self._end = start + -(-size // 256) * 256 + _GUARD
        return GLOBAL_BASE + start

    def fill(self, address: int, data: Array) -> None:
        """What an allocation holds from an address on when the launch begins."""
        self._parts.append((address - GLOBAL_BASE, data))

    def build(self, shared_bytes: int, ctas: int, warps: int, cluster: int = 1) -> None:
        """Lay out the spaces for waves of up to `ctas` CTAs of so many warps, in clusters."""
        self._cluster = cluster
        self.shared_base = self._end
        self.shared_bytes = shared_bytes
        self.shared_stride = max(-(-shared_bytes // 128) * 128, 128)
        self.local_base = self.shared_base + self.shared_stride * ctas
        self._threads = ctas * warps * LANES
        self._resize()
        for start, part in self._parts:
            flat = part.reshape(-1).view(np.uint8)
            self.data[start : start + flat.size] = flat
        self._parts.clear()
        cta = self.shared_base + self.shared_stride * np.arange(ctas).reshape(-1, 1, 1)
        thread = self.local_base + 16 * np.arange(self._threads).reshape(ctas, warps, LANES)
        self._cta, self._thread = cta, thread
        self._fresh = True
        self._see(ctas)

    def wave(self, ctas: int) -> None:
        """Begin a wave of `ctas` CTAs: their shared and local memory is as new."""
        if not self._fresh:
            self.data[self.shared_base : self.local_base + self._local_used()] = 0
        self._fresh = False
        self._see(ctas)

    def _see(self, ctas: int) -> None:
        """Have the spaces of so many CTAs."""
        cta, thread, scale = self._cta[:ctas], self._thread[:ctas], self._threads

        def place_local(offset: Array) -> Array:
            low = offset & 15
            return np.asarray((offset - low) * scale + low + thread)

        self.spaces = {
            **{n: Space(n, GLOBAL_BASE, _same) for n in ("global", "const", "param")},
            "shared": Space("shared", SHARED_WINDOW, lambda offset: np.asarray(offset + cta)),
            "local": Space("local", LOCAL_WINDOW, place_local),
        }
        if self._cluster > 1:
            self.spaces["shared::cluster"] = Space(
                "shared::cluster", SHARED_WINDOW, self._place_peer(ctas)
            )

    def _place_peer(self, ctas: int) -> Callable[[Array], Array]:
        """Places of addresses in the shared memory of other CTAs of the cluster."""
        first = np.arange(ctas).reshape(-1, 1, 1) // self._cluster * self._cluster

        def place(address: Array) -> Array:
            rank = (address >> RANK_SHIFT) - 1
            base = self.shared_base + (first + rank) * self.shared_stride
            legal = (rank >= 0) & (rank < self._cluster)
            return np.where(legal, base + (address & RANK_OFFSET), self.data.size)

        return place

    def allocate_local(self, size: int, align: int) -> int:
        """Local memory of every thread; its address in the local space."""
        start = -(-self._local_end // align) * align
        if start + size > LOCAL_LIMIT:
            raise LaunchError(
                f"{counted(start + size, 'byte')} of local memory per thread; at most "
                f"{LOCAL_LIMIT} are "
                "legal"
            )
        self._local_end = start + size
        if self._threads:
            self._resize()
        return start

    def _local_used(self) -> int:
        return -(-self._local_end // 16) * 16 * self._threads

    def _resize(self) -> None:
        """Have room for the local memory, and more, for it is copied whenever it grows."""
        if self.data.size and self._local_end <= self._local_room:
            return
        while self._local_room < self._local_end:
            self._local_room *= 2
        size = self.local_base + self._local_room * self._threads + _GUARD
        try:
            data = np.zeros(-(-size // 16) * 16, np.uint8)
        except MemoryError:
            raise LaunchError(f"the launch needs {counted(size, 'byte')} of memory") from None
        data[: self.data.size] = self.data
        self.data = data
        self.views = {bits: data.view(dtype) for bits, dtype in _DTYPES.items()}

    # During the launch

    def admit(self, name: str, address: int, size: int, *, writable: bool = True) -> None:
        """Make an allocation of a part of what is reserved."""
        start = address - GLOBAL_BASE
        at = bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self.allocations.insert(at, Allocation(name, start, start + size, writable))

    def dismiss(self, address: int) -> None:
        """End the allocation that begins at an address."""
        at = bisect_right(self._starts, address - GLOBAL_BASE) - 1
        del self._starts[at], self.allocations[at]

    @property
    def local_bytes(self) -> int:
        """Local memory of a thread."""
        return self._local_end

    def allocation(self, offset: int) -> Allocation | None:
        """The allocation that holds a byte of the array, or None."""
        found = bisect_right(self._starts, offset) - 1
        if found >= 0 and offset < self.allocations[found].end:
            return self.allocations[found]
        return None

    def nearest(self, offset: int) -> Allocation | None:
        """The allocation that starts at or last before a byte of the array."""
        found = bisect_right(self._starts, offset) - 1
        return self.allocations[found] if found >= 0 else None

    def load(self, places: Array, bits: int, mask: Array | None) -> Array:
        """Elements at byte places; 0 where masked out. IndexError outside the array."""
        if mask is not None:
            places = np.where(mask, places, 0)
        return self.views[bits].take(places >> _SHIFT[bits])

    def store(self, places: Array, bits: int, values: Array, mask: Array | None) -> None:
        """Store elements; of several threads at one place the last one wins."""
        view, index = self.views[bits], places >> _SHIFT[bits]
        if mask is None:
            if index.shape != values.shape:
                index, values = np.broadcast_arrays(index, values)
            view[index] = values
        else:
            index, values, mask = np.broadcast_arrays(index, values, mask)
            view[index[mask]] = values[mask]

    def text(self, address: int) -> str:
        """The zero-terminated string at a global address."""
        start = address - GLOBAL_BASE
        found = self.allocation(start)
        if found is None:
            return f"<no string at {address:#x}>"
        return bytes(self.data[start : found.end]).partition(b"\0")[0].decode(errors="replace")


def _same(offset: Array) -> Array:
    return offset


_SHIFT = {8: 0, 16: 1, 32: 2, 64: 3, 128: 4}
