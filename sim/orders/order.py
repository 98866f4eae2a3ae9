"""One order of the steps of a trace, and what is wrong in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..alu import Array
from .objects import Race
from .ops import Key, Op

Name = tuple[int, int]
"""A step: a warp and -1, or the warp and the place in its trace of what completes."""

Place = tuple[int, int]
"""An op: its warp, and its time there, which is its place in the trace and 1."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in an order.

    Attributes:
        kind: kind of the finding.
        op: what did it.
        warp: whose.
        words: what, in words.
        at: how many steps of the order come before.
        address: in shared memory, or None.
    """

    kind: str
    op: Op
    warp: int
    words: str
    at: int
    address: int | None = None


@dataclass(slots=True)
class Order:
    """An order of the steps of a trace.

    Attributes:
        names: the steps.
        ops: the warp and the op of each; of what completes, who issued it, and what.
        clocks: what each knew, (components,).
        marks: the component and time by which others know of it.
        races: those that may come in the other order.
        faults: what is wrong.
        arrivals: the mbarrier, and the phase, in which each arrival of a warp counted.
        waits: the mbarrier, and the phase, that each wait went on for, and its step.
        identity: the same for orders that order memory in the same way.
    """

    names: list[Name] = field(default_factory=list)
    ops: list[tuple[int, Op]] = field(default_factory=list)
    clocks: list[Array] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    arrivals: dict[Place, tuple[Key, int]] = field(default_factory=dict)
    waits: dict[Place, tuple[Key, int, int]] = field(default_factory=dict)
    identity: int = 0

    def precedes(self, first: int, second: int) -> bool:
        """Whether a step comes before another in every order with the same phases."""
        component, time = self.marks[first]
        return int(self.clocks[second][component]) >= time
