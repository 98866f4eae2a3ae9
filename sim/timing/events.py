"""What the warps of a cluster did, as a timing model replays it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..orders.ops import Op
from ..ptx.module import Instruction


@dataclass(slots=True, eq=False)
class Event:
    """One instruction that a warp issued, and what it asked of the SM.

    Attributes:
        instruction: the instruction.
        passes: over shared memory.
        near: bytes of global memory in sectors that the CTA had loaded before.
        far: bytes in other sectors that it loads.
        stored: bytes in sectors that it stores, atomics among them.
        flops: of a product in tensor memory, as of one of 16 bits that takes as long.
        ops: what it did that other warps may wait for, in order.
    """

    instruction: Instruction
    passes: int = 0
    near: int = 0
    far: int = 0
    stored: int = 0
    flops: float = 0.0
    ops: list[Op] = field(default_factory=list)

    @property
    def quiet(self) -> bool:
        """Whether it touched nothing that others may wait for."""
        return not (self.ops or self.passes or self.near or self.far or self.stored)
