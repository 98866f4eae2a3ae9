"""Sectors of global memory and wavefronts of shared memory, counted per instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES, MatrixMemory
from tilec.layout import wavefronts

from .access import Access
from .alu import Array

if TYPE_CHECKING:
    from .machine import Machine
    from .site import Site

SECTOR_SHIFT = 5
_LINE = ~127
_KEPT = 4096


class Traffic:
    """Counts what accesses cost.

    Counts of shared memory depend only on the addresses' pattern, of which kernels have few.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._patterns: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def _spread(self, offsets: Array, mask: Array | None) -> tuple[Array, Array | None, int]:
        """Offsets and mask by lane, and how many warps of the wave each warp of them stands for."""
        ctas, warps, _ = self.machine.shape
        shape = np.broadcast_shapes(
            offsets.shape, (1, 1, LANES), () if mask is None else mask.shape
        )
        if mask is not None:
            mask = np.broadcast_to(mask, shape)
        return np.broadcast_to(offsets, shape), mask, ctas * warps // (shape[0] * shape[1])

    def count_global(self, site: Site, offsets: Array, mask: Array | None) -> None:
        """An access to global memory."""
        lanes, active, times = self._spread(offsets, mask)
        sectors = lanes >> SECTOR_SHIFT
        if active is not None:
            sectors = np.where(active, sectors, -1)
        step = np.diff(sectors, axis=2)
        if step.size and step.min() < 0:
            sectors = np.sort(sectors, axis=2)
            step = np.diff(sectors, axis=2)
        warps = sectors.shape[0] * sectors.shape[1]
        distinct = int(np.count_nonzero(step)) + warps
        if active is not None:
            distinct -= int(np.count_nonzero(~active.all(axis=2)))
            warps = int(np.count_nonzero(active.any(axis=2)))
        site.requests += warps * times
        site.sectors += distinct * times

    def count_shared(
        self,
        site: Site,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        form: MatrixMemory | None,
    ) -> None:
        """An access to shared memory."""
        lanes, active, times = self._spread(offsets, mask)
        start = int(lanes[0, 0, 0]) & _LINE
        relative = lanes - start
        key = (
            size,
            kind.writes,
            form,
            relative.shape,
            relative.tobytes(),
            None if active is None else active.tobytes(),
        )
        counts = self._patterns.get(key)
        if counts is None:
            counts = self._count(relative, size, active, kind, form)
            if len(self._patterns) < _KEPT:
                self._patterns[key] = counts
        requests, passes, conflicts = counts
        site.requests += requests * times
        site.wavefronts += passes * times
        site.conflicts += conflicts * times

    @staticmethod
    def _count(
        lanes: Array, size: int, active: Array | None, kind: Access, form: MatrixMemory | None
    ) -> tuple[int, int, int]:
        lanes = lanes & ~(size - 1)
        requests = lanes.shape[0] * lanes.shape[1]
        if active is not None:
            here = active.any(axis=2)
            requests = int(np.count_nonzero(here))
        if form is not None:
            count = wavefronts.count_matrix(form, lanes)
            if active is not None:
                return requests, int(count.wavefronts[here].sum()), int(count.conflicts[here].sum())
        else:
            count = wavefronts.count(lanes, size, active, store=kind.writes)
        return requests, int(count.wavefronts.sum()), int(count.conflicts.sum())
