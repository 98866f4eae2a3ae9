"""Shared memory that threads of several CTAs touch, one of them writing, in no order.

What a CTA does to its own shared memory is in the stamps of `shared`. What others of its cluster
do to it is here: of each byte, which warp of the cluster wrote it last, and which warp of each CTA
read it last, and when by the clock of its CTA. Lanes of one warp are in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from tilec.isa import LANES

from ..access import Access
from ..alu import Array
from ..findings import Findings, Place
from ..memory import RANK_OFFSET, RANK_SHIFT
from ..ptx.module import Instruction
from ..wave import Wave
from .progress import Progress
from .shared import SharedChecks
from .visitors import Marks, Touching, Visitors


class PeerRaces:
    """What CTAs of a cluster do to each other's shared memory, and in which order."""

    def __init__(
        self, wave: Wave, findings: Findings, progress: Progress, shared: SharedChecks
    ) -> None:
        self.wave = wave
        self.findings = findings
        self.progress = progress
        self.shared = shared

    def begin(self) -> None:
        """Begin a wave."""
        self.visitors: dict[int, Visitors] = {}
        self._restarts = 0

    def _follow(self) -> None:
        """Have times that the clocks can be asked of."""
        if self._restarts == self.progress.restarts:
            return
        self._restarts = self.progress.restarts
        for visitors in self.visitors.values():
            for marks, _ in visitors.all(writes=True):
                marks.time = np.minimum(marks.time, 1)

    # Accesses by threads

    def visit(
        self, instruction: Instruction, addresses: Array, size: int, legal: Array, kind: Access
    ) -> None:
        """Threads touch shared memory of other CTAs, by addresses of the cluster."""
        if kind is Access.BARRIER or not legal.any():
            return
        threads = np.argwhere(legal)
        given = np.broadcast_to(addresses, legal.shape)[legal]
        count = self.wave.geometry.cluster_ctas
        owners = threads[:, 0] // count * count + (given >> RANK_SHIFT) - 1
        self.touch(Touching(instruction, kind, threads, owners, given & RANK_OFFSET, size))

    def touch(self, touching: Touching) -> None:
        """Threads touch shared memory of other CTAs."""
        self._follow()
        kind, shared = touching.kind, self.shared
        places = shared.stamps_of(touching.owners, touching.offsets, touching.size)
        blank = (shared.written[places] == 0).any(axis=1)
        if kind.reads and blank.any():
            if "async" in touching.instruction.modifiers:
                self._blank(touching, blank)  # nobody sees what it gives
            else:
                shared.taint.start(touching.instruction)
        known = self._known(touching)
        late = shared.unseen(shared.written, places, known, kind)
        self._report(touching, late, shared.writer[places], "wrote", None)
        if kind.writes:
            late = shared.unseen(shared.read, places, known, kind)
            self._report(touching, late, shared.reader[places], "read", None)
        self._after_visits(touching)
        if kind.writes:
            shared.written[places] = 1
            shared.writer[places] = touching.instruction.position
            shared.read[places] = 0
        else:
            shared.read[places] |= 1
        self._mark(touching)

    def own(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None, kind: Access
    ) -> None:
        """Threads touch the shared memory of their own CTA."""
        if not self.visitors or kind is Access.BARRIER:
            return
        self._follow()
        active = self.wave.active() if mask is None else np.broadcast_to(mask, self.wave.shape)
        visited = np.isin(np.arange(self.wave.shape[0]), list(self.visitors))
        threads = np.argwhere(active & visited[:, None, None])
        if not len(threads):
            return
        given = np.broadcast_to(offsets, self.wave.shape)[tuple(threads.T)]
        touching = Touching(instruction, kind, threads, threads[:, 0], given, size)
        self._after_visits(touching)
        if kind.writes:
            self._replaced(touching)

    def _known(self, touching: Touching) -> Array:
        """What each thread has seen of the warps of the CTA whose memory it touches, (n, warps)."""
        clocks = self.progress.clocks
        first = touching.owners % clocks.cluster * clocks.warps
        threads = touching.threads
        columns = first[:, None] + np.arange(clocks.warps)
        return np.asarray(clocks.known[threads[:, :1], threads[:, 1:2], columns])

    def _after_visits(self, touching: Touching) -> None:
        """What others did to the bytes must be ordered before."""
        clocks, threads = self.progress.clocks, touching.threads
        for owner in np.unique(touching.owners).tolist():
            visitors = self.visitors.get(owner)
            if visitors is None:
                continue
            chosen = np.flatnonzero(touching.owners == owner)
            bytes_ = touching.bytes(chosen)
            for marks, verb in visitors.all(writes=touching.kind.writes):
                time = marks.time[bytes_]
                if not time.any():
                    continue
                warps = marks.thread[bytes_] // LANES
                ctas, inside = np.divmod(warps, clocks.warps)
                columns = ctas % clocks.cluster * clocks.warps + inside
                seen = clocks.known[threads[chosen, :1], threads[chosen, 1:2], columns]
                own = threads[chosen, 0] * clocks.warps + threads[chosen, 1]
                late = (time > seen) & (warps != own[:, None])
                if touching.kind.synchronises:
                    late &= ~marks.together[bytes_]
                whole = np.zeros((len(threads), touching.size), np.bool_)
                whole[chosen] = late
                self._report(touching, whole, marks.position, verb, marks)

    def _mark(self, touching: Touching) -> None:
        """Remember who touched the bytes."""
        for owner in np.unique(touching.owners).tolist():
            visitors = self.visitors.get(owner)
            size = self.wave.memory.shared_stride
            if visitors is None:
                visitors = self.visitors[owner] = Visitors(Marks(size), {})
            of_owner = touching.owners == owner
            ranks = touching.threads[:, 0] % self.progress.clocks.cluster
            for rank in np.unique(ranks[of_owner]).tolist():
                chosen = np.flatnonzero(of_owner & (ranks == rank))
                marks = visitors.written
                if not touching.kind.writes:
                    marks = visitors.read.setdefault(rank, Marks(size))
                bytes_ = touching.bytes(chosen)
                ctas, warps, lanes = touching.threads[chosen].T
                numbers = (ctas * self.progress.clocks.warps + warps) * LANES + lanes
                marks.time[bytes_] = self.progress.clocks.now[ctas][:, None]
                marks.thread[bytes_] = numbers[:, None]
                marks.position[bytes_] = touching.instruction.position
                marks.together[bytes_] = touching.kind.synchronises
        if touching.kind.writes:
            self._unread(touching)

    def _replaced(self, touching: Touching) -> None:
        """Bytes hold what their own CTA has written: what others did before is over."""
        for owner in np.unique(touching.owners).tolist():
            bytes_ = touching.bytes(touching.owners == owner)
            self.visitors[owner].written.time[bytes_] = 0
        self._unread(touching)

    def _unread(self, touching: Touching) -> None:
        """Nobody has read yet what is written now."""
        for owner in np.unique(touching.owners).tolist():
            bytes_ = touching.bytes(touching.owners == owner)
            for marks in self.visitors[owner].read.values():
                marks.time[bytes_] = 0

    # Copies

    def unordered(
        self, thread: tuple[int, int, int], cta: int, granules: Array, size: int, *, writes: bool
    ) -> Iterator[tuple[int, int, str]]:
        """What others did to granules of a CTA that nothing orders before a thread's copy.

        Returns:
            The first such granule, the instruction by its position, and what that did.
        """
        visitors = self.visitors.get(cta)
        if visitors is None:
            return
        self._follow()
        clocks = self.progress.clocks
        bytes_ = granules[:, None] * size + np.arange(size)
        for marks, verb in visitors.all(writes=writes):
            ctas, warps = np.divmod(marks.thread[bytes_] // LANES, clocks.warps)
            columns = ctas % clocks.cluster * clocks.warps + warps
            late = marks.time[bytes_] > clocks.known[thread[0], thread[1], columns]
            late &= (ctas != thread[0]) | (warps != thread[1])
            if late.any():
                row, column = np.argwhere(late)[0]
                yield int(granules[row]), int(marks.position[bytes_[row, column]]), verb
            if writes:
                marks.time[bytes_] = 0

    def sent(self, thread: Array) -> tuple[int, int, int]:
        """A name for what a thread has just sent, and for all that it did before."""
        clocks = self.progress.clocks
        cta, warp, _ = (int(n) for n in thread)
        name = cta % clocks.cluster * clocks.warps + warp, int(clocks.now[cta])
        self.progress.pass_time(cta)
        return *name, self.progress.restarts

    def arrived(self, offset: int, home: int, sent: tuple[int, int, int]) -> None:
        """What was sent arrives, before the mbarrier of its CTA is told."""
        warp, time, restarts = sent
        if restarts == self.progress.restarts:  # if not, all has been seen
            self.progress.clocks.deliver(offset, home, warp, time)

    # In words

    def _blank(self, touching: Touching, blank: Array) -> None:
        self._add(
            "uninitialised",
            touching,
            blank,
            lambda i: (
                f"reads shared memory at {int(touching.offsets[i]):#x} of "
                f"{self.wave.cta_name(int(touching.owners[i]))} that nothing has written"
            ),
        )

    def _report(
        self, touching: Touching, late: Array, positions: Array, verb: str, marks: Marks | None
    ) -> None:
        """A race of some threads, (n, ...), with whoever touched what they do."""
        if not late.any():
            return
        column = late.argmax(axis=1)
        name = self.wave.thread_name

        def words(i: int) -> str:
            owner = int(touching.owners[i])
            if marks is None:
                who = f"a thread of {self.wave.cta_name(owner)}"
                position = int(positions[i, column[i]])
            else:
                byte = int(touching.offsets[i]) + int(column[i])
                position = int(positions[byte])
                warp, lane = divmod(int(marks.thread[byte]), LANES)
                who = name((*divmod(warp, self.wave.shape[1]), lane))
            whose = "" if owner == touching.threads[i, 0] else f" of {self.wave.cta_name(owner)}"
            return (
                f"{'writes' if touching.kind.writes else 'reads'} shared memory at "
                f"{int(touching.offsets[i]):#x}{whose}, which {who} {verb} at line "
                f"{self.findings.module.written_line(position)}, without anything that orders them"
            )

        self._add("race", touching, np.asarray(late.any(axis=1)), words)

    def _add(
        self, kind: str, touching: Touching, wrong: Array, words: Callable[[int], str]
    ) -> None:
        threads = np.zeros(self.wave.shape, np.bool_)
        threads[tuple(touching.threads[wrong].T)] = True
        number = {tuple(t): i for i, t in enumerate(touching.threads.tolist())}

        def say(at: Place) -> str:
            return words(number[at])

        self.findings.add(
            kind,
            touching.instruction,
            threads,
            say,
            lambda at: int(touching.offsets[number[at]]),
        )
