"""Executes an instruction on the undefined bits of its operands.

What moves bits about without looking at them moves undefined bits likewise: executed on the shadows
of its operands and of memory, a shift, a shuffle or a load gives the shadow of its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..alu import Array
from ..binding import Binding
from ..machine import Machine, Step
from .state import Taint


class Replay:
    """An instruction that is executed on other values than those of its registers."""

    def __init__(self, machine: Machine, taint: Taint, binding: Binding, step: Step) -> None:
        self.machine = machine
        self.taint = taint
        self.step = step
        self.targets = tuple(dict.fromkeys(binding.written))

    def shadows(self, slots: Iterable[int]) -> dict[int, Array]:
        """The undefined bits of registers."""
        known, registers = self.taint.registers, self.machine.registers
        found = {}
        for slot in slots:
            marks = known.get(slot)
            dtype = registers[slot].dtype
            found[slot] = np.zeros((1, 1, 1), dtype) if marks is None else marks.bits
        return found

    def run(self, values: Mapping[int, Array], *, on_memory: bool = False) -> dict[int, Array]:
        """What the instruction makes of some values of registers.

        Args:
            values: by slot; other registers are as they are.
            on_memory: whether it reads and writes the shadow of memory, not memory.

        Returns:
            The values of its results, by slot.
        """
        machine, taint = self.machine, self.taint
        registers = machine.registers
        saved = {slot: registers[slot] for slot in (*values, *self.targets)}
        memory, views = machine.memory, machine.memory.views
        taint.replaying = True
        taint.touched.clear()
        taint.harmed.clear()
        if on_memory:
            taint.memory.follow()
            memory.views = taint.memory.views
        try:
            for slot, value in values.items():
                registers[slot] = value
            self.step()
            return {slot: registers[slot] for slot in self.targets}
        finally:
            memory.views = views
            taint.replaying = False
            for slot, value in saved.items():
                registers[slot] = value
