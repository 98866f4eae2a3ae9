"""The mbarriers of a wave: how many phases each has completed, and who waits for which.

PTX ISA, "mbarrier". An object itself is 64 bits of shared memory: pending arrivals in bits 0 to
19, expected arrivals in 20 to 39, the number of completed phases, modulo 4, in 40 and 41, and
above, in two's complement, the pending bytes of copies. What is here stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tilec.isa.limits import COUNT_BITS, MOST_COUNTED

from .alu import Array
from .ptx.module import Instruction
from .wave import Wave

PHASE_SHIFT, PHASE = 40, 3
BYTES_SHIFT = 42
U64 = np.dtype(np.uint64)
NEVER = -2
"""In place of a phase: none."""


def pack(pending: Array, expected: Array, phase: Array, bytes_: Array) -> Array:
    """The object of some counts."""
    state = (
        pending | expected << COUNT_BITS | (phase & PHASE) << PHASE_SHIFT | bytes_ << BYTES_SHIFT
    )
    return np.asarray(state).astype(np.int64).view(U64)


def unpack(state: Array) -> tuple[Array, Array, Array, Array]:
    """Pending and expected arrivals, the phase modulo 4, and the pending bytes."""
    signed = state.view(np.int64)
    return (
        signed & MOST_COUNTED,
        signed >> COUNT_BITS & MOST_COUNTED,
        signed >> PHASE_SHIFT & PHASE,
        signed >> BYTES_SHIFT,
    )


@dataclass(slots=True)
class Phased:
    """The mbarriers at one offset of shared memory, of all CTAs.

    Attributes:
        phase: phases that each CTA's has completed, (CTAs,).
        last: the phase that each warp has last seen complete, from -1 on, as that before the first
            is; NEVER if none, (CTAs, warps).
        told: the time of its CTA when each warp last saw one complete, likewise.
        regular: whether each warp has waited for one phase after the other, (CTAs, warps).
        made: how often who initialised each had arrived at the cluster barrier before, -1 if
            nobody has, (CTAs,).
        hidden: whether nothing has published that since, (CTAs,).
        maker: the warp that initialised each, (CTAs,).
        when: the time of its CTA then, likewise.
        ordered: warps that have been asked whether they come after that, (CTAs, warps).
        instruction: the last that touched any of them.
        signals: all that have, by their positions.
        waited: the last wait for which a phase was complete.
    """

    phase: Array
    last: Array
    told: Array
    regular: Array
    made: Array
    hidden: Array
    maker: Array
    when: Array
    ordered: Array
    instruction: Instruction
    signals: dict[int, Instruction] = field(default_factory=dict)
    waited: Instruction | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A wait that was in vain.

    Attributes:
        instruction: the wait.
        offset: where the mbarrier is.
        parity: of the phase that is waited for.
    """

    instruction: Instruction
    offset: int
    parity: int


class Phases:
    """The mbarriers of a wave.

    Attributes:
        events: how often something happened that may let waiting threads go on.
        vain: threads whose last wait was in vain, since the scheduler has asked; None if none.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.restart()

    def restart(self) -> None:
        """Begin a launch."""
        self.events = 0
        self.vain: Array | None = None
        self._at: dict[int, Phased] = {}
        self._sites: dict[tuple[int, int, int], int] = {}
        self._site_of: list[Site] = []
        self._last_site = np.zeros((0, 0), np.int64)

    def begin(self) -> None:
        """Begin a wave."""
        self.vain = None
        self._at.clear()
        self._last_site = np.full(self.wave.shape[:2], -1, np.int64)

    def places(self, index: Array) -> tuple[Array, Array]:
        """CTA and offset in shared memory of 8-byte elements of memory."""
        memory = self.wave.memory
        return np.divmod((index << 3) - memory.shared_base, memory.shared_stride)

    def items(self) -> list[tuple[int, Phased]]:
        """Every mbarrier's offset, and what is known of it."""
        return list(self._at.items())

    def known(self, offset: int) -> Phased | None:
        """What is known of the mbarriers at an offset; None if none was ever made there."""
        return self._at.get(offset)

    def make(self, instruction: Instruction, ctas: Array, offset: int, arrivals: Array) -> None:
        """`mbarrier.init` in some CTAs, by threads that so often were at the cluster barrier."""
        found = self._at.get(offset)
        if found is None:
            count, warps, _ = self.wave.shape
            found = self._at[offset] = Phased(
                np.zeros(count, np.int64),
                np.full((count, warps), NEVER, np.int64),
                np.zeros((count, warps), np.int64),
                np.ones((count, warps), np.bool_),
                np.full(count, -1, np.int64),
                np.zeros(count, np.bool_),
                np.zeros(count, np.int64),
                np.zeros(count, np.int64),
                np.ones((count, warps), np.bool_),
                instruction,
            )
        found.phase[ctas] = 0
        found.last[ctas] = NEVER
        found.regular[ctas] = True
        found.made[ctas] = arrivals
        found.hidden[ctas] = True
        found.instruction = instruction
        self.events += 1

    def change(
        self, instruction: Instruction, index: Array, before: Array, after: Array
    ) -> list[tuple[int, Array]]:
        """Objects have changed; offsets of those that completed a phase, with their CTAs.

        Args:
            instruction: what changed them.
            index: the objects, each once.
            before: what they were.
            after: what they are.
        """
        self.events += 1
        ctas, offsets = self.places(index)
        steps = (unpack(after)[2] - unpack(before)[2]) & PHASE
        completed = []
        for offset in np.unique(offsets).tolist():
            found = self._at.get(offset)
            if found is None:
                continue
            found.instruction = instruction
            found.signals[instruction.position] = instruction
            chosen = (offsets == offset) & (steps > 0)
            if chosen.any():
                found.phase[ctas[chosen]] += steps[chosen]
                completed.append((offset, ctas[chosen]))
        return completed

    def publish(self, ctas: Array) -> None:
        """Some CTAs publish what mbarriers they have made."""
        for found in self._at.values():
            found.hidden[ctas] = False

    # Waits

    def tested(
        self, instruction: Instruction, offset: int, threads: Array, done: Array, parity: Array
    ) -> Array | None:
        """Threads have asked their CTA's mbarrier at an offset.

        Args:
            instruction: the wait.
            offset: where the mbarrier is.
            threads: who asked, (CTAs, warps, lanes).
            done: who was told that the phase is complete, likewise.
            parity: of the phase that each asked for, likewise.

        Returns:
            Threads that ask for a phase two or more behind the current one; None if there are none.
        """
        found = self._at.get(offset)
        vain = threads & ~done
        late = None
        if vain.any():
            self.vain = vain if self.vain is None else self.vain | vain
            self._note(instruction, offset, vain, parity)
            if found is not None:
                late = self._late(found, vain, parity)
        if found is not None and done.any():
            found.waited = instruction
            warps = done.any(axis=2)
            current = found.phase[:, None] - 1
            step = current - found.last
            found.regular &= ~warps | (step <= 1) | (found.last == NEVER)
            found.last = np.where(warps, current, found.last)
        return late

    @staticmethod
    def _late(found: Phased, vain: Array, parity: Array) -> Array | None:
        """Who waits for the phase after the last it saw, though two have ended since."""
        due = found.last + 1
        behind = found.regular & (found.last > NEVER) & (found.phase[:, None] >= due + 2)
        if not behind.any():
            return None
        late = vain & behind[..., None] & (parity == (due & 1)[..., None])
        return late if late.any() else None

    def _note(self, instruction: Instruction, offset: int, vain: Array, parity: Array) -> None:
        """Remember where warps wait."""
        for bit in (0, 1):
            warps = (vain & ((parity & 1) == bit)).any(axis=2)
            if not warps.any():
                continue
            key = (instruction.position, offset, bit)
            number = self._sites.setdefault(key, len(self._sites))
            if number == len(self._site_of):
                self._site_of.append(Site(instruction, offset, bit))
            self._last_site[warps] = number

    def waiting(self, threads: Array) -> list[tuple[Site, int, list[int]]]:
        """Where the warps of some threads wait: the site, the CTA, and its warps there."""
        found: dict[tuple[int, int], list[int]] = {}
        for cta, warp in np.argwhere(threads.any(axis=2)).tolist():
            number = int(self._last_site[cta, warp])
            if number >= 0:
                found.setdefault((cta, number), []).append(warp)
        return [(self._site_of[site], cta, warps) for (cta, site), warps in found.items()]
