"""Global memory that two threads of a CTA touch, one of them writing, in no order.

Threads of two CTAs: see `grid_races`.

Accesses are remembered, by allocation, until all threads meet at a barrier, since which orders
them with all that follow, or until their wave ends. What was written in the meantime is then held
against everything that was touched: who else touched the same bytes, if anybody, is soon found;
of those few bytes, in which order, takes longer (see `races`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..access import Access
from ..alu import Array
from ..findings import Findings
from ..memory import Allocation
from ..ptx.module import Instruction
from ..wave import Wave
from .examination import Examination
from .grid_races import GridRaces
from .progress import Progress
from .touches import Log, Touches, numbered
from .whole_warps import WholeWarps

if TYPE_CHECKING:
    from .global_proxies import GlobalProxies

REMEMBERED = 1 << 24
"""Accesses of threads that are remembered; beyond, the older half is forgotten."""


class Pending(Protocol):
    """What is noted elsewhere, in order, and comes before all that is remembered next."""

    @property
    def suspicious(self) -> bool:
        """Whether two threads may have touched the same bytes, one of them writing."""

    def flush(self) -> None:
        """Have it remembered."""

    def drop(self) -> None:
        """It does not matter any more."""


class GlobalChecks:
    """What the threads of a wave do to global memory."""

    def __init__(self, wave: Wave, findings: Findings, progress: Progress) -> None:
        self.wave = wave
        self.findings = findings
        self.progress = progress
        self.grid = GridRaces(wave, findings, progress)
        self.proxies: GlobalProxies | None = None
        """Who wrote by which proxy; None of a kernel without instructions of the other."""
        self.mapped: set[tuple[int, int, bool]] = set()
        """Where tensor maps were read or, if the last says so, written: offset, and bytes."""
        self.pending: Pending | None = None
        """What machine code has noted and is not in the logs yet, if there is any."""
        self._forgotten: dict[str, None] = {}
        self.whole = WholeWarps()
        self._logs: dict[int, Log] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a wave."""
        if self.pending is not None:
            self.pending.drop()
        self.grid.begin()
        if self.proxies is not None:
            self.proxies.begin()
        self._logs.clear()
        self.whole.settle()
        self._size = 0
        self._restarts = 0

    def access(
        self,
        instruction: Instruction,
        allocation: Allocation | None,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        values: Sequence[Array] | None,
    ) -> None:
        """Remember an access inside the bounds.

        Args:
            instruction: the instruction.
            allocation: what it touches; None if that is more than one.
            offsets: where each thread's bytes begin.
            size: bytes of each thread.
            mask: which threads; None for all.
            kind: what they do.
            values: the chunks, low to high, that each thread writes, if they are known.
        """
        if allocation is None:
            for part, inside in self._parts(offsets, mask):
                self.access(instruction, part, offsets, size, inside, kind, values)
            return
        if not allocation.writable or (mask is not None and not mask.any()):
            return
        if self.proxies is not None and kind.writes:
            self.proxies.wrote(instruction, offsets, size, mask)
        if self.grid.on:
            self.grid.access(instruction, allocation, offsets, size, mask, kind, values)
        self.follow()
        progress = self.progress
        seen, shape = progress.clocks.seen, self.wave.shape
        touches = Touches.of(
            instruction, kind, size, offsets, mask, values, progress.stamp, seen, shape
        )
        self._remember(allocation, touches, suspect=True)

    def follow(self) -> None:
        """Take note of it if time has begun again: what came before has been seen by all."""
        if self._restarts != self.progress.restarts:
            self.settle()
            self._restarts = self.progress.restarts

    def _remember(self, allocation: Allocation, touches: Touches, *, suspect: bool) -> None:
        if self.pending is not None:
            self.pending.flush()
        self.recall(allocation, touches, suspect=suspect)

    @property
    def remembered(self) -> int:
        """Accesses of threads that are remembered."""
        return self._size

    @property
    def quiet(self) -> bool:
        """Whether nothing is remembered but what is pending."""
        return not self._logs

    def recall(self, allocation: Allocation, touches: Touches, *, suspect: bool) -> None:
        """Remember an access, of which all before it are.

        Args:
            allocation: what it touches.
            touches: the access.
            suspect: whether a thread may have touched what another has.
        """
        log = self._logs.get(allocation.start)
        if log is None:
            log = self._logs[allocation.start] = Log(allocation)
        log.add(touches)
        log.suspect |= suspect
        self._size += touches.offsets.size
        if self._size > REMEMBERED:
            self._forget()

    def issued(
        self,
        instruction: Instruction,
        thread: tuple[int, int, int],
        offsets: Array,
        size: int,
        *,
        writes: bool,
    ) -> None:
        """A bulk or tensor copy of a thread is issued, and will touch bytes inside the bounds.

        The arguments are those of `copied`; `writes` says whether the bytes are its target.
        """
        if self.proxies is not None and offsets.size:
            self.proxies.issued(instruction, thread, offsets, size, writes=writes)

    def copied(
        self,
        instruction: Instruction,
        thread: tuple[int, int, int],
        offsets: Array,
        size: int,
        kind: Access,
        values: Array | None = None,
    ) -> None:
        """A bulk or tensor copy of a thread touches bytes inside the bounds.

        Args:
            instruction: the instruction.
            thread: who issued it, (CTA of the wave, warp, lane).
            offsets: where each of its parts begins, (n,).
            size: bytes of each part.
            kind: what it does.
            values: the bytes that it is about to write, (n, size), if they are known.
        """
        while offsets.size:
            allocation = self.wave.memory.allocation(int(offsets[0]))
            if allocation is None:
                return
            inside = (offsets >= allocation.start) & (offsets < allocation.end)
            if allocation.writable:
                part, new = offsets, values
                if not inside.all():
                    part, new = offsets[inside], None if values is None else values[inside]
                if self.grid.on:
                    self.grid.copied(instruction, thread, allocation, part, size, kind, new)
            offsets = offsets[~inside]
            values = None if values is None else values[~inside]

    def restart(self, granules: Mapping[int, tuple[int, int]]) -> None:
        """Forget what waves before have done: the arguments are those of `GridRaces.restart`."""
        self.grid.restart(granules)
        self.mapped.clear()
        self._forgotten.clear()
        if self.proxies is not None:
            self.proxies.restart()

    def end(self) -> None:
        """End a wave."""
        self.settle()
        self.grid.end()

    def map(self, offset: int, size: int, kind: Access) -> None:
        """A tensor map is read or written. Whether its fences order that is not checked."""
        allocation = self.wave.memory.allocation(offset)
        if allocation is not None and allocation.writable:
            self.mapped.add((offset, size, kind.writes))

    @property
    def unchecked(self) -> list[str]:
        """What has not been looked for, and where."""
        far = [f"races within a CTA between far accesses to {name}" for name in self._forgotten]
        return [*far, *(f"races between CTAs in {name}" for name in self.grid.left_out)]

    def _parts(self, offsets: Array, mask: Array | None) -> list[tuple[Allocation, Array]]:
        """The allocations that an access touches, with the threads that touch each."""
        active = np.True_ if mask is None else mask
        found = []
        for allocation in self.wave.memory.allocations:
            inside = active & (offsets >= allocation.start) & (offsets < allocation.end)
            if inside.any():
                found.append((allocation, inside))
        return found

    def settle(self) -> None:
        """All threads meet, or have ended: nothing that was touched races with what comes."""
        if self.pending is not None:
            if self._logs or self.pending.suspicious:
                self.pending.flush()
            self.pending.drop()
        for log in self._logs.values():
            self._check(log)
        self._logs.clear()
        self._size = 0
        self.whole.settle()

    def _forget(self) -> None:
        """Forget the older half of what is remembered."""
        self._size = 0
        for start, log in self._logs.items():
            self._check(log)
            kept = self._logs[start] = Log(log.allocation, forgotten=True, suspect=log.suspect)
            for touches in log.touches[(len(log.touches) + 1) // 2 :]:
                touches.checked = True
                kept.add(touches)
                self._size += touches.offsets.size

    def _check(self, log: Log) -> None:
        if not (log.written and log.plain):
            return
        if log.forgotten:
            self._forgotten.setdefault(log.allocation.name)
        if not log.suspect:
            return
        everyone = numbered(self.wave.shape)
        granule = min(touches.size for touches in log.touches)
        shared = _touched_by_several(log, granule, everyone)
        if shared.size:
            # What is written to more than 8 bytes is compared 8 at a time.
            parts = max(granule // 8, 1)
            shared = (shared[:, None] * parts + np.arange(parts)).reshape(-1)
            examination = Examination(self.wave, log, granule // parts, shared)
            examination.report(self.findings)


def _touched_by_several(log: Log, granule: int, everyone: Array) -> Array:
    """The granules that one thread writes and another touches, in ascending order."""
    start = log.allocation.start
    written = [t.places(start, granule, everyone) for t in log.touches if t.kind.writes]
    low = min(int(places.min()) for _, places in written)
    high = max(int(places.max()) for _, places in written) + 1
    owner = np.zeros(high - low, np.int32)
    for threads, places in written:
        owner[places - low] = threads[:, None]
    several = []
    if np.count_nonzero(owner) < sum(places.size for _, places in written):
        several += [_others(owner, low, *each) for each in written]
    read = (t.places(start, granule, everyone) for t in log.touches if not t.kind.writes)
    several += [_others(owner, low, *each) for each in _within(read, low, high)]
    return np.unique(np.concatenate(several)) if several else np.zeros(0, np.int64)


def _others(owner: Array, low: int, threads: Array, places: Array) -> Array:
    """The granules, of those that threads touch, whose last writer is another thread."""
    owners = owner.take(places - low)
    found: Array = places[(owners != threads[:, None]) & (owners != 0)]
    return found


def _within(
    touched: Iterable[tuple[Array, Array]], low: int, high: int
) -> Iterator[tuple[Array, Array]]:
    """Threads and granules, of those that lie within some."""
    for threads, places in touched:
        inside = (places >= low) & (places < high)
        if inside.all():
            yield threads, places
        elif inside.any():
            rows, columns = np.nonzero(inside)
            yield threads[rows], places[rows, columns][:, None]
