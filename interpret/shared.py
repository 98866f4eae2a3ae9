"""Shared memory with what is known of each byte: whose it is, and who touched it since a barrier.

Buffers keep their elements by themselves; here is where they lie, with their swizzles, so that what
one overwrites of another, reads before it is written, or touches while other warps do, is found.
What the lanes of one warp do to each other is not watched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.shared import allocated_bytes, is_barriers, shared_buffer
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .arithmetic.base import Arithmetic
from .memory import Buffer, View
from .numbers import Array, number

Report: TypeAlias = Callable[[str, str], None]
"""Takes a finding's kind and message."""

_SIZE = 1 << 18


class SharedMemory:
    """What a CTA has of it."""

    def __init__(self) -> None:
        self._buffers: dict[int, tuple[int, int, Array]] = {}
        self._next = 0
        self._owner = np.full(_SIZE, -1, np.int32)
        self._writers = np.zeros(_SIZE, np.uint64)
        self._readers = np.zeros(_SIZE, np.uint64)
        self._updaters = np.zeros(_SIZE, np.uint64)
        self._in_flight = np.zeros(_SIZE, bool)
        self._top = 0

    def allocate(self, type_: ir.MemRefType, offset: int | None, arithmetic: Arithmetic) -> View:
        """A buffer of a type, at an offset or after all others.

        Raises:
            TilecError: if there is no such room.
        """
        size = allocated_bytes(type_)
        at = self._next if offset is None else offset
        if at + size > _SIZE:
            raise TilecError(f"{at + size} bytes are more than any shared memory")
        self._next = max(self._next, -(-(at + size) // 1024) * 1024)
        self._top = max(self._top, at + size)
        element = number(type_.element_type)
        key = len(self._buffers)
        sizes = tuple(type_.shape)
        buffer = Buffer.zeros(int(np.prod(sizes)), element, arithmetic, key)
        buffer.is_array = is_shared_array(type_)
        width = max(1, element.bits // 8)
        self._buffers[key] = (at, width, _physical(type_))
        return View.whole(buffer, sizes)

    def barrier(self) -> None:
        """All warps have come together."""
        self._writers[: self._top] = 0
        self._readers[: self._top] = 0
        self._updaters[: self._top] = 0

    def read(self, buffer: Buffer, places: Array, warps: Array, report: Report) -> None:
        """Note that warps read elements, and say what is wrong with that.

        Args:
            buffer: theirs.
            places: of elements, each at most once.
            warps: a bit for each warp that reads, of each or of all.
            report: takes findings.
        """
        at = self._bytes(buffer, places)
        self._check_written(buffer, at, report)
        before = self._writers[at] | self._updaters[at]
        if _others(before, before | warps).any():
            report("race", "reads what another warp wrote, with no barrier between")
        self._readers[at] |= warps

    def update(self, buffer: Buffer, places: Array, warps: Array, report: Report) -> None:
        """Note that warps update elements atomically, as `read`; the order of those is open."""
        at = self._bytes(buffer, places)
        self._check_written(buffer, at, report)
        before = self._writers[at] | self._readers[at]
        if _others(before, before | warps).any():
            report("race", "updates what another warp touches, with no barrier between")
        self._updaters[at] |= warps

    def _check_written(self, buffer: Buffer, at: Array, report: Report) -> None:
        """Say what is wrong with reading bytes of a buffer."""
        if (self._owner[at] != buffer.shared).any():
            never = (self._owner[at] == -1).any()
            report(
                "uninitialised" if never else "overwritten",
                "reads shared memory that "
                + ("nothing was written to" if never else "another buffer has overwritten"),
            )
        if self._in_flight[at].any():
            report("in flight", "reads shared memory that an asynchronous copy is writing")

    def write(
        self, buffer: Buffer, places: Array, warps: Array, new: Array, report: Report
    ) -> None:
        """Note that warps write elements, as `read`; the same values again are not a race."""
        at = self._bytes(buffer, places)
        if self._in_flight[at].any():
            report("in flight", "writes shared memory that an asynchronous copy is writing")
        same = (buffer.data[places] == new) & (self._owner[at] == buffer.shared)
        before = self._writers[at] * ~same | self._readers[at] | self._updaters[at]
        if _others(before, before | warps).any():
            report("race", "writes what another warp touches, with no barrier between")
        self._own(buffer, at)
        self._writers[at] |= warps

    def begin_copy(self, buffer: Buffer, places: Array, report: Report) -> None:
        """Note that a copy to elements is in flight."""
        at = self._bytes(buffer, places)
        if self._in_flight[at].any():
            report("in flight", "copies to shared memory that another copy is writing")
        if (self._readers[at] | self._writers[at]).any():
            report("race", "copies to what a warp touches, with no barrier between")
        self._in_flight[at] = True

    def end_copy(self, buffer: Buffer, places: Array, warps: int) -> None:
        """Note that it is done, by threads of all `warps`."""
        at = self._bytes(buffer, places)
        self._in_flight[at] = False
        self._own(buffer, at)
        self._writers[at] |= np.uint64((1 << warps) - 1)

    def _bytes(self, buffer: Buffer, places: Array) -> Array:
        """The first byte of each element."""
        base, width, physical = self._buffers[buffer.shared]
        return base + physical[places] * width

    def _own(self, buffer: Buffer, at: Array) -> None:
        _, width, _ = self._buffers[buffer.shared]
        for byte in range(width):
            self._owner[at + byte] = buffer.shared


def _others(before: Array, together: Array) -> Array:
    """Where more than one warp is meant, and somebody was there before."""
    return np.asarray((before != 0) & ((together & (together - np.uint64(1))) != 0))


def _physical(type_: ir.MemRefType) -> Array:
    """Where each element lies, in elements, by its number in row-major order."""
    size = int(np.prod(type_.shape))
    if is_barriers(type_) or is_shared_array(type_):
        return np.arange(size)
    buffer = shared_buffer(type_)
    row, col = np.divmod(np.arange(buffer.rows * buffer.cols), buffer.cols)
    (offsets,) = buffer.layout(row=row, col=col)
    matrix = buffer.rows * buffer.cols
    found: Array = (np.arange(buffer.count)[:, None] * matrix + offsets).reshape(-1)
    return found
