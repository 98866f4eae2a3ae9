"""The groups of a wave, by what they wait for."""

from __future__ import annotations

from collections.abc import Iterator

from .alu import Array
from .barriers import Barriers
from .groups import Group, Key
from .machine import Machine
from .order import Together, WarpByWarp


class Queues:
    """Groups of threads that can run, and those that cannot yet.

    Attributes:
        groups: groups that can run, by key.
        parked: threads that wait for the rest of their warp, by key.
        resting: threads that wait for an mbarrier or at a gate, by key.
        barriers: threads that wait at CTA barriers.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.groups: dict[Key, Group] = {}
        self.parked: dict[Key, Group] = {}
        self.resting: dict[Key, Group] = {}
        self.barriers = Barriers(machine)

    def enter(self, group: Group) -> None:
        """Let a group run, together with those that stand at the same instruction."""
        key = group.key
        other = self.parked.pop(key, None) or self.groups.get(key)
        if other is not None and other is not group:
            self._join(group, other)
            group.boost = max(group.boost, other.boost)
        self.groups[key] = group

    def pick(self, order: Together | WarpByWarp, turn: int) -> Group:
        """The group that runs next, taken out."""
        if len(self.groups) == 1:
            return self.groups.popitem()[1]
        return self.groups.pop(order.pick(self.groups, turn))

    def park(self, group: Group) -> None:
        """Let a group wait for the rest of its warps, or run if it is that rest."""
        key = group.key
        other = self.parked.pop(key, None)
        if other is None:
            self.parked[key] = group
            return
        self._join(group, other)
        self.enter(group)

    def rest(self, group: Group) -> None:
        """Let a group wait until something has happened."""
        key = group.key
        other = self.resting.get(key)
        if other is not None and group.mask is not None and other.mask is not None:
            self._join(group, other)
        self.resting[key] = group

    def wake(self, turn: int) -> None:
        """Let those who rest look again."""
        resting = list(self.resting.values())
        self.resting.clear()
        for group in resting:
            group.turn = turn
            self.enter(group)

    def exited(self) -> None:
        """Threads are gone: those who waited for them wait no more."""
        waiting = list(self.parked.values())
        self.parked.clear()
        for other in [*self.groups.values(), *waiting, *self.resting.values()]:
            other.narrow(other.mask, self.machine.live)
        for other in waiting:
            self.enter(other)
        for freed in self.barriers.exited():
            self.enter(freed)

    def everyone(self) -> Iterator[Group]:
        """All groups, those first that wait longest."""
        yield from self.resting.values()
        yield from self.parked.values()
        yield from self.barriers.groups()
        yield from self.groups.values()

    def _join(self, group: Group, other: Group) -> None:
        """Make the threads of another group one's own."""
        assert group.mask is not None
        assert other.mask is not None
        mask: Array = group.mask | other.mask
        group.narrow(mask, self.machine.live)
