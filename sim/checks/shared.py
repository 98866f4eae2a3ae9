"""Shared memory that is read before it is written, raced for, or not yet copied.

Each granule (the smallest access to shared memory in the kernel, at most 16 bytes) has two
stamps: of its last write and of its last read.

    time << 12 | synchronising << 11 | several << 10 | thread

0 means never, and a time of all ones an asynchronous copy that has not been waited for. A
stamp is in order with an access if the thread is the same, or if its time is one that the
accessing warp has seen (see `clocks`). While all CTAs of the wave do the same at once, one of
them stands for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import Access
from ..alu import Array
from ..memory import LANES
from .clocks import Clocks
from .copies import Copies

if TYPE_CHECKING:
    from ..findings import Findings, Place
    from ..machine import Machine
    from ..site import Site

_TIME, _SYNC, _SEVERAL, _THREAD = 12, 1 << 11, 1 << 10, (1 << 10) - 1
_PENDING = (1 << 20) - 1
_LIMIT = _PENDING - 2


class SharedChecks:
    """Shadow of the shared memory of a wave."""

    def __init__(self, machine: Machine, findings: Findings, granule: int) -> None:
        self.machine = machine
        self.findings = findings
        self.granule = granule
        self.copies = Copies()

    def begin(self) -> None:
        """Begin a wave."""
        memory = self.machine.memory
        _, warps, _ = self.machine.shape
        self.ctas = 1
        self.granules = memory.shared_stride // self.granule
        self.written = np.zeros(self.granules, np.uint32)
        self.read = np.zeros(self.granules, np.uint32)
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
        self.clocks.expand(ctas)
        self.base = (np.arange(ctas) * self.granules).reshape(ctas, 1, 1)
        self.copies.expand(ctas, self.base)
        self._tick()

    def _tick(self) -> None:
        """Take note of the time."""
        if int(self.clocks.now.max()) >= _LIMIT:
            self._forget()
        time = self.clocks.now.astype(np.uint32)[:, None, None]
        self.stamp = time << _TIME | self.thread
        self.floor = self.clocks.floor()

    def _forget(self) -> None:
        """Start time again; what was written is written, and seen by all."""
        for stamps in (self.written, self.read):
            pending = stamps >> _TIME == _PENDING
            stamps[...] = np.where(pending, stamps, np.where(stamps > 0, 1 << _TIME, 0))
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
        if mask is None:
            rows, stamp = rows.reshape(-1), stamp.reshape(-1)
            where = None
        else:
            where = np.broadcast_to(mask, shape)
            rows, stamp = rows[where], stamp[where]
            if not rows.size:
                return
        written, read = self.written.reshape(-1, width), self.read.reshape(-1, width)
        before = written.take(rows, axis=0)
        if kind.reads and int(before.min()) == 0:
            self._uninitialised(site, before, where, shape, offsets)
        if int(before.max()) >> _TIME > self.floor:
            self._conflict(site, before, stamp, where, shape, offsets, kind, "wrote")
        if kind.writes:
            reads = read.take(rows, axis=0)
            if int(reads.max()) >> _TIME > self.floor:
                self._conflict(site, reads, stamp, where, shape, offsets, kind, "read")
            self._write(site, rows, width, stamp, where, shape, kind)
        elif not kind.synchronises:
            self._note_read(read, rows, stamp)

    def _write(
        self,
        site: Site,
        rows: Array,
        width: int,
        stamp: Array,
        where: Array | None,
        shape: tuple[int, ...],
        kind: Access,
    ) -> None:
        written = self.written.reshape(-1, width)
        if kind is Access.ASYNC_WRITE:
            stamp = (stamp & np.uint32(_THREAD)) | np.uint32(_PENDING << _TIME)
            waiting = np.ones(shape, np.bool_) if where is None else where.copy()
            spread = np.zeros(shape, np.int64)
            spread[waiting] = rows
            self.copies.add(site, spread, width, waiting)
        elif kind.synchronises:
            stamp = stamp | np.uint32(_SYNC)
        written[rows] = stamp[:, None]
        self.read.reshape(-1, width)[rows] = 0

    @staticmethod
    def _note_read(read: Array, rows: Array, stamp: Array) -> None:
        """Stamp what is read; granules that several threads read say so."""
        before = read.take(rows, axis=0)
        mine = stamp[:, None]
        together = (before >> _TIME == mine >> _TIME) & ((before ^ mine) & _THREAD != 0)
        together |= (before >> _TIME == mine >> _TIME) & (before & _SEVERAL != 0)
        value = np.where(together, mine | np.uint32(_SEVERAL), mine)
        read[rows] = value
        after = read.take(rows, axis=0)
        others = after != value
        if others.any():
            read[rows] = np.where(others, after | np.uint32(_SEVERAL), read.take(rows, axis=0))
            again = np.broadcast_to(rows[:, None], others.shape)[others]
            column = np.broadcast_to(np.arange(read.shape[1]), others.shape)[others]
            read[again, column] |= np.uint32(_SEVERAL)

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

    # What is wrong

    def _where(self, bad: Array, where: Array | None, shape: tuple[int, ...]) -> Array:
        """Threads, of those that access, for which a condition holds."""
        if where is None:
            return bad.reshape(shape)
        found = np.zeros(shape, np.bool_)
        found[where] = bad
        return found

    def _uninitialised(
        self,
        site: Site,
        before: Array,
        where: Array | None,
        shape: tuple[int, ...],
        offsets: Array,
    ) -> None:
        bad = self._where((before == 0).any(axis=1), where, shape)
        spread = np.broadcast_to(offsets, shape)
        self.findings.add(
            "uninitialised",
            site,
            bad,
            lambda at: f"reads shared memory at {int(spread[at]):#x} that nothing has written",
            lambda at: int(spread[at]),
        )

    def _conflict(
        self,
        site: Site,
        before: Array,
        stamp: Array,
        where: Array | None,
        shape: tuple[int, ...],
        offsets: Array,
        kind: Access,
        verb: str,
    ) -> None:
        """Look closer at stamps that not all have seen."""
        ctas = np.broadcast_to(np.arange(shape[0]).reshape(-1, 1, 1), shape)
        cta = ctas.reshape(-1) if where is None else ctas[where]
        if self.ctas == 1:
            cta = np.zeros_like(cta)
        me = (stamp & _THREAD).astype(np.int64)
        time = (before >> _TIME).astype(np.int64)
        other = (before & _THREAD).astype(np.int64)
        pending = time == _PENDING
        seen = self.clocks.seen[cta[:, None], (me // LANES)[:, None], other // LANES]
        several = before & _SEVERAL != 0
        if several.any():
            # Who else read is not known: it counts as seen once any other warp is.
            rest = self.clocks.seen.copy()
            if self.clocks.warps > 1:
                np.einsum("cww->cw", rest)[...] = 0
            most = rest.max(axis=2)[cta, me // LANES]
            seen = np.where(several, np.maximum(seen, most[:, None]), seen)
        racing = (before != 0) & ~pending & (time > seen) & ((other != me[:, None]) | several)
        if kind.synchronises:
            racing &= before & _SYNC == 0
        spread = np.broadcast_to(offsets, shape)
        if pending.any():
            threads = self._where(pending.any(axis=1), where, shape)
            act = "writes" if kind.writes else "reads"
            lines = self._copy_lines()
            self.findings.add(
                "async",
                site,
                threads,
                lambda at: (
                    f"{act} shared memory at {int(spread[at]):#x} before the wait for the "
                    f"cp.async ({lines}) that writes it"
                ),
                lambda at: int(spread[at]),
            )
        if racing.any():
            threads = self._where(racing.any(axis=1), where, shape)
            flat = np.where(racing, other, 0).max(axis=1)
            others = np.zeros(shape, np.int64)
            others[... if where is None else where] = flat.reshape(shape) if where is None else flat
            act = "writes" if kind.writes else "reads"
            machine = self.machine

            def words(at: Place) -> str:
                warp, lane = divmod(int(others[at]), LANES)
                name = machine.thread_name((at[0], warp, lane))
                return (
                    f"{act} shared memory at {int(spread[at]):#x}, which {name} {verb}, "
                    "without a barrier between them"
                )

            self.findings.add("race", site, threads, words, lambda at: int(spread[at]))

    def _copy_lines(self) -> str:
        module = self.findings.program.module
        lines = sorted({module.line(copy.site.instruction) for copy in self.copies.pending})
        return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"

    def stored(
        self, site: Site, offsets: Array, found: Array, values: Array, mask: Array | None
    ) -> None:
        """After a store: threads that wrote something else to the same place at once."""
        lost = _bytes(found) != _bytes(values)
        lost = lost.any(axis=3)
        if mask is not None:
            lost = lost & mask
        if lost.any():
            threads = np.broadcast_to(
                lost, np.broadcast_shapes(lost.shape, (1, self.clocks.warps, LANES))
            )
            spread = np.broadcast_to(offsets, np.broadcast_shapes(offsets.shape, threads.shape))
            self.findings.add(
                "race",
                site,
                threads,
                lambda at: (
                    f"writes shared memory at {int(spread[at]):#x} at once with another "
                    "thread that writes something else"
                ),
                lambda at: int(spread[at]),
            )


def _bytes(values: Array) -> Array:
    """Values as bytes along a new last axis: 16 bytes compared as numbers might be NaN."""
    return np.ascontiguousarray(values)[..., None].view(np.uint8)
