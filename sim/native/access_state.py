"""What loads and stores of a machine have in common, for machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from . import choice, driver
from .access_forms import STATE
from .choice import waiting
from .global_checks import GlobalWatch
from .library import Library, library

if TYPE_CHECKING:
    from ..machine import Machine
    from ..observer import Observer

_WORK = 8
"""Instructions that numpy executes in about the time of a load or store with checks."""


class State:
    """What all accesses of a machine have in common.

    Attributes:
        machine: the machine.
        table: what the functions read of it.
        library: the library; None until it is worth loading.
        absent: whether there is none.
        places: where the offsets of warps are, and the first ones.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.library: Library | None = None
        self.absent = False
        self.table = np.zeros(len(STATE), np.int64)
        self.places = {"offsets": 0, "firsts": 0}
        machine.forgetting.append(self.forget)
        self.forget()

    def forget(self) -> None:
        """Forget the memory and the checks of a launch."""
        self._shape = (0, 0, 0)
        self._room: list[Array] = []
        self._kept: list[Array] = []
        self._data: Array | None = None
        self._watch: GlobalWatch | None = None
        self._stamp: Array | None = None
        self._seen: Array | None = None
        self._written: Array | None = None

    def ready(self) -> bool:
        """Whether machine code may be used by now."""
        if self.library is None:
            if self.absent or waiting(_WORK if self.machine.observer is not None else 1):
                return False
            self.library = library()
            if self.library is None:
                self.absent = True
                return False
            self._put("types", self.library.types)
            for name in driver.SHARED:
                self.table[STATE.index(name)] = self.library.address(name) or 0
        machine = self.machine
        if self._shape != machine.shape:
            self._shape = machine.shape
            warps = machine.shape[0] * machine.shape[1]
            threads = warps * LANES
            # A thread touches 64 bytes at most, each of which may have a stamp.
            self._room = [np.empty(n, t) for n, t in (
                (threads, np.int64), (warps, np.int64), (threads * 64, np.uint32)
            )]  # fmt: skip
            for name, room in zip(("offsets", "firsts", "stamps"), self._room, strict=True):
                self._put(name, room)
                if name != "stamps":
                    self.places[name] = room.ctypes.data
        memory = machine.memory
        if memory.data is not self._data:
            self._data = memory.data
            self._put("memory", memory.data)
            self.table[STATE.index("base")] = memory.shared_base
            self.table[STATE.index("stride")] = memory.shared_stride
        return True

    def _put(self, name: str, array: Array) -> None:
        self.table[STATE.index(name)] = array.ctypes.data

    def keep_values(self, at: int) -> None:
        """Have the values that are stored kept somewhere; 0 for nowhere."""
        self.table[STATE.index("values")] = at

    def has(self, name: str) -> bool:
        """Whether a function has been loaded, in this launch or by an earlier one."""
        if self.library is None and not self.absent and choice.worth():
            self.ready()
        return self.library is not None and self.library.address(name) is not None

    def watch(self, observer: Observer) -> GlobalWatch:
        """What checks accesses to global memory."""
        if self._watch is None:
            assert self.library is not None
            self._watch = GlobalWatch(self.machine, self.library, observer)
        return self._watch

    def follow(self, observer: Observer) -> None:
        """Take note of where the checks of shared memory are."""
        progress, shared = observer.progress, observer.shared
        if progress.stamp is not self._stamp or progress.clocks.seen is not self._seen:
            self._stamp, self._seen = progress.stamp, progress.clocks.seen
            # Copies, which machine code may change.
            self._kept = [np.array(progress.stamp), np.array(progress.clocks.seen)]
            self._put("stamp", self._kept[0])
            self._put("seen", self._kept[1])
            self.table[STATE.index("floor")] = progress.floor
            self.table[STATE.index("clocks")] = progress.ctas
        if shared.written is not self._written:
            self._written = shared.written
            for name in ("written", "read", "writer", "reader"):
                self._put(name, getattr(shared, name))
            self.table[STATE.index("granules")] = shared.granules
            self.table[STATE.index("shift")] = shared.granule.bit_length() - 1
