"""Waves of one launch that processes run apart, put together as if one had run them all.

That is so where no part touches what another has written: then each finds in memory what it would
find had the others run, or not. Which bytes parts touch is only known once they have run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .alu import Array
from .counting import Counts, together
from .footprint import spans
from .memory import GLOBAL_BASE
from .report import Finding, Report
from .run import Run
from .special import CLOCKS

Key = tuple[str, int]
"""Kind of a finding, and the position of its instruction."""


@dataclass(frozen=True)
class Part:
    """What some waves of a launch did.

    Attributes:
        waves: which.
        completed: whether they came to their end.
        counts: what they executed.
        findings: what is wrong, in the order of discovery; what ended the run has no key.
        advice: what is better avoided, likewise.
        unchecked: what was not looked for.
        race_bytes: memory that was taken for races between CTAs.
        read, written: bytes of global memory, from and to, (n, 2).
        data: what those that were written hold in the end, one after the other.
    """

    waves: range
    completed: bool
    counts: Counts
    findings: Sequence[tuple[Key | None, Finding]]
    advice: Sequence[tuple[Key | None, Finding]]
    unchecked: Sequence[str]
    race_bytes: int
    read: Array
    written: Array
    data: Array


def why_whole(run: Run) -> str:
    """Why the waves of a launch cannot be run apart, as far as is known before; empty if not."""
    if run.machine.observer is None:
        return "without checks it is not known what CTAs read and write"
    if run.machine.heap is not None:
        return "its CTAs allocate from one heap"
    if run.placement.takes_over:
        return "its CTAs take over the work of clusters that have not started"
    if run.placement.named(*CLOCKS):
        return "it reads a clock, which counts what all CTAs before did"
    if run.waves == 1:
        return "its CTAs are one wave, whose threads the simulator runs together"
    return ""


def split(waves: int, parts: int) -> list[range]:
    """Waves in parts of about the same number, at least one each."""
    parts = min(waves, parts)
    ends = [number * waves // parts for number in range(parts + 1)]
    return [range(first, last) for first, last in pairwise(ends)]


def part_of(run: Run, waves: range) -> Part:
    """Run some waves, of a launch whose footprint is noted, and nothing else of it."""
    assert run.footprint is not None
    run.simulate(waves)
    keys = {id(finding): key for key, finding in run.found.items()}
    read, written = spans(run.footprint.read), spans(run.footprint.written)
    data = run.machine.memory.data[: len(run.footprint.written)]
    return Part(
        waves,
        run.completed,
        run.counts(),
        [(keys.get(id(one)), one) for one in run.findings],
        [(keys.get(id(one)), one) for one in run.advice],
        run.unchecked,
        run.race_bytes,
        read,
        written,
        data[run.footprint.written != 0],
    )


class Assembly:
    """Parts of a launch, as they come.

    Args:
        run: the launch, of which nothing has been run; that of the whole in the end.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._parts: dict[int, Part] = {}
        size = run.machine.memory.shared_base
        # Of each byte the part that wrote it, and the last that read it, by its first wave, from 1.
        self._writer, self._reader = (np.zeros(size, np.int32) for _ in range(2))

    def add(self, part: Part) -> str:
        """Take a part.

        Returns:
            Why it and others cannot be put together; empty if they can.
        """
        number, known = part.waves.start + 1, self._parts
        known[part.waves.start] = part
        wrote, read = self._marks(part.written), self._marks(part.read)
        for mine, others, verb, did in (
            (wrote, self._writer, "write", "write"),
            (read, self._writer, "read", "write"),
            (wrote, self._reader, "write", "read"),
        ):
            met = mine & (others != 0)
            if met.any():
                byte = int(met.argmax())
                other = known[int(others[byte]) - 1]
                return self._words(part, other, byte, verb, did)
        self._writer[wrote] = number
        self._reader[read] = number
        return ""

    def _marks(self, found: Array) -> Array:
        """Bytes of global memory that lie in spans."""
        edges = np.zeros(len(self._writer) + 1, np.int8)
        edges[found[:, 0]] += 1
        edges[found[:, 1]] -= 1
        return np.asarray(np.cumsum(edges[:-1], dtype=np.int8) != 0)

    def _words(self, part: Part, other: Part, byte: int, verb: str, did: str) -> str:
        allocation = self._run.machine.memory.allocation(byte)
        where = f"byte {byte + GLOBAL_BASE:#x}"
        if allocation is not None:
            where = f"byte {byte - allocation.start} of {allocation.name}"
        mine, its = (self._run.ctas(one.waves) for one in (part, other))
        return (
            f"CTAs {mine.start} to {mine.stop - 1} {verb} {where}, which CTAs {its.start} to "
            f"{its.stop - 1} {did}"
        )

    def report(self) -> Report:
        """The report of the whole launch, whose arrays are changed in place."""
        run, done = self._run, list[Part]()
        for _, part in sorted(self._parts.items()):
            done.append(part)
            run.completed = part.completed
            if not part.completed:
                break  # the waves that follow would not have been run
        data = run.machine.memory.data[: len(self._writer)]
        for part in done:
            data[self._marks(part.written)] = part.data
        run.copy_back()
        run.findings += _merged([one for part in done for one in part.findings])
        run.advice += _merged([one for part in done for one in part.advice])
        made = run.report(together([part.counts for part in done]))
        made.unchecked = list(dict.fromkeys(what for part in done for what in part.unchecked))
        made.race_bytes = max(part.race_bytes for part in done)  # of one process
        return made


def _merged(found: Sequence[tuple[Key | None, Finding]]) -> list[Finding]:
    """Findings of one kind and instruction as one: the first, which counts the threads of all."""
    first: dict[Key, Finding] = {}
    made: list[Finding] = []
    for key, finding in found:
        if key is not None and key in first:
            first[key].count += finding.count
            continue
        made.append(replace(finding))
        if key is not None:
            first[key] = made[-1]
    return made
