"""Counts of a launch, and the units that instructions go to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import tilec.sim.instructions  # noqa: F401 (declares the units of all)
from tilec.sim.ptx.module import Instruction
from tilec.sim.traits import Unit, unit

TENSOR, MEMORY, SPECIAL, CONTROL, ARITHMETIC = (
    "tensor",
    "memory",
    "special",
    "control",
    "arithmetic",
)
UNITS = (TENSOR, MEMORY, SPECIAL, CONTROL, ARITHMETIC)

_GROUPS: Mapping[Unit, str] = {
    Unit.TENSOR: TENSOR,
    **dict.fromkeys((Unit.SHARED, Unit.GLOBAL, Unit.NEAR, Unit.COPY, Unit.EXCHANGE), MEMORY),
    Unit.SPECIAL: SPECIAL,
    **dict.fromkeys((Unit.SYNC, Unit.CONTROL), CONTROL),
    Unit.ARITHMETIC: ARITHMETIC,
}


def unit_of(instruction: Instruction) -> str:
    """The unit that an instruction goes to, as the simulator's declarations say."""
    return _GROUPS[unit(instruction)]


@dataclass(frozen=True)
class Counts:
    """What a launch does, in warps and bytes, as the simulator's `Report` counts it.

    Attributes:
        instructions: warps' instructions by opcode.
        units: the same by the unit that they go to, one of `UNITS`.
        matrix: warps' matrix instructions by form.
        flops: of these.
        requests, sectors: warps' accesses to global memory, and sectors of 32 bytes in them.
        wavefronts, conflicts: passes over shared memory, and those that conflicts cause; mbarriers,
            which are asked as often as it takes, do not count.
        copied: bytes that bulk and tensor copies bring.
        asked: bytes that these ask of L2, of what several CTAs get once.
        distinct: bytes of global memory in sectors and copies without those that CTAs which run at
            the same time read as well: what L2 asks of DRAM if it holds what a wave reads.
        operand_bytes: bytes of shared memory that products of warpgroups read.
        in_flight: bytes that a CTA has on their way from global memory while it computes.
        unknown: accesses whose addresses, and branches whose ways, depend on data.
    """

    instructions: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, float] = field(default_factory=dict)
    matrix: Mapping[str, float] = field(default_factory=dict)
    flops: float = 0
    requests: float = 0
    sectors: float = 0
    wavefronts: float = 0
    conflicts: float = 0
    copied: float = 0
    asked: float = 0
    distinct: float = 0
    operand_bytes: float = 0
    in_flight: float = 0
    unknown: float = 0

    @property
    def warp_instructions(self) -> float:
        """All of them."""
        return sum(self.instructions.values())

    def json(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        return asdict(self)
