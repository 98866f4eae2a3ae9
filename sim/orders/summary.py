"""How the orders of a launch were explored, for its report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Orders:
    """How the orders of a launch's warps were explored.

    Attributes:
        traces: clusters, or CTAs, whose warps did different things; all others did what one of
            these did.
        orders: orders of those in which warps take different phases of barriers.
        steps: steps of all of these together.
    """

    traces: int = 0
    orders: int = 0
    steps: int = 0
