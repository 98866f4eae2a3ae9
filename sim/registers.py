"""The registers of a wave of CTAs.

A register is an array of shape (CTAs, warps, lanes), or one that broadcasts to it: a value
that is the same for all threads, or for all CTAs, is held and computed once. Arrays are never
changed in place, so they can be shared; an instruction binds a new one to its destination.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import special
from .alu import Array
from .memory import Memory
from .wave import Geometry, Wave
from .widths import DTYPES


def constant(value: int, bits: int) -> Array:
    """A value that all threads share."""
    return np.full((1, 1, 1), value & ((1 << bits) - 1), DTYPES[bits])


ZEROS = {bits: constant(0, bits) for bits in DTYPES}
"""What registers hold before they are written."""


class Registers(Wave):
    """The threads of a wave with their registers.

    Attributes:
        registers: the value of every slot.
    """

    def __init__(self, geometry: Geometry, memory: Memory, dynamic_shared: int) -> None:
        self.registers: list[Array] = []
        self._initial: list[Array] = []
        self._special: dict[str, int] = {}
        self._constants: dict[tuple[int, int], int] = {}
        super().__init__(geometry, memory, dynamic_shared)

    def restart(self, geometry: Geometry) -> None:
        """Begin a launch, with the slots that there are."""
        super().restart(geometry)
        self.registers[:] = self._initial

    @property
    def initial(self) -> list[Array]:
        """What every slot holds at the start of a wave."""
        return self._initial

    def slot(self, initial: Array) -> int:
        """A new slot that holds `initial` at the start of every wave."""
        self._initial.append(initial)
        self.registers.append(initial)
        return len(self.registers) - 1

    def constant(self, value: int, bits: int) -> int:
        """The slot of a constant."""
        key = (value & ((1 << bits) - 1), bits)
        if key not in self._constants:
            self._constants[key] = self.slot(constant(*key))
        return self._constants[key]

    def special(self, name: str) -> int:
        """The slot of a special register that does not change while a wave runs."""
        if name not in self._special:
            self._special[name] = self.slot(ZEROS[32])
            if self.shape[0]:
                self._fill(name)
        return self._special[name]

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin the wave of CTAs with these numbers in the grid, with registers as new."""
        super().begin(numbers)
        self.registers[:] = self._initial
        for name in self._special:
            self._fill(name)

    def _fill(self, name: str) -> None:
        self.registers[self._special[name]] = special.value(self, name)

    def write(self, slot: int, value: Array) -> None:
        """Give the active threads a new value of a register."""
        if self.merge is not None:
            old = self.registers[slot]
            if old is not self._initial[slot]:
                value = np.where(self.merge, value, old)
        self.registers[slot] = value
