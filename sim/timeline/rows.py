"""The rows of a picture: warps that did the same at once are one, flights lie in lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..warps import warp_numbers
from .record import Flight, Record, WarpTimeline


@dataclass(slots=True)
class WarpRow:
    """Warps that issued the same in the same steps.

    Attributes:
        warps: their numbers.
        of: the first of them.
    """

    warps: list[int]
    of: WarpTimeline

    @property
    def label(self) -> str:
        """Which warps, and their role."""
        return f"{warp_numbers(self.warps)}{f', {self.of.role}' if self.of.role else ''}"


@dataclass(slots=True)
class FlightRow:
    """Things in flight that are not in flight together.

    Attributes:
        label: what they are, empty where the row above says it.
        flights: in order.
    """

    label: str
    flights: list[Flight]


TITLES = {
    "load": "copies to shared memory",
    "store": "copies from shared memory",
    "product": "asynchronous products",
}
"""What the kinds of flights are called."""


def warp_rows(timeline: Record) -> list[WarpRow]:
    """A row for every group of warps that did the same in the same steps."""
    found: dict[tuple[object, ...], WarpRow] = {}
    for one in timeline.warps:
        did = tuple((run.kind, run.first, run.last) for run in one.runs)
        waited = tuple((wait.first, wait.last) for wait in one.waits)
        row = found.setdefault((one.role, did, waited), WarpRow([], one))
        row.warps.append(one.warp)
    return list(found.values())


def flight_rows(timeline: Record) -> list[FlightRow]:
    """Rows of each kind of flight, by the warps that issued it; as few as there is room in."""
    rows: list[FlightRow] = []
    for kind, title in TITLES.items():
        of_kind = [flight for flight in merged(timeline.flights) if flight.kind == kind]
        for warps in sorted({flight.warps for flight in of_kind}):
            label = f"{title}, {warp_numbers(warps)}"
            rows += _packed(label, [flight for flight in of_kind if flight.warps == warps])
    return rows


def merged(flights: Iterable[Flight]) -> list[Flight]:
    """Flights, those as one that warps issued at once and that were complete at once."""
    found: dict[tuple[object, ...], list[Flight]] = {}
    for one in flights:
        key = (one.kind, one.first, one.last, one.line, one.count)
        found.setdefault(key, []).append(one)
    return [_together(alike) for alike in found.values()]


def _together(alike: Sequence[Flight]) -> Flight:
    first = alike[0]
    warps = tuple(sorted({warp for flight in alike for warp in flight.warps}))
    bytes_ = sum(flight.bytes for flight in alike)
    return Flight(
        first.kind, warps, first.first, first.last, first.count, bytes_,
        first.instruction, first.line, first.source,
    )  # fmt: skip


def _packed(label: str, flights: Sequence[Flight]) -> list[FlightRow]:
    """Each flight in the first row whose last has ended."""
    rows: list[FlightRow] = []
    for flight in flights:
        free = (row for row in rows if row.flights[-1].last < flight.first)
        row = next(free, None)
        if row is None:
            row = FlightRow("" if rows else label, [])
            rows.append(row)
        row.flights.append(flight)
    return rows
