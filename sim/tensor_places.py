"""Places in tensor memory that a `tcgen05.mma` reads and writes, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from tilec.isa import TilecError
from tilec.isa.tensor_memory import LANES, lane_and_column

from .alu import Array
from .binding import Binding
from .checks.in_flight import Thread
from .checks.sets import distinct
from .ptx.module import Operand


@dataclass(frozen=True, slots=True)
class Place:
    """An address of tensor memory in a register, and what is added to it."""

    slot: int
    extra: int


class Places(NamedTuple):
    """Where elements are in tensor memory, of one shape each: an index into what it holds."""

    ctas: Array
    lanes: Array
    columns: Array


class TensorPlaces:
    """What one instruction reaches.

    Args:
        binding: the instruction.
    """

    def __init__(self, binding: Binding) -> None:
        self.machine, self.instruction = binding.machine, binding.instruction
        self._binding = binding

    def bind(self, operand: Operand) -> Place:
        """An address among its operands."""
        slot, bits, extra = self._binding.base(operand)
        if bits != 32:
            raise self._binding.error("an address of tensor memory has 32 bits")
        return Place(slot, extra)

    def value(self, slot: int, thread: Thread) -> int:
        """What a register of a thread holds."""
        return int(self.machine.full(self.machine.registers[slot])[thread])

    def at(self, place: Place, thread: Thread) -> tuple[int, int]:
        """Lane and column of an address."""
        return lane_and_column(self.value(place.slot, thread) + place.extra)

    def inside(
        self,
        name: str,
        place: Place,
        thread: Thread,
        ctas: Sequence[int],
        relative: tuple[Array, Array, Array],
    ) -> Places:
        """CTAs, and absolute lanes and columns.

        Args:
            name: the operand.
            place: its address.
            thread: who executes the instruction.
            ctas: those that take part.
            relative: number among those, lane and column from the address on, of each element.

        Raises:
            TilecError: if there is no such lane, or a column is not the CTAs' own.
        """
        lane, column = self.at(place, thread)
        homes = np.array(ctas)[relative[0]]
        lanes, columns = relative[1] + lane, relative[2] + column
        if int(lanes.max()) >= LANES:
            raise TilecError(f"{name} reaches lane {int(lanes.max())} of tensor memory")
        for cta in ctas:
            outside = self.machine.tensor.outside(cta, distinct(columns))
            if outside is not None:
                raise TilecError(
                    f"{name} reaches column {outside} of tensor memory, which its CTA has not "
                    "allocated"
                )
        return Places(homes, lanes, columns)

    def check_written(self, name: str, thread: Thread, places: Places) -> None:
        """Blame the instruction for what it reads and nothing has written."""
        observer = self.machine.observer
        blank = ~self.machine.tensor.written[places]
        if observer is None or not blank.any():
            return
        at = tuple(np.argwhere(blank)[0].tolist())
        observer.blame(
            "uninitialised",
            self.instruction,
            thread,
            f"reads lane {int(places.lanes[at])}, column {int(places.columns[at])} of tensor "
            f"memory as {name}, which nothing has written",
        )

    def read(
        self,
        name: str,
        place: Place,
        thread: Thread,
        ctas: Sequence[int],
        relative: tuple[Array, Array, Array],
    ) -> Array:
        """Words that it reads until a commit has been waited for; arguments as of `inside`.

        Raises:
            TilecError: as `inside`.
        """
        places = self.inside(name, place, thread, ctas, relative)
        self.check_written(name, thread, places)
        observer = self.machine.observer
        if observer is not None and observer.tensor is not None:
            columns = distinct(places.columns)
            for cta in ctas:
                observer.tensor.read_by_product(self.instruction, thread, columns, cta)
        return self.machine.tensor.data[places]
