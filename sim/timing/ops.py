"""What instructions of a warp do that others may wait for, in a timing model.

Copies and products take the SM's memory and tensor cores; barriers and mbarriers are told, and let
warps wait and go on, in the order in which things come about here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilec.isa import LANES, WARPGROUP_WARPS
from tilec.isa.latencies import Latencies

from ..orders.ops import Key, Kind, Op
from .events import Event
from .meetings import Barrier, Goes, MBarrier, Meeting
from .pipes import Sm
from .warps import Slice, WarpState

WAITS = {
    Kind.WAIT: "an mbarrier",
    Kind.BARRIER_LEAVE: "a barrier of the CTA",
    Kind.CLUSTER_LEAVE: "the barrier of the cluster",
    Kind.CP_WAIT: "copies",
    Kind.BULK_WAIT: "stores by copies",
    Kind.PRODUCT_WAIT: "products",
}
"""What warps wait for at ops."""


class Ops:
    """Carries them out.

    Args:
        sms: an SM for each CTA of the cluster.
        known: latencies.
        warps: those of all CTAs at once on the SMs.
        later: has something done at a time.
        go: lets a warp, by its number, go on at a time.
    """

    def __init__(
        self,
        sms: Sequence[Sm],
        known: Latencies,
        warps: Sequence[WarpState],
        later: Callable[[float, Callable[[float], None]], None],
        go: Callable[[int, float], None],
    ) -> None:
        self.sms, self.known, self.warps = sms, known, warps
        self._later, self._go = later, go
        self._barriers: dict[object, Barrier] = {}
        self._mbarriers: dict[object, MBarrier] = {}
        self._alive: dict[tuple[int, int], int] = {}
        for warp in warps:
            key = (warp.resident, warp.cta)
            self._alive[key] = self._alive.get(key, 0) + 1

    def left(self, warp: WarpState, at: float) -> None:
        """A warp has exited: barriers of all wait for one less."""
        self._alive[warp.resident, warp.cta] -= 1
        for key, barrier in list(self._barriers.items()):
            self._met(key, barrier, at)

    def do(self, number: int, event: Event, op: Op, at: float) -> float | None:
        """An op of a warp; when that goes on, or None if it waits for others."""
        warp = self.warps[number]
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
                read = sm.copied(at, bytes_ / share) + self.known.deep
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
        then = at + self.known.barrier
        for number in where.freed():
            warp = self.warps[number]
            event = warp.events[warp.at]
            warp.slices.append(Slice(warp.last, then, event.instruction, WAITS[what]))
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
