"""What the CTAs of a cluster did to each other's shared memory, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..access import Access
from ..alu import Array
from ..ptx.module import Instruction


class Marks:
    """Who touched the bytes of a CTA's shared memory last, (bytes,) each.

    Attributes:
        time: when, by the clock of that thread's CTA; 0 for nobody.
        thread: who, as its place in the wave.
        position: the instruction, as its place in the text.
        together: whether it may meet others of its kind without a race.
    """

    def __init__(self, size: int) -> None:
        self.time = np.zeros(size, np.int64)
        self.thread = np.zeros(size, np.int32)
        self.position = np.zeros(size, np.int64)
        self.together = np.zeros(size, np.bool_)


@dataclass(slots=True)
class Visitors:
    """What the others did to one CTA's shared memory.

    Attributes:
        written: the last writes.
        read: the last reads of each rank.
    """

    written: Marks
    read: dict[int, Marks]

    def all(self, *, writes: bool) -> Iterator[tuple[Marks, str]]:
        """What a read, or a write, must come after, and in words."""
        yield self.written, "wrote"
        if writes:
            for marks in self.read.values():
                yield marks, "read"


@dataclass(slots=True)
class Touching:
    """Threads, (n,), that touch so many bytes each.

    Attributes:
        instruction: what they execute.
        kind: what they do.
        threads: who, (n, 3).
        owners: the CTA whose shared memory each touches.
        offsets: where in that.
        size: bytes of each.
    """

    instruction: Instruction
    kind: Access
    threads: Array
    owners: Array
    offsets: Array
    size: int

    def bytes(self, chosen: Array | slice = slice(None)) -> Array:
        """The bytes that each touches, (n, size)."""
        return np.asarray(self.offsets[chosen, None] + np.arange(self.size))
