"""What an instruction has to wait for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .alu import Array
from .ptx.module import Instruction


@dataclass(frozen=True, slots=True)
class Members:
    """The other lanes of the warp: those that a register names, or all.

    Attributes:
        slot: the register with the member mask; None of an `.aligned` instruction.
        warps: warps that must be whole together: 1, or 4 for a warpgroup.
    """

    slot: int | None = None
    warps: int = 1


@dataclass(frozen=True, slots=True)
class BarrierSync:
    """The other threads of the CTA.

    Attributes:
        instruction: the instruction.
        number: slot of the barrier's number.
        count: slot of the number of threads that take part; None for all of the CTA.
        aligned: whether whole warps must come.
        arrive: whether the threads go on without waiting.
        always: whether it may have to wait even when all threads come together.
        reduction: `popc`, `and`, `or` of `predicate` into `target`, or None.
    """

    instruction: Instruction
    number: int
    count: int | None
    aligned: bool
    arrive: bool = False
    always: bool = False
    reduction: str | None = None
    predicate: int | None = None
    target: int | None = None

    @property
    def plain(self) -> bool:
        """Whether it completes at once when all threads of the wave come together."""
        return self.count is None and not self.arrive and not self.always


@dataclass(frozen=True, slots=True)
class Gate:
    """Something that lets threads through when its time has come.

    Attributes:
        instruction: the instruction.
        ready: of the threads that stand there, (CTAs, warps, lanes), those that may go on.
        waits: what the others wait for, in words.
        cause: whether a deadlock is its fault sooner than that of waits for mbarriers.
    """

    instruction: Instruction
    ready: Callable[[Array], Array]
    waits: str
    cause: bool = False


Waits = Members | BarrierSync | Gate
"""What an instruction has to wait for."""
