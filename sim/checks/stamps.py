"""Stamps on shared memory: who touched it last, and when.

    time << 12 | synchronising << 11 | several << 10 | thread

0 means nobody, and a time of all ones an asynchronous copy that has not been waited for. A
stamp is in order with an access if the thread is the same, or if its time is one that the
accessing warp has seen (see `clocks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..access import Access
from ..alu import Array
from ..ptx.module import Instruction

TIME, SYNC, SEVERAL, THREAD = 12, 1 << 11, 1 << 10, (1 << 10) - 1
PENDING = (1 << 20) - 1


@dataclass(slots=True)
class Touch:
    """One access to shared memory, by many threads.

    Attributes:
        instruction: the instruction.
        kind: what it does.
        rows: of each active thread, its place as a row of `width` granules, (threads,).
        width: granules of each thread.
        stamp: the stamp of each active thread, (threads,).
        active: the active threads, of shape `shape`; None if they are all.
        shape: (CTAs, warps, lanes); one CTA may stand for all.
        offsets: offset in shared memory, which broadcasts to `shape`.
    """

    instruction: Instruction
    kind: Access
    rows: Array
    width: int
    stamp: Array
    active: Array | None
    shape: tuple[int, ...]
    offsets: Array

    def spread(self, values: Array) -> Array:
        """A value of each active thread as an array of `shape`, 0 elsewhere."""
        if self.active is None:
            return values.reshape(self.shape)
        found = np.zeros(self.shape, values.dtype)
        found[self.active] = values
        return found

    def cta(self) -> Array:
        """The CTA of each active thread, (threads,)."""
        ctas = np.broadcast_to(np.arange(self.shape[0]).reshape(-1, 1, 1), self.shape)
        return ctas.reshape(-1) if self.active is None else ctas[self.active]

    def offset(self, at: tuple[int, ...]) -> int:
        """What the thread at a place of `shape` touches."""
        return int(np.broadcast_to(self.offsets, self.shape)[at])

    @property
    def verb(self) -> str:
        """What the threads do, in words."""
        return "writes" if self.kind.writes else "reads"
