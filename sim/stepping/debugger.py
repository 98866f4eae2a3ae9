"""Decides before every instruction whether a launch stops there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np

from ..errors import LaunchError
from ..findings import StoppedError
from ..frames import Frame
from ..groups import Group
from ..program import Program
from ..ptx.module import Instruction, Module
from ..report import Finding
from .breakpoints import Breakpoint, instructions_at
from .running import Running
from .stop import Stop, Thread, Until


@dataclass(frozen=True, slots=True)
class _Left:
    """Where the thread stood that a launch goes on with."""

    until: Until
    origin: str
    line: int
    frame: Frame | None


class Debugger:
    """Stops one launch: give it to `launch` as `debugger`.

    Args:
        stopped: called at every stop; looks at it, and says how to go on. Without a word the
            launch runs to the next breakpoint.
        breakpoints: `LINE` of the PTX, `FILE:LINE`, or the name of a function, each.
        at_start: whether to stop before the first instruction.
        at_findings: whether to stop after an instruction that made a finding.

    Attributes:
        breakpoints: those that are set, by number.

    Raises:
        LaunchError: by `launch`, if there is no instruction at the place of a breakpoint.
    """

    def __init__(
        self,
        stopped: Callable[[Stop], None],
        breakpoints: Iterable[str | int] = (),
        *,
        at_start: bool = True,
        at_findings: bool = True,
    ) -> None:
        self.breakpoints: dict[int, Breakpoint] = {}
        self.at_findings = at_findings
        self._stopped = stopped
        self._given = list(breakpoints)
        self._numbers = count(1)
        self._watched: dict[int, Breakpoint] = {}
        self._left = _Left(Until.INSTRUCTION if at_start else Until.BREAKPOINT, "", 0, None)
        self._thread: Thread | None = None
        self._findings: list[Finding] = []
        self._seen = 0
        self._program: Program | None = None
        self._scheduler: Running | None = None

    # Breakpoints

    def add(self, place: str | int) -> Breakpoint:
        """Set a breakpoint.

        Raises:
            LaunchError: if there is no such place.
        """
        assert self._program is not None, "breakpoints are set once a launch has begun"
        found = instructions_at(self._program.module, place)
        made = Breakpoint(next(self._numbers), str(place), found)
        self.breakpoints[made.number] = made
        self._watch()
        return made

    def remove(self, number: int) -> None:
        """Delete a breakpoint.

        Raises:
            LaunchError: if there is none of the number.
        """
        if self.breakpoints.pop(number, None) is None:
            there = ", ".join(map(str, self.breakpoints)) or "none"
            raise LaunchError(f"no breakpoint {number}; there are: {there}")
        self._watch()

    def _watch(self) -> None:
        self._watched = {
            instruction.position: one
            for one in reversed(self.breakpoints.values())
            for instruction in one.instructions
        }

    # What the simulator tells

    def begin(self, program: Program, findings: list[Finding]) -> None:
        """A launch begins, whose findings go to a list.

        Raises:
            LaunchError: if there is no instruction at the place of a breakpoint.
        """
        if self._program is not None:
            raise LaunchError("a debugger is for one launch")
        self._program, self._findings = program, findings
        for place in self._given:
            self.add(place)

    def wave(self, scheduler: Running) -> None:
        """A wave of CTAs begins."""
        self._scheduler = scheduler

    def at(self, group: Group, index: int, instruction: Instruction) -> None:
        """The active threads come to an instruction, the last of a block or before."""
        reason = self._reason(group, instruction)
        if reason is None:
            return
        assert self._program is not None
        machine = self._program.machine
        if not self._present():
            first = np.argwhere(machine.active())[0].tolist()
            self._thread = Thread(machine.first_cta + first[0], first[1], first[2])
        self._stop(group, index, instruction, reason)

    def failed(self, error: StoppedError) -> None:
        """No thread can go on; the launch ends after this."""
        assert self._scheduler is not None
        group = next(self._scheduler.queues.everyone(), None)
        if group is None:
            return
        assert self._program is not None
        machine = self._program.machine
        machine.mask = group.mask
        first = np.argwhere(machine.active())[0].tolist()
        self._thread = Thread(machine.first_cta + first[0], first[1], first[2])
        instruction = error.instruction or group.instruction()
        if instruction is not None:
            self._stop(group, group.index, instruction, f"{error.kind}: {error}")

    # Whether to stop

    def _reason(self, group: Group, instruction: Instruction) -> str | None:
        """Why the launch stops here; None if it does not."""
        if self.at_findings and len(self._findings) > self._seen:
            new = self._findings[self._seen]
            self._seen = len(self._findings)
            return str(new)
        breakpoint_ = self._watched.get(instruction.position)
        if breakpoint_ is not None:
            breakpoint_.hits += 1
            return f"breakpoint {breakpoint_.number}"
        if self._left.until is Until.BREAKPOINT:
            return None
        if self._gone():
            return "the thread has exited"
        if self._thread is not None and not self._present():
            return None
        return "step" if self._through(group, instruction) else None

    def _through(self, group: Group, instruction: Instruction) -> bool:
        """Whether the thread that steps has come as far as it was to go."""
        left, module = self._left, self._module
        depth = -1 if left.frame is None else left.frame.depth
        if left.until is Until.INSTRUCTION or left.frame is None:
            return True
        if left.until is Until.RETURN:
            return group.frame.depth < depth
        if left.until is Until.NEXT_LINE and group.frame.depth > depth:
            return False
        if group.frame.depth < depth:
            return True
        if left.origin:
            return module.origin(instruction) not in ("", left.origin)
        return module.line(instruction) != left.line

    def _present(self) -> bool:
        """Whether the thread that is looked at is one of the active ones."""
        place = self._place()
        assert self._program is not None
        return place is not None and bool(self._program.machine.active()[place])

    def _gone(self) -> bool:
        """Whether it has exited."""
        if self._thread is None:
            return False
        assert self._program is not None
        place, live = self._place(), self._program.machine.live
        return place is None or (live is not None and not live[place])

    def _place(self) -> tuple[int, int, int] | None:
        """Its place in the wave; None if it is not there."""
        assert self._program is not None
        machine, thread = self._program.machine, self._thread
        if thread is None or not 0 <= thread.cta - machine.first_cta < machine.shape[0]:
            return None
        return thread.cta - machine.first_cta, thread.warp, thread.lane

    # Stops

    @property
    def _module(self) -> Module:
        assert self._program is not None
        return self._program.module

    def _stop(self, group: Group, index: int, instruction: Instruction, reason: str) -> None:
        assert self._program is not None
        assert self._scheduler is not None
        assert self._thread is not None
        self._seen = len(self._findings)
        machine = self._program.machine
        kept = machine.mask, machine.merge
        stop = Stop(
            self, self._scheduler, self._module, group, index, instruction, reason, self._thread
        )
        self._stopped(stop)
        machine.mask, machine.merge = kept
        self._thread = stop.thread
        module = self._program.module
        self._left = _Left(
            stop.until, module.origin(instruction), module.line(instruction), group.frame
        )
