"""Accesses to granules of global memory where CTAs may meet: who raced whom, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from ..access import Access
from ..alu import Array
from ..findings import Findings, Place
from ..memory import GLOBAL_BASE
from ..ptx.module import Instruction
from ..wave import Wave
from .grid_clocks import GridClocks
from .owners import (
    CTA,
    CTAS,
    INSTRUCTION,
    INSTRUCTIONS,
    REACH,
    SEVERAL,
    TIME,
    TIMES,
    Owners,
    field,
    foreign,
)
from .semantics import Reach

_SEVERAL = np.uint64(1 << SEVERAL)


T = TypeVar("T")


def _first(found: T, _: Place) -> T:
    """What is said of the first thread."""
    return found


@dataclass(slots=True, eq=False)
class Lanes:
    """Threads that access an allocation.

    Attributes:
        instruction: the instruction.
        kind: what they do.
        size: bytes of each.
        threads: who, numbered in the wave from 0, (n,).
        places: where in the allocation their bytes begin, (n,).
        stamps: their epochs, (n,).
        values: the chunks, low to high, that each thread of the wave is about to write, if known.
    """

    instruction: Instruction
    kind: Access
    size: int
    threads: Array
    places: Array
    stamps: Array
    values: Sequence[Array] | None

    def written(self, rows: Array, columns: Array, granule: int, shape: tuple[int, ...]) -> Array:
        """What some of them are about to write to some of their granules, (m, granule) bytes."""
        assert self.values is not None
        at = np.unravel_index(self.threads[rows], shape)
        chunks = [np.broadcast_to(chunk, shape)[at][:, None] for chunk in self.values]
        parts = [np.ascontiguousarray(chunk).view(np.uint8) for chunk in chunks]
        whole = np.concatenate(parts, axis=1).reshape(len(rows), -1, granule)
        found: Array = whole[np.arange(len(rows)), columns]
        return found


class Copied(Lanes):
    """What one thread's copy touches, a row for each of its parts.

    Attributes:
        values: the bytes that it is about to write, (n, size), as the only element, if known.
    """

    __slots__ = ()

    def written(self, rows: Array, columns: Array, granule: int, shape: tuple[int, ...]) -> Array:
        """What some of the parts are about to bring to some of their granules, (m, granule)."""
        del shape
        assert self.values is not None
        whole = self.values[0][rows].reshape(len(rows), -1, granule)
        found: Array = whole[np.arange(len(rows)), columns]
        return found


class Encounters:
    """Holds accesses against the epochs of granules.

    Attributes:
        wave: the threads.
        findings: where races go.
        clocks: what CTAs know of each other.
        instructions: those of epochs; their numbers begin at 1.
    """

    def __init__(
        self,
        wave: Wave,
        findings: Findings,
        clocks: GridClocks,
        instructions: Sequence[Instruction],
    ) -> None:
        self.wave = wave
        self.findings = findings
        self.clocks = clocks
        self.instructions = instructions

    def take(self, owners: Owners, lanes: Lanes) -> None:
        """Hold an access against what was before, and remember it."""
        owners.split_up(lanes.places >> (owners.segment.bit_length() - 1))
        first = lanes.places >> (owners.granule.bit_length() - 1)
        places = first[:, None] + np.arange(lanes.size // owners.granule)
        stamps = np.broadcast_to(lanes.stamps[:, None], places.shape)
        epochs = owners.granules
        marked: Array = stamps
        before = epochs.writer[places]
        repeated = self._hold(owners, lanes, places, before, stamps, wrote=True)
        if repeated is not None:
            marked = np.where(repeated, marked | _SEVERAL, marked)
        if lanes.kind.writes:
            for before in epochs.readers(places):
                self._hold(owners, lanes, places, before, stamps, wrote=False)
            epochs.write_by(places, marked)
            self._at_once(owners, lanes, places, stamps)
        else:
            epochs.read_by(places, stamps)

    def _hold(
        self,
        owners: Owners,
        lanes: Lanes,
        places: Array,
        before: Array,
        stamps: Array,
        *,
        wrote: bool,
    ) -> Array | None:
        """Report what races with the epochs `before`; where the same is written again, (n, m)."""
        rows, columns = np.nonzero((before != 0) & foreign(before, stamps))
        if not rows.size:
            return None
        others = before[rows, columns]
        found = self._unordered(others, stamps[rows, 0])
        if not lanes.kind.writes:
            found &= others & _SEVERAL == 0
        if not found.any():
            return None
        rows, columns, others = rows[found], columns[found], others[found]
        same = np.zeros(len(rows), np.bool_)
        if lanes.kind.writes and lanes.values is not None:
            new = lanes.written(rows, columns, owners.granule, self.wave.shape)
            same = (new == self._found(owners, places[rows, columns])).all(axis=1)
        self._report(owners, lanes, places, (rows, columns), others, same, wrote=wrote)
        repeated = np.zeros(places.shape, np.bool_)
        repeated[rows[same], columns[same]] = True
        return repeated

    def _at_once(self, owners: Owners, lanes: Lanes, places: Array, stamps: Array) -> None:
        """CTAs that write the same granules in one instruction: all but the last find that."""
        last = owners.granules.writer[places]
        lost = foreign(last, stamps)
        rows, columns = np.nonzero(lost)
        if not rows.size:
            return
        found = self._unordered(last[rows, columns], stamps[rows, 0])
        rows, columns = rows[found], columns[found]
        if not rows.size:
            return
        same = np.zeros(len(rows), np.bool_)
        if lanes.values is not None:
            granule, shape = owners.granule, self.wave.shape
            others = np.stack(np.nonzero(~lost), axis=1)
            at = places[others[:, 0], others[:, 1]]
            order = np.argsort(at, kind="stable")
            index = np.searchsorted(at[order], places[rows, columns], side="right") - 1
            winner = others[order[index]]
            left = lanes.written(winner[:, 0], winner[:, 1], granule, shape)
            same = (lanes.written(rows, columns, granule, shape) == left).all(axis=1)
        owners.granules.writer[places[rows[same], columns[same]]] |= _SEVERAL
        found_there = last[rows, columns]
        self._report(owners, lanes, places, (rows, columns), found_there, same, wrote=True)

    def _found(self, owners: Owners, places: Array) -> Array:
        """What granules hold, (n, granule) bytes."""
        first = owners.allocation.start + places * owners.granule
        found: Array = self.wave.memory.data[first[:, None] + np.arange(owners.granule)]
        return found

    def _unordered(self, others: Array, mine: Array) -> Array:
        """Which pairs of epochs race."""
        cluster, warps = self.wave.geometry.cluster_ctas, self.wave.shape[1]
        other, me = field(others, CTA, 22) - 1, field(mine, CTA, 22) - 1
        together = other // cluster == me // cluster
        reach = np.minimum(field(others, REACH, 2), field(mine, REACH, 2))
        found = (reach < Reach.CLUSTER) | ((reach < Reach.GRID) & ~together)
        local, warp = me - self.wave.first_cta, field(mine, 0, CTA)
        other_warp, time = field(others, 0, CTA), field(others, TIME, 24)
        found &= time < TIMES
        if cluster > 1 and (found & together).any():
            known = self.clocks.of_clusters()
            peer = other % cluster * warps + other_warp
            found &= ~(together & (known[local, warp, peer] >= time))
        if found.any() and not self.clocks.silent:
            at = other * warps + other_warp
            moment = self.clocks.moment()
            found &= ~self.clocks.ordered(moment, local, warp, at, time)
        return np.asarray(found)

    def _report(
        self,
        owners: Owners,
        lanes: Lanes,
        places: Array,
        where: tuple[Array, Array],
        others: Array,
        same: Array,
        *,
        wrote: bool,
    ) -> None:
        """Add pairs to the findings, and those that wrote the same to the advice."""
        base = GLOBAL_BASE + owners.allocation.start
        for harmless in (False, True):
            chosen = same if harmless else ~same
            if not chosen.any() or (harmless and not wrote):
                continue
            rows, columns = (part[chosen] for part in where)
            threads = np.zeros(self.wave.shape, np.bool_)
            threads.reshape(-1)[lanes.threads[rows]] = True
            # The findings name the first thread alone.
            pair = int(np.argmin(lanes.threads[rows]))
            byte = int(places[rows[pair], columns[pair]]) * owners.granule
            words = self._words(lanes, owners, byte, int(others[chosen][pair]), wrote, harmless)
            said, at = partial(_first, words), partial(_first, base + byte)
            kind = "same-value" if harmless else "race"
            self.findings.add(kind, lanes.instruction, threads, said, at, harmless=harmless)

    def _words(
        self, lanes: Lanes, owners: Owners, byte: int, other: int, wrote: bool, harmless: bool
    ) -> str:
        cta = self.wave.place((other >> CTA) % CTAS - 1)
        number = other >> INSTRUCTION
        line = ""
        if 0 < number < INSTRUCTIONS:
            position = self.instructions[number - 1].position
            line = f" at line {self.findings.module.written_line(position)}"
        who = f"warp {other % (1 << CTA)} of CTA {cta}"
        where = f"{'writes' if lanes.kind.writes else 'reads'} byte {byte} of"
        where = f"{where} {owners.allocation.name}"
        if harmless:
            return (
                f"{where} with the value that {who} writes there{line}, unordered; by the memory "
                f"model this is a race: let one CTA write it"
            )
        did = "wrote" if wrote else "read"
        return f"{where}, which {who} {did}{line}; nothing orders the two CTAs"
