"""Which group of threads runs next: all warps together, or one warp after the other."""

from __future__ import annotations

from collections.abc import Mapping

from .groups import Group, Key

PATIENCE = 64
"""Turns, of a block each, that a group waits before it goes first."""

SPINNING = 16 * PATIENCE
"""Turns after which a warp that goes on and on is taken to wait for another."""


class Together:
    """The group of the lowest block first, so that groups meet again where their paths join.

    A group that has waited `PATIENCE` turns goes first for as many.
    """

    def pick(self, groups: Mapping[Key, Group], turn: int) -> Key:
        """The key of the group that runs next."""
        oldest = min(groups.values(), key=lambda g: g.turn)
        if turn - oldest.turn > PATIENCE:
            oldest.boost = turn + PATIENCE
        boosted = max(groups.items(), key=lambda item: item[1].boost)
        return boosted[0] if boosted[1].boost > turn else min(groups)


class WarpByWarp:
    """One warp, the same of every CTA, as far as it can go; then another, as a seed decides.

    A warp goes on until it has ended, waits at a barrier, or has run for `SPINNING` turns. Every
    such order is legal: no barrier, no order.
    """

    def __init__(self, seed: int) -> None:
        from random import Random  # noqa: PLC0415 (few launches need any)

        self._random = Random(seed)
        self._within = Together()
        self._warp = -1
        self._turns = 0

    def pick(self, groups: Mapping[Key, Group], turn: int) -> Key:
        """The key of the group that runs next."""
        able = sorted({group.warp for group in groups.values()})
        if self._warp not in able or self._turns == SPINNING:
            others = [warp for warp in able if warp != self._warp]
            self._warp, self._turns = self._random.choice(others or able), 0
        self._turns += 1
        own = {key: group for key, group in groups.items() if group.warp == self._warp}
        return self._within.pick(own, turn)
