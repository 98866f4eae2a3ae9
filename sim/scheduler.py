"""Runs the groups of a wave until all threads have exited.

While all threads stand at one instruction there is one group without a mask. A branch that
they decide differently splits it; groups that come to the same instruction become one. `order`
says which group runs next; groups that spin on memory let the others run.

Instructions that need a warp (`.sync`) or a CTA (`bar`) hold their threads until the
others have come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np
from tilec.isa import TilecError

from .alu import Array
from .barriers import Barriers
from .blocks import Call, Code, Indexed, Return, Where
from .errors import PtxError
from .findings import StoppedError
from .frames import Frame
from .groups import Group, Key
from .machine import Machine
from .order import PATIENCE, Together, WarpByWarp
from .register_pool import WARPGROUP
from .report import SimulationError
from .stalls import waiting_warps
from .sync import BarrierSync, Gate, Members
from .translator import Translator
from .warps import lane_bits, whole_warps

VAIN_ROUNDS = 64
"""Times that threads look again, when none can go on, before that is called a deadlock."""


def _fail(error: Exception, place: str) -> NoReturn:
    """Raise the error of a step, with the place of the instruction if it names none."""
    if isinstance(error, PtxError | SimulationError):
        raise error
    if isinstance(error, IndexError):
        raise SimulationError(
            f"{place}: memory access outside every allocation ({error}); "
            "run with checks to see the thread and the address"
        ) from None
    raise SimulationError(f"{place}: {error}") from error


class Scheduler:
    """Runs one wave.

    Attributes:
        machine: its state.
        translator: binds the blocks that it runs.
        order: which group runs next.
        max_steps: the wave's limit on `machine.steps`.
        groups: groups that can run, by key.
        parked: threads that wait for the rest of their warp, by key.
        resting: threads that wait for an mbarrier or at a gate, by key.
        barriers: threads that wait at CTA barriers.
    """

    def __init__(
        self,
        machine: Machine,
        translator: Translator,
        entry: Frame,
        max_steps: int,
        order: Together | WarpByWarp,
    ) -> None:
        self.machine = machine
        self.translator = translator
        self.order = order
        self.max_steps = machine.steps + max_steps
        self._limit = max_steps
        self.groups: dict[Key, Group] = {}
        self.parked: dict[Key, Group] = {}
        self.resting: dict[Key, Group] = {}
        self._events = machine.phases.events
        self._idle = 0
        self.barriers = Barriers(machine)
        self.turn = 0
        ctas, warps, lanes = machine.shape
        group = Group(entry, 0, 0, None, None, ctas * warps * lanes, ctas * warps)
        group.narrow(machine.live, machine.live)
        for part in [group] if isinstance(order, Together) else self._warps(group):
            self.enter(part)

    def _warps(self, group: Group) -> Iterator[Group]:
        """Every warp of the CTAs, or every warpgroup where these act together, as a group."""
        active = self.machine.active() if group.mask is None else group.mask
        step = WARPGROUP if self.translator.program.placement.warpgroups else 1
        for warp in range(0, active.shape[1], step):
            mask = np.zeros_like(active)
            mask[:, warp : warp + step] = active[:, warp : warp + step]
            part = group.at(group.frame, 0, 0, mask, self.machine.live)
            part.warp = warp
            yield part

    # Groups

    def enter(self, group: Group) -> None:
        """Let a group run, together with those that stand at the same instruction."""
        key = group.key
        other = self.parked.pop(key, None) or self.groups.get(key)
        if other is not None and other is not group:
            assert group.mask is not None
            assert other.mask is not None
            group.narrow(group.mask | other.mask, self.machine.live)
            group.boost = max(group.boost, other.boost)
        self.groups[key] = group

    def pick(self) -> Group:
        """The group that runs next, taken out."""
        if len(self.groups) == 1:
            return self.groups.popitem()[1]
        key = self.order.pick(self.groups, self.turn)
        return self.groups.pop(key)

    def run(self) -> None:
        """Run until every thread has exited.

        Raises:
            StoppedError: if threads wait for what cannot come, or run past the step limit.
        """
        while True:
            while self.groups:
                self.turn += 1
                self.advance(self.pick())
                if self.machine.steps > self.max_steps:
                    raise self._stopped("step-limit", self._endless())
                if self.resting and self._due():
                    self._wake()
            if self.resting:
                self._revive()
                continue
            if not self.parked and not self.barriers.waiting:
                return
            raise self._stopped("partial-warp" if self.parked else "barrier", self._stuck())

    # Threads that wait for each other by mbarriers

    def _due(self) -> bool:
        """Whether those who rest should look again."""
        return self.machine.phases.events != self._events or self.turn % PATIENCE == 0

    def _wake(self) -> None:
        """Let those who rest look again."""
        self._events = self.machine.phases.events
        resting = list(self.resting.values())
        self.resting.clear()
        for group in resting:
            group.turn = self.turn
            self.enter(group)

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
                raise self._deadlock()
        self._wake()

    def _rest(self, group: Group) -> None:
        """Let a group wait until something has happened."""
        key = group.key
        other = self.resting.get(key)
        if other is not None and group.mask is not None and other.mask is not None:
            group.narrow(group.mask | other.mask, self.machine.live)
        self.resting[key] = group

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
                self._rest(part)
            else:
                self._send(part, where)

    # One group

    def advance(self, group: Group) -> None:
        """Run a group to the end of its block, and on while it is alone."""
        machine = self.machine
        while True:
            code = self.translator.code(group.frame, group.block)
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
            go = code.end.next(machine)
            if machine.phases.vain is not None:
                vain, machine.phases.vain = machine.phases.vain, None
                self._after_vain_waits(group, go, vain)
                return
            if type(go) is int:
                group.block, group.index = go, 0
                if (
                    not (self.groups or self.parked or self.resting)
                    and machine.steps <= self.max_steps
                ):
                    continue
                self.enter(group)
                return
            self._leave(group, go)
            return

    def _straight(self, group: Group, code: Code) -> None:
        """Run a block whose instructions need not wait."""
        at = group.index
        try:
            for step in code.steps[at:] if at else code.steps:
                step()
                at += 1
        except (IndexError, TilecError) as error:
            _fail(error, group.frame.place(group.block, at))

    def _hold(self, group: Group, code: Code) -> bool:
        """Run a block whose instructions may have to wait; whether the group reached its end."""
        machine = self.machine
        for at in range(group.index, len(code.steps)):
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
                    (self._rest if isinstance(sync, Gate) else self._park)(late)
                    if not ready.any():
                        return False
                    group.narrow(ready, machine.live)
                    machine.mask, machine.merge = group.mask, group.merge
            try:
                code.steps[at]()
            except (IndexError, TilecError) as error:
                _fail(error, group.frame.place(group.block, at))
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

    def _park(self, group: Group) -> None:
        key = group.key
        other = self.parked.pop(key, None)
        if other is None:
            self.parked[key] = group
            return
        assert group.mask is not None
        assert other.mask is not None
        group.narrow(group.mask | other.mask, self.machine.live)
        self.enter(group)

    def _barrier(self, group: Group, code: Code, sync: BarrierSync) -> None:
        """Let a group arrive at a CTA barrier; whoever it completes goes on."""
        if sync.aligned and group.mask is not None:
            ready = whole_warps(group.mask, self.machine.live)
            if ready is not None:
                late = group.mask & ~ready
                self._park(group.at(group.frame, group.block, group.index, late, self.machine.live))
                if not ready.any():
                    return
                group.narrow(ready, self.machine.live)
        self.machine.mask, self.machine.merge = group.mask, group.merge
        code.count(group.index, group.warps, group.threads)
        # What follows is counted when the threads go on.
        code.count(group.index + 1, -group.warps, -group.threads)
        for freed in self.barriers.arrive(group, sync):
            self.enter(freed)

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
            self.enter(group)
        elif isinstance(where, Call):
            for mask, frame in group.frame.callees(where, group.block):
                part = group
                if mask is not None:
                    part = group.at(frame, 0, 0, mask, self.machine.live)
                part.frame, part.block, part.index = frame, 0, 0
                self.enter(part)
        elif isinstance(where, Indexed):
            for mask, block in where.targets(self.machine):
                part = group.at(group.frame, block, 0, mask, self.machine.live)
                self.enter(part)
        elif isinstance(where, Return) and group.frame.parent is not None:
            frame = group.frame
            assert frame.parent is not None
            group.frame, group.block, group.index = frame.parent, frame.after, 0
            self.enter(group)
        else:
            self._exit(group)

    def _exit(self, group: Group) -> None:
        machine = self.machine
        everyone = np.ones(machine.shape, np.bool_)
        live = everyone if machine.live is None else machine.live
        gone = machine.full(everyone if group.mask is None else group.mask)
        machine.transfers.exited(gone, machine.observer)
        if machine.observer is not None and machine.observer.warpgroups is not None:
            machine.observer.warpgroups.exited(gone)
        machine.live = live & ~gone
        if machine.geometry.explicit:
            machine.clusters.complete()
            if machine.observer is not None:
                machine.observer.peers.exited(gone)
        machine.phases.events += 1
        # Those who waited for the threads that are gone wait no more.
        waiting = list(self.parked.values())
        self.parked.clear()
        for other in [*self.groups.values(), *waiting, *self.resting.values()]:
            other.narrow(other.mask, machine.live)
        for other in waiting:
            self.enter(other)
        for freed in self.barriers.exited():
            self.enter(freed)

    # What is wrong

    def _places(self) -> str:
        groups = [*self.groups.values(), *self.parked.values(), *self.resting.values()]
        return "; ".join(
            f"{g.threads} threads at {g.frame.place(g.block, g.index)}" for g in groups
        )

    def _stopped(self, kind: str, message: str) -> StoppedError:
        """The error that ends the run, at the first group that cannot go on."""
        groups = [
            *self.resting.values(),
            *self.parked.values(),
            *self.barriers.groups(),
            *self.groups.values(),
        ]
        if not groups:
            return StoppedError(kind, message, None, "")
        first = groups[0]
        mask = self.machine.active() if first.mask is None else first.mask
        cta, warp, lane = (int(i) for i in np.argwhere(mask)[0])
        thread = self.machine.thread_name((cta, warp, lane))
        return StoppedError(kind, message, first.instruction(), thread)

    def _endless(self) -> str:
        return f"step limit of {self._limit} reached; {self._places()}"

    def _deadlock(self) -> StoppedError:
        """The error that says who waits for what, warp by warp."""
        machine = self.machine
        threads = np.zeros(machine.shape, np.bool_)
        words: list[str] = []
        first: Gate | None = None
        for group in self.resting.values():
            code = self.translator.code(group.frame, group.block)
            sync = code.syncs[group.index] if group.index < len(code.syncs) else None
            mask = machine.full(np.asarray(True if group.mask is None else group.mask))
            if isinstance(sync, Gate):
                place = group.frame.place(group.block, group.index)
                words.append(f"{group.threads} threads wait at {place} for {sync.waits}")
                first = first if first is not None and not sync.cause else sync
            else:
                threads |= mask
        waits, wait = waiting_warps(machine, self.translator.program.module, threads)
        words += waits
        if self.parked or self.barriers.waiting:
            words.append(self._stuck())
        error = self._stopped("deadlock", "no thread can go on: " + "; ".join(words))
        if first is not None and (first.cause or wait is None):
            wait = first.instruction
        error.instruction = wait or error.instruction
        return error

    def _stuck(self) -> str:
        words = []
        if self.parked:
            words.append(f"warps that are not whole wait for their other lanes: {self._places()}")
        words += self.barriers.describe()
        if self.machine.live is not None and not self.machine.live.all():
            words.append("some threads have exited")
        return "; ".join(words)
