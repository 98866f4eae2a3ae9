"""What loads and stores ask of whoever executes them by other means than their steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..alu import Array
from ..ptx.module import Instruction


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
    """

    instruction: Instruction
    space: str
    address: tuple[int, int, int]
    bits: int
    count: int
    slots: Sequence[int]
    targets: Sequence[int | None]
    offsets: Callable[[], Array]
    values: Callable[[], list[Array]]


class Mover(Protocol):
    """Executes a load or store, if it can."""

    def move(self) -> bool:
        """Load or store what the active threads do; False if numpy has to."""


class Movers(Protocol):
    """Gives loads and stores what executes them."""

    def of(self, moves: Moves) -> Mover | None:
        """What executes a load or store; None if numpy has to."""
