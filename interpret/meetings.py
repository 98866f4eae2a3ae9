"""Barriers at which threads wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Meeting:
    """A barrier.

    Attributes:
        arrived: threads that have, each by its CTA's rank and its number.
        turn: how often all have.
    """

    arrived: set[tuple[int, int]]
    turn: int

    def __init__(self) -> None:
        self.arrived, self.turn = set(), 0

    def arrive(
        self,
        threads: set[tuple[int, int]],
        count: int,
        met: Callable[[set[tuple[int, int]]], None],
    ) -> int:
        """Come, and let all go on if so many have.

        Args:
            threads: who comes.
            count: how many are waited for.
            met: called with those who have come together.

        Returns:
            Which turn it is that they wait for to end.
        """
        turn = self.turn
        self.arrived |= threads
        if len(self.arrived) >= count:
            met(self.arrived)
            self.arrived = set()
            self.turn += 1
        return turn

    def wait(self, turn: int) -> Generator[None, None, None]:
        """Wait until a turn has ended."""
        while self.turn == turn:
            yield
