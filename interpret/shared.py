"""Shared memory with what is known of each byte: whose it is, and who touched it.

Buffers keep their elements by themselves; here is where they lie, with their swizzles, so that what
one overwrites of another, reads before it is written, or touches while other warps or asynchronous
work do, is found. What the lanes of one warp do to each other is not watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.shared import allocated_bytes, is_barriers, shared_buffer
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .arithmetic.base import Arithmetic
from .groups import PendingCopy, PendingRead
from .memory import Buffer, View
from .numbers import Array, number
from .order import Order
from .proxies import Proxies
from .touches import Touch, Touches

Report: TypeAlias = Callable[[str, str], None]
"""Takes a finding's kind and message."""

_APART = 1024
"""Bytes of which the offset of a buffer that says none is a multiple."""


def room_for(buffers: Sequence[Op]) -> int:
    """Bytes in which the buffers of `tile.alloc_shared`s have room, wherever they come to lie."""
    end = rest = 0
    for op in buffers:
        size = _rounded(allocated_bytes(ir.MemRefType(op.results[0].type)))
        if "offset" in op.attributes:
            end = max(end, _rounded(attribute(op, "offset", ir.IntegerAttr).value) + size)
        else:
            rest += size
    return end + rest


def _rounded(size: int) -> int:
    return -(-size // _APART) * _APART


class SharedMemory:
    """What a CTA has of it.

    Args:
        size: bytes.
        warps: of the CTA.
        order: among the warps of its cluster, if not all of a CTA meet at every barrier.
        first: the number of its first warp there.
    """

    def __init__(self, size: int, warps: int, order: Order | None = None, first: int = 0) -> None:
        self._buffers: dict[int, tuple[int, int, Array]] = {}
        self.views: list[View] = []
        self._next = 0
        self._top = 0
        self._owner = np.full(size, -1, np.int32)
        self._touches = Touches(size, warps, order, first)
        self._in_flight = np.zeros(size, bool)
        self._reading = np.zeros(size, np.int16)
        self._proxies = Proxies(size, warps)

    def allocate(self, type_: ir.MemRefType, offset: int | None, arithmetic: Arithmetic) -> View:
        """A buffer of a type, at an offset or after all others.

        Raises:
            TilecError: if the CTA has no room for it.
        """
        size = allocated_bytes(type_)
        at = self._next if offset is None else offset
        self._next = max(self._next, _rounded(at + size))
        self._top = max(self._top, at + size)
        if self._top > len(self._owner):
            raise TilecError(
                f"needs {self._top} bytes of shared memory; a CTA has {len(self._owner)}"
            )
        element = number(type_.element_type)
        key = len(self._buffers)
        sizes = tuple(type_.shape)
        buffer = Buffer.zeros(int(np.prod(sizes)), element, arithmetic, key)
        buffer.is_array = is_shared_array(type_)
        width = max(1, element.bits // 8)
        self._buffers[key] = (at, width, _physical(type_))
        self.views.append(View.whole(buffer, sizes))
        return self.views[-1]

    def barrier(self) -> None:
        """All warps have come together."""
        self._touches.met(self._top)

    def fence(self, warps: int) -> None:
        """Warps order what they did before what the asynchronous proxy does next."""
        self._proxies.fence(warps)

    def read(self, buffer: Buffer, places: Array, warps: Array, report: Report) -> None:
        """Note that warps read elements, and say what is wrong with that.

        Args:
            buffer: theirs.
            places: of elements, each at most once.
            warps: a bit for each warp that reads, of each or of all.
            report: takes findings.
        """
        self._check_read(buffer, self._bytes(buffer, places), warps, report)

    def update(self, buffer: Buffer, places: Array, warps: Array, report: Report) -> None:
        """Note that warps update elements atomically, as `read`; the order of those is open."""
        at = self._bytes(buffer, places)
        self._check_written(buffer, at, report)
        self._check_unread(at, "updates", report)
        if self._touches.update(at, warps):
            report("race", "updates data that another warp accesses, without a barrier in between")
        self._proxies.write(at, warps)

    def _check_read(self, buffer: Buffer, at: Array, warps: Array, report: Report) -> None:
        self._check_written(buffer, at, report)
        if self._touches.read(at, warps):
            report("race", "reads data that another warp wrote, without a barrier in between")

    def _check_written(self, buffer: Buffer, at: Array, report: Report) -> None:
        """Say what is wrong with reading bytes of a buffer."""
        if (self._owner[at] != buffer.shared).any():
            never = (self._owner[at] == -1).any()
            report(
                "uninitialised" if never else "overwritten",
                "reads shared memory that "
                + ("was never written" if never else "another buffer has overwritten"),
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
        self._check_unread(at, "writes", report)
        same = (buffer.data[places] == new) & (self._owner[at] == buffer.shared)
        if self._touches.write(at, warps, same):
            report("race", "writes data that another warp accesses, without a barrier in between")
        self._own(buffer, at)
        self._proxies.write(at, warps)

    def _check_unread(self, at: Array, verb: str, report: Report) -> None:
        if self._reading[at].any():
            report("in flight", f"{verb} shared memory that asynchronous work is reading")

    # Asynchronous work

    def begin_copy(self, buffer: Buffer, places: Array, copying: Array, report: Report) -> None:
        """Note that a copy to elements is in flight.

        Args:
            buffer: theirs.
            places: the elements.
            copying: the warps that copy, by their numbers in the cluster.
            report: takes findings.
        """
        at = self._bytes(buffer, places)
        if self._in_flight[at].any():
            report("in flight", "copies to shared memory that another copy is writing")
        self._check_unread(at, "copies to", report)
        if self._touches.copy(at, copying):
            report("race", "copies to data that a warp accesses, without a barrier in between")
        self._in_flight[at] = True

    def end_copy(self, copy: PendingCopy) -> None:
        """Let what warps copied arrive."""
        at = self._arrive(copy)
        warps = np.asarray(np.uint64(copy.warps))
        self._touches.arrive(at, warps)
        self._proxies.write(at, warps)

    def end_box(self, copy: PendingCopy, source: int) -> None:
        """Let a box arrive, by an mbarrier's number."""
        at = self._arrive(copy)
        self._touches.arrive_by(at, source)
        self._proxies.copy(at)

    def _arrive(self, copy: PendingCopy) -> Array:
        copy.buffer.data[copy.places] = copy.values
        at = self._bytes(copy.buffer, copy.places)
        self._in_flight[at] = False
        self._own(copy.buffer, at)
        return at

    def begin_read(self, read: PendingRead, issuer: int, report: Report) -> None:
        """Note that asynchronous work reads elements, for warps of which `issuer` is one."""
        at = self._bytes(read.buffer, read.places)
        self._check_read(read.buffer, at, read.warps, report)
        self._check_fenced(at, issuer, report)
        self._reading[at] += 1

    def _check_fenced(self, at: Array, issuer: int | None, report: Report) -> None:
        if self._proxies.is_unfenced(at, issuer):
            report(
                "proxy",
                "reads through the asynchronous proxy data that threads wrote, without a "
                "fence.proxy.async in between",
            )

    def read_by(
        self, buffer: Buffer, places: Array, issuer: tuple[int, int | None], source: int,
        report: Report,
    ) -> None:  # fmt: skip
        """Note that work reads elements of whose end others know by a source.

        Args:
            buffer: theirs.
            places: of elements, each at most once.
            issuer: the warp that begins it, by its number in the cluster, and in the CTA if it is
                one of this.
            source: of the order.
            report: takes findings.
        """
        at = self._bytes(buffer, places)
        self._check_written(buffer, at, report)
        self._check_fenced(at, issuer[1], report)
        if self._touches.work(Touch.READ, at, issuer[0], source):
            report("race", "reads data that another warp wrote, without a barrier in between")

    def keep_reading(self, read: PendingRead) -> None:
        """Note that a read that was checked goes on."""
        self._reading[self._bytes(read.buffer, read.places)] += 1

    def end_read(self, read: PendingRead) -> None:
        """Note that such a read is over."""
        at = self._bytes(read.buffer, read.places)
        self._reading[at] -= 1
        self._touches.read(at, read.warps)

    def _bytes(self, buffer: Buffer, places: Array) -> Array:
        """The first byte of each element."""
        base, width, physical = self._buffers[buffer.shared]
        return base + physical[places] * width

    def _own(self, buffer: Buffer, at: Array) -> None:
        _, width, _ = self._buffers[buffer.shared]
        for byte in range(width):
            self._owner[at + byte] = buffer.shared


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
