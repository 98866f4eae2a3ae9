"""Shared memory that asynchronous copies and products touch, and by which proxy it was written.

PTX ISA, "Async proxy". Of each 16-byte granule is known which operation wrote it last, how many
read it, and when a thread last wrote it by the generic proxy. An operation ends for a warp when it
has waited for it, or has met one that has.
"""

from __future__ import annotations

from itertools import chain

import numpy as np

from ..access import Access
from ..alu import Array
from ..findings import Findings, Place
from ..ptx.module import Instruction
from ..taint.marks import UNWRITTEN
from ..wave import Wave
from .operation import Operation
from .operations import GRANULE, Operations
from .peer_races import PeerRaces
from .progress import Progress
from .proxies import Proxies
from .sets import within
from .shared import SharedChecks

Thread = tuple[int, int, int]


class InFlight:
    """Checks what the asynchronous operations of a wave do, and what others do to their bytes."""

    def __init__(
        self,
        wave: Wave,
        findings: Findings,
        progress: Progress,
        shared: SharedChecks,
        races: PeerRaces,
    ) -> None:
        self.wave = wave
        self.findings = findings
        self.progress = progress
        self.shared = shared
        self.races = races
        self.proxies = Proxies(wave)
        self.operations = Operations(wave, progress)

    def begin(self) -> None:
        """Begin a wave."""
        self.operations.begin()
        self._count = self.operations.count
        self.proxies.begin(self.wave.shape[0] * self._count)
        self._waited: dict[int | None, Instruction | None] = {}

    # The generic proxy

    def generic(
        self,
        instruction: Instruction,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        owners: Array | None = None,
    ) -> None:
        """Threads access shared memory, of their CTA or of `owners`, (CTAs, warps, lanes)."""
        shape = self.wave.shape
        active = np.broadcast_to(self.wave.active() if mask is None else mask, shape)
        threads = np.argwhere(active)
        homes = threads[:, 0] if owners is None else owners[active]
        first = np.broadcast_to(offsets, shape)[active]
        for step in range(0, max(size, 1), GRANULE):
            flat = homes * self._count + ((first + step) >> 4)
            writers = self.operations.writer[flat]
            if writers.any():
                self._touched(instruction, flat, writers, threads, kind)
            if not kind.writes or kind is Access.BARRIER:
                continue
            if self.operations.busy[flat].any():
                self._overwritten(instruction, flat, threads)
            self.proxies.wrote(flat, self.proxies.number(*threads.T), instruction.position)
            self.operations.replace(flat[writers > 0])

    def _touched(
        self, instruction: Instruction, flat: Array, writers: Array, threads: Array, kind: Access
    ) -> None:
        """Threads, (n, 3), access what operations, by their numbers, have written."""
        self.operations.follow()
        ctas, warps, _ = self.wave.shape
        key = writers.astype(np.int64) * (ctas * warps) + threads[:, 0] * warps + threads[:, 1]
        for pair in np.unique(key[writers > 0]).tolist():
            number, who = divmod(pair, ctas * warps)
            operation = self.operations.writes[number]
            if operation.visible(self.progress.clocks, *divmod(who, warps)):
                continue
            chosen = np.flatnonzero(key == pair)
            verb = "writes" if kind.writes else "reads"
            self._add(
                "async",
                instruction,
                [_thread(t) for t in threads[chosen].tolist()],
                int(flat[chosen[0]]),
                f"{verb} shared memory at {{address:#x}}, {self._unseen(operation)}",
            )

    def _overwritten(self, instruction: Instruction, flat: Array, threads: Array) -> None:
        """Threads, (n, 3), write what operations may still read."""
        self.operations.follow()
        homes, warps = flat // self._count, self.wave.shape[1]
        who = threads[:, 0] * warps + threads[:, 1]
        for cta in np.unique(homes[self.operations.busy[flat] > 0]).tolist():
            for operation in list(self.operations.reads[cta]):
                hit = (homes == cta) & np.isin(flat, operation.granules + cta * self._count)
                for one in np.unique(who[hit]).tolist():
                    if not operation.visible(self.progress.clocks, *divmod(one, warps)):
                        chosen = hit & (who == one)
                        self._add(
                            "async",
                            instruction,
                            [_thread(t) for t in threads[chosen].tolist()],
                            int(flat[chosen.argmax()]),
                            f"writes shared memory at {{address:#x}}, {self._unread(operation)}",
                        )
                if hit.any():
                    self.operations.release(operation, flat[hit] - cta * self._count)

    def fence(self, threads: Array) -> None:
        """Threads execute `fence.proxy.async`."""
        self.proxies.fence(threads)

    # The asynchronous proxy

    def write(
        self,
        instruction: Instruction,
        thread: Thread,
        cta: int,
        granules: Array,
        barrier: int | None,
        swizzle: str = "",
        home: int = -1,
    ) -> Operation:
        """A thread has a copy write granules of a CTA's shared memory.

        Args:
            instruction: the instruction.
            thread: who issued it.
            cta: whose shared memory.
            granules: of 16 bytes, ascending, each once.
            barrier: offset of the mbarrier that is told.
            swizzle: how a tensor copy arranges it.
            home: the CTA of the mbarrier; -1 for the same.
        """
        operations = self.operations
        operations.follow()
        self._order(instruction, [thread], cta, granules, writes=True)
        self._settled(instruction, [thread], cta, granules, "writes")
        flat = cta * self._count + granules
        for operation in list(operations.reads[cta]) if operations.busy[flat].any() else ():
            common = within(operation.granules, granules)
            if not common.any():
                continue
            if not operation.visible(self.progress.clocks, *thread[:2]):
                self._add(
                    "async",
                    instruction,
                    [thread],
                    cta * self._count + int(operation.granules[common][0]),
                    f"has shared memory at {{address:#x}} overwritten, {self._unread(operation)}",
                )
            operations.release(operation, operation.granules[common])
        self.proxies.replaced(flat)
        self.shared.overwrite(cta, granules, instruction)
        return operations.add_write(instruction, cta, granules, barrier, swizzle, home)

    def read(
        self,
        instruction: Instruction,
        threads: list[Thread],
        granules: Array,
        *,
        followed: bool = False,
        padded: bool = False,
        cta: int | None = None,
    ) -> Operation:
        """Threads, of one CTA and one warp each, have granules of its shared memory read.

        Args:
            instruction: the instruction.
            threads: one of each warp that takes part.
            granules: of 16 bytes, ascending, each once.
            followed: whether what comes of undefined bytes is followed.
            padded: whether there are bytes between that do not matter.
            cta: whose shared memory it is, if it is another's of the cluster.
        """
        self.operations.follow()
        cta = threads[0][0] if cta is None else cta
        # Which bytes of a padded granule count is not known here.
        if not followed and not padded:
            self._defined(instruction, threads[0], cta, granules)
        elif (
            followed
            and not self.shared.taint.active
            and self.shared.blank(cta, granules) is not None
        ):
            self.shared.taint.start(instruction)
        self._order(instruction, threads, cta, granules, writes=False)
        self._settled(instruction, threads, cta, granules, "reads")
        self.shared.consumed(cta, granules)
        return self.operations.add_read(instruction, cta, granules)

    def swizzled_otherwise(self, cta: int, granules: Array, swizzle: str) -> Operation | None:
        """An operation that wrote any of some granules by another swizzle, if it had one."""
        for operation in self.operations.writers(cta * self._count + granules):
            if operation.swizzle and operation.swizzle != swizzle:
                return operation
        return None

    def _settled(
        self,
        instruction: Instruction,
        threads: list[Thread],
        cta: int,
        granules: Array,
        verb: str,
    ) -> None:
        """What is touched must have arrived, if an operation writes it."""
        flat = cta * self._count + granules
        for operation in self.operations.writers(flat):
            late = [t for t in threads if not operation.visible(self.progress.clocks, *t[:2])]
            if late:
                at = int(flat[np.argmax(self.operations.writer[flat] == operation.number)])
                self._add(
                    "async",
                    instruction,
                    late,
                    at,
                    f"{verb} shared memory at {{address:#x}} by the asynchronous proxy, "
                    f"{self._unseen(operation)}",
                )

    def _order(
        self,
        instruction: Instruction,
        threads: list[Thread],
        cta: int,
        granules: Array,
        *,
        writes: bool,
    ) -> None:
        """What threads did to the granules must be ordered, and fenced from the generic proxy."""
        flat = cta * self._count + granules
        verb = "overwrites" if writes else "reads"
        unfenced = self.proxies.unfenced(threads, flat)
        if unfenced is not None:
            self._add(
                "proxy",
                instruction,
                threads[:1],
                unfenced[0],
                f"{verb} shared memory at {{address:#x}} by the asynchronous proxy, which line "
                f"{self._of(unfenced[1])} wrote by the generic one: there is no fence.proxy.async "
                f"between them",
            )
        clocks, strict = self.progress.clocks, len(threads) == 1
        for thread in threads:
            for place, position, did in chain(
                self.shared.unordered(clocks, thread, cta, granules, writes=writes, strict=strict),
                self.races.unordered(thread, cta, granules, GRANULE, writes=writes),
            ):
                self._add(
                    "race",
                    instruction,
                    [thread],
                    cta * self._count + place,
                    f"{verb} shared memory at {{address:#x}}, which another thread {did} at line "
                    f"{self._of(position)}, without a barrier between them",
                )

    def _defined(self, instruction: Instruction, thread: Thread, cta: int, granules: Array) -> None:
        """What a copy reads must have been written, for it goes where it is not followed."""
        taint = self.shared.taint
        blank = None if taint.active else self.shared.blank(cta, granules)
        words = "reads shared memory at {address:#x} that nothing has written"
        if taint.active:
            places = self.shared.places(cta, granules)
            dirty = [number for number, at in enumerate(places) if taint.dirty(at)]
            if dirty:
                blank, origin = int(granules[dirty[0]]), taint.dirty(places[dirty[0]])
                if origin != UNWRITTEN:
                    words = (
                        "reads shared memory at {address:#x}, which holds what line "
                        f"{self._of(origin - 1)} read and nothing has written"
                    )
        if blank is not None:
            flat = cta * self._count + blank
            self._add("uninitialised", instruction, [thread], flat, words)

    # Waits

    def finish(self, operation: Operation, warps: Array) -> None:
        """Warps, (warps,), have waited for an operation."""
        self.operations.finish(operation, warps)

    def observed(
        self, instruction: Instruction | None, offset: int, threads: Array, phases: Array
    ) -> None:
        """Threads see that a phase of their CTA's mbarrier at an offset is complete.

        Args:
            instruction: the wait.
            offset: where the mbarrier is.
            threads: who, (CTAs, warps, lanes).
            phases: phases that it has completed, (CTAs,).
        """
        self._waited[offset] = instruction
        self.operations.observed(offset, threads, phases)

    # In words

    def _of(self, position: int) -> str:
        return self.findings.module.written_line(position)

    def _unseen(self, operation: Operation) -> str:
        what = f"which '{operation.instruction.mnemonic}' of line"
        line = self._of(operation.instruction.position)
        if operation.complete:
            return f"{what} {line} wrote, without a wait that orders it"
        waited = self._waited.get(operation.barrier)
        before = "before the wait for it"
        if waited is not None:
            before = f"though line {self._of(waited.position)} has waited, for a phase before that"
        return f"{what} {line} writes, {before}"

    def _unread(self, operation: Operation) -> str:
        what = f"which '{operation.instruction.mnemonic}' of line"
        line = self._of(operation.instruction.position)
        if operation.complete:
            return f"{what} {line} read, without anything that orders it after that"
        return f"{what} {line} may still read"

    def _add(
        self, kind: str, instruction: Instruction, threads: list[Thread], flat: int, words: str
    ) -> None:
        mask = np.zeros(self.wave.shape, np.bool_)
        for thread in threads:
            mask[thread] = True
        address = flat % self._count * GRANULE
        text = words.format(address=address)

        def say(at: Place) -> str:
            del at
            return text

        self.findings.add(kind, instruction, mask, say, lambda _: address)


def _thread(at: list[int]) -> Thread:
    return at[0], at[1], at[2]
