"""A warp as a timing model replays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..orders.ops import Key
from ..ptx.module import Instruction
from .events import Event


@dataclass(slots=True)
class Slice:
    """What a warp does, or what it waits for.

    Attributes:
        begin, end: in cycles.
        instruction: what it issues, or comes to next.
        cause: what it waits for; empty of an instruction.
    """

    begin: float
    end: float
    instruction: Instruction
    cause: str = ""


@dataclass(slots=True, eq=False)
class WarpState:
    """A warp that is replayed.

    Attributes:
        resident: which of the CTAs that its SM holds it is of.
        cta: of the cluster.
        pid: numbers both.
        warp: of the CTA.
        events: what it does.
        slices: what it did, and when.
        at, op: the event that it comes to, and which of that's ops; -1 before it is issued.
        last: when it could have gone on.
        why: what it has waited for since.
        since: from when, for a unit that is busy; negative if it does not.
        registers: when they are there, and what from.
        copies, stores: when its `cp.async`, and its bulk copies, are complete.
        products: when its products so far are.
        groups: when those of each group are.
        phases: of mbarriers, when it arrived there last.
        turns: of barriers, likewise.
    """

    resident: int
    cta: int
    pid: int
    warp: int
    events: Sequence[Event]
    slices: list[Slice] = field(default_factory=list)
    at: int = 0
    op: int = -1
    last: float = 0.0
    why: str = ""
    since: float = -1.0
    registers: dict[str, tuple[float, str]] = field(default_factory=dict)
    copies: list[float] = field(default_factory=list)
    stores: list[float] = field(default_factory=list)
    products: float = 0.0
    groups: dict[int, float] = field(default_factory=dict)
    phases: dict[Key, int] = field(default_factory=dict)
    turns: dict[object, int] = field(default_factory=dict)
