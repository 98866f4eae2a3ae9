"""Sectors of global memory and wavefronts of shared memory, counted per instruction."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES
from tilec.layout import wavefronts

from .access import Access
from .alu import Array
from .ptx.module import Instruction
from .wave import Wave

if TYPE_CHECKING:
    from tilec.isa import MatrixMemory

SECTOR_SHIFT = 5
_LINE = ~127
_KEPT = 4096


@dataclass(slots=True)
class Accesses:
    """What one instruction of the text did to memory, summed over all threads.

    Attributes:
        requests: times that a warp touched memory there.
        sectors: sectors of 32 bytes of global memory that the requests touched.
        wavefronts: passes over shared memory that the requests took.
        conflicts: passes among them that bank conflicts caused.
        copied: bytes that bulk and tensor copies moved.
        operands: bytes of shared memory that products of warpgroups read.
        waits_in_vain: times that a warp asked an mbarrier for a phase that was not complete.
    """

    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    copied: int = 0
    operands: int = 0
    waits_in_vain: int = 0


class Traffic:
    """Counts what accesses cost.

    Counts of shared memory depend only on the addresses' pattern, of which kernels have few.

    Attributes:
        accesses: of each instruction, by its position in the text.
    """

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.accesses: defaultdict[int, Accesses] = defaultdict(Accesses)
        self._patterns: dict[tuple[object, ...], tuple[int, int, int]] = {}

    def _spread(self, offsets: Array, mask: Array | None) -> tuple[Array, Array | None, int]:
        """Offsets and mask by lane, and how many warps of the wave each warp of them stands for."""
        ctas, warps, _ = self.wave.shape
        shape = np.broadcast_shapes(
            offsets.shape, (1, 1, LANES), () if mask is None else mask.shape
        )
        if mask is not None:
            mask = np.broadcast_to(mask, shape)
        return np.broadcast_to(offsets, shape), mask, ctas * warps // (shape[0] * shape[1])

    def count_global(self, instruction: Instruction, offsets: Array, mask: Array | None) -> None:
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
        counts = self.accesses[instruction.position]
        counts.requests += warps * times
        counts.sectors += distinct * times

    def count_copied(self, instruction: Instruction, size: int) -> None:
        """A bulk or tensor copy moves so many bytes."""
        self.accesses[instruction.position].copied += size

    def count_operand(self, instruction: Instruction, size: int) -> None:
        """A product of a warpgroup reads so many bytes of shared memory."""
        self.accesses[instruction.position].operands += size

    def count_vain_waits(self, instruction: Instruction, threads: Array) -> None:
        """Threads are told that a phase is not complete."""
        warps = int(np.count_nonzero(threads.any(axis=2)))
        if warps:
            self.accesses[instruction.position].waits_in_vain += warps

    def count_shared(
        self,
        instruction: Instruction,
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
        known = self._patterns.get(key)
        if known is None:
            known = self._count(relative, size, active, kind, form)
            if len(self._patterns) < _KEPT:
                self._patterns[key] = known
        requests, passes, conflicts = known
        counts = self.accesses[instruction.position]
        counts.requests += requests * times
        counts.wavefronts += passes * times
        counts.conflicts += conflicts * times

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
