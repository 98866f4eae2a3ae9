"""Shared memory that is read before it is written, raced for, or not yet copied.

Each granule (the smallest access to shared memory in the kernel, at most 16 bytes) has two
stamps (see `stamps`), of its last write and of its last read, and the instructions that made
them. While all CTAs of the wave do the same at once, one of them stands for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from .clocks import Clocks
from .conflicts import Conflicts
from .copies import Copies
from .stamps import PENDING, SEVERAL, SYNC, THREAD, TIME, Touch

if TYPE_CHECKING:
    from ..findings import Findings
    from ..machine import Machine
    from ..site import Site

_LIMIT = PENDING - 2


class SharedChecks:
    """Shadow of the shared memory of a wave.

    Attributes:
        granule: bytes that a stamp stands for.
        ctas: CTAs that have a shadow of their own; 1 while one stands for all.
        written, read: stamps of the last write and the last read of every granule.
        writer, reader: offsets in the text of the instructions that made them.
        clocks: what the warps know of each other.
        stamp: the stamp of each thread at the present time.
        floor: time up to which every warp has seen everything.
        copies: asynchronous copies that have not been waited for.
    """

    def __init__(self, machine: Machine, findings: Findings, granule: int) -> None:
        self.machine = machine
        self.findings = findings
        self.granule = granule
        self.copies = Copies()
        self.conflicts = Conflicts(findings)

    def begin(self) -> None:
        """Begin a wave."""
        memory = self.machine.memory
        _, warps, _ = self.machine.shape
        self.ctas = 1
        self.granules = memory.shared_stride // self.granule
        self.written = np.zeros(self.granules, np.uint32)
        self.read = np.zeros(self.granules, np.uint32)
        self.writer = np.zeros(self.granules, np.uint32)
        self.reader = np.zeros(self.granules, np.uint32)
        self.clocks = Clocks(1, warps)
        self.thread = np.arange(warps * LANES, dtype=np.uint32).reshape(1, warps, LANES)
        self.base = np.zeros((1, 1, 1), np.int64)
        self.copies.begin(warps)
        self._tick()

    def _expand(self) -> None:
        """Let every CTA have its own shadow."""
        ctas = self.machine.shape[0]
        if self.ctas == ctas:
            return
        self.ctas = ctas
        self.written = np.tile(self.written, ctas)
        self.read = np.tile(self.read, ctas)
        self.writer = np.tile(self.writer, ctas)
        self.reader = np.tile(self.reader, ctas)
        self.clocks.expand(ctas)
        self.base = (np.arange(ctas) * self.granules).reshape(ctas, 1, 1)
        self.copies.expand(ctas, self.base)
        self._tick()

    def _tick(self) -> None:
        """Take note of the time."""
        if int(self.clocks.now.max()) >= _LIMIT:
            self._forget()
        time = self.clocks.now.astype(np.uint32)[:, None, None]
        self.stamp = time << TIME | self.thread
        self.floor = self.clocks.floor()

    def _forget(self) -> None:
        """Start time again; what was written is written, and seen by all."""
        for stamps in (self.written, self.read):
            pending = stamps >> TIME == PENDING
            stamps[...] = np.where(pending, stamps, np.where(stamps > 0, 1 << TIME, 0))
        self.clocks = Clocks(self.ctas, self.clocks.warps)
        self.clocks.meet()

    # Synchronisation

    def _warps(self, threads: Array | None = None) -> Array:
        """Warps of the active threads, or of some, (CTAs, warps)."""
        mask = self.machine.mask if threads is None else threads
        warps = self.clocks.warps
        if mask is None:
            return np.ones((self.ctas, warps), np.bool_)
        if mask.shape[0] > 1:
            self._expand()
        found = np.broadcast_to(mask, (mask.shape[0], warps, LANES)).any(axis=2)
        return np.broadcast_to(found, (self.ctas, warps))

    def meet(self) -> None:
        """All threads meet at a barrier."""
        self.clocks.meet()
        self._tick()

    def meet_warp(self) -> None:
        """Lanes of the active warps meet."""
        self.clocks.meet_warp(self._warps())
        self._tick()

    def arrive(self, number: int, threads: Array) -> None:
        """Threads arrive at a numbered barrier."""
        self._expand()
        self.clocks.arrive(number, self._warps(threads))
        self._tick()

    def leave(self, number: int, threads: Array, done: Array) -> None:
        """Threads go on from a numbered barrier."""
        self._expand()
        self.clocks.leave(number, self._warps(threads), done)
        self._tick()

    def publish(self, threads: Array | None = None) -> None:
        """Threads release what they have done."""
        self.clocks.publish(self._warps(threads))
        self._tick()

    def acquire(self, threads: Array | None = None) -> None:
        """Threads see what has been released."""
        self.clocks.acquire(self._warps(threads))
        self._tick()

    # Accesses

    def access(
        self, site: Site, offsets: Array, size: int, mask: Array | None, kind: Access
    ) -> None:
        """Check an access inside the bounds, and remember it."""
        leading = max(offsets.shape[0], 1 if mask is None else mask.shape[0])
        if leading > 1:
            self._expand()
        width = max(size // self.granule, 1)
        # (CTAs, warps, lanes) of rows of `width` granules
        rows = (offsets // self.granule + self.base) // width
        shape = np.broadcast_shapes(
            rows.shape, self.stamp.shape, () if mask is None else mask.shape
        )
        rows = np.broadcast_to(rows, shape)
        stamp = np.broadcast_to(self.stamp, shape)
        active = None if mask is None else np.broadcast_to(mask, shape)
        if active is None:
            rows, stamp = rows.reshape(-1), stamp.reshape(-1)
        else:
            rows, stamp = rows[active], stamp[active]
            if not rows.size:
                return
        touch = Touch(site, kind, rows, width, stamp, active, shape, offsets)
        before = self.written.reshape(-1, width).take(rows, axis=0)
        if kind.reads and int(before.min()) == 0:
            self.conflicts.uninitialised(touch, before)
        if int(before.max()) >> TIME > self.floor:
            self.conflicts.examine(touch, before, self.writer, self.clocks, "wrote")
        if kind.writes:
            reads = self.read.reshape(-1, width).take(rows, axis=0)
            if int(reads.max()) >> TIME > self.floor:
                self.conflicts.examine(touch, reads, self.reader, self.clocks, "read")
            self._write(touch)
        elif not kind.synchronises:
            self._read(touch)

    def _write(self, touch: Touch) -> None:
        """Stamp what is written; nobody has read it since."""
        stamp, kind = touch.stamp, touch.kind
        if kind is Access.ASYNC_WRITE:
            stamp = (stamp & np.uint32(THREAD)) | np.uint32(PENDING << TIME)
            waiting = touch.spread(np.ones(touch.rows.shape, np.bool_))
            self.copies.add(touch.site, touch.spread(touch.rows), touch.width, waiting)
        elif kind.synchronises:
            stamp = stamp | np.uint32(SYNC)
        self.written.reshape(-1, touch.width)[touch.rows] = stamp[:, None]
        self.writer.reshape(-1, touch.width)[touch.rows] = touch.site.instruction.position
        self.read.reshape(-1, touch.width)[touch.rows] = 0

    def _read(self, touch: Touch) -> None:
        """Stamp what is read; granules that several threads read at one time say so."""
        read, rows = self.read.reshape(-1, touch.width), touch.rows
        before = read.take(rows, axis=0)
        mine = touch.stamp[:, None]
        at_once = before >> TIME == mine >> TIME
        several = at_once & (((before ^ mine) & THREAD != 0) | (before & SEVERAL != 0))
        value = np.where(several, mine | np.uint32(SEVERAL), mine)
        read[rows] = value
        # Of the lanes that read one granule in this instruction the last one's stamp is left.
        several = read.take(rows, axis=0) != value
        if several.any():
            lane, column = np.nonzero(several)
            read[rows[lane], column] |= np.uint32(SEVERAL)
        self.reader.reshape(-1, touch.width)[rows] = touch.site.instruction.position

    # Asynchronous copies

    def commit(self) -> None:
        """The active threads close their group of copies."""
        mask = self.machine.mask
        if mask is not None and mask.shape[0] > 1:
            self._expand()
        self.copies.commit(mask)

    def wait(self, left: int, *, uncommitted: bool) -> None:
        """The active threads wait until at most `left` of their groups are not complete."""
        mask = self.machine.mask
        if mask is not None and mask.shape[0] > 1:
            self._expand()
        for copy, done in self.copies.complete(mask, left, uncommitted=uncommitted):
            stamps = np.broadcast_to(self.stamp, done.shape)[done]
            self.written.reshape(-1, copy.width)[copy.rows[done]] = stamps[:, None]

    def stored(
        self, site: Site, offsets: Array, found: Array, values: Array, mask: Array | None
    ) -> None:
        """After a store: threads that wrote something else to the same place at once."""
        lost = (_bytes(found) != _bytes(values)).any(axis=3)
        if mask is not None:
            lost = lost & mask
        if lost.any():
            self.conflicts.at_once(site, lost, offsets)


def _bytes(values: Array) -> Array:
    """Values as bytes along a new last axis: 16 bytes compared as numbers might be NaN."""
    return np.ascontiguousarray(values)[..., None].view(np.uint8)
