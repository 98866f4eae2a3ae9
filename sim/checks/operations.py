"""The asynchronous operations of a wave, by the granules that they write and read."""

from __future__ import annotations

from itertools import chain

import numpy as np

from ..alu import Array
from ..ptx.module import Instruction
from ..wave import Wave
from .commits import Commit, Thread
from .operation import Operation
from .progress import Progress
from .sets import distinct, within

GRANULE = 16
_MOST_READS = 64
"""Of a CTA; beyond, those are looked for that are over."""


class Operations:
    """Which operation wrote a granule last, and how many read it.

    Granules are numbered CTA by CTA: their `flat` numbers.

    Attributes:
        count: granules of a CTA.
        writer: of each granule, the number of the operation that wrote it; 0 for none.
        busy: of each granule, how many operations read it.
        writes: writes whose bytes nothing has replaced, by their numbers.
        reads: reads of each CTA's shared memory whose bytes nothing has replaced.
    """

    def __init__(self, wave: Wave, progress: Progress) -> None:
        self.wave = wave
        self.progress = progress

    def begin(self) -> None:
        """Begin a wave."""
        ctas = self.wave.shape[0]
        self.count = self.wave.memory.shared_stride // GRANULE
        self.writer = np.zeros(ctas * self.count, np.int32)
        self.busy = np.zeros(ctas * self.count, np.int16)
        self.writes: dict[int, Operation] = {}
        self.reads: list[list[Operation]] = [[] for _ in range(ctas)]
        self._on: dict[tuple[int, int], list[Operation]] = {}
        self._commits: dict[tuple[int, int], list[Commit]] = {}
        self._last = 0
        self._restarts = 0

    def follow(self) -> None:
        """Have clocks for every CTA, and times that they can be asked of."""
        self.progress.expand()
        if self._restarts != self.progress.restarts:
            self._restarts = self.progress.restarts
            for operation in (*self.writes.values(), *chain.from_iterable(self.reads)):
                operation.known = np.minimum(operation.known, 1)

    def writers(self, flat: Array) -> list[Operation]:
        """The operations that wrote any of some granules, each once."""
        numbers = self.writer[flat]
        return [self.writes[n] for n in distinct(numbers).tolist() if n]

    # What becomes of them

    def add_write(
        self,
        instruction: Instruction,
        cta: int,
        granules: Array,
        barrier: int | None,
        swizzle: str,
        home: int = -1,
    ) -> Operation:
        """One that writes granules of a CTA, and tells the mbarrier at an offset, there or at home.

        Arguments as of `InFlight.write`.
        """
        made = self._make(instruction, cta, granules, barrier)
        made.swizzle = swizzle
        made.home = cta if home < 0 else home
        flat = cta * self.count + granules
        self.replace(flat)
        self.writes[made.number] = made
        self.writer[flat] = made.number
        if barrier is not None:
            self._on.setdefault((made.home, barrier), []).append(made)
        return made

    def add_read(self, instruction: Instruction, cta: int, granules: Array) -> Operation:
        """One that reads granules of a CTA."""
        made = self._make(instruction, cta, granules)
        self.reads[cta].append(made)
        self.busy[cta * self.count + granules] += 1
        if len(self.reads[cta]) > _MOST_READS:
            self._prune(cta)
        return made

    def add_commit(self, commit: Commit, cta: int, barrier: int) -> None:
        """What a commit covers will be known to be over by the mbarrier at an offset of a CTA."""
        for operation in commit.operations:
            operation.barrier = barrier
        self._commits.setdefault((cta, barrier), []).append(commit)

    def _make(
        self, instruction: Instruction, cta: int, granules: Array, barrier: int | None = None
    ) -> Operation:
        self._last += 1
        known = np.zeros(self.wave.shape[1], np.int64)
        return Operation(instruction, self._last, cta, granules, known, barrier)

    def finish(self, operation: Operation, warps: Array) -> None:
        """Warps, (warps,), have waited for an operation."""
        self.follow()
        operation.settle(warps, int(self.progress.clocks.now[operation.home]))

    def observed(self, offset: int, threads: Array, phases: Array) -> None:
        """Threads see that a phase of their CTA's mbarrier at an offset is complete.

        Args:
            offset: where the mbarrier is.
            threads: who, (CTAs, warps, lanes).
            phases: phases that it has completed, (CTAs,).
        """
        some = np.asarray(threads.any(axis=2))
        for cta in np.flatnonzero(some.any(axis=1)).tolist():
            waiting, commits = self._on.get((cta, offset)), self._commits.get((cta, offset))
            if not waiting and not commits:
                continue
            self.follow()
            now = int(self.progress.clocks.now[cta])
            for operation in waiting or ():
                if operation.phase is not None and operation.phase < phases[cta]:
                    operation.settle(some[cta], now)
            if commits:
                self._commits[cta, offset] = _settled(
                    commits, int(phases[cta]), cta, some[cta], now
                )

    def replace(self, flat: Array) -> None:
        """Granules lose the operation that wrote them."""
        operations = self.writers(flat) if self.writer[flat].any() else ()
        self.writer[flat] = 0
        for operation in operations:
            first = operation.cta * self.count
            kept = self.writer[first + operation.granules] == operation.number
            operation.granules = operation.granules[kept]
            if not operation.granules.size:
                del self.writes[operation.number]
                if operation.barrier is not None:
                    self._on[operation.home, operation.barrier].remove(operation)

    def release(self, operation: Operation, granules: Array) -> None:
        """Granules that an operation read have been replaced."""
        gone = within(operation.granules, granules)
        self.busy[operation.cta * self.count + operation.granules[gone]] -= 1
        operation.granules = operation.granules[~gone]
        if not operation.granules.size:
            self.reads[operation.cta].remove(operation)

    def _prune(self, cta: int) -> None:
        """Forget reads that every warp knows to be over."""
        clocks = self.progress.clocks
        live = self.wave.live
        for operation in list(self.reads[cta]):
            warps = range(self.wave.shape[1])
            if all(
                operation.visible(clocks, cta, w) or (live is not None and not live[cta, w].any())
                for w in warps
            ):
                self.release(operation, operation.granules)


def _settled(commits: list[Commit], phases: int, cta: int, warps: Array, now: int) -> list[Commit]:
    """Commits of an mbarrier, whose phases below a number warps have seen; those that remain.

    The last of a thread covers those before it.
    """
    last: dict[Thread, Commit] = {}
    left = []
    for commit in commits:
        if commit.phase is not None and commit.phase < phases:
            last[commit.thread] = commit
        else:
            left.append(commit)
    for commit in last.values():
        commit.settle(cta, warps, now)
    return [*last.values(), *left]
