"""Programs that use mbarriers, and what these order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..alu import Array
from ..findings import Findings
from ..phases import NEVER, Phased, Phases
from ..ptx.module import Instruction
from ..wave import Wave
from .progress import Progress

if TYPE_CHECKING:
    from .in_flight import InFlight


class MBarrierChecks:
    """Checks the use of mbarriers, and passes on what those who arrive have done."""

    def __init__(
        self,
        wave: Wave,
        findings: Findings,
        phases: Phases,
        progress: Progress,
        in_flight: InFlight | None,
    ) -> None:
        self.wave = wave
        self.findings = findings
        self.phases = phases
        self.progress = progress
        self.in_flight = in_flight

    def signal(self, index: Array, threads: Array) -> None:
        """Threads arrive at mbarriers, and release what they have done.

        Args:
            index: the 8-byte element of memory of each thread's.
            threads: which threads, (CTAs, warps, lanes).
        """
        ctas, offsets = self.phases.places(index)
        own = ctas == np.nonzero(threads)[0]
        for offset in np.unique(offsets[own]).tolist():
            some = np.zeros(self.wave.shape, np.bool_)
            some[threads] = own & (offsets == offset)
            self.progress.signal(offset, some)
        for offset in np.unique(offsets[~own]).tolist():
            chosen = ~own & (offsets == offset)
            self.progress.signal_peers(offset, np.argwhere(threads)[chosen], ctas[chosen])

    def completed(self, offset: int, ctas: Array) -> None:
        """The mbarrier at an offset has completed a phase in some CTAs."""
        self.progress.complete(offset, ctas)

    def observed(self, offset: int, threads: Array) -> None:
        """Threads see that a phase of the mbarrier at an offset is complete."""
        if not threads.any():
            return
        self.progress.observe(offset, threads)
        known = self.phases.known(offset)
        if known is None:
            return
        time = self.progress.past + self.progress.clocks.now[:, None]
        known.told = np.where(threads.any(axis=2), time, known.told)
        if self.in_flight is not None:
            self.in_flight.observed(known.waited, offset, threads, known.phase)

    def made(self, offset: int, ctas: Array, warps: Array) -> None:
        """Warps of some CTAs have initialised the mbarrier at an offset."""
        known = self.phases.known(offset)
        assert known is not None
        self.progress.expand()
        known.maker[ctas] = warps
        known.when[ctas] = self.progress.clocks.now[ctas]
        known.ordered[ctas] = False
        known.ordered[ctas, warps] = True

    def used(self, instruction: Instruction, offsets: Array, mask: Array | None) -> None:
        """Threads use mbarriers of their CTA, which must have been initialised before."""
        threads = self.wave.active() if mask is None else np.broadcast_to(mask, self.wave.shape)
        for offset in np.unique(offsets[threads]).tolist():
            known = self.phases.known(offset)
            if known is None:
                continue
            asking = (threads & (offsets == offset)).any(axis=2) & ~known.ordered
            if not asking.any():
                continue
            self.progress.expand()
            seen = self.progress.clocks.seen
            ctas, warps = np.nonzero(asking)
            racing = seen[ctas, warps, known.maker[ctas]] < known.when[ctas]
            known.ordered[ctas, warps] = True
            if racing.any():
                wrong = np.zeros(self.wave.shape, np.bool_)
                wrong[ctas[racing], warps[racing]] = threads[ctas[racing], warps[racing]]
                self._too_soon(instruction, wrong, offset)

    def _too_soon(self, instruction: Instruction, threads: Array, offset: int) -> None:
        self.findings.add(
            "race",
            instruction,
            threads,
            lambda _: (
                f"uses the mbarrier at {offset:#x}, which another warp has initialised, without a "
                "barrier between them"
            ),
            lambda _: offset,
        )

    def arrived(self, instruction: Instruction, threads: Array, pending: Array) -> None:
        """Some threads have arrived where fewer arrivals were pending than they brought."""
        if threads.any():
            self.findings.add(
                "mbarrier",
                instruction,
                threads,
                lambda at: (
                    f"arrives more often than the phase expects, which waits for {int(pending[at])}"
                ),
            )

    def late(self, instruction: Instruction, offset: int, threads: Array) -> None:
        """Threads wait for a phase that is not the current or the previous one."""
        known = self.phases.known(offset)
        assert known is not None
        latest = self._latest(known)
        due = latest + 1
        behind = ((latest - known.last) % 2 == 0) & (known.phase[:, None] >= due + 2)
        wrong = threads & behind[..., None]
        if not wrong.any():
            return
        self.findings.add(
            "mbarrier",
            instruction,
            wrong,
            lambda at: (
                f"waits for phase {int(due[at[0], at[1]])} of the mbarrier at "
                f"{offset:#x}, which is in phase {int(known.phase[at[0]])}; legal: the current "
                "phase and the one before it"
            ),
            lambda _: offset,
        )

    def _latest(self, known: Phased) -> Array:
        """The last phase that each warp knows to be complete, by itself or from another warp.

        Who takes turns with others may leave out the phases that they have waited for.
        """
        self.progress.expand()
        seen = self.progress.past + self.progress.clocks.seen
        told = np.where(seen >= known.told[:, None, :], known.last[:, None, :], NEVER)
        return np.asarray(np.maximum(known.last, told.max(axis=2)))
