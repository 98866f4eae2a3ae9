"""Device memory that threads allocate themselves, by `malloc`."""

from __future__ import annotations

from collections import deque

from tilec.isa.wording import counted

from .memory import Memory

HEAP_BYTES = 8 << 20
"""What a device has by default (`cudaLimitMallocHeapSize`)."""
_ALIGNED = 16


class Heap:
    """Blocks of the heap of a launch, each an allocation of its own.

    What was freed is not given again as long as there is other room, so that its late use is seen.

    Args:
        memory: the launch's memory, in which the heap is reserved.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._next = memory.reserve(HEAP_BYTES)
        self._end = self._next + HEAP_BYTES
        self._sizes: dict[int, int] = {}
        self._freed: deque[tuple[int, int]] = deque()

    def allocate(self, size: int) -> int:
        """A new block; its address, 0 where there is no room for it."""
        if size <= 0 or size > HEAP_BYTES:
            return 0
        room = -(-size // _ALIGNED) * _ALIGNED
        address = self._next
        if address + room + _ALIGNED <= self._end:
            self._next += room + _ALIGNED  # a gap, so that an overrun meets no other block
        else:
            found = next((one for one in self._freed if one[1] >= room), None)
            if found is None:
                return 0
            self._freed.remove(found)
            address = found[0]
        self._sizes[address] = room
        self._memory.admit(f"malloc'ed {counted(size, 'byte')}", address, size)
        return address

    def free(self, address: int) -> bool:
        """Give a block back; whether there is one that begins there. Null is left alone."""
        if address == 0:
            return True
        room = self._sizes.pop(address, None)
        if room is None:
            return False
        self._memory.dismiss(address)
        self._freed.append((address, room))
        return True
