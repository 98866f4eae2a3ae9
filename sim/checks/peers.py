"""Shared memory of other CTAs of the cluster: whether they have begun, and whether they are gone.

CTAs of a cluster begin and exit when they like. What one does to another's shared memory must
come after a cluster barrier, and before another, or before an mbarrier's phase that the other sees
complete and that takes part in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa.wording import counted

from ..alu import Array
from ..clusters import Clusters
from ..findings import Findings
from ..memory import RANK_OFFSET, RANK_SHIFT
from ..phases import Phases
from ..ptx.module import Instruction
from ..wave import Wave

if TYPE_CHECKING:
    from .in_flight import Thread


@dataclass(slots=True)
class Visit:
    """A CTA's last access to another's shared memory.

    Attributes:
        instruction: the instruction.
        thread: who executed it.
        time: when, counted in accesses.
        arrivals: how often the thread had arrived at the cluster barrier.
        phase: the phase of the mbarrier that it took part in; None of another access.
    """

    instruction: Instruction
    thread: Thread
    time: int
    arrivals: int
    phase: int | None = None


class Peers:
    """What CTAs do to each other's shared memory."""

    def __init__(self, wave: Wave, findings: Findings, clusters: Clusters, phases: Phases) -> None:
        self.wave = wave
        self.findings = findings
        self.clusters = clusters
        self.phases = phases

    def begin(self) -> None:
        """Begin a wave."""
        self._time = 0
        self._visits: dict[tuple[int, int], Visit] = {}
        self._signals: dict[tuple[int, int, int], Visit] = {}

    def bounds(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None
    ) -> Array:
        """The threads whose access to another CTA's shared memory is legal."""
        shape = self.wave.shape
        active = np.broadcast_to(self.wave.active() if mask is None else mask, shape)
        addresses = np.broadcast_to(offsets, shape)
        rank, inside = (addresses >> RANK_SHIFT) - 1, addresses & RANK_OFFSET
        count = self.wave.geometry.cluster_ctas
        legal = active & (rank >= 0) & (rank < count)
        legal &= inside + size <= self.wave.memory.shared_bytes
        wrong = active & ~legal
        if wrong.any():
            self.findings.add(
                "out-of-bounds",
                instruction,
                wrong,
                lambda at: (
                    f"accesses {counted(size, 'byte')} at {int(inside[at]):#x} of the CTA of rank "
                    f"{int(rank[at])}; the cluster has {counted(count, 'CTA')} of "
                    f"{self.wave.memory.shared_bytes} bytes"
                ),
                lambda at: int(addresses[at]),
            )
        crooked = legal & (inside & (size - 1) != 0)
        if crooked.any():
            self.findings.add(
                "misaligned",
                instruction,
                crooked,
                lambda at: (
                    f"accesses {counted(size, 'byte')} at {int(inside[at]):#x}, "
                    f"which is not a multiple of {size}"
                ),
                lambda at: int(addresses[at]),
            )
        legal &= ~crooked
        first = np.arange(shape[0]).reshape(-1, 1, 1) // count * count
        owners = np.where(legal, first + rank, 0)
        for thread, owner in self._pairs(owners, legal):
            if not self.visit(instruction, thread, owner):
                legal[thread[0]] &= owners[thread[0]] != owner
        return np.asarray(legal)

    @staticmethod
    def _pairs(owners: Array, legal: Array) -> list[tuple[Thread, int]]:
        """Of each CTA and each other that it touches, the first thread."""
        found: dict[tuple[int, int], Thread] = {}
        places = np.argwhere(legal)
        keys = places[:, 0] * 65536 + owners[legal]
        _, first = np.unique(keys, return_index=True)
        for at in first.tolist():
            cta, warp, lane = (int(n) for n in places[at])
            found[cta, int(owners[cta, warp, lane])] = (cta, warp, lane)
        return [(thread, owner) for (_, owner), thread in found.items()]

    def visit(self, instruction: Instruction, thread: Thread, owner: int) -> bool:
        """A thread touches the shared memory of a CTA; whether that is there."""
        cta = thread[0]
        if owner == cta:
            return True
        live = self.wave.live
        if live is not None and not live[owner].any():
            self._blame(instruction, thread, owner, "which has exited")
            return False
        if not self.clusters.passed[cta]:
            self._blame(
                instruction, thread, owner, "before a cluster barrier shows that it has begun"
            )
        self._time += 1
        arrivals = int(self.clusters.arrivals[thread])
        self._visits[cta, owner] = Visit(instruction, thread, self._time, arrivals)
        return True

    def signal(self, instruction: Instruction, thread: Thread, owner: int, offset: int) -> None:
        """A thread takes part in a phase of the mbarrier at an offset in a CTA's shared memory."""
        if owner == thread[0]:
            return
        known = self.phases.known(offset)
        arrivals = int(self.clusters.arrivals[thread])
        if known is None or known.made[owner] < 0:
            self._blame(instruction, thread, owner, f"whose mbarrier at {offset:#x} does not exist")
            return
        if self.clusters.passed[thread[0]] <= known.made[owner]:
            self._blame(
                instruction,
                thread,
                owner,
                f"whose mbarrier at {offset:#x} is not known to be initialised: no cluster barrier "
                f"comes between",
            )
        elif known.hidden[owner]:
            self._blame(
                instruction,
                thread,
                owner,
                f"whose mbarrier at {offset:#x} was initialised without fence.mbarrier_init before "
                "a relaxed arrival",
            )
        self._time += 1
        self._visits.pop((thread[0], owner), None)
        self._signals[thread[0], owner, offset] = Visit(
            instruction, thread, self._time, arrivals, int(known.phase[owner])
        )

    def exited(self, threads: Array) -> None:
        """Threads exit; of CTAs that are gone now, others must not touch shared memory any more."""
        live = self.wave.live
        assert live is not None
        gone = threads.any(axis=(1, 2)) & ~live.any(axis=(1, 2))
        if not gone.any() or not (self._visits or self._signals):
            return
        for owner in np.flatnonzero(gone).tolist():
            passed = int(self.clusters.passed[owner])
            open_ = [v for (_, to), v in self._visits.items() if to == owner]
            for (_, to, offset), visit in self._signals.items():
                known = self.phases.known(offset)
                if to != owner or known is None or visit.phase is None:
                    continue
                if int(known.last[owner].max()) < visit.phase:
                    open_.append(visit)
            for visit in open_:
                if passed <= visit.arrivals:
                    self._blame(
                        visit.instruction,
                        visit.thread,
                        owner,
                        "which may exit first",
                    )

    def _blame(self, instruction: Instruction, thread: Thread, owner: int, why: str) -> None:
        threads = np.zeros(self.wave.shape, np.bool_)
        threads[thread] = True
        name = self.wave.cta_name(owner)
        self.findings.add(
            "cluster", instruction, threads, lambda _: f"accesses shared memory of {name}, {why}"
        )
