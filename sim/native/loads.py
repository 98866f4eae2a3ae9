"""What loads and stores ask of whoever executes them by other means than their steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..alu import Array
from ..ptx.module import Instruction

Based = tuple[int, int, int]
"""Slot, bits and constant offset of an address."""
Place = tuple[Based, Callable[[], Array]]
"""An address, and what gives the offsets in its space."""


@dataclass(frozen=True, slots=True)
class Moves:
    """A load or store of elements that lie together.

    Attributes:
        instruction: the instruction.
        space: its state space, `global` for generic addresses too.
        address: slot, bits and constant offset of its address.
        bits: of an element.
        count: of elements.
        slots: those of what is stored; none of a load.
        targets: those that a load writes, None of `_`; none of a store.
        offsets: gives the offsets in the space.
        values: gives the chunks that are stored, low to high.
        pending: whether what is stored is of a copy that has to be waited for.
    """

    instruction: Instruction
    space: str
    address: Based
    bits: int
    count: int
    slots: Sequence[int]
    targets: Sequence[int | None]
    offsets: Callable[[], Array]
    values: Callable[[], list[Array]]
    pending: bool = False


class Mover(Protocol):
    """Executes a load or store, if it can."""

    def move(self) -> bool:
        """Load or store what the active threads do; False if numpy has to."""


class CopyMover(Protocol):
    """Executes a copy from global to shared memory, if it can, by halves."""

    def fetch(self) -> bool:
        """Load what the active threads copy; False if numpy has to."""

    def put(self) -> bool:
        """Store it, of copies that have to be waited for; False if numpy has to."""

    def value(self) -> Array:
        """What has been loaded, of each thread."""


class Movers(Protocol):
    """Gives loads and stores what executes them."""

    def of(self, moves: Moves) -> Mover | None:
        """What executes a load or store; None if numpy has to."""

    def copy(
        self, instruction: Instruction, size: int, target: Place, source: Place
    ) -> CopyMover | None:
        """What executes a copy of so many bytes of each thread; None if numpy has to."""
