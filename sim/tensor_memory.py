"""The tensor memory of a wave: 128 lanes of 512 columns of each CTA, given out by columns.

PTX ISA 9.7.16.1, 9.7.16.7. A CTA has all of its SM's here: nobody competes for columns.
"""

from __future__ import annotations

import numpy as np
from tilec.isa import TilecError
from tilec.isa.limits import TENSOR_COLUMNS as COLUMNS
from tilec.isa.limits import TENSOR_LANES as LANES

from .alu import Array
from .wave import Geometry, Wave


def ctas_of(geometry: Geometry, cta: int, group: int) -> tuple[int, ...]:
    """The CTAs that take part in what a thread of one issues: it alone, or its pair.

    A pair are the CTAs of a cluster whose ranks differ in bit 0 (PTX ISA 9.7.16.3).

    Raises:
        TilecError: if the CTA has no other.
    """
    if group == 1:
        return (cta,)
    if geometry.cluster_ctas % 2:
        raise TilecError(f"its CTA has no peer: the cluster size is {geometry.cluster_ctas}")
    first = cta - cta % geometry.cluster_ctas % 2
    return first, first + 1


POISON = 0xFFFFFFFF
"""What columns hold before anything is written to them: a NaN of every type."""


class TensorMemory:
    """The tensor memory of all CTAs in flight.

    Attributes:
        owner: of each column, the first column of the allocation that it belongs to; -1 if it
            belongs to none, (CTAs, columns).
        closed: CTAs that have given up the right to allocate.
        least: columns of the smallest allocation of each CTA, which no later one may exceed.
        used: whether the wave has allocated any.
        collected: buffers of the collector that hold something, by CTA.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.begin()

    def begin(self) -> None:
        """Begin a wave: nothing is allocated."""
        self.used = False
        self.collected = set[tuple[int, str]]()

    def collect(self, cta: int, buffer: str, use: str) -> bool:
        """Use a buffer of a CTA's collector as an instruction says; whether that is legal."""
        held = (cta, buffer) in self.collected
        if use in ("lastuse", "discard"):
            self.collected.discard((cta, buffer))
        elif use == "fill":
            self.collected.add((cta, buffer))
        return held or use not in ("use", "lastuse")

    def _take(self) -> None:
        if not self.used:
            self.used = True
            ctas = self.wave.shape[0]
            self._data = np.full((ctas, LANES, COLUMNS), POISON, np.uint32)
            self._written = np.zeros((ctas, LANES, COLUMNS), np.bool_)
            self.owner = np.full((ctas, COLUMNS), -1, np.int64)
            self.closed = np.zeros(ctas, np.bool_)
            self.least = np.full(ctas, COLUMNS, np.int64)

    @property
    def data(self) -> Array:
        """What is there, (CTAs, lanes, columns)."""
        self._take()
        return self._data

    @property
    def written(self) -> Array:
        """Where anything has been written, likewise."""
        self._take()
        return self._written

    def room(self, cta: int, count: int) -> int | None:
        """The first of so many free columns, at a multiple of their number; None without any."""
        self._take()
        free = self.owner[cta] < 0
        for first in range(0, COLUMNS - count + 1, count):
            if free[first : first + count].all():
                return first
        return None

    def allocate(self, cta: int, count: int) -> int:
        """Give out columns, of which there is `room`; the first of them."""
        first = self.room(cta, count)
        assert first is not None
        self.owner[cta, first : first + count] = first
        self.least[cta] = min(count, self.least[cta])
        self._written[cta, :, first : first + count] = False
        self._data[cta, :, first : first + count] = POISON
        return first

    def free(self, cta: int, first: int, count: int) -> str:
        """Take columns back; what is wrong with that, or nothing."""
        self._take()
        have = np.flatnonzero(self.owner[cta] == first)
        if not have.size:
            return f"deallocates column {first}, at which no allocation begins"
        if have.size != count:
            return f"deallocates {count} columns of an allocation of {have.size}"
        self.owner[cta, first : first + count] = -1
        return ""

    def close(self, cta: int) -> None:
        """A CTA gives up the right to allocate."""
        self._take()
        self.closed[cta] = True

    def left(self) -> list[tuple[int, int]]:
        """CTAs that have columns allocated, and how many."""
        if not self.used:
            return []
        counts = (self.owner >= 0).sum(axis=1)
        return [(cta, int(counts[cta])) for cta in np.flatnonzero(counts).tolist()]

    def outside(self, cta: int, columns: Array) -> int | None:
        """A column that the CTA has not allocated; None if it has them all."""
        self._take()
        inside = (columns >= 0) & (columns < COLUMNS)
        legal = inside & (self.owner[cta][np.where(inside, columns, 0)] >= 0)
        return None if legal.all() else int(columns[~legal].flat[0])
