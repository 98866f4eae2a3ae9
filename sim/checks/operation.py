"""An asynchronous read or write of shared memory, from its issue until everybody knows its end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..alu import Array
from ..ptx.module import Instruction
from .clocks import Clocks


@dataclass(slots=True, eq=False)
class Operation:
    """A copy or a product of the asynchronous proxy, as far as it touches one CTA's shared memory.

    Attributes:
        instruction: what issued it.
        number: a name, from 1.
        cta: whose shared memory it touches.
        granules: 16-byte granules of that which nothing has replaced since, each once.
        known: when each warp of `home` saw it complete, 0 if not yet, (warps,).
        barrier: offset of the mbarrier that it completes on, or None.
        home: the CTA of that mbarrier: of a copy of a pair that of either; -1 for its own.
        phase: the phase that it completes there; None until it has.
        swizzle: how a tensor copy arranges what it writes; empty of what does not say.
    """

    instruction: Instruction
    number: int
    cta: int
    granules: Array
    known: Array
    barrier: int | None = None
    phase: int | None = field(default=None)
    swizzle: str = ""
    home: int = -1

    def __post_init__(self) -> None:
        if self.home < 0:
            self.home = self.cta

    @property
    def complete(self) -> bool:
        """Whether any warp has seen it complete."""
        return bool(self.known.any())

    def visible(self, clocks: Clocks, cta: int, warp: int) -> bool:
        """Whether it comes before what a warp of that CTA, or another of the cluster, does next."""
        if cta == self.home and self.known[warp]:
            return True
        seen = clocks.toward(cta, warp, self.home)
        return bool(((self.known > 0) & (seen >= self.known)).any())

    def settle(self, warps: Array, now: int) -> None:
        """Some warps see it complete."""
        self.known = np.where(warps & (self.known == 0), now, self.known)
