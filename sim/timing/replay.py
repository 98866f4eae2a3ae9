"""A first-order timing model: the events of a cluster's warps on SMs, in cycles.

Each CTA of the cluster has an SM, which holds so many CTAs that do the same. A warp issues its
instructions in order, each when the registers that it reads are there, its part of the SM has a
free slot, and the unit that it goes to is free. Barriers, mbarriers and copies make warps wait as
the run had them; bytes come from L1, L2 and DRAM at the rates and with the latencies of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from tilec.isa import LANES, WARPGROUP_WARPS, Target
from tilec.isa.gpus import Gpu

from ..orders.ops import Key, Kind, Op
from ..traits import Unit, unit
from .costs import PARTS, Cost, Costs
from .events import Event
from .meetings import Barrier, Goes, MBarrier, Meeting
from .pipes import Sm
from .warps import Slice, WarpState

_SHORT = 2
"""Cycles between two instructions of a warp that are not called a wait."""


class Replay:
    """Replays a cluster.

    Attributes:
        warps: those of all CTAs at once on the SMs.
        sms: an SM for each CTA of the cluster.
        end: the cycle at which the last warp ends.
        stuck: whether some warps never came to their end.
    """

    def __init__(
        self,
        events: Sequence[Sequence[Event]],
        ctas: int,
        resident: int,
        target: Target,
        gpu: Gpu,
        missed: float,
        launched: int,
    ) -> None:
        self.costs = Costs(target)
        known = self.costs.known
        dram = gpu.dram_bytes / gpu.hertz / min(launched, gpu.sms)
        far = (known.l1, known.l2, known.dram)
        self.sms = [Sm(self.costs.rates.l2_bytes, dram, missed, far) for _ in range(ctas)]
        self._per_cta = len(events) // ctas
        self.warps = [
            WarpState(r, cta, r * ctas + cta, warp, events[cta * self._per_cta + warp])
            for r in range(resident)
            for cta in range(ctas)
            for warp in range(self._per_cta)
        ]
        self._heap: list[tuple[float, float, int, Callable[[float], None]]] = []
        self._order = count()
        self._barriers: dict[object, Barrier] = {}
        self._mbarriers: dict[object, MBarrier] = {}
        self._alive: dict[tuple[int, int], int] = {}
        self.end = 0.0
        self.stuck = False

    def run(self) -> None:
        """Replay until all warps have come to their ends, or none can go on."""
        for number, warp in enumerate(self.warps):
            key = (warp.resident, warp.cta)
            self._alive[key] = self._alive.get(key, 0) + 1
            self._go(number, 0.0)
        while self._heap:
            at, _, _, do = heappop(self._heap)
            do(at)
        self.stuck = any(warp.at < len(warp.events) for warp in self.warps)

    def _later(self, at: float, do: Callable[[float], None], since: float = 0.0) -> None:
        """Do something then; of what is done at one time, what has waited longest first."""
        heappush(self._heap, (at, since, next(self._order), do))

    def _go(self, number: int, at: float) -> None:
        since = self.warps[number].since
        self._later(at, lambda now: self._advance(number, now), at if since < 0 else since)

    # One warp

    def _advance(self, number: int, at: float) -> None:
        """Let a warp issue its next instruction, or go on with what that does."""
        warp = self.warps[number]
        while warp.op < 0:
            if warp.at >= len(warp.events):
                self._exit(warp, at)
                return
            event = warp.events[warp.at]
            cost = self.costs.of(event.instruction)
            if not cost.free:
                if not self._issue(number, warp, event, cost, at):
                    return
                warp.op = 0
                break
            ready = max((warp.registers.get(r, (0.0, ""))[0] for r in cost.reads), default=0.0)
            for register in cost.writes:
                warp.registers[register] = ready, ""
            warp.at += 1
        event = warp.events[warp.at]
        now = max(at, warp.last)
        while warp.op < len(event.ops):
            op = event.ops[warp.op]
            found = self._do(number, warp, event, op, now)
            if found is None:
                return  # whoever it waits for lets it go on
            if found > now + _SHORT:
                warp.slices.append(Slice(now, found, event.instruction, _WAITS[op.kind]))
            now = max(now, found)
            warp.op += 1
        warp.at, warp.op, warp.last = warp.at + 1, -1, now
        self._go(number, max(now, at + 1))

    def _issue(self, number: int, warp: WarpState, event: Event, cost: Cost, at: float) -> bool:
        """Issue an instruction if it can be issued now; else come back when it can."""
        part = self.sms[warp.cta].parts[(warp.resident * self._per_cta + warp.warp) % PARTS]
        ready, why = at, warp.why
        for register in cost.reads:
            known = warp.registers.get(register)
            if known is not None and known[0] > ready:
                ready, why = known
        pipe = part.units.get(cost.pipe)
        if ready <= at and pipe is not None and pipe.free > at and not cost.queued:
            ready, why = pipe.free, f"the {cost.pipe} unit"
            warp.since = at if warp.since < 0 else warp.since
        if ready > at:
            warp.why = why
            self._go(number, ready)
            return False
        start = part.issue.take(at, 1.0)
        if start > warp.last + _SHORT:
            cause = warp.why or "an issue slot"
            warp.slices.append(Slice(warp.last, start, event.instruction, cause))
        began = start if pipe is None else pipe.take(start, cost.cycles)
        done = self._execute(warp, event, cost, start, began)
        waited = f"the result of {event.instruction.mnemonic}"
        for register in cost.writes:
            warp.registers[register] = done, waited
        warp.slices.append(Slice(start, start + max(cost.cycles, 1.0), event.instruction))
        warp.why, warp.last, warp.since = "", start + 1.0, -1.0
        return True

    def _execute(
        self, warp: WarpState, event: Event, cost: Cost, start: float, began: float
    ) -> float:
        """Have memory and tensor cores do what an instruction asks; when its result is there."""
        sm = self.sms[warp.cta]
        done = began + cost.latency
        if event.flops:
            cycles = self.costs.in_tensor_memory(event.flops)
            begun = [part.units["tensor"].take(start, cycles) for part in sm.parts]
            done = max(begun) + cycles + self.costs.known.deep
        if cost.pipe == "tensor":
            warp.products = max(warp.products, done)
        exchange = unit(event.instruction) is Unit.EXCHANGE
        if event.passes or exchange:
            passes = event.passes or 1
            done = max(done, sm.pass_shared(start, passes) - 1 + cost.latency)
        moved = event.near + event.far + event.stored
        if moved and event.instruction.opcode != "cp":
            out = sm.through_l1(start, moved)
            done = out + sm.l1_latency if event.near else start + cost.latency
            if event.far:
                done = max(done, sm.fetch(out, event.far))
            if event.stored:
                left = sm.store(out, event.stored)
                if cost.writes:  # an atomic, whose result comes back
                    done = max(done, sm.fetch(left, 0.0))
        return done

    def _exit(self, warp: WarpState, at: float) -> None:
        self.end = max(self.end, at, warp.products if warp.products else 0.0)
        self._alive[warp.resident, warp.cta] -= 1
        for key, barrier in list(self._barriers.items()):
            self._met(key, barrier, at)

    # Ops

    def _do(self, number: int, warp: WarpState, event: Event, op: Op, at: float) -> float | None:
        """An op; when the warp goes on, or None if it waits for others."""
        match op.kind:
            case Kind.BARRIER_ARRIVE | Kind.CLUSTER_ARRIVE:
                self._arrive_barrier(warp, op, at)
            case Kind.BARRIER_LEAVE | Kind.CLUSTER_LEAVE:
                key = self._barrier_key(warp, op)
                barrier = self._barriers.setdefault(key, Barrier())
                turn = warp.turns.get(key, barrier.turn)
                return self._wait(number, barrier, lambda: barrier.turn > turn, at)
            case Kind.WAIT:
                return self._wait_phase(number, warp, op, at)
            case Kind.CP_WAIT:
                return max([at, *warp.copies[: op.value]])
            case Kind.BULK_WAIT:
                return max([at, *warp.stores[: op.value]])
            case Kind.PRODUCT_COMMIT:
                warp.groups[op.value] = warp.products
            case Kind.PRODUCT_WAIT:
                return max([at, *(t for n, t in warp.groups.items() if n <= op.value)])
            case _:
                self._start(warp, event, op, at)
        return at

    def _start(self, warp: WarpState, event: Event, op: Op, at: float) -> None:
        """An op that nobody waits at: copies, reads by products, and what mbarriers are told."""
        sm = self.sms[warp.cta]
        bytes_ = len(op.places) * op.size
        match op.kind:
            case Kind.CP_WRITE:
                there = sm.fetch(sm.through_l1(at, bytes_), max(event.far, bytes_))
                warp.copies.append(sm.copied(there, bytes_))
            case Kind.COPY:
                self._copy(warp, event, op, at)
            case Kind.BULK_READ:
                warp.stores.append(sm.store(sm.copied(at, bytes_), bytes_))
            case Kind.PRODUCT_READ | Kind.TENSOR_READ:
                # Each of the four warps of a warpgroup has the reads of all.
                share = WARPGROUP_WARPS if op.kind is Kind.PRODUCT_READ else 1
                read = sm.copied(at, bytes_ / share) + self.costs.known.deep
                warp.products = max(warp.products, read)
            case Kind.INIT:
                made = self._mbarrier(warp, op.key)
                made.count = made.pending = op.count
            case Kind.ARRIVE | Kind.DROP | Kind.EXPECT:
                self._tell(warp, op, op.count, op.value, at)
            case Kind.CP_ARRIVE:
                held = op.count or op.lanes.bit_count()
                if not op.count:
                    self._mbarrier(warp, op.key).pending += held
                then = max([at, *warp.copies[: op.value]])
                self._later(then, lambda now: self._tell(warp, op, held, 0, now))
            case Kind.COMMIT:
                then = max(at, warp.products)
                self._later(then, lambda now: self._tell(warp, op, op.count, 0, now))

    def _copy(self, warp: WarpState, event: Event, op: Op, at: float) -> None:
        """A bulk or tensor copy; of one that several CTAs get, L2 is asked once."""
        first = next(one for one in event.ops if one.kind is Kind.COPY)
        there = self.sms[warp.cta].fetch(at, op.value if op is first else 0.0)
        there = self.sms[op.cta if op.places.size else warp.cta].copied(there, op.value)
        self._later(there, lambda now: self._tell(warp, op, 0, -op.value, now))

    # Meetings

    def _wait(self, number: int, where: Meeting, goes: Goes, at: float) -> float | None:
        if goes():
            return at
        warp = self.warps[number]
        where.waiting.append((number, goes))
        warp.last = at
        return None

    def _release(self, where: Meeting, at: float, what: Kind) -> None:
        """Those who wait no more go on, some cycles later."""
        then = at + self.costs.known.barrier
        for number in where.freed():
            warp = self.warps[number]
            event = warp.events[warp.at]
            warp.slices.append(Slice(warp.last, then, event.instruction, _WAITS[what]))
            warp.op, warp.last = warp.op + 1, then
            self._go(number, then)

    @staticmethod
    def _barrier_key(warp: WarpState, op: Op) -> object:
        of_cta = op.kind in (Kind.BARRIER_ARRIVE, Kind.BARRIER_LEAVE)
        return (warp.resident, warp.cta, op.value) if of_cta else (warp.resident,)

    def _arrive_barrier(self, warp: WarpState, op: Op, at: float) -> None:
        key = self._barrier_key(warp, op)
        barrier = self._barriers.setdefault(key, Barrier())
        barrier.expected = op.count // LANES
        barrier.arrived += 1
        warp.turns[key] = barrier.turn
        self._met(key, barrier, at)

    def _met(self, key: object, barrier: Barrier, at: float) -> None:
        assert isinstance(key, tuple)
        of_cta = len(key) > 1
        ctas = [key[1]] if of_cta else range(len(self.sms))
        alive = sum(self._alive[key[0], cta] for cta in ctas)
        if barrier.complete(alive):
            self._release(barrier, at, Kind.BARRIER_LEAVE if of_cta else Kind.CLUSTER_LEAVE)

    def _mbarrier(self, warp: WarpState, key: Key | None) -> MBarrier:
        return self._mbarriers.setdefault((warp.resident, key), MBarrier())

    def _tell(self, warp: WarpState, op: Op, arrivals: int, bytes_: int, at: float) -> None:
        told = self._mbarrier(warp, op.key)
        if op.key is not None and op.kind in (Kind.ARRIVE, Kind.DROP):
            warp.phases[op.key] = told.phase
        if op.kind is Kind.DROP:
            told.count -= arrivals
        if told.change(arrivals=arrivals, bytes_=bytes_):
            self._release(told, at, Kind.WAIT)

    def _wait_phase(self, number: int, warp: WarpState, op: Op, at: float) -> float | None:
        asked = self._mbarrier(warp, op.key)
        if op.value < 0:
            phase = warp.phases.get(op.key, 0) if op.key else 0
            return self._wait(number, asked, lambda: asked.phase > phase, at)
        return self._wait(number, asked, lambda: asked.phase & 1 != op.value, at)


_WAITS = {
    Kind.WAIT: "an mbarrier",
    Kind.BARRIER_LEAVE: "a barrier of the CTA",
    Kind.CLUSTER_LEAVE: "the barrier of the cluster",
    Kind.CP_WAIT: "copies",
    Kind.BULK_WAIT: "stores by copies",
    Kind.PRODUCT_WAIT: "products",
}
"""What warps wait for at ops."""
