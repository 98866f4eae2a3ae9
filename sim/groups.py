"""Threads that stand at the same instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alu import Array
from .frames import Frame
from .ptx.module import Instruction

Key = tuple[int, ...]
"""Place of a group in the order in which groups run: its warp where warps run one after the other,
then blocks and indices, outermost call first."""

TOGETHER = -1
"""In place of a warp, where the warps of a CTA run together."""


@dataclass(slots=True)
class Group:
    """Threads that run together.

    Attributes:
        frame: the call they are in.
        block: number of the block.
        index: next instruction in the block.
        mask: which threads; None if they are all of the wave.
        merge: as in `Machine`.
        threads, warps: how many, and of how many warps.
        turn: when they last ran.
        boost: they go first until this turn.
        warp: the one warp that they are of, in every CTA, or `TOGETHER`.
    """

    frame: Frame
    block: int
    index: int
    mask: Array | None
    merge: Array | None
    threads: int
    warps: int
    turn: int = 0
    boost: int = -1
    warp: int = TOGETHER

    @property
    def key(self) -> Key:
        """Place in the order; groups of equal keys are one."""
        return (self.warp, *self.frame.prefix, self.block, self.index)

    def instruction(self) -> Instruction | None:
        """The instruction that comes next; None in an empty function."""
        body = self.frame.function.body or []
        at = self.frame.blocks[self.block].first + self.index
        return body[min(at, len(body) - 1)] if body else None

    def narrow(self, mask: Array | None, live: Array | None) -> None:
        """Let the group be the threads of `mask`."""
        if mask is None:
            self.mask = self.merge = None
            return
        self.threads = int(np.count_nonzero(mask))
        self.warps = int(np.count_nonzero(mask.any(axis=2)))
        whole = mask.size if live is None else int(np.count_nonzero(live))
        self.mask = None if self.threads == mask.size else mask
        self.merge = None if self.threads == whole else mask

    def at(self, frame: Frame, block: int, index: int, mask: Array, live: Array | None) -> Group:
        """A group of some of these threads elsewhere."""
        other = Group(frame, block, index, mask, mask, 0, 0, self.turn, self.boost, self.warp)
        other.narrow(mask, live)
        return other
