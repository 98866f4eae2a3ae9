"""Copies from global to shared memory (`cp.async`) by machine code: a load, and a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..alu import Array
from ..widths import dtype_of
from .loads import Mover

if TYPE_CHECKING:
    from ..machine import Machine

ELEMENTS = {4: (32, 1), 8: (64, 1), 16: (64, 2)}
"""Bits and number of the elements that copies of so many bytes are moved as."""


class NativeCopy:
    """A copy, by way of registers that the program does not have.

    Args:
        machine: where it is executed.
        slots: those registers.
        load: loads them.
        store: stores them.
    """

    def __init__(self, machine: Machine, slots: list[int], load: Mover, store: Mover) -> None:
        self._registers = machine.registers
        self._slots = slots
        self._load, self._store = load, store

    def fetch(self) -> bool:
        """Load what the active threads copy; False if numpy has to."""
        return self._load.move()

    def put(self) -> bool:
        """Store it, of copies that have to be waited for; False if numpy has to."""
        return self._store.move()

    def value(self) -> Array:
        """What has been loaded, of each thread."""
        parts = [self._registers[slot] for slot in self._slots]
        if len(parts) == 1:
            return parts[0]
        both: Array = np.stack(np.broadcast_arrays(*parts), axis=-1)
        return both.view(np.complex128)[..., 0]


def zeros(bits: int) -> Array:
    """What such a register holds at first."""
    return np.zeros((1, 1, 1), dtype_of(bits))
