"""How many CTAs of a kernel an SM holds at once, from what the assembler reports.

The rules are those of NVIDIA's calculator, cuda_occupancy.h of the CUDA toolkit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tilec.isa import LANES, Target

_REGISTER_UNIT = 256
"""Registers are given to a warp by so many (cuda_occupancy.h)."""
_PARTS = 4
"""An SM's parts, each with its share of warps and registers."""


class Limit(Enum):
    """What allows no further CTA."""

    WARPS = "warps"
    REGISTERS = "registers"
    SHARED = "shared memory"
    CTAS = "CTAs"


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What an SM holds of a kernel.

    Attributes:
        ctas: resident CTAs; 0 if one does not fit.
        warps: resident warps.
        limits: what allows no further CTA, one or more.
    """

    ctas: int
    warps: int
    limits: tuple[Limit, ...]


def occupancy(threads: int, registers: int, shared: int, target: Target) -> Occupancy:
    """What an SM of `target` holds of a kernel.

    Args:
        threads: of a CTA.
        registers: of a thread.
        shared: bytes of a CTA, static and dynamic.
        target: the target.
    """
    warps = -(-threads // LANES)
    counts = {
        Limit.WARPS: target.warps_per_sm // warps,
        Limit.REGISTERS: _by_registers(warps, registers, target),
        Limit.SHARED: _by_shared(shared, target),
        Limit.CTAS: target.ctas_per_sm,
    }
    ctas = min(counts.values())
    return Occupancy(ctas, ctas * warps, tuple(k for k, count in counts.items() if count == ctas))


def _by_registers(warps: int, registers: int, target: Target) -> int:
    of_warp = _rounded(registers * LANES, _REGISTER_UNIT)
    if not of_warp:
        return target.ctas_per_sm
    if of_warp * _rounded(warps, _PARTS) > target.registers_per_sm:
        return 0  # a launch is refused as if all parts took as many
    return target.registers_per_sm // _PARTS // of_warp * _PARTS // warps


def _by_shared(shared: int, target: Target) -> int:
    if shared > target.shared_per_cta:
        return 0
    whole = _rounded(shared + target.reserved_shared, target.shared_unit)
    return target.shared_per_sm // whole if whole else target.ctas_per_sm


def _rounded(count: int, unit: int) -> int:
    return -(-count // unit) * unit
