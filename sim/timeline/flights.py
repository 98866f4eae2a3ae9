"""Copies and products in flight: from the step that issues them to the wait that ends them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ..ptx.module import Instruction, Integer
from ..traits import Unit, unit
from .record import Flight, Record

Place = Callable[[Instruction], tuple[int, str]]


class _Groups:
    """What a warp has issued that groups of it wait for: `cp.async`, or `wgmma`."""

    def __init__(self) -> None:
        self.open: Flight | None = None
        self.closed: list[Flight | None] = []

    def commit(self) -> None:
        self.closed.append(self.open)
        self.open = None

    def wait(self, left: int) -> list[Flight]:
        """Those complete when all groups but the last `left` are."""
        cut = max(len(self.closed) - left, 0)
        done, self.closed = self.closed[:cut], self.closed[cut:]
        return [flight for flight in done if flight is not None]

    def wait_all(self) -> list[Flight]:
        """All, those included of which no group has been made."""
        self.commit()
        return self.wait(0)


class Flights:
    """What is in flight of one CTA."""

    def __init__(self, timeline: Record, place: Place) -> None:
        self._timeline = timeline
        self._place = place
        self._bulk: dict[int, tuple[object, list[Flight]]] = {}
        self._groups: dict[tuple[str, int], _Groups] = {}
        self._products: dict[int, Flight] = {}  # of tcgen05, by warp, not committed
        self._pending: list[Flight] = []

    def _begin(
        self, kind: Literal["load", "store", "product"], warps: Sequence[int], found: Instruction
    ) -> Flight:
        step = self._timeline.steps
        made = Flight(kind, tuple(warps), step, step, 0, 0, found.mnemonic, *self._place(found))
        self._timeline.flights.append(made)
        self._pending.append(made)
        return made

    def _complete(self, flights: Sequence[Flight]) -> None:
        for flight in flights:
            flight.last = max(flight.first, self._timeline.steps)
            if flight in self._pending:
                self._pending.remove(flight)

    # Groups: cp.async and wgmma

    def issued(self, instruction: Instruction, warps: Sequence[int]) -> None:
        """Warps issue an instruction."""
        opcode, modifiers = instruction.opcode, instruction.modifiers
        if opcode == "tcgen05" and unit(instruction) is Unit.TENSOR:
            self._issue_committed(instruction, warps)
        elif opcode == "wgmma" or (opcode == "cp" and "bulk" not in modifiers):
            kind: Literal["load", "product"] = "product" if opcode == "wgmma" else "load"
            self._issue_grouped(instruction, kind, warps)

    def _issue_grouped(
        self, instruction: Instruction, kind: Literal["load", "product"], warps: Sequence[int]
    ) -> None:
        modifiers = instruction.modifiers
        of = [self._groups.setdefault((instruction.opcode, warp), _Groups()) for warp in warps]
        if "commit_group" in modifiers:
            for groups in of:
                groups.commit()
        elif "wait_group" in modifiers:
            (left,) = instruction.operands
            count = left.value if isinstance(left, Integer) else 0
            self._complete([flight for groups in of for flight in groups.wait(count)])
        elif "wait_all" in modifiers or "mbarrier" in modifiers:
            # An mbarrier is told of the copies issued so far.
            self._complete([flight for groups in of for flight in groups.wait_all()])
        elif "fence" not in modifiers:
            self._add(instruction, kind, warps, of)

    def _add(
        self,
        instruction: Instruction,
        kind: Literal["load", "product"],
        warps: Sequence[int],
        of: Sequence[_Groups],
    ) -> None:
        """Warps whose groups are alike share what they have in flight."""
        fresh = [n for n, groups in enumerate(of) if groups.open is None]
        if fresh:
            made = self._begin(kind, [warps[n] for n in fresh], instruction)
            for n in fresh:
                of[n].open = made
        for flight in {id(groups.open): groups.open for groups in of}.values():
            assert flight is not None
            flight.count += 1

    # tcgen05: products that a commit makes an mbarrier wait for

    def _issue_committed(self, instruction: Instruction, warps: Sequence[int]) -> None:
        for warp in warps:
            flight = self._products.get(warp)
            if flight is None:
                flight = self._products[warp] = self._begin("product", [warp], instruction)
            flight.count += 1

    # Bulk and tensor copies, and commits

    def load(self, load: object, instruction: Instruction, warp: int, bytes_: int) -> None:
        """A copy to shared memory is issued, or a commit that an mbarrier is told of."""
        if instruction.opcode == "tcgen05":
            flight = self._products.pop(warp, None)
            self._bulk[id(load)] = load, [] if flight is None else [flight]
        else:
            self._bulk_issued("load", load, instruction, warp, bytes_)

    def store(self, store: object, instruction: Instruction, warp: int) -> None:
        """A copy from shared memory is issued."""
        self._bulk_issued("store", store, instruction, warp, 0)

    def _bulk_issued(
        self,
        kind: Literal["load", "store"],
        what: object,
        instruction: Instruction,
        warp: int,
        bytes_: int,
    ) -> None:
        """Copies of one instruction's lanes count as one."""
        step, line = self._timeline.steps - 1, self._place(instruction)[0]
        flight = self._pending[-1] if self._pending else None
        if flight is None or (flight.first, flight.line, flight.warps) != (step, line, (warp,)):
            flight = self._begin(kind, [warp], instruction)
            flight.first = flight.last = step  # the instruction has been issued
        flight.count += 1
        flight.bytes += bytes_
        self._bulk[id(what)] = what, [flight]

    def landed(self, what: object) -> None:
        """A copy is complete."""
        _, flights = self._bulk.pop(id(what), (None, []))
        self._complete(flights)

    def end(self) -> None:
        """The launch has ended: what is left is complete at the last step."""
        last = max(self._timeline.steps - 1, 0)
        for flight in self._pending:
            flight.last = last
        for flight in self._timeline.flights:
            flight.last = min(flight.last, last)
        self._timeline.flights.sort(key=lambda flight: (flight.first, flight.last))
