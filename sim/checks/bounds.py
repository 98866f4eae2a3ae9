"""Accesses outside of memory, misaligned, in the wrong space, or to what is read-only."""

from __future__ import annotations

import numpy as np
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..findings import Findings
from ..memory import (
    GLOBAL_BASE,
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
    Allocation,
    Memory,
    Space,
)
from ..ptx.module import Instruction

_FAR = 1 << 24
"""Bytes beyond which an address is not said to be beside an allocation."""


class Bounds:
    """Checks where accesses go.

    Attributes:
        allocation: what the last access to global memory touched; None if that was not all within
            one allocation.
    """

    def __init__(self, memory: Memory, findings: Findings) -> None:
        self.memory = memory
        self.findings = findings
        self.allocation: Allocation | None = None

    def check(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
    ) -> Array | None:
        """The threads whose access is legal; `mask` itself if they all are."""
        self.allocation = None
        if mask is None:
            inside = offsets
        else:
            shape = np.broadcast_shapes(offsets.shape, mask.shape)
            inside = np.broadcast_to(offsets, shape)[np.broadcast_to(mask, shape)]
            if not inside.size:
                return mask
        low, high = int(inside.min()), int(inside.max())
        aligned = int(np.bitwise_or.reduce(inside, axis=None)) & (size - 1) == 0
        if aligned and self._fits(space, low, high + size, kind):
            return mask
        return self._report(instruction, space, offsets, size, mask, kind)

    def _fits(self, space: Space, low: int, end: int, kind: Access) -> bool:
        if space.flat:
            found = self.memory.allocation(low)
            if found is None or end > found.end or (kind.writes and not found.writable):
                return False
            self.allocation = found
            return True
        limit = self.memory.shared_bytes if space.name == "shared" else self.memory.local_bytes
        return low >= 0 and end <= limit

    def _report(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
    ) -> Array:
        active = np.True_ if mask is None else mask
        shape = self._threads(offsets.shape, np.shape(active))
        offsets, active = np.broadcast_to(offsets, shape), np.broadcast_to(active, shape)
        misaligned = active & (offsets & (size - 1) != 0)
        verb = "writes" if kind.writes else "reads"
        if misaligned.any():
            self._report_misaligned(
                instruction, space, offsets, size, misaligned, f"{verb} {counted(size, 'byte')} at"
            )
        outside = active & ~misaligned & self._outside(space, offsets, size, kind)
        if outside.any():
            first = tuple(np.argwhere(outside)[0])
            what, words = self._words(space, int(offsets[first]), size, kind)
            self.findings.add(
                what,
                instruction,
                outside,
                lambda at: (
                    f"{verb} {counted(size, 'byte')} at {self._address(space, offsets[at]):#x}, "
                    f"{words}"
                ),
                lambda at: self._address(space, offsets[at]),
            )
        return np.asarray(active & ~misaligned & ~outside)

    def check_alignment(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
    ) -> None:
        """An address that must be aligned to more than what is moved at a time."""
        misaligned = offsets & (size - 1) != 0
        if mask is not None:
            misaligned = misaligned & mask
        if misaligned.any():
            shape = self._threads(misaligned.shape)
            offsets, threads = np.broadcast_to(offsets, shape), np.broadcast_to(misaligned, shape)
            self._report_misaligned(
                instruction, space, offsets, size, threads, "passes the address of a matrix,"
            )

    def _threads(self, *shapes: tuple[int, ...]) -> tuple[int, ...]:
        """What arrays broadcast to, with each thread of a CTA, which findings count."""
        ctas, *_ = np.broadcast_shapes((1, 1, 1), *shapes)
        return ctas, *self.findings.wave.shape[1:]

    def _report_misaligned(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        threads: Array,
        does: str,
    ) -> None:
        self.findings.add(
            "misaligned",
            instruction,
            threads,
            lambda at: (
                f"{does} {self._address(space, offsets[at]):#x}, which is not a multiple of {size}"
            ),
            lambda at: self._address(space, offsets[at]),
        )

    def _outside(self, space: Space, offsets: Array, size: int, kind: Access) -> Array:
        if not space.flat:
            limit = self.memory.shared_bytes if space.name == "shared" else self.memory.local_bytes
            return np.asarray((offsets < 0) | (offsets > limit - size))
        inside = np.zeros(offsets.shape, np.bool_)
        # Not `offsets + size`, which may wrap.
        for one in self.memory.allocations:
            if one.writable or not kind.writes:
                inside |= (offsets >= one.start) & (offsets <= one.end - size)
        return ~inside

    @staticmethod
    def _address(space: Space, offset: int) -> int:
        return int(offset) + (GLOBAL_BASE if space.flat else 0)

    def _words(self, space: Space, offset: int, size: int, kind: Access) -> tuple[str, str]:
        """Kind of the finding, and what is at the address instead."""
        if space.name == "shared":
            if SHARED_WINDOW <= offset < SHARED_WINDOW + WINDOW_SIZE:
                return "wrong-space", "a generic address used as one of .shared"
            if offset >= GLOBAL_BASE:
                return "wrong-space", "an address of global memory used as one of .shared"
            return (
                "out-of-bounds",
                f"and shared memory has {counted(self.memory.shared_bytes, 'byte')}",
            )
        if space.name == "local":
            if LOCAL_WINDOW <= offset < LOCAL_WINDOW + WINDOW_SIZE:
                return "wrong-space", "a generic address used as one of .local"
            return (
                "out-of-bounds",
                f"and local memory has {counted(self.memory.local_bytes, 'byte')}",
            )
        address = offset + GLOBAL_BASE
        for name, window in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)):
            if window <= address < window + WINDOW_SIZE:
                return "wrong-space", f"an address of {name} memory used as one of .global"
        if 0 <= address < max(self.memory.shared_bytes, 1) and address:
            return "wrong-space", "perhaps an offset into .shared memory, used as one of .global"
        holder = self.memory.allocation(offset)
        if holder is not None and offset + size <= holder.end and kind.writes:
            return "read-only", f"inside {holder.name}, which is read-only"
        return "out-of-bounds", self._beside(offset, address, self.memory.nearest(offset))

    def _beside(self, offset: int, address: int, before: Allocation | None) -> str:
        """Where an address lies that is in no allocation."""
        if address == 0:
            return "a null pointer"
        after = next((a for a in self.memory.allocations if a.start > offset), None)
        past = offset - before.end if before is not None else _FAR
        ahead = after.start - offset if after is not None else _FAR
        if before is not None and past <= ahead and past < _FAR:
            size = before.end - before.start
            return (
                f"{counted(past, 'byte')} past the end of {before.name}, which has "
                f"{counted(size, 'byte')}"
            )
        if after is not None and ahead < _FAR:
            return f"{counted(ahead, 'byte')} before {after.name}"
        return "in no allocation"
