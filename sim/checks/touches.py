"""Accesses to global memory as they are remembered: who touched which bytes, when, with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..access import Access
from ..alu import Array
from ..memory import Allocation
from ..ptx.module import Instruction
from .late_offsets import Offsets, offsets_of


@dataclass(slots=True, eq=False)
class Touches:
    """One access to one allocation, by many threads of a wave.

    Attributes:
        instruction: the instruction.
        kind: what it does.
        size: bytes of each thread.
        offsets: where each thread's bytes begin; broadcasts to the wave, or, of `threads`, (n,).
        mask: which threads, if not all or `threads`; broadcasts to the wave.
        threads: their places within the wave, (n,), where they are few.
        values: the chunks, low to high, that each thread writes, of the shape of `offsets`; None
            where that is not known.
        stamp: the stamps of all threads at that time, which broadcast to the wave.
        seen: what the warps had seen of each other by then (see `clocks`).
        checked: whether it has been held against those before it.
    """

    instruction: Instruction
    kind: Access
    size: int
    offsets: Offsets
    mask: Array | None
    threads: Array | None
    values: Sequence[Array] | None
    stamp: Array
    seen: Array
    checked: bool = False

    @classmethod
    def of(
        cls,
        instruction: Instruction,
        kind: Access,
        size: int,
        offsets: Array,
        mask: Array | None,
        values: Sequence[Array] | None,
        stamp: Array,
        seen: Array,
        shape: tuple[int, ...],
    ) -> Touches:
        """An access by the threads of `mask`, or by all; where they are few, only they are kept."""
        threads = None
        if mask is not None and 4 * np.count_nonzero(mask) <= mask.size:
            threads = np.flatnonzero(np.broadcast_to(mask, shape))
            offsets = np.broadcast_to(offsets, shape).reshape(-1)[threads]
            if values is not None:
                values = [np.broadcast_to(v, shape).reshape(-1)[threads] for v in values]
            mask = None
        return cls(instruction, kind, size, offsets, mask, threads, values, stamp, seen)

    def places(self, start: int, granule: int, everyone: Array) -> tuple[Array, Array]:
        """Who touches what.

        Args:
            start: where granule 0 begins.
            granule: bytes of a granule.
            everyone: the number of each thread of the wave, from 1, (CTAs, warps, lanes).

        Returns:
            Numbers of the threads, (n,), and the granules that each touches, (n, granules).
        """
        given = offsets_of(self.offsets)
        if self.threads is not None:
            threads, offsets = everyone.reshape(-1)[self.threads], given
        elif self.mask is None:
            threads = everyone.reshape(-1)
            offsets = np.broadcast_to(given, everyone.shape).reshape(-1)
        else:
            mask = np.broadcast_to(self.mask, everyone.shape)
            threads, offsets = everyone[mask], np.broadcast_to(given, mask.shape)[mask]
        first = ((offsets - start) >> (granule.bit_length() - 1))[:, None]
        return threads, first + np.arange(self.size // granule) if self.size > granule else first

    def _each(self, values: Array, rows: Array, threads: Array, shape: tuple[int, ...]) -> Array:
        """Values of the threads at some rows of `places`."""
        if self.threads is not None:
            return values[rows]
        return np.broadcast_to(values, shape).reshape(-1)[threads]

    def contents(
        self, rows: Array, columns: Array, threads: Array, granule: int, shape: tuple[int, ...]
    ) -> Array | None:
        """What some threads write to granules of at most 8 bytes, as numbers; None if unknown.

        Args:
            rows: their rows of `places`.
            columns: which of their granules.
            threads: their numbers.
            granule: bytes of a granule.
            shape: of the wave.
        """
        if self.values is None:
            return None
        chunks = [self._each(chunk, rows, threads, shape) for chunk in self.values]
        each = [np.ascontiguousarray(c)[:, None].view(np.uint8) for c in chunks]
        whole = np.concatenate(each, axis=1).reshape(len(rows), self.size // granule, granule)
        found = np.zeros((len(rows), 8), np.uint8)
        found[:, :granule] = whole[np.arange(len(rows)), columns]
        return found.view(np.uint64)[:, 0]


@dataclass(slots=True)
class Log:
    """The touches of an allocation, in their order.

    Attributes:
        allocation: the allocation.
        touches: what has touched it, oldest first.
        written: whether anybody writes.
        plain: whether anybody touches it without synchronising.
        forgotten: whether older touches since the last barrier of all are forgotten.
        suspect: whether two threads may have touched a byte; it is known that none have where whole
            warps alone touch it (`whole_warps`).
    """

    allocation: Allocation
    touches: list[Touches] = field(default_factory=list)
    written: bool = False
    plain: bool = False
    forgotten: bool = False
    suspect: bool = False

    def add(self, touches: Touches) -> None:
        """The allocation is touched."""
        self.touches.append(touches)
        self.written |= touches.kind.writes
        self.plain |= not touches.kind.synchronises


def numbered(shape: tuple[int, ...]) -> Array:
    """The number of each thread of a wave, from 1, of its shape."""
    return np.arange(1, shape[0] * shape[1] * shape[2] + 1, dtype=np.int32).reshape(shape)
