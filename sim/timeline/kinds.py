"""What kind of work an instruction is, for a timeline."""

from __future__ import annotations

from collections.abc import Mapping

from ..ptx.module import Instruction
from ..traits import Unit, traits, unit
from .record import Kind

_KINDS: Mapping[Unit, Kind] = {
    Unit.TENSOR: "tensor",
    Unit.SHARED: "shared",
    Unit.GLOBAL: "global",
    Unit.COPY: "copy",
    Unit.SYNC: "sync",
}
"""By the unit; what goes to another is not told apart."""


def kind_of(instruction: Instruction) -> Kind:
    """What an instruction does."""
    return _KINDS.get(unit(instruction), "other")


def polls(instruction: Instruction) -> bool:
    """Whether threads may issue it while they ask an mbarrier again and again."""
    return (
        traits(instruction).waits
        or kind_of(instruction) == "other"
        or instruction.opcode == "nanosleep"
    )
