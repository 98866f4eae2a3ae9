"""What warps wait for each other at: barriers and mbarriers, as a timing model has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Goes = Callable[[], bool]
"""Whether who waits may go on."""


@dataclass(slots=True, eq=False)
class Meeting:
    """Somewhere that warps wait.

    Attributes:
        waiting: who waits, and what each asks.
    """

    waiting: list[tuple[int, Goes]] = field(default_factory=list)

    def freed(self) -> list[int]:
        """Those who may go on, who wait no more."""
        found = [warp for warp, goes in self.waiting if goes()]
        self.waiting = [(warp, goes) for warp, goes in self.waiting if not goes()]
        return found


@dataclass(slots=True, eq=False)
class Barrier(Meeting):
    """A barrier of a CTA or cluster.

    Attributes:
        arrived: warps that have.
        expected: how many it takes; 0 for all that have not exited.
        turn: how often it has been complete.
    """

    arrived: int = 0
    expected: int = 0
    turn: int = 0

    def complete(self, alive: int) -> bool:
        """Begin again if all have arrived, of `alive` where no number is given."""
        if not self.arrived or self.arrived < (self.expected or alive):
            return False
        self.arrived = 0
        self.turn += 1
        return True


@dataclass(slots=True, eq=False)
class MBarrier(Meeting):
    """An mbarrier.

    Attributes:
        count: arrivals of a phase.
        pending: arrivals that this phase still takes.
        bytes: that this phase still takes.
        phase: how many have been complete.
    """

    count: int = 0
    pending: int = 0
    bytes: int = 0
    phase: int = 0

    def change(self, *, arrivals: int = 0, bytes_: int = 0) -> bool:
        """Take arrivals, and bytes that are expected or, negative, have come; whether it turns."""
        self.bytes += bytes_
        self.pending -= arrivals
        if self.pending > 0 or self.bytes != 0:
            return False
        self.pending = self.count
        self.phase += 1
        return True
