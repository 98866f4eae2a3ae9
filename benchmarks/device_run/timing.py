"""Times of work on the GPU, by events, in turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .driver import Cuda

Work = Callable[[int], None]
"""Starts work on one of several sets of inputs, by its number; returns before it is done."""

WARM_UP = 3
ROUND_MS = 4.0
"""Time that one measurement should take at least, so that events are small beside it."""


@dataclass(frozen=True)
class Time:
    """Milliseconds of one piece of work.

    Attributes:
        median, least, most: over the rounds.
        launches: that each round timed together.
    """

    median: float
    least: float
    most: float
    launches: int


def measure(
    cuda: Cuda, works: Mapping[str, Work], sets: int, rounds: int, limit_ms: float = 1e9
) -> dict[str, Time]:
    """Times of several works that take turns, so that what the clocks do is the same for all.

    Args:
        cuda: the GPU.
        works: by name.
        sets: sets of inputs, which are taken in turn, so that the caches do not hold them.
        rounds: measurements of each.
        limit_ms: for all; after it no round begins, but three are always made.
    """
    start, end = cuda.event(), cuda.event()

    def once(work: Work, launches: int, first: int) -> float:
        cuda.record(start)
        for number in range(launches):
            work((first + number) % sets)
        cuda.record(end)
        return cuda.milliseconds(start, end)

    launches = {}
    for name, work in works.items():
        once(work, WARM_UP, 0)
        each = once(work, WARM_UP, WARM_UP) / WARM_UP
        launches[name] = max(1, min(200, round(ROUND_MS / max(each, 1e-3))))
    found: dict[str, list[float]] = {name: [] for name in works}
    spent = 0.0
    for number in range(rounds):
        if number >= 3 and spent > limit_ms:
            break
        for name, work in works.items():
            total = once(work, launches[name], number * launches[name])
            spent += total
            found[name].append(total / launches[name])
    return {
        name: Time(statistics.median(times), min(times), max(times), launches[name])
        for name, times in found.items()
    }
