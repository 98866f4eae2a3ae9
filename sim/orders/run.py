"""Makes one order of the ops of a trace, and finds what is wrong in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES, WARPGROUP_WARPS

from ..alu import Array
from .model import Model
from .objects import Barrier, MBarrier, Step
from .ops import WAITS, Key, Kind, Op
from .order import Fault, Name, Order
from .shadow import OPEN, WRITES, Conflict, Shadow


@dataclass(slots=True)
class _Flight:
    """What completes on its own, after it is issued: it counts at an mbarrier."""

    op: Op
    clock: Array
    entry: int
    after: Name | None


class Run:
    """One order, as it is made.

    Args:
        model: of the trace.
        first: steps to take first, where they can be taken; the rest follows as it comes.
    """

    def __init__(self, model: Model, first: Sequence[Name] = ()) -> None:
        self.model = model
        self.programs = model.trace.warps
        count = len(self.programs)
        size = len(model.components)
        self.order = Order()
        self.at = [0] * count
        self._first = first
        self._clocks = np.zeros((count, 2, size), np.int32)
        self._shadow = Shadow(model.bytes)
        self._mbarriers: dict[Key, MBarrier] = {}
        self._barriers: dict[int, Barrier] = {}
        self._left: list[dict[int, int]] = [{} for _ in range(count)]  # phases arrived in
        self._tokens: list[dict[Key, int]] = [{} for _ in range(count)]
        self._commits: list[list[Array]] = [[] for _ in range(count)]
        self._flights: dict[Name, _Flight] = {}
        self._chain: dict[tuple[int, Kind], Name] = {}
        self._phases: list[tuple[Name, int, int]] = []

    def finish(self) -> Order:
        """Take all steps that can be taken."""
        for name in self._first:
            self._take(name)
        while self._advance():
            pass
        self._blame_those_who_wait()
        self.order.identity = hash(tuple(sorted(self._phases)))
        return self.order

    def _advance(self) -> bool:
        """Let every warp go as far as it can, or something complete; whether there was any."""
        moved = False
        for warp in range(len(self.programs)):
            while self._take((warp, -1)):
                moved = True
        if moved:
            return True
        return any(self._take(name) for name in list(self._flights))

    def _take(self, name: Name) -> bool:
        """Take a step, if it can be taken now; whether it could."""
        warp, place = name
        if place >= 0:
            flight = self._flights.get(name)
            if flight is None or (flight.after is not None and flight.after in self._flights):
                return False
            self._land(name, flight)
            return True
        at, program = self.at[warp], self.programs[warp]
        if at >= len(program) or not self._ready(warp, program[at]):
            return False
        self.at[warp] += 1
        self._execute(warp, at, program[at])
        if self.at[warp] == len(program):
            self._complete_barriers()
        return True

    # Whether a step can be taken

    def _ready(self, warp: int, op: Op) -> bool:
        match op.kind:
            case Kind.WAIT:
                assert op.key is not None
                known = self._mbarriers.get(op.key)
                return known is not None and known.passes(op.value, self._token(warp, op))
            case Kind.BARRIER_LEAVE | Kind.CLUSTER_LEAVE:
                component = self._component(warp)
                arrived = self._left[warp].get(component, -1)
                return arrived < 0 or self._barrier(component).phase > arrived
            case Kind.PRODUCT_WAIT:
                return all(
                    len(self._commits[other]) >= min(op.value, self.model.commits[other])
                    for other in self._warpgroup(warp)
                )
            case _:
                return True

    def _token(self, warp: int, op: Op) -> int:
        assert op.key is not None
        return self._tokens[warp].get(op.key, -1)

    def _component(self, warp: int) -> int:
        """The component of a warp's next op."""
        return self.model.named[warp][self.at[warp]]

    def _warpgroup(self, warp: int) -> range:
        cta, inside = divmod(warp, self.model.trace.per_cta)
        first = inside // WARPGROUP_WARPS * WARPGROUP_WARPS
        last = min(first + WARPGROUP_WARPS, self.model.trace.per_cta)
        base = cta * self.model.trace.per_cta
        return range(base + first, base + last)

    def _barrier(self, component: int) -> Barrier:
        found = self._barriers.get(component)
        if found is None:
            found = Barrier(component, len(self.model.components))
            self._barriers[component] = found
        return found

    # Steps

    def _note(self, name: Name, warp: int, op: Op, clock: Array, mark: tuple[int, int]) -> None:
        order = self.order
        order.names.append(name)
        order.ops.append((warp, op))
        order.clocks.append(clock)
        order.marks.append(mark)

    def _execute(self, warp: int, at: int, op: Op) -> None:
        clock, now = self._clocks[warp], at + 1
        clock[0, warp] = now
        before = clock[0].copy()
        number = len(self.order.names)
        self._note((warp, -1), warp, op, before, (warp, now))
        step = Step(number, warp, now, before)
        component = self.model.named[warp][at]
        match op.kind:
            case Kind.READ | Kind.WRITE | Kind.ATOMIC:
                self._touch(op, warp, now, warp, now)
            case Kind.CP_WRITE | Kind.BULK_READ | Kind.PRODUCT_READ | Kind.TENSOR_READ:
                self._touch(op, warp, now, component, op.value)
            case Kind.CP_WAIT | Kind.BULK_WAIT:
                clock[0, component] = max(int(clock[0, component]), op.value)
            case Kind.FENCE:
                np.maximum(clock[1], clock[0], out=clock[1])
            case Kind.PRODUCT_COMMIT:
                self._commits[warp].append(clock.copy())
            case Kind.PRODUCT_WAIT:
                for other in self._warpgroup(warp):
                    if len(self._commits[other]) >= op.value:
                        np.maximum(clock, self._commits[other][op.value - 1], out=clock)
                clock[0, component] = max(int(clock[0, component]), op.value)
            case Kind.BARRIER_ARRIVE | Kind.CLUSTER_ARRIVE:
                self._arrive_at_barrier(step, op, component)
            case Kind.BARRIER_LEAVE | Kind.CLUSTER_LEAVE:
                arrived = self._left[warp].pop(component, -1)
                if arrived >= 0:
                    np.maximum(clock, self._barrier(component).complete[arrived], out=clock)
            case Kind.COPY | Kind.COMMIT | Kind.CP_ARRIVE:
                self._fly(warp, at, op)
            case _:
                self._at_mbarrier(step, op)
        if op.kind in WAITS:
            self.order.clocks[number] = clock[0].copy()

    def _touch(self, op: Op, warp: int, now: int, component: int, time: int) -> int:
        def found(conflict: Conflict) -> None:
            self._blame_access(op, warp, conflict)

        clock = self._clocks[warp]
        return self._shadow.touch(op, warp, now, component, time, clock, found)

    def _fly(self, warp: int, at: int, op: Op) -> None:
        """Issue what will count at an mbarrier."""
        clock, name, entry = self._clocks[warp].copy(), (warp, at), -1
        assert op.key is not None
        after = None
        if op.kind is Kind.COPY:
            component = self.model.components["mbarrier", op.key]
            entry = self._touch(op, warp, at + 1, component, OPEN)
        else:
            clock[0, self.model.named[warp][at]] = op.value
            after = self._chain.get((warp, op.kind))
            self._chain[warp, op.kind] = name
        self._flights[name] = _Flight(op, clock, entry, after)

    def _land(self, name: Name, flight: _Flight) -> None:
        del self._flights[name]
        op = flight.op
        assert op.key is not None
        known = self._mbarriers.get(op.key)
        warp, number = name[0], len(self.order.names)
        phase = 0 if known is None else known.phase
        component = self.model.components["mbarrier", op.key]
        self._note(name, warp, op, flight.clock[0], (component, phase + 1))
        step = Step(number, -1, 0, flight.clock[0])
        if known is None or known.made is None:
            self._blame("race", op, warp, "tells an mbarrier that is not initialised yet")
            return
        if not step.knows(known.made):
            self._blame("race", op, warp, "tells an mbarrier, and nothing orders it after its init")
        self._phases.append((name, -1, phase))
        if flight.entry >= 0:
            self._shadow.complete(flight.entry, phase + 1)
        arrivals = 0 if op.kind is Kind.COPY else op.count
        bytes_ = -op.value if op.kind is Kind.COPY else 0
        self._count(known, step, flight.clock, op, warp, arrivals=arrivals, bytes_=bytes_)

    # Mbarriers

    def _at_mbarrier(self, step: Step, op: Op) -> None:
        assert op.key is not None
        warp, clock = step.warp, self._clocks[step.warp]
        if op.kind is Kind.INIT:
            made = MBarrier(self.model.components["mbarrier", op.key], clock.shape[1])
            self._mbarriers[op.key] = made
            made.init(step, op.count)
            self._against_its_last_use(step, op)
            return
        known = self._mbarriers.get(op.key)
        if known is None or known.made is None:
            self._blame("race", op, warp, "uses an mbarrier that is not initialised yet")
            return
        if not step.knows(known.made) and known.made.warp != warp:
            self._blame("race", op, warp, "uses an mbarrier, and nothing orders it after its init")
        self._phases.append(((warp, step.time), 1, known.phase))
        if op.kind is Kind.WAIT:
            token = self._token(warp, op) if op.value < 0 else None
            seen = known.phase - 1 if token is None else token
            self.order.waits[warp, step.time] = (op.key, seen, step.number)
            learnt = known.wait(step, self.order.races.append, token)
            if learnt is not None:
                np.maximum(clock, learnt, out=clock)
            return
        if op.count:
            self._tokens[warp][op.key] = known.phase
            self.order.arrivals[warp, step.time] = (op.key, known.phase)
        drop = op.kind is Kind.DROP
        self._count(known, step, clock, op, warp, arrivals=op.count, bytes_=op.value, drop=drop)

    def _against_its_last_use(self, step: Step, op: Op) -> None:
        """Whoever used the mbarrier that was there before must be done with it."""
        assert op.key is not None
        cta, offset, made = op.key
        before = self._mbarriers.get((cta, offset, made - 1))
        if before is None:
            return
        for other in before.ops():
            known = step.knows(other)
            if other.warp < 0:
                known = int(step.clock[before.component]) > 0
            if not known and other.warp != step.warp:
                self._blame(
                    "race", op, step.warp, "initialises an mbarrier again that others still use"
                )
                return

    def _count(
        self, known: MBarrier, step: Step, clock: Array, op: Op, warp: int, *, arrivals: int,
        bytes_: int, drop: bool = False,
    ) -> None:  # fmt: skip
        try:
            ended = known.count_in(
                step, clock, self.order.races.append, arrivals=arrivals, bytes_=bytes_, drop=drop
            )
        except OverflowError:
            known.pending = 0
            self._blame("mbarrier", op, warp, "arrives more often than the phase expects")
            return
        if ended:
            self._blame_who_missed_it(known, op)

    def _blame_who_missed_it(self, known: MBarrier, by: Op) -> None:
        """Warps that stand before a wait for a phase that was complete, and is past now."""
        for warp, program in enumerate(self.programs):
            at = self.at[warp]
            if at >= len(program) or program[at].kind is not Kind.WAIT:
                continue
            op = program[at]
            assert op.key is not None
            token = self._token(warp, op)
            missed = self._mbarriers.get(op.key) is known and op.value >= 0
            missed = missed and known.passed_before(op.value, token)
            if missed and not known.passes(op.value, token):
                self._blame(
                    "mbarrier", op, warp,
                    f"may miss the phase of the mbarrier at {op.key[1]:#x} that it waits for: the "
                    f"next one, too, completes before the wait, by {{0}}", other=(by, -1),
                )  # fmt: skip

    # Barriers

    def _arrive_at_barrier(self, step: Step, op: Op, component: int) -> None:
        barrier = self._barrier(component)
        clock = self._clocks[step.warp]
        wrong = barrier.arrive(step, clock, op.count, self.order.races.append)
        self._phases.append(((step.warp, step.time), 2, barrier.phase))
        self._left[step.warp][component] = barrier.phase
        if wrong:
            self._blame("barrier", op, step.warp, wrong)
            return
        self._complete_barriers(component)

    def _complete_barriers(self, component: int | None = None) -> None:
        """End the phases of barriers to which all have come."""
        for number, barrier in self._barriers.items():
            if component not in (None, number) or not barrier.here:
                continue
            if barrier.count:
                done = len(barrier.here) * LANES >= barrier.count
            else:
                done = all(
                    warp in barrier.here or self.at[warp] >= len(self.programs[warp])
                    for warp in self._members(barrier)
                )
            if done:
                barrier.end()

    def _members(self, barrier: Barrier) -> range:
        """The warps that a barrier without a count is for."""
        per_cta = self.model.trace.per_cta
        warps = list(barrier.here)
        op = self.programs[warps[0]][barrier.here[warps[0]].time - 1]
        if op.kind is Kind.CLUSTER_ARRIVE:
            return range(len(self.programs))
        first = warps[0] // per_cta * per_cta
        return range(first, first + per_cta)

    # What is wrong

    def _blame(
        self, kind: str, op: Op, warp: int, words: str, *, other: tuple[Op, int] | None = None,
        address: int | None = None,
    ) -> None:  # fmt: skip
        if other is not None:
            words = f"{words}\0{other[0].instruction.position}\0{other[0].instruction.mnemonic}"
        self.order.faults.append(Fault(kind, op, warp, words, len(self.order.names), address))

    def _blame_access(self, op: Op, warp: int, conflict: Conflict) -> None:
        verb = "writes" if op.kind in WRITES else "reads"
        where = f"{verb} shared memory at {conflict.address:#x}, which {{0}}"
        did = _DID[conflict.before.kind]
        match conflict.kind:
            case "proxy":
                words = f"{where} {did}, by another proxy, without a fence.proxy.async between"
            case "race":
                words = f"{where} {did}, and nothing orders the two"
            case _:
                words = f"{where} {did}, before that is known to be complete"
        before = (conflict.before, conflict.warp)
        self._blame(conflict.kind, op, warp, words, other=before, address=conflict.address)

    def _blame_those_who_wait(self) -> None:
        """A deadlock: nobody can go on, and not all are done."""
        waiting = [w for w, program in enumerate(self.programs) if self.at[w] < len(program)]
        for warp in waiting:
            self._phases.append(((warp, self.at[warp]), 3, 0))
        if waiting:
            warp = waiting[0]
            op = self.programs[warp][self.at[warp]]
            others = ", ".join(map(str, waiting[1:]))
            words = "waits for ever" + (f", and so do warps {others}" if others else "")
            self._blame("deadlock", op, warp, words)


_DID = {
    Kind.READ: "read", Kind.WRITE: "wrote", Kind.ATOMIC: "changed", Kind.CP_WRITE: "writes",
    Kind.BULK_READ: "reads", Kind.PRODUCT_READ: "reads", Kind.TENSOR_READ: "reads",
    Kind.COPY: "writes",
}  # fmt: skip
