"""The ways in which an instruction touches memory."""

from __future__ import annotations

from enum import Enum, auto


class Access(Enum):
    """What a thread does to the bytes that it names."""

    READ = auto()
    WRITE = auto()
    ATOMIC = auto()
    SYNC_READ = auto()
    """A load that takes part in synchronisation: volatile, relaxed or acquire."""
    SYNC_WRITE = auto()
    BARRIER = auto()
    """An operation on an mbarrier, which orders memory by what it finds."""
    ASYNC_WRITE = auto()
    """The target of a copy that is complete only after a wait."""

    @property
    def reads(self) -> bool:
        """Whether the bytes' value is used."""
        return self in (Access.READ, Access.SYNC_READ, Access.ATOMIC, Access.BARRIER)

    @property
    def writes(self) -> bool:
        """Whether the bytes change."""
        return self not in (Access.READ, Access.SYNC_READ)

    @property
    def synchronises(self) -> bool:
        """Whether it may meet other such accesses without a race."""
        return self.orders or self is Access.BARRIER

    @property
    def orders(self) -> bool:
        """Whether it publishes what its threads did, and sees what others published."""
        return self in (Access.ATOMIC, Access.SYNC_READ, Access.SYNC_WRITE)
