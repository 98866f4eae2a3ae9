"""Records what the warps of one CTA do while the simulator runs them."""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..ptx.module import Instruction, Module
from ..wave import Wave
from .flights import Flights
from .kinds import kind_of, polls
from .record import Run, Wait, WarpTimeline
from .roles import roles
from .timeline import Timeline

Thread = tuple[int, int, int]
"""CTA in the wave, warp, lane."""

LIMIT = 20_000
"""Runs, waits and flights after which nothing more is recorded."""


class Recorder:
    """Told by the scheduler and the machine what happens; keeps what concerns one CTA.

    Attributes:
        timeline: what has been recorded.
        flights: what is in flight.
    """

    def __init__(self, wave: Wave, module: Module, kernel: str, number: int) -> None:
        self._wave = wave
        self._module = module
        self._number = number
        self._cta: int | None = None
        count = wave.geometry.warps
        self.timeline = Timeline(kernel, wave.geometry.cta(number))
        self.timeline.warps = [WarpTimeline(warp) for warp in range(count)]
        self.flights = Flights(self.timeline, self.place)
        self._waits: list[Wait | None] = [None] * count
        self._waiting = np.zeros((0, 0), np.bool_)
        self._kept = 0

    def begin(self) -> None:
        """Begin a wave."""
        here = np.flatnonzero(self._wave.numbers == self._number).tolist()
        self._cta = here[0] if here else None
        self._waiting = np.zeros(self._wave.shape[1:], np.bool_)

    def place(self, instruction: Instruction) -> tuple[int, str]:
        """The line of an instruction in the PTX, and the place that it was compiled from."""
        return self._module.line(instruction), self._module.origin(instruction)

    @property
    def cta(self) -> int | None:
        """The CTA's place in the wave; None if it is not in it, or not recorded any further."""
        return None if self.timeline.cut else self._cta

    # Instructions

    def issue(self, instruction: Instruction) -> None:
        """The active threads come to an instruction."""
        cta = self.cta
        if cta is None:
            return
        active = self._wave.active()[cta]
        if not polls(instruction):
            self._resume(active)
        warps = np.flatnonzero((active & ~self._waiting).any(axis=1)).tolist()
        if not warps:
            return  # they ask again what they wait for
        self._kept += sum([self._begins(warp, instruction) for warp in warps])
        self.flights.issued(instruction, warps)
        self.timeline.steps += 1
        self.timeline.cut = self._kept + len(self.timeline.flights) > LIMIT

    def _begins(self, warp: int, instruction: Instruction) -> bool:
        """Note that a warp issues an instruction; whether a run begins with it."""
        step, kind = self.timeline.steps, kind_of(instruction)
        runs = self.timeline.warps[warp].runs
        if runs and runs[-1].kind == kind and runs[-1].last == step - 1:
            runs[-1].last = step
            return False
        runs.append(Run(kind, step, step, instruction.mnemonic, *self.place(instruction)))
        return True

    # Copies

    def load(self, copy: object, instruction: Instruction, thread: Thread, bytes_: int) -> None:
        """A thread's copy to shared memory is issued, or a commit that an mbarrier is told of."""
        if thread[0] == self.cta:
            self.flights.load(copy, instruction, thread[1], bytes_)

    def store(self, copy: object, instruction: Instruction, thread: Thread) -> None:
        """A thread's copy from shared memory is issued."""
        if thread[0] == self.cta:
            self.flights.store(copy, instruction, thread[1])

    def landed(self, copy: object) -> None:
        """A copy is complete."""
        self.flights.landed(copy)

    # Waits

    def wait(self, instruction: Instruction, threads: Array, cause: str) -> None:
        """Threads, (CTAs, warps, lanes), begin to wait, or wait on."""
        cta = self.cta
        if cta is None:
            return
        lanes = threads[cta]
        self._waiting |= lanes
        for warp in np.flatnonzero(lanes.any(axis=1)).tolist():
            if self._waits[warp] is None:
                step = self.timeline.steps
                self._waits[warp] = Wait(step, step, cause, *self.place(instruction))

    def go_on(self, threads: Array) -> None:
        """Threads, (CTAs, warps, lanes), wait no more."""
        if self.cta is not None:
            self._resume(threads[self.cta])

    def _resume(self, lanes: Array) -> None:
        freed = np.flatnonzero((self._waiting & lanes).any(axis=1)).tolist()
        if not freed:
            return
        self._waiting &= ~lanes
        for warp in freed:
            if not self._waiting[warp].any():
                self._end_wait(warp)

    def _end_wait(self, warp: int) -> None:
        wait, self._waits[warp] = self._waits[warp], None
        if wait is not None and wait.first < self.timeline.steps:
            wait.last = self.timeline.steps - 1
            self.timeline.warps[warp].waits.append(wait)
            self._kept += 1

    # The end

    def end(self) -> Timeline:
        """The launch has ended; what was recorded."""
        for warp in range(len(self._waits)):
            self._end_wait(warp)
        self.flights.end()
        for one, role in zip(self.timeline.warps, roles(self.timeline), strict=True):
            one.role = role
        return self.timeline
