"""Runs the groups of a wave until all threads have exited.

While all threads stand at one instruction there is one group without a mask. A branch that
they decide differently splits it; groups that come to the same instruction become one. `order`
says which group runs next; groups that spin on memory let the others run.

Instructions that need a warp (`.sync`) or a CTA (`bar`) hold their threads until the
others have come.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import WARPGROUP_WARPS, TilecError

from .alu import Array
from .blocks import Call, Code, Indexed, Return, Where
from .endings import Endings
from .failures import fail
from .frames import Frame
from .groups import Group
from .machine import Machine
from .order import PATIENCE, Together, WarpByWarp
from .queues import Queues
from .sync import BarrierSync, Gate, Members
from .translator import Translator
from .warps import lane_bits, whole_warps

if TYPE_CHECKING:
    from .stepping.debugger import Debugger

VAIN_ROUNDS = 64
"""Times that threads look again, when none can go on, before that is called a deadlock."""


class Scheduler:
    """Runs one wave.

    Attributes:
        machine: its state.
        translator: binds the blocks that it runs.
        order: which group runs next.
        max_steps: the wave's limit on `machine.steps`.
        queues: the groups, by what they wait for.
        debugger: told of every instruction before it is executed; or None.
    """

    def __init__(
        self,
        machine: Machine,
        translator: Translator,
        entry: Frame,
        max_steps: int,
        order: Together | WarpByWarp,
        debugger: Debugger | None = None,
    ) -> None:
        self.machine = machine
        self.translator = translator
        self.order = order
        self.max_steps = machine.steps + max_steps
        self._limit = max_steps
        self.queues = Queues(machine)
        self._endings = Endings(machine, translator, self.queues)
        self._events = machine.phases.events
        self._idle = 0
        self.turn = 0
        self.debugger = debugger
        if debugger is not None:
            debugger.wave(self)
        ctas, warps, lanes = machine.shape
        group = Group(entry, 0, 0, None, None, ctas * warps * lanes, ctas * warps)
        group.narrow(machine.live, machine.live)
        for part in [group] if isinstance(order, Together) else self._warps(group):
            self.queues.enter(part)

    def _warps(self, group: Group) -> Iterator[Group]:
        """Every warp of the CTAs, or every warpgroup where these act together, as a group."""
        active = self.machine.active() if group.mask is None else group.mask
        step = WARPGROUP_WARPS if self.translator.program.placement.warpgroups else 1
        for warp in range(0, active.shape[1], step):
            mask = np.zeros_like(active)
            mask[:, warp : warp + step] = active[:, warp : warp + step]
            part = group.at(group.frame, 0, 0, mask, self.machine.live)
            part.warp = warp
            yield part

    def run(self) -> None:
        """Run until every thread has exited.

        Raises:
            StoppedError: if threads wait for what cannot come, or run past the step limit.
        """
        queues = self.queues
        while True:
            while queues.groups:
                self.turn += 1
                self.advance(queues.pick(self.order, self.turn))
                if self.machine.steps > self.max_steps:
                    raise self._endings.endless(self._limit)
                if queues.resting and self._due():
                    self._wake()
            if queues.resting:
                self._revive()
                continue
            if not queues.parked and not queues.barriers.waiting:
                return
            raise self._endings.stuck()

    def waits(self) -> list[str]:
        """Who waits for what, in words."""
        return self._endings.waits()

    # Threads that wait for each other by mbarriers

    def _due(self) -> bool:
        """Whether those who rest should look again."""
        return self.machine.phases.events != self._events or self.turn % PATIENCE == 0

    def _wake(self) -> None:
        """Let those who rest look again."""
        self._events = self.machine.phases.events
        self.queues.wake(self.turn)

    def _revive(self) -> None:
        """Nobody else can run: copies arrive, or waits end before their time, some times.

        Raises:
            StoppedError: if that does not help either.
        """
        if self.machine.phases.events != self._events or self.machine.land_some():
            self._idle = 0
        else:
            self._idle += 1
            if self._idle > VAIN_ROUNDS:
                raise self._endings.deadlock()
        self._wake()

    def _after_vain_waits(
        self, group: Group, go: Where | list[tuple[Array | None, Where]], vain: Array
    ) -> None:
        """Leave a block in which some threads asked an mbarrier in vain: they rest."""
        live = self.machine.live
        for mask, where in go if isinstance(go, list) else [(group.mask, go)]:
            part = group
            if isinstance(go, list):
                assert mask is not None
                part = group.at(group.frame, group.block, 0, mask, live)
            threads = self.machine.full(np.asarray(True if part.mask is None else part.mask))
            if isinstance(where, int) and not (threads & ~vain).any():
                part.block, part.index = where, 0
                self.queues.rest(part)
            else:
                self._send(part, where)

    # One group

    def advance(self, group: Group) -> None:
        """Run a group to the end of its block, and on while it is alone."""
        machine, queues = self.machine, self.queues
        while True:
            code = machine.code = self.translator.code(group.frame, group.block)
            ended = False
            if code.native is not None:
                came = self._by_machine_code(group, code)
                if came == "queued":
                    return
                if came == "alone":
                    continue
                if came == "branch":
                    code, ended = self.translator.code(group.frame, group.block), True
                    machine.code = code
            if not ended:
                index = group.index
                code.count(index, group.warps, group.threads)
                machine.mask, machine.merge = group.mask, group.merge
                machine.steps += len(code.steps) - index + 1
                if code.has_counted or (group.merge is not None and code.has_syncs):
                    if not self._hold(group, code):
                        return
                else:
                    self._straight(group, code)
                group.turn = self.turn
            if code.last is not None:
                if self.debugger is not None:
                    self.debugger.at(group, len(code.steps), code.last)
                if machine.recorder is not None:
                    machine.recorder.issue(code.last)
            go = code.end.next(machine)
            if machine.phases.vain is not None:
                vain, machine.phases.vain = machine.phases.vain, None
                self._after_vain_waits(group, go, vain)
                return
            if type(go) is int:
                group.block, group.index = go, 0
                if (
                    not (queues.groups or queues.parked or queues.resting)
                    and machine.steps <= self.max_steps
                ):
                    continue
                self.queues.enter(group)
                return
            self._leave(group, go)
            return

    def _by_machine_code(self, group: Group, code: Code) -> str | None:
        """Let machine code run a group and those that are queued; how it came back, if it did."""
        native = self.translator.native
        control = None if native is None else native.control()
        if control is None or not isinstance(self.order, Together):
            return None
        came = control.run(self, group, code)
        return None if came is None else came.value

    def _straight(self, group: Group, code: Code) -> None:
        """Run a block whose instructions need not wait."""
        if self.machine.recorder is not None or self.debugger is not None:
            self._told(group, code)
            return
        at = group.index
        try:
            # Not a copy: steps are exchanged on the way where values must be followed.
            for step in islice(code.steps, at, None) if at else code.steps:
                step()
                at += 1
        except (IndexError, TilecError) as error:
            fail(error, group.frame.place(group.block, at))

    def _told(self, group: Group, code: Code) -> None:
        """The same, told to a recorder, and to who stops there."""
        recorder = self.machine.recorder
        for at in range(group.index, len(code.steps)):
            if self.debugger is not None:
                self.debugger.at(group, at, code.instructions[at])
            if recorder is not None:
                recorder.issue(code.instructions[at])
            try:
                code.steps[at]()
            except (IndexError, TilecError) as error:
                fail(error, group.frame.place(group.block, at))

    def _hold(self, group: Group, code: Code) -> bool:
        """Run a block whose instructions may have to wait; whether the group reached its end."""
        machine = self.machine
        recorder = machine.recorder
        for at in range(group.index, len(code.steps)):
            if self.debugger is not None:
                self.debugger.at(group, at, code.instructions[at])
            sync = code.syncs[at]
            if sync is not None and (group.merge is not None or code.counted(sync)):
                group.index = at
                if isinstance(sync, BarrierSync):
                    code.count(at, -group.warps, -group.threads)
                    self._barrier(group, code, sync)
                    return False
                ready = self._ready(group, sync)
                if ready is not None:
                    here = machine.active() if group.mask is None else group.mask
                    late = group.at(group.frame, group.block, at, here & ~ready, machine.live)
                    code.count(at, -late.warps, -late.threads)
                    (self.queues.rest if isinstance(sync, Gate) else self.queues.park)(late)
                    if recorder is not None and isinstance(sync, Gate):
                        recorder.wait(sync.instruction, here & ~ready, sync.waits)
                    if not ready.any():
                        return False
                    group.narrow(ready, machine.live)
                    machine.mask, machine.merge = group.mask, group.merge
                if recorder is not None and isinstance(sync, Gate):
                    recorder.go_on(machine.active())
            if recorder is not None:
                recorder.issue(code.instructions[at])
            try:
                code.steps[at]()
            except (IndexError, TilecError) as error:
                fail(error, group.frame.place(group.block, at))
        return True

    def _ready(self, group: Group, sync: Members | Gate | None) -> Array | None:
        """Threads of a group whose partners are there; None if they all are."""
        live = self.machine.live
        if isinstance(sync, Gate):
            here = self.machine.active() if group.mask is None else self.machine.full(group.mask)
            ready = sync.ready(here)
            return None if np.array_equal(ready, here) else ready
        mask = group.mask
        assert mask is not None
        found = whole_warps(mask, live, 1 if sync is None else sync.warps)
        if found is None or sync is None or sync.slot is None:
            return found
        wanted = self.machine.registers[sync.slot]
        bits = lane_bits(mask)
        alive = bits | np.uint32(0xFFFFFFFF) if live is None else lane_bits(live)
        missing = (wanted & alive & ~bits) != 0
        ready = mask & ~np.broadcast_to(missing, mask.shape)
        return None if np.array_equal(ready, mask) else ready

    def _barrier(self, group: Group, code: Code, sync: BarrierSync) -> None:
        """Let a group arrive at a CTA barrier; whoever it completes goes on."""
        if sync.aligned and group.mask is not None:
            ready = whole_warps(group.mask, self.machine.live)
            if ready is not None:
                live, late = self.machine.live, group.mask & ~ready
                self.queues.park(group.at(group.frame, group.block, group.index, late, live))
                if not ready.any():
                    return
                group.narrow(ready, self.machine.live)
        self.machine.mask, self.machine.merge = group.mask, group.merge
        code.count(group.index, group.warps, group.threads)
        # What follows is counted when the threads go on.
        code.count(group.index + 1, -group.warps, -group.threads)
        if self.machine.recorder is not None:
            self.machine.recorder.issue(sync.instruction)
        for freed in self.queues.barriers.arrive(group, sync):
            self.queues.enter(freed)

    # Leaving a block

    def _leave(
        self,
        group: Group,
        go: Where | list[tuple[Array | None, Where]],
    ) -> None:
        for mask, where in go if isinstance(go, list) else [(group.mask, go)]:
            part = group
            if isinstance(go, list):
                assert mask is not None
                part = group.at(group.frame, group.block, 0, mask, self.machine.live)
            self._send(part, where)

    def _send(self, group: Group, where: Where) -> None:
        self.machine.mask = group.mask
        if isinstance(where, int):
            group.block, group.index = where, 0
            self.queues.enter(group)
        elif isinstance(where, Call):
            for mask, frame in group.frame.callees(where, group.block):
                part = group
                if mask is not None:
                    part = group.at(frame, 0, 0, mask, self.machine.live)
                part.frame, part.block, part.index = frame, 0, 0
                self.queues.enter(part)
        elif isinstance(where, Indexed):
            for mask, block in where.targets(self.machine):
                part = group.at(group.frame, block, 0, mask, self.machine.live)
                self.queues.enter(part)
        elif isinstance(where, Return) and group.frame.parent is not None:
            frame = group.frame
            assert frame.parent is not None
            group.frame, group.block, group.index = frame.parent, frame.after, 0
            self.queues.enter(group)
        else:
            self._exit(group)

    def _exit(self, group: Group) -> None:
        machine = self.machine
        everyone = np.ones(machine.shape, np.bool_)
        live = everyone if machine.live is None else machine.live
        gone = machine.full(everyone if group.mask is None else group.mask)
        machine.transfers.exited(gone, machine.observer)
        if machine.observer is not None:
            machine.observer.exited(gone)
        machine.live = live & ~gone
        if machine.geometry.explicit:
            machine.clusters.complete()
            if machine.observer is not None:
                machine.observer.peers.exited(gone)
        machine.phases.events += 1
        self.queues.exited()
