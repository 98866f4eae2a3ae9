"""One CTA: its threads, its values, its shared memory, and what it has found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tilec.isa import LANES

from .arithmetic.base import Arithmetic
from .findings import Finding
from .memory import Buffer
from .numbers import Array
from .program import Node
from .registry import Value
from .shared import SharedMemory

STEPS = 1_000_000
"""Ops that a CTA executes at most, if nothing else is said."""


@dataclass(eq=False, slots=True)
class Copies:
    """Asynchronous copies of a CTA.

    Attributes:
        open: those since the last group was closed: what ends each.
        groups: those of each closed group, the oldest first.
    """

    open: list[PendingCopy] = field(default_factory=list)
    groups: list[list[PendingCopy]] = field(default_factory=list)


@dataclass(frozen=True, eq=False, slots=True)
class PendingCopy:
    """A copy in flight: what will be where."""

    buffer: Buffer
    places: Array
    values: Array


@dataclass(eq=False)
class Cta:
    """A CTA.

    Attributes:
        arithmetic: of floats.
        block: its threads along x, y and z.
        grid: CTAs along x, y and z.
        at: its own place.
        target: the name of what it runs on, or empty.
        values: by number.
        findings: what is wrong, in the order of finding.
    """

    arithmetic: Arithmetic
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    at: tuple[int, int, int]
    target: str
    values: list[Value]
    findings: list[Finding]
    shared: SharedMemory = field(default_factory=SharedMemory)
    copies: Copies = field(default_factory=Copies)
    buffers: dict[Node, Value] = field(default_factory=dict)
    steps: int = 0
    limit: int = STEPS

    @property
    def threads(self) -> int:
        """How many."""
        return int(np.prod(self.block))

    def end_copies(self, pending: int) -> None:
        """Let all groups of copies arrive but the latest."""
        groups = self.copies.groups
        while len(groups) > pending:
            for copy in groups.pop(0):
                self.end_copy(copy)

    def end_copy(self, copy: PendingCopy) -> None:
        """Let a copy arrive."""
        copy.buffer.data[copy.places] = copy.values
        self.shared.end_copy(copy.buffer, copy.places, self.threads // LANES)
