"""Mbarriers: phases that end when threads have arrived and bytes are there. PTX ISA, "mbarrier"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .groups import PendingCopy
from .numbers import Array
from .order import later


@dataclass(eq=False, slots=True)
class Mbarrier:
    """One mbarrier.

    Attributes:
        count: arrivals that end a phase.
        source: its number among what copies arrive by.
        began: until when others must know of the warp that initialised it, and the warp's number.
        arrive_copies: lets copies arrive, and gives what who waits for them knows then.
        fenced: whether the asynchronous proxy may use it.
        missing: arrivals that this phase lacks.
        bytes: that it waits for; below zero where some came before they were expected.
        phase: how many phases have ended.
        copies: what arrives when this phase ends.
        over: what who waits for the last phase knows then.
    """

    count: int
    source: int
    began: tuple[int, int]
    arrive_copies: Callable[[list[PendingCopy], int], Array]
    fenced: bool = False
    missing: int = 0
    bytes: int = 0
    phase: int = 0
    copies: list[PendingCopy] = field(default_factory=list)
    over: Array | None = None
    _known: Array | None = None

    def __post_init__(self) -> None:
        self.missing = self.count

    def has_ended(self, parity: bool) -> bool:
        """Whether the phase of a parity has ended; the one before the first has."""
        return bool(self.phase & 1) != parity

    def arrive(self, times: int, clock: Array, expected: int = 0) -> bool:
        """Arrive some times, and expect bytes each time; whether a phase that lacked none waits.

        Args:
            times: how often, one after the other: a phase may end between them.
            clock: what those who arrive hand on.
            expected: bytes of each time.
        """
        over = False
        for _ in range(times):
            over = over or self.missing == 0
            self._known = later(self._known, clock)
            self.bytes += expected
            self.missing -= 1
            self._end()
        return over

    def complete(self, copies: list[PendingCopy], size: int) -> None:
        """Count the bytes of copies, which others see when the phase ends."""
        self.copies += copies
        self.bytes -= size
        self._end()

    def _end(self) -> None:
        if self.missing > 0 or self.bytes:
            return
        if self.copies:
            self._known = later(self._known, self.arrive_copies(self.copies, self.source))
        if self._known is not None:
            self.over = later(self.over, self._known)
        self.phase += 1
        self.missing, self.copies, self._known = self.count, [], None
