"""An instruction as it is counted."""

from __future__ import annotations

from dataclasses import dataclass

from .ptx.module import Instruction


@dataclass(slots=True)
class Site:
    """What one instruction of the text did, summed over all threads.

    Attributes:
        instruction: the instruction.
        requests: times that a warp touched memory there.
        sectors: sectors of 32 bytes of global memory that the requests touched.
        wavefronts: passes over shared memory that the requests took.
        conflicts: passes among them that bank conflicts caused.
    """

    instruction: Instruction
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
