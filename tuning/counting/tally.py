"""Counts of a launch, and the units that instructions go to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TENSOR, MEMORY, SPECIAL, CONTROL, ARITHMETIC = (
    "tensor",
    "memory",
    "special",
    "control",
    "arithmetic",
)
UNITS = (TENSOR, MEMORY, SPECIAL, CONTROL, ARITHMETIC)

_BY_OPCODE = {
    **dict.fromkeys(("mma", "wgmma", "wmma", "tcgen05"), TENSOR),
    **dict.fromkeys(
        ("ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "shfl", "mbarrier",
         "movmatrix", "prefetch"), MEMORY,
    ),
    **dict.fromkeys(("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"), SPECIAL),
    **dict.fromkeys(
        ("bra", "ret", "exit", "bar", "barrier", "fence", "membar", "elect", "vote", "activemask",
         "setmaxnreg", "nanosleep", "griddepcontrol", "trap", "call", "match", "redux"), CONTROL,
    ),
}  # fmt: skip


def unit(opcode: str) -> str:
    """The unit that an opcode goes to; what is in no list is arithmetic."""
    return _BY_OPCODE.get(opcode, ARITHMETIC)


@dataclass(frozen=True)
class Counts:
    """What a launch does, in warps and bytes, as the simulator's `Report` counts it.

    Attributes:
        instructions: warps' instructions by opcode.
        matrix: warps' matrix instructions by form.
        flops: of these.
        requests, sectors: warps' accesses to global memory, and sectors of 32 bytes in them.
        wavefronts, conflicts: passes over shared memory, and those that conflicts cause; mbarriers,
            which are asked as often as it takes, do not count.
        copied: bytes that bulk and tensor copies bring.
        operand_bytes: bytes of shared memory that products of warpgroups read.
        in_flight: bytes that a CTA has on their way from global memory while it computes.
        unknown: accesses whose addresses, and branches whose ways, depend on data.
    """

    instructions: Mapping[str, float] = field(default_factory=dict)
    matrix: Mapping[str, float] = field(default_factory=dict)
    flops: float = 0
    requests: float = 0
    sectors: float = 0
    wavefronts: float = 0
    conflicts: float = 0
    copied: float = 0
    operand_bytes: float = 0
    in_flight: float = 0
    unknown: float = 0

    @property
    def warp_instructions(self) -> float:
        """All of them."""
        return sum(self.instructions.values())

    def by_unit(self) -> dict[str, float]:
        """Warps' instructions by unit."""
        found: Counter[str] = Counter()
        for opcode, warps in self.instructions.items():
            found[unit(opcode)] += warps  # type: ignore[assignment]
        return {name: float(found[name]) for name in UNITS}

    def json(self) -> dict[str, Any]:
        """The counts as JSON has them."""
        return {**asdict(self), "units": self.by_unit()}
