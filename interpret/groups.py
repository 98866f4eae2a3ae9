"""Asynchronous work in groups, of which one waits for all but the latest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .memory import Buffer
from .numbers import Array

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Groups(Generic[T]):
    """What somebody has in flight.

    Attributes:
        open: what was begun since the last group was closed.
        closed: that of each closed group, the oldest first.
    """

    open: list[T] = field(default_factory=list)
    closed: list[list[T]] = field(default_factory=list)

    def commit(self) -> None:
        """Close a group."""
        self.closed.append(self.open)
        self.open = []

    def end(self, pending: int) -> list[T]:
        """What ends if all groups do but the latest."""
        ended = self.closed[: len(self.closed) - pending] if pending else self.closed
        self.closed = self.closed[len(ended) :]
        return [one for group in ended for one in group]

    def all(self) -> list[T]:
        """All that is in flight."""
        return [*(one for group in self.closed for one in group), *self.open]


@dataclass(frozen=True, eq=False, slots=True)
class PendingCopy:
    """A copy in flight: what will be where.

    Attributes:
        buffer: where.
        places: its elements.
        values: theirs.
        warps: a bit for each warp that copies; 0 of a box, which no warp does.
        end: lets it arrive, by an mbarrier's number, in the CTA where that is; None if that is
            where it is waited for.
    """

    buffer: Buffer
    places: Array
    values: Array
    warps: int = 0
    end: Callable[[PendingCopy, int], None] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PendingRead:
    """A read of shared memory in flight.

    Attributes:
        buffer: what is read.
        places: the elements.
        warps: a bit for each warp that it is done for.
        result: what it is read for; None of what goes to memory.
    """

    buffer: Buffer
    places: Array
    warps: Array
    result: Array | None = None
