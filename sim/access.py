"""The ways in which an instruction touches memory."""

from __future__ import annotations

from enum import Enum


class Access(Enum):
    """What a thread does to the bytes that it names.

    Attributes:
        reads: whether the bytes' value is used.
        writes: whether the bytes change.
        synchronises: whether it may meet other such accesses without a race.
        orders: whether it publishes what its threads did, and sees what others published.
    """

    READ = "read", True, False, False, False
    WRITE = "write", False, True, False, False
    ATOMIC = "atomic", True, True, True, True
    SYNC_READ = "synchronising read", True, False, True, True
    """A load that takes part in synchronisation: volatile, relaxed or acquire."""
    SYNC_WRITE = "synchronising write", False, True, True, True
    BARRIER = "barrier", True, True, True, False
    """An operation on an mbarrier, which orders memory by what it finds."""
    ASYNC_WRITE = "asynchronous write", False, True, False, False
    """The target of a copy that is complete only after a wait."""

    def __init__(self, _: str, reads: bool, writes: bool, synchronises: bool, orders: bool) -> None:
        self.reads = reads
        self.writes = writes
        self.synchronises = synchronises
        self.orders = orders
