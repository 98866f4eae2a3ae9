"""A kernel on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa.types import TYPE_BITS

from .errors import LaunchError
from .machine import Machine
from .placement import Placement
from .ptx.module import Function, Instruction, Module, RegisterRange
from .registers import ZEROS

if TYPE_CHECKING:
    from .float_registers import FloatRegisters


class Program:
    """A kernel on a machine.

    Attributes:
        placement: where its variables lie.
        machine: where it runs.
        module: the PTX text.
        of_group: the first instruction that says how many CTAs take part in it (`.cta_group`).
    """

    def __init__(self, placement: Placement, machine: Machine) -> None:
        self.placement = placement
        self.machine = machine
        self.module: Module = placement.module
        self.of_group: Instruction | None = None
        self._floats: dict[str, FloatRegisters] = {}

    def floats(self, function: Function) -> FloatRegisters:
        """What the registers of a function hold."""
        if function.name not in self._floats:
            from .float_registers import FloatRegisters  # noqa: PLC0415 (few launches ask for it)

            self._floats[function.name] = FloatRegisters(function)
        return self._floats[function.name]

    def register(self, range_: RegisterRange) -> tuple[int, int, str]:
        """A new register: slot, bits and type."""
        bits = TYPE_BITS[range_.type]
        if range_.vector != 1:
            raise LaunchError(f"registers of type .{range_.type} as vectors are not simulated")
        return self.machine.slot(ZEROS[bits]), bits, range_.type
