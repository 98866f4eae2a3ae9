"""How far an instruction orders memory. PTX ISA, "Memory Consistency Model".

Between CTAs only scopes count that reach beyond one: an atomic, a strong load or store, or a fence
of scope `.cta` orders nothing there, and does not save such accesses from a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from ..ptx.module import Instruction


class Reach(IntEnum):
    """The threads that a strong operation is strong towards."""

    CTA = 0
    """Those of its CTA at most; weak accesses too."""
    CLUSTER = 1
    GRID = 2


@dataclass(frozen=True, slots=True)
class Semantics:
    """What an access to memory or a fence is in the memory model.

    Attributes:
        reach: the threads that it is strong towards.
        releases: whether what its thread did before is published by it alone.
        acquires: whether what it finds published is seen from then on, without a fence.
    """

    reach: Reach
    releases: bool
    acquires: bool


_SCOPES = {
    "cta": Reach.CTA,
    "cluster": Reach.CLUSTER,
    "gpu": Reach.GRID,
    "gl": Reach.GRID,
    "sys": Reach.GRID,
}
_STRONG = {"relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"}


def semantics(instruction: Instruction) -> Semantics:
    """What an instruction that touches global memory, or a fence, is in the memory model."""
    return _semantics(instruction.opcode, instruction.modifiers)


@lru_cache(maxsize=1024)
def _semantics(opcode: str, words: tuple[str, ...]) -> Semantics:
    if opcode in ("ld", "st") and not _STRONG & set(words):
        return Semantics(Reach.CTA, releases=False, acquires=False)
    # Atomics without a scope, and volatile accesses, are strong towards everybody.
    reach = next((_SCOPES[word] for word in words if word in _SCOPES), Reach.GRID)
    # "Each reduction … has the .relaxed.gpu memory ordering semantics": cp.reduce.async.bulk.
    if opcode not in ("ld", "st", "atom", "red", "fence", "membar") and "reduce" not in words:
        reach = Reach.CTA
    return Semantics(
        reach,
        releases="release" in words or "acq_rel" in words,
        acquires="acquire" in words or "acq_rel" in words,
    )
