"""Products that two CTAs compute together, each with half of B in its shared memory."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import numpy as np

from .meetings import Meeting
from .numbers import Array


@dataclass(eq=False, slots=True)
class PairProduct:
    """A product that begins when both CTAs have come, and ends for both.

    Attributes:
        meeting: where they come.
        halves: columns of B, of the CTAs that have come, by rank.
        ends: what ends their reading.
        whole: all of them, of the product that began last.
    """

    meeting: Meeting = field(default_factory=Meeting)
    halves: dict[int, Array] = field(default_factory=dict)
    ends: list[Callable[[], None]] = field(default_factory=list)
    whole: Array | None = None

    def columns(
        self, rank: int, half: Array, end: Callable[[], None], meet: Callable[[], None]
    ) -> Generator[None, None, Array]:
        """Come with half of the columns of B, and wait for the other; gives all columns.

        Args:
            rank: of the CTA that comes.
            half: (k, n / 2).
            end: called when the operands of this CTA have been read.
            meet: called when those of both have.
        """

        def met(_: object) -> None:
            self.whole = np.concatenate([self.halves[at] for at in sorted(self.halves)], axis=-1)
            for one in self.ends:
                one()
            self.halves, self.ends = {}, []
            meet()

        self.halves[rank] = half
        self.ends.append(end)
        turn = self.meeting.arrive({(rank, 0)}, 2, met)
        yield from self.meeting.wait(turn)
        # The other CTA comes to the next product only after this one has.
        assert self.whole is not None
        return self.whole
