"""What the scheduler in machine code knows of checks, and what these learn of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..alu import Array
from ..checks.owners import TIMES
from ..checks.progress import LIMIT
from .access_forms import STATE
from .accesses import follows_stores, may_follow
from .control_tables import CHECKS

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer
    from .access_state import State

_AT = {name: n for n, name in enumerate(CHECKS)}
_PERIODS = 1 << 22
"""Barriers of all threads after which machine code leaves them to numpy."""


class Checks:
    """The checks of a machine.

    Attributes:
        observer: the checks, or None.
        address: where machine code finds what it knows of them; 0 without.
        watch_function: where the function is that watches global memory; 0 if there is none yet.
    """

    def __init__(self, machine: Machine, accesses: State) -> None:
        self._machine = machine
        self._accesses = accesses
        self.observer = machine.observer
        self._table = np.zeros(len(CHECKS), np.int64)
        self._now = np.zeros(0, np.int64)
        self.address = 0
        self.watch_function = 0
        if self.observer is not None:
            self.address = self._table.ctypes.data
            at, size = accesses.table.ctypes.data, accesses.table.itemsize
            for name in ("stamp", "seen", "floor", "clocks", "values", "shift"):
                self._table[_AT[name]] = at + size * STATE.index(name)

    def enter(self) -> bool:
        """Let machine code know how things stand; False where numpy has to execute everything."""
        observer, table = self.observer, self._table
        if observer is None:
            return True
        if not may_follow(observer):
            return False
        progress, global_ = observer.progress, observer.global_
        now: Array = progress.clocks.now
        if self._now.size < now.size:
            self._now = np.zeros(now.size, np.int64)
            table[_AT["now"]] = self._now.ctypes.data
        self._now[: now.size] = now
        shared = observer.in_flight is None and not observer.peer_races.visitors
        shared &= observer.shared.follows(observer.shared.granule)
        self._accesses.follow(observer)
        table[_AT["shares"]] = shared
        table[_AT["stores"]] = not follows_stores(observer)
        table[_AT["alike"]] = (
            self._machine.geometry.cluster_ctas == 1 and observer.in_flight is None
        )
        self._look_whether_quiet(observer)
        table[_AT["most"]] = min(LIMIT - 2, TIMES - 2 - progress.past)
        table[_AT["met"]] = 0
        watch = self._accesses.watch(observer)
        watch.room()
        watch.renew()
        self.watch_function = watch.address
        table[_AT["log"]] = watch.pending.log.ctypes.data
        table[_AT["rows"]] = watch.pending.rows.ctypes.data
        table[_AT["times"]] = watch.times.ctypes.data if global_.grid.on else 0
        # Rows of allocations that are met later are blank until then.
        table[_AT["allocations"]] = len(watch.pending.rows)
        return True

    def _look_whether_quiet(self, observer: Observer) -> None:
        global_ = observer.global_
        self._table[_AT["quiet"]] = global_.quiet and global_.whole.period < _PERIODS

    def make_room(self, make: Callable[[], None]) -> bool:
        """Have room in the log; False as of `enter`.

        What is in it may become what numpy remembers, as of the present time.
        """
        self.leave()
        if not self.enter():
            return False
        make()
        assert self.observer is not None
        self._look_whether_quiet(self.observer)
        return True

    def leave(self) -> None:
        """Let the checks know what machine code has done."""
        observer = self.observer
        if observer is None:
            return
        met, watch = int(self._table[_AT["met"]]), self._accesses.watch(observer)
        self._table[_AT["met"]] = 0
        if met:
            progress, whole = observer.progress, observer.global_.whole
            progress.clocks.now = progress.clocks.now + (met - 1)
            progress.meet()
            whole.period += met
            watch.pending.met()
        watch.taken()
