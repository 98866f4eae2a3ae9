"""Times of work on a GPU, by events, with the clock that it ran at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tilec.isa import TilecError
from tilec.isa.wording import counted

from .device import gpu
from .launch import launch
from .memory import Array
from .streams import Event, handle

Work = Callable[[], object]
"""Starts work on the GPU, and returns before its end."""

_STEADY = 0.02
"""By how much of itself a clock may change that is called steady."""
_WARM_UP = 3
_SPAN_NS = 1_000_000
"""How long the GPU counts its cycles."""
_CYCLES = """.version 6.0
.target sm_70
.address_size 64
.visible .entry cycles(.param .u64 counts, .param .u64 span)
{
  .reg .pred %p;
  .reg .b64 %d<9>;
  ld.param.u64 %d1, [counts];
  ld.param.u64 %d2, [span];
  cvta.to.global.u64 %d1, %d1;
  mov.u64 %d3, %globaltimer;
EDGE:
  mov.u64 %d4, %globaltimer;
  mov.u64 %d5, %clock64;
  setp.eq.u64 %p, %d3, %d4;
  @%p bra EDGE;
TURN:
  mov.u64 %d6, %globaltimer;
  mov.u64 %d7, %clock64;
  sub.u64 %d8, %d6, %d4;
  setp.lt.u64 %p, %d8, %d2;
  @%p bra TURN;
  sub.u64 %d7, %d7, %d5;
  st.global.u64 [%d1], %d7;
  st.global.u64 [%d1+8], %d8;
  ret;
}
"""
"""Cycles and nanoseconds between two ticks of the timer, which may be a microsecond apart."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds that a piece of work takes on a GPU.

    Attributes:
        median, least, most: over the rounds.
        rounds: how often it was timed.
        clocks: MHz of a multiprocessor before the first round and behind the last, as the GPU
            itself counts its cycles.
    """

    median: float
    least: float
    most: float
    rounds: int
    clocks: tuple[float, float]

    @property
    def steady(self) -> bool:
        """Whether the clock was the same, within 2 %, before and afterwards."""
        return abs(self.clocks[1] - self.clocks[0]) <= _STEADY * self.clocks[0]

    def __str__(self) -> str:
        before, after = self.clocks
        clock = f"at {before:.0f} MHz" if self.steady else f"from {before:.0f} to {after:.0f} MHz"
        return (
            f"{self.median:.4f} ms ({self.least:.4f} to {self.most:.4f}, "
            f"{counted(self.rounds, 'round')}, "
            f"{clock})"
        )


def do_bench(
    work: Work, *, prepare: Work | None = None, rounds: int = 25, stream: Any = None
) -> Timing:
    """How long work takes on the GPU; as `compare`, of one alone.

    Raises:
        UnavailableError: if there is no GPU: the simulator has no clock.
    """
    return compare([work], prepare=prepare, rounds=rounds, stream=stream)[0]


def compare(
    works: Sequence[Work],
    *,
    prepare: Work | None = None,
    rounds: int = 25,
    stream: Any = None,
    device: int = 0,
) -> list[Timing]:
    """How long each of several works takes on a GPU.

    They take turns, so that what the clock does is the same for all. Before each the L2 cache is
    overwritten, which also lets the host run ahead, so that its own time is not counted. Clocks
    are not set, which only an administrator may; they are measured, and stand beside the times.

    Args:
        works: start work, on the stream, without waiting for it.
        prepare: is called before each, and not timed.
        rounds: how often each is timed.
        stream: where they work; None for the default stream.
        device: the GPU's number.

    Raises:
        UnavailableError: if there is no GPU.
        TilecError: for fewer rounds than one.
    """
    if rounds < 1:
        raise TilecError(f"rounds must be 1 or more, not {rounds!r}")
    where = gpu(device)
    where.activate()
    queue = handle(stream)
    cache = Array((max(2 * where.attribute("L2_CACHE_SIZE"), 1),), np.uint8, device)

    def once(work: Work) -> tuple[Event, Event]:
        start, end = Event(device), Event(device)
        if prepare is not None:
            prepare()
        where.call("cuMemsetD8Async", cache.pointer, 0, cache.nbytes, queue)
        start.record(queue)
        work()
        end.record(queue)
        return start, end

    for work in works:
        for _ in range(_WARM_UP):
            once(work)
    before = clock(device)
    made = [[once(work) for work in works] for _ in range(rounds)]
    where.synchronize()
    clocks = before, clock(device)
    found: list[list[float]] = [[] for _ in works]
    for round_ in made:
        for times, (start, end) in zip(found, round_, strict=True):
            times.append(end.since(start))
            start.close()
            end.close()
    cache.close()
    return [
        Timing(float(np.median(times)), min(times), max(times), rounds, clocks) for times in found
    ]


def clock(device: int = 0) -> float:
    """MHz of a multiprocessor: the cycles that it counts in a millisecond, busy as it is now.

    Raises:
        UnavailableError: if there is no GPU.
    """
    counts = Array((2,), np.uint64, device)
    launch(_CYCLES, "cycles", 1, 1, [counts, np.uint64(_SPAN_NS)], device=device)
    gpu(device).synchronize()
    cycles, nanoseconds = counts.numpy().tolist()
    counts.close()
    return float(1000 * cycles / nanoseconds)
