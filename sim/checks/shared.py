"""Shared memory that is read before it is written, raced for, or not yet copied.

Each granule (the smallest access to shared memory so far, at most 16 bytes) has two stamps (see
`stamps`), of its last write and of its last read, and the instructions that made them. While all
CTAs of the wave do the same at once, one of them stands for all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..findings import Findings
from ..ptx.module import Instruction
from ..taint.state import Taint
from ..wave import Wave
from .clocks import Clocks
from .conflicts import Conflicts
from .copies import Copies
from .progress import Progress
from .stamps import PENDING, SEVERAL, SYNC, THREAD, TIME, Touch
from .unread import Unread

_WIDEST = 16
"""Bytes that a stamp stands for until something less is touched."""
_SOMEBODY = np.uint32(1)
"""A stamp of something that other checks put in order."""


class SharedChecks:
    """Shadow of the shared memory of a wave.

    Attributes:
        granule: bytes that a stamp stands for.
        ctas: CTAs that have a shadow of their own; 1 while one stands for all.
        written, read: stamps of the last write and the last read of every granule.
        writer, reader: offsets in the text of the instructions that made them.
        copies: asynchronous copies that have not been waited for.
        unread: what is copied and never read.
        taint: follows what is read before it is written.
    """

    def __init__(self, wave: Wave, findings: Findings, progress: Progress, taint: Taint) -> None:
        self.wave = wave
        self.progress = progress
        self.granule, self._shift = _WIDEST, _WIDEST.bit_length() - 1
        self.copies = Copies()
        self.conflicts = Conflicts(findings)
        self.unread = Unread(findings)
        self.taint = taint
        taint.unwritten_shared = self._unwritten

    def begin(self) -> None:
        """Begin a wave."""
        self.ctas = 1
        self._restarts = 0
        self._shared_by: Touch | None = None
        self._gone = np.zeros((0, 1), np.bool_)
        self.granules = self.wave.memory.shared_stride // self.granule
        self.written = np.zeros(self.granules, np.uint32)
        self.read = np.zeros(self.granules, np.uint32)
        self.writer = np.zeros(self.granules, np.uint32)
        self.reader = np.zeros(self.granules, np.uint32)
        self.base = np.zeros((1, 1, 1), np.int64)
        self.copies.begin(self.wave.shape[1])
        self.unread.begin()

    def _follow(self) -> None:
        """Have a shadow for every CTA that has clocks, with stamps that these can be asked of."""
        progress = self.progress
        if self._restarts != progress.restarts:
            self._restarts = progress.restarts
            for stamps in (self.written, self.read):
                pending = stamps >> TIME == PENDING
                stamps[...] = np.where(pending, stamps, np.where(stamps > 0, 1 << TIME, 0))
        if self.ctas != progress.ctas:
            ctas = self.ctas = progress.ctas
            self.written = np.tile(self.written, ctas)
            self.read = np.tile(self.read, ctas)
            self.writer = np.tile(self.writer, ctas)
            self.reader = np.tile(self.reader, ctas)
            self.base = (np.arange(ctas) * self.granules).reshape(ctas, 1, 1)
            self.copies.expand(ctas, self.base)
            self.unread.expand(ctas)

    def _refine(self, granule: int) -> None:
        """Let every stamp stand for fewer bytes: so far, each access touched all of its bytes."""
        factor = self.granule // granule
        self.granule, self._shift = granule, granule.bit_length() - 1
        self.granules *= factor
        self.written = np.repeat(self.written, factor)
        self.read = np.repeat(self.read, factor)
        self.writer = np.repeat(self.writer, factor)
        self.reader = np.repeat(self.reader, factor)
        self.base = self.base * factor
        self.copies.refine(factor)
        self.unread.refine(factor)

    def follows(self, size: int) -> bool:
        """Whether there are stamps already for accesses of so many bytes at the present time."""
        progress = self.progress
        same = self._restarts == progress.restarts and self.ctas == progress.ctas
        return same and size >= self.granule

    # Accesses

    def access(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None, kind: Access
    ) -> None:
        """Check an access inside the bounds, and remember it."""
        progress = self.progress
        if offsets.shape[0] > 1 or (mask is not None and mask.shape[0] > 1):
            progress.expand()
        self._follow()
        if size < self.granule:
            self._refine(size)
        touch = self._touch(instruction, offsets, size, mask, kind)
        if touch is None:
            return
        rows, width = touch.rows, touch.width
        before = self.written.reshape(-1, width).take(rows, axis=0)
        if kind.reads and not self.taint.active and int(before.min()) == 0:
            self.taint.start(instruction)
        if int(before.max()) >> TIME > progress.floor:
            self.conflicts.examine(touch, before, self.writer, progress.clocks, "wrote")
        if kind.writes:
            reads = self.read.reshape(-1, width).take(rows, axis=0)
            if int(reads.max()) >> TIME > progress.floor:
                self.conflicts.examine(touch, reads, self.reader, progress.clocks, "read")
            self._write(touch)
        elif not kind.synchronises:
            self._read(touch)
        else:
            self.read.reshape(-1, width)[rows] |= _SOMEBODY

    def _touch(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None, kind: Access
    ) -> Touch | None:
        """An access, at the present time; None if no thread takes part."""
        progress, width = self.progress, max(size // self.granule, 1)
        # (CTAs, warps, lanes) of rows of `width` granules
        rows = ((offsets >> self._shift) + self.base) >> (width.bit_length() - 1)
        shape = np.broadcast_shapes(
            rows.shape, progress.stamp.shape, () if mask is None else mask.shape
        )
        rows = np.broadcast_to(rows, shape)
        stamp = np.broadcast_to(progress.stamp, shape)
        active = None if mask is None else np.broadcast_to(mask, shape)
        if active is None:
            rows, stamp = rows.reshape(-1), stamp.reshape(-1)
        else:
            rows, stamp = rows[active], stamp[active]
            if not rows.size:
                return None
        return Touch(instruction, kind, rows, width, stamp, active, shape, offsets)

    def _write(self, touch: Touch) -> None:
        """Stamp what is written; nobody has read it since."""
        stamp, kind = touch.stamp, touch.kind
        if kind is Access.ASYNC_WRITE:
            stamp = (stamp & np.uint32(THREAD)) | np.uint32(PENDING << TIME)
            self._issue(touch)
        elif kind.synchronises:
            stamp = stamp | np.uint32(SYNC)
        written = self.written.reshape(-1, touch.width)
        written[touch.rows] = stamp[:, None]
        if kind is Access.WRITE:
            # Of several threads that write one granule at once, one stamp is left.
            gone = written.take(touch.rows, axis=0) != stamp[:, None]
            self._shared_by = touch if gone.any() else None
            self._gone = gone
        self.writer.reshape(-1, touch.width)[touch.rows] = touch.instruction.position
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
        self.reader.reshape(-1, touch.width)[rows] = touch.instruction.position

    def _issue(self, touch: Touch) -> None:
        """Threads issue copies, which they have to wait for."""
        waiting = touch.spread(np.ones(touch.rows.shape, np.bool_))
        self.copies.add(touch.instruction, touch.spread(touch.rows), touch.width, waiting)
        places = touch.rows[:, None] * touch.width + np.arange(touch.width)
        self.unread.copied(self, touch.instruction, places)

    def copied(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None
    ) -> None:
        """Threads have issued copies that have been checked, and left their stamps."""
        touch = self._touch(instruction, offsets, size, mask, Access.ASYNC_WRITE)
        if touch is not None:
            self._issue(touch)

    def exited(self, threads: Array) -> None:
        """Threads exit: their copies may write what is another CTA's by then."""
        if not self.copies.pending:
            return
        self.progress.expand()
        self._follow()
        for copy, left in self.copies.abandoned(threads):
            self.conflicts.abandoned(copy.instruction, left)

    # What other CTAs do

    def stamps_of(self, ctas: Array, offsets: Array, size: int) -> Array:
        """Places of the stamps of so many bytes of CTAs' memory, (n, stamps)."""
        self.progress.expand()
        self._follow()
        if size < self.granule:
            self._refine(size)
        first = ctas * self.granules + (offsets >> self._shift)
        return np.asarray(first[:, None] + np.arange(max(size // self.granule, 1)))

    @staticmethod
    def unseen(stamps: Array, places: Array, known: Array, kind: Access) -> Array:
        """Which stamps, (n, stamps), are not in order with accesses of another CTA's threads.

        Args:
            stamps: of the writes, or of the reads.
            places: of those that each access touches, (n, stamps).
            known: what its thread has seen of the warps of the CTA, (n, warps).
            kind: what it does.
        """
        found = stamps[places]
        time = (found >> TIME).astype(np.int64)
        seen = np.take_along_axis(known, (found & THREAD).astype(np.int64) // LANES, axis=1)
        # Who else read is not known: it counts as seen once any warp is.
        several = found & SEVERAL != 0
        seen = np.where(several, known.max(axis=1, keepdims=True), seen)
        late = time > seen
        return np.asarray(late & (found & SYNC == 0) if kind.synchronises else late)

    # Operations of the asynchronous proxy

    def _granules(self, cta: int, granules: Array) -> Array:
        """Places of the stamps of granules of 16 bytes of a CTA, (granules, stamps)."""
        self.progress.expand()
        self._follow()
        factor = _WIDEST // self.granule
        first = cta * self.granules + granules * factor
        return np.asarray(first[:, None] + np.arange(factor))

    def _unwritten(self) -> Array:
        """Bytes that nothing has written, (CTAs, bytes); one CTA may stand for all."""
        self._follow()
        blank = self.written.reshape(self.ctas, -1) == 0
        return np.repeat(blank, self.granule, axis=1)

    def places(self, cta: int, granules: Array) -> Array:
        """Where the bytes of granules of 16 bytes of a CTA are in memory, (granules, 16)."""
        memory = self.wave.memory
        first = memory.shared_base + cta * memory.shared_stride + granules * _WIDEST
        return np.asarray(first[:, None] + np.arange(_WIDEST))

    def overwrite(self, cta: int, granules: Array, instruction: Instruction) -> None:
        """Granules are written by none of the threads; who may touch them is asked apart."""
        places = self._granules(cta, granules)
        self.written[places] = _SOMEBODY
        self.writer[places] = instruction.position
        self.read[places] = 0
        self.unread.copied(self, instruction, places)
        if self.taint.active:
            self.taint.overwrite(self.places(cta, granules))

    def consumed(self, cta: int, granules: Array) -> None:
        """Granules are read by none of the threads; who may overwrite them is asked apart."""
        self.read[self._granules(cta, granules)] |= _SOMEBODY

    def blank(self, cta: int, granules: Array) -> int | None:
        """The first granule of which nothing has written some part; None if there is none."""
        missing = (self.written[self._granules(cta, granules)] == 0).any(axis=1)
        return int(granules[missing.argmax()]) if missing.any() else None

    def unordered(
        self,
        clocks: Clocks,
        thread: tuple[int, int, int],
        cta: int,
        granules: Array,
        *,
        writes: bool,
        strict: bool,
    ) -> Iterator[tuple[int, int, str]]:
        """What other threads did to granules of 16 bytes that nothing orders before a thread.

        Args:
            clocks: what the warps have seen.
            thread: who touches them.
            cta: whose they are.
            granules: of that CTA.
            writes: whether it overwrites them, so that reads count too.
            strict: whether other lanes of its own warp count.

        Returns:
            The first such granule, the instruction by its position, and what that did.
        """
        home, warp, lane = thread
        places = self._granules(cta, granules)
        known = clocks.toward(home, warp, cta)
        kinds = [(self.written, self.writer, "wrote")]
        if writes:
            kinds.append((self.read, self.reader, "read"))
        for stamps, makers, verb in kinds:
            found = stamps[places]
            if home == cta and int(found.max()) >> TIME <= self.progress.floor:
                continue  # everybody has seen them
            time = (found >> TIME).astype(np.int64)
            other = (found & THREAD).astype(np.int64)
            alike = other == warp * LANES + lane if strict else other // LANES == warp
            alike &= home == cta
            racing = ((time > known[other // LANES]) & ~alike) | (time == PENDING)
            if racing.any():
                row, column = np.argwhere(racing)[0]
                yield int(granules[row]), int(makers[places[row, column]]), verb

    # Asynchronous copies

    def _active(self) -> Array | None:
        """The active threads, or None for all, with copies of their own where CTAs differ."""
        mask = self.wave.mask
        if mask is not None and mask.shape[0] > 1:
            self.progress.expand()
        self._follow()
        return mask

    def commit(self) -> None:
        """The active threads close their group of copies."""
        mask = self._active()
        self.copies.commit(mask)

    def wait(self, left: int, *, uncommitted: bool) -> None:
        """The active threads wait until at most `left` of their groups are not complete."""
        mask = self._active()
        for copy, done in self.copies.complete(mask, left, uncommitted=uncommitted):
            stamps = np.broadcast_to(self.progress.stamp, done.shape)[done]
            self.written.reshape(-1, copy.width)[copy.rows[done]] = stamps[:, None]

    def stored_apart(self) -> None:
        """Threads have stored, no two of them to one granule."""
        self._shared_by = None

    def stored(
        self,
        instruction: Instruction,
        offsets: Array,
        found: Array,
        values: Array,
        mask: Array | None,
    ) -> None:
        """After a store: threads that wrote something else to the same place at once."""
        lost = (_bytes(found) != _bytes(values)).any(axis=3)
        if mask is not None:
            lost = lost & mask
        if lost.any():
            self.conflicts.at_once(instruction, lost, offsets)
        elif self._shared_by is not None:
            threads = self._shared_by.spread(np.asarray(self._gone.any(axis=1)))
            self.conflicts.same_value(self._shared_by, threads)


def _bytes(values: Array) -> Array:
    """Values as bytes along a new last axis: 16 bytes compared as numbers might be NaN."""
    return np.ascontiguousarray(values)[..., None].view(np.uint8)
