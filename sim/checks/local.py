"""Local memory that is read before it is written: spills, arrays, parameters of functions."""

from __future__ import annotations

import numpy as np

from ..access import Access
from ..alu import Array
from ..memory import Space
from ..ptx.module import Instruction
from ..taint.state import Taint
from ..wave import Wave


class LocalChecks:
    """Which bytes of a wave's local memory have been written."""

    def __init__(self, wave: Wave, taint: Taint) -> None:
        self.wave = wave
        self.taint = taint
        taint.unwritten_local = self.unwritten
        self.begin()

    def begin(self) -> None:
        """Begin a wave."""
        # Bytes that nobody touches take no room.
        self._written = np.zeros(0, np.bool_)

    def access(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
    ) -> None:
        """An access inside the bounds."""
        if kind.reads and not self.taint.active and self._some(space, offsets, size, mask):
            self.taint.start(instruction)
        if kind.writes:
            for places in self._places(space, offsets, size, mask):
                self._written[places] = True

    def _places(self, space: Space, offsets: Array, size: int, mask: Array | None) -> list[Array]:
        chosen = self.wave.active() if mask is None else self.wave.full(mask)
        self._follow()
        found = self.taint.memory.runs(space, offsets, size, chosen)
        return [places - self.wave.memory.local_base for places in found]

    def _follow(self) -> None:
        memory = self.wave.memory
        missing = memory.data.size - memory.local_base - self._written.size
        if missing:
            self._written = np.concatenate([self._written, np.zeros(missing, np.bool_)])

    def _some(self, space: Space, offsets: Array, size: int, mask: Array | None) -> bool:
        places = self._places(space, offsets, size, mask)
        return any(not self._written[one].all() for one in places)

    def unwritten(self, places: Array) -> Array:
        """Which places in the array of bytes nothing has written."""
        self._follow()
        return np.asarray(~self._written[places - self.wave.memory.local_base])
