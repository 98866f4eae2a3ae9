"""Clusters of a grid that have not started: waves begin with some, and CTAs that run take others.

PTX ISA, "clusterlaunchcontrol". Which clusters are taken, and when a request fails, is not
promised: without a seed they go out in the order of their numbers until none is left; with one
it draws them, and some requests fail although clusters are left, which then start later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .wave import Geometry

if TYPE_CHECKING:
    from random import Random

_PART = 3
"""Of so many clusters one starts at once where CTAs take the others."""
_FAILS = 1 / 8
"""How often a request fails that need not, where a seed decides."""


class Pending:
    """The clusters of a launch that have not started.

    Args:
        geometry: of the launch.
        resident: CTAs of a wave at most.
        taken: whether CTAs take over the work of clusters that have not started.
        draws: decides which clusters go out, and which requests fail; None for neither.
    """

    def __init__(
        self, geometry: Geometry, resident: int, *, taken: bool, draws: Random | None
    ) -> None:
        self._geometry = geometry
        self._draws = draws
        clusters = geometry.ctas // geometry.cluster_ctas
        self._waiting = list(range(clusters))
        self._at_once = resident // geometry.cluster_ctas
        if taken:
            self._at_once = min(self._at_once, -(-clusters // _PART))

    def skip(self, waves: int) -> None:
        """Leave out so many waves."""
        del self._waiting[: waves * self._at_once]

    def start(self) -> list[int]:
        """Take the clusters of the next wave; the numbers of their CTAs, none at the end."""
        first, self._waiting = self._waiting[: self._at_once], self._waiting[self._at_once :]
        size = self._geometry.cluster_ctas
        return [cluster * size + rank for cluster in first for rank in range(size)]

    def take(self) -> tuple[int, int, int] | None:
        """Take over a cluster: the place in the grid of its first CTA; None if that fails."""
        if not self._waiting or (self._draws is not None and self._draws.random() < _FAILS):
            return None
        at = 0 if self._draws is None else self._draws.randrange(len(self._waiting))
        return self._geometry.cta(self._waiting.pop(at) * self._geometry.cluster_ctas)

    @property
    def left(self) -> int:
        """CTAs that have not started."""
        return len(self._waiting) * self._geometry.cluster_ctas
