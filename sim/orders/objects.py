"""Mbarriers and barriers in the model: what has come, what completes, and what could differ.

An order gives another order of memory only where ops on one of these that nothing orders change
places. A phase of an mbarrier counts the same whichever of its arrivals is first; so only these
pairs matter, and are told as `Race`s:

* ops that count in one phase and in the next;
* a wait and what completes the phase after the one that it waits for, which it would miss;
* what completes the phase before, and a wait: it would take an older phase of the same parity;
* bytes that are expected and an arrival that completes the phase without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ..alu import Array


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the model that touched an object.

    Attributes:
        number: its place in the order.
        warp: who took it; -1 of what completes asynchronously.
        time: the warp's time.
        clock: what was known before, (components,).
    """

    number: int
    warp: int
    time: int
    clock: Array

    def knows(self, other: Step) -> bool:
        """Whether it comes after another, of a warp, in every order."""
        return other.warp >= 0 and int(self.clock[other.warp]) >= other.time


Race = tuple[int, int]
"""Two steps by their numbers, the first of which may come after the second instead."""
Races = Callable[[Race], None]


@dataclass(slots=True)
class _Phase:
    """One phase: the steps that count in it, with those that expect bytes apart, and its waits."""

    ops: list[Step] = field(default_factory=list)
    expects: list[Step] = field(default_factory=list)
    arrivals: list[Step] = field(default_factory=list)
    waits: list[Step] = field(default_factory=list)


class MBarrier:
    """An mbarrier from one initialisation to the next.

    Attributes:
        component: of clocks, the phases that a warp knows to be complete.
        phase: phases that are complete.
        complete: what who waits for a phase learns, by phases, (2, components) each.
    """

    def __init__(self, component: int, components: int) -> None:
        self.component = component
        self.made: Step | None = None
        self.phase = 0
        self.count = self.pending = self.bytes = 0
        self.complete: list[Array] = []
        self._signalled: Array = np.zeros((2, components), np.int32)
        self._phases: dict[int, _Phase] = {}

    def init(self, step: Step, count: int) -> None:
        """It is initialised."""
        self.made = step
        self.count = self.pending = count

    def of(self, phase: int) -> _Phase:
        """What is known of a phase."""
        return self._phases.setdefault(phase, _Phase())

    def ops(self) -> Iterator[Step]:
        """All that has touched it."""
        for phase in self._phases.values():
            yield from phase.ops
            yield from phase.waits

    def count_in(
        self, step: Step, clock: Array, races: Races, *, arrivals: int = 0, bytes_: int = 0,
        drop: bool = False,
    ) -> bool:  # fmt: skip
        """A step arrives so often, and has more, or fewer, bytes expected; whether that ends it.

        Raises:
            OverflowError: if more arrive than the phase expects.
        """
        self._against_phase_before(step, races)
        if drop:
            self.count -= arrivals
        self.pending -= arrivals
        self.bytes += bytes_
        if self.pending < 0:
            raise OverflowError
        here = self.of(self.phase)
        here.ops.append(step)
        if arrivals:
            here.arrivals.append(step)
        elif bytes_ > 0:
            here.expects.append(step)
        np.maximum(self._signalled, clock, out=self._signalled)
        if self.pending or self.bytes:
            return False
        self._end(here, step, races)
        return True

    def _against_phase_before(self, step: Step, races: Races) -> None:
        if not self.phase or int(step.clock[self.component]) >= self.phase:
            return
        for other in self.of(self.phase - 1).ops:
            if not step.knows(other):
                races((other.number, step.number))

    def _end(self, here: _Phase, step: Step, races: Races) -> None:
        for expect in here.expects:
            if not any(arrival.knows(expect) for arrival in here.arrivals):
                after = [a for a in here.arrivals if a.number > expect.number]
                if after:
                    races((expect.number, after[-1].number))
        for wait in self.of(self.phase - 1).waits:
            if not any(other.knows(wait) for other in here.ops):
                races((wait.number, step.number))
        self.phase += 1
        self.pending = self.count
        self._signalled[:, self.component] = self.phase
        self.complete.append(self._signalled.copy())

    def passes(self, parity: int, token: int) -> bool:
        """Whether a wait goes on: for a parity, or for the phase `token` if that is negative."""
        return (self.phase - 1) & 1 == parity if parity >= 0 else self.phase > token

    def passed_before(self, parity: int, token: int) -> bool:
        """Whether it would have gone on before the last phase was complete."""
        before = self.phase - 1
        return before >= 0 and ((before - 1) & 1 == parity if parity >= 0 else before > token)

    def wait(self, step: Step, races: Races, token: int | None) -> Array | None:
        """A step goes on from a wait, for the phase `token` if that is given; what it learns."""
        seen = self.phase - 1 if token is None else token
        self.of(seen).waits.append(step)
        known = token is not None or seen < 1 or int(step.clock[self.component]) >= seen
        for other in () if known else self.of(seen - 1).ops:
            if not step.knows(other):
                races((other.number, step.number))
        return self.complete[seen] if seen >= 0 else None


class Barrier:
    """A numbered barrier of a CTA, or the barrier of a cluster.

    Attributes:
        component: of clocks, the phases that a warp knows to be complete.
        phase: phases that are complete.
        here: the steps that have arrived in this phase, by warp.
        count: threads that they say they wait for; 0 for all.
        complete: what who waits for a phase learns, by phases, (2, components) each.
    """

    def __init__(self, component: int, components: int) -> None:
        self.component = component
        self.phase = 0
        self.here: dict[int, Step] = {}
        self.count = 0
        self.complete: list[Array] = []
        self._signalled: Array = np.zeros((2, components), np.int32)
        self._before: list[Step] = []

    def arrive(self, step: Step, clock: Array, count: int, races: Races) -> str:
        """A warp arrives; what is wrong with that, or empty."""
        if step.warp in self.here:
            return "arrives again before the barrier that it has arrived at completes"
        if self.here and count != self.count:
            return f"arrives at a barrier of {count or 'all'} threads, which for others has " + str(
                self.count or "all"
            )
        if self.phase and int(step.clock[self.component]) < self.phase:
            for other in self._before:
                if not step.knows(other):
                    races((other.number, step.number))
        self.count = count
        self.here[step.warp] = step
        np.maximum(self._signalled, clock, out=self._signalled)
        return ""

    def end(self) -> None:
        """All have come."""
        self._before = list(self.here.values())
        self.here = {}
        self.phase += 1
        self._signalled[:, self.component] = self.phase
        self.complete.append(self._signalled.copy())
