"""Waves of one launch that processes run apart, put together as if one had run them all.

That is so where no part touches what another has written: then each finds in memory what it would
find had the others run, or not. Which bytes parts touch is only known once they have run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .alu import Array
from .checks.grid_races import EPOCHS_BYTES
from .checks.owners import joined
from .counting import Counts, since, together
from .memory import GLOBAL_BASE
from .report import Finding, Report
from .run import Run
from .special import CLOCKS
from .touched import Epochs, Touched, overlap, touched, why_unknown

Key = tuple[str, int]
"""Kind of a finding, and the position of its instruction."""
_BETWEEN_CTAS = ("race", "same-value")
"""Kinds of findings that name a byte of global memory as its epochs tell bytes apart."""


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
        touched: which bytes of global memory they touched.
        names_lines: whether findings name the line of whoever was before.
        data: what the bytes that were written hold in the end, one after the other.
    """

    waves: range
    completed: bool
    counts: Counts
    findings: Sequence[tuple[Key | None, Finding]]
    advice: Sequence[tuple[Key | None, Finding]]
    unchecked: Sequence[str]
    touched: Touched
    names_lines: bool
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
    return why_unknown(run.machine.observer.global_)


def split(waves: int, parts: int) -> list[range]:
    """Waves in parts of about the same number, at least one each."""
    parts = min(waves, parts)
    ends = [number * waves // parts for number in range(parts + 1)]
    return [range(first, last) for first, last in pairwise(ends)]


def part_of(run: Run, waves: range, granules: Mapping[int, tuple[int, int]] | None = None) -> Part:
    """Run some waves, and nothing else of a launch, or nothing that the part is to know of.

    Args:
        run: the launch, with checks.
        waves: which.
        granules: how global memory is told apart in the beginning, if in any way: see
            `GridRaces.restart`.
    """
    assert run.machine.observer is not None
    before = run.counts()
    run.findings.clear()
    run.advice.clear()
    run.found.clear()
    run.machine.observer.global_.restart(granules or {})
    run.simulate(waves)
    return _ended(run, waves, since(run.counts(), before), copied=True)


def part_so_far(run: Run, waves: range) -> Part:
    """What a launch has done, whose first waves these are; what it wrote is not copied."""
    return _ended(run, waves, run.counts(), copied=False)


def _ended(run: Run, waves: range, counted: Counts, *, copied: bool) -> Part:
    assert run.machine.observer is not None
    checks = run.machine.observer.global_
    keys = {id(finding): key for key, finding in run.found.items()}
    found, data = touched(checks), run.machine.memory.data
    pieces = [data[first:last] for first, last in found.written.tolist()] if copied else []
    return Part(
        waves,
        run.completed,
        counted,
        [(keys.get(id(one)), replace(one)) for one in run.findings],
        [(keys.get(id(one)), replace(one)) for one in run.advice],
        run.unchecked,
        found,
        checks.grid.names_lines,
        np.concatenate([data[:0], *pieces]),
    )


class Assembly:
    """Parts of a launch, as they come.

    Args:
        run: the launch, of which nothing has been run, or its first waves; that of the whole in
            the end.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._parts: dict[int, Part] = {}
        self._read = self._written = np.zeros((0, 2), np.int64)

    @property
    def ctas(self) -> int:
        """CTAs of the parts so far."""
        return sum(len(self._run.ctas(part.waves)) for part in self._parts.values())

    def add(self, part: Part) -> str:
        """Take a part.

        Returns:
            Why it and others cannot be put together; empty if they can.
        """
        if part.touched.unknown:
            return part.touched.unknown
        wrote, read = (
            part.touched.coarse(spans) for spans in (part.touched.written, part.touched.read)
        )
        for mine, others, verb, did in (
            (wrote, self._written, "write", "write"),
            (read, self._written, "read", "write"),
            (wrote, self._read, "write", "read"),
        ):
            byte = overlap(mine, others)
            if byte is not None:
                return self._words(part, byte, verb, did)
        self._parts[part.waves.start] = part
        self._written = joined(np.concatenate([self._written, wrote]))
        self._read = joined(np.concatenate([self._read, read]))
        return ""

    def _words(self, part: Part, byte: int, verb: str, did: str) -> str:
        allocation = self._run.machine.memory.allocation(byte)
        where = f"byte {byte + GLOBAL_BASE:#x}"
        if allocation is not None:
            where = f"byte {byte - allocation.start} of {allocation.name}"
        here = np.array([[byte, byte + 1]])
        for other in self._parts.values():
            known = other.touched
            spans = known.coarse(known.written if did == "write" else known.read)
            if overlap(here, spans) is not None:
                break
        mine, its = (self._run.ctas(one.waves) for one in (part, other))
        return (
            f"CTAs {mine.start} to {mine.stop - 1} {verb} {where}, which CTAs {its.start} to "
            f"{its.stop - 1} {did}"
        )

    def _done(self) -> list[Part]:
        """The parts up to the first that has not come to its end: no others would have been run."""
        done = list[Part]()
        for _, part in sorted(self._parts.items()):
            done.append(part)
            if not part.completed:
                break
        return done

    def _epochs(self) -> dict[int, Epochs] | str:
        """What one process would keep of allocations; why it would say something else."""
        whole: dict[int, Epochs] = {}
        for part in self._done():
            found = [key[0] for key, _ in (*part.findings, *part.advice) if key is not None]
            for start, mine in part.touched.epochs.items():
                known = whole.get(start)
                if known is None:
                    whole[start] = mine
                    continue
                finer = known.granule < mine.first or not part.names_lines
                if known.segment != mine.segment or (
                    finer and any(kind in _BETWEEN_CTAS for kind in found)
                ):
                    ctas = self._run.ctas(part.waves)
                    return (
                        f"what is found in CTAs {ctas.start} to {ctas.stop - 1} depends on how "
                        f"others access {mine.name}"
                    )
                whole[start] = replace(
                    known,
                    granule=min(known.granule, mine.granule),
                    split=np.union1d(known.split, mine.split),
                )
        if sum(one.bytes for one in whole.values()) > EPOCHS_BYTES:
            return "races between its CTAs take too much memory to be looked for everywhere"
        return whole

    def why_not(self) -> str:
        """Why all parts, which are there, cannot be put together; empty if they can."""
        found = self._epochs()
        return found if isinstance(found, str) else ""

    def report(self) -> Report:
        """The report of the whole launch, whose arrays are changed in place.

        Raises:
            ValueError: where `why_not` says why not.
        """
        run, done, epochs = self._run, self._done(), self._epochs()
        if isinstance(epochs, str):
            raise ValueError(epochs)
        run.completed = done[-1].completed
        data = run.machine.memory.data
        for part in done:
            if not part.data.size:
                continue
            at = 0
            for first, last in part.touched.written.tolist():
                data[first:last] = part.data[at : at + last - first]
                at += last - first
        run.copy_back()
        run.findings[:] = _merged([one for part in done for one in part.findings])
        run.advice[:] = _merged([one for part in done for one in part.advice])
        made = run.report(together([part.counts for part in done]))
        made.unchecked = list(dict.fromkeys(what for part in done for what in part.unchecked))
        made.race_bytes = sum(one.bytes for one in epochs.values())
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
