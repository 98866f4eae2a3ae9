"""What became of a candidate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """How far a candidate came."""

    RANKED = "ranked"
    """It was compiled and counted, and has a cost."""
    REFUSED = "refused"
    """It cannot be launched, or its results are not wanted; the reason says why."""


@dataclass(frozen=True)
class Outcome:
    """What became of a candidate.

    Attributes:
        candidate: the value of each parameter.
        state: how far it came.
        reason: why it was refused, a kind that many share; empty where it was not.
        detail: what is particular to this one.
        counts: what it does, by name.
        cost: seconds that the model gives the launch; None where it was refused.
        measured: seconds of the launch on a device with their spread, where there is one.
        seconds: that it took to find out; not part of the result.
    """

    candidate: Mapping[str, int]
    state: State
    reason: str = ""
    detail: str = ""
    counts: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = None
    measured: Mapping[str, float] | None = None
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The candidate as a text that no other of its study has."""
        return name_of(self.candidate)

    @property
    def work(self) -> float:
        """Cycles of all units together, by the model; 0 where it was refused.

        They tell candidates apart that cost the same, because the same unit takes longest: an order
        of tiles that asks less of DRAM is better where DRAM takes less time than multiplying, too.
        """
        cycles: Mapping[str, float] = self.counts.get("estimate", {}).get("cycles", {})
        return float(sum(cycles.values()))

    @property
    def rank(self) -> tuple[bool, bool, float, float, float, str]:
        """Orders outcomes, the best first: by time, where it was measured, then by the model.

        Costs count to six digits; where they are the same, the work decides. Refused ones are last.
        """
        time = (self.measured or {}).get("median", 0.0)
        cost = 0.0 if self.cost is None else float(f"{self.cost:.6g}")
        return self.cost is None, self.measured is None, time, cost, self.work, self.name

    def result(self) -> dict[str, Any]:
        """Everything but the time that it took."""
        return {
            "candidate": dict(self.candidate),
            "state": str(self.state),
            "reason": self.reason,
            "detail": self.detail,
            "counts": dict(self.counts),
            "cost": self.cost,
            "measured": None if self.measured is None else dict(self.measured),
        }


def name_of(candidate: Mapping[str, int]) -> str:
    """A candidate as a text that no other of its study has, whatever the parameters' order."""
    return json.dumps(dict(candidate), sort_keys=True)
