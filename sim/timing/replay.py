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

from tilec.isa import Target
from tilec.isa.gpus import Gpu

from ..traits import Unit, unit
from .costs import PARTS, Cost, Costs
from .events import Event
from .ops import WAITS, Ops
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
        self._ops = Ops(self.sms, known, self.warps, self._later, self._go)
        self.end = 0.0
        self.stuck = False

    def run(self) -> None:
        """Replay until all warps have come to their ends, or none can go on."""
        for number in range(len(self.warps)):
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
            found = self._ops.do(number, event, op, now)
            if found is None:
                return  # whoever it waits for lets it go on
            if found > now + _SHORT:
                warp.slices.append(Slice(now, found, event.instruction, WAITS[op.kind]))
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
        self.end = max(self.end, at, warp.products)
        self._ops.left(warp, at)
