"""Copies to shared memory that are read in part: not wrong by itself, and often a wrong address.

Asked when the CTAs of a wave have come to their end, of the last copy to each byte. What is not
told: copies of which nothing is read, since kernels fill stages for rounds that do not come, and
what ordinary stores leave behind, as sums over lanes do.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..alu import Array
from ..findings import Findings
from ..ptx.module import Instruction
from .stamps import PENDING, TIME


class Stamped(Protocol):
    """Shared memory whose accesses have left stamps; attributes are those of `SharedChecks`."""

    granule: int
    granules: int
    written: Array
    read: Array
    writer: Array


class Unread:
    """Advice on copies.

    Attributes:
        copies: the instructions that have copied to shared memory, by their positions.
        number: of each granule, which execution of an instruction copied there last.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.copies: dict[int, Instruction] = {}
        self.number = np.zeros(0, np.uint32)
        self._executed = 0

    def begin(self) -> None:
        """Begin a wave."""
        self.number = np.zeros(0, np.uint32)

    def copied(self, shared: Stamped, instruction: Instruction, places: Array) -> None:
        """An instruction has copied to granules, for all threads at once or for one."""
        if not self.number.size:
            self.number = np.zeros(shared.written.size, np.uint32)
        self._executed += 1
        self.number[places] = self._executed
        self.copies[instruction.position] = instruction

    def expand(self, ctas: int) -> None:
        """Each of so many CTAs has what one had."""
        self.number = np.tile(self.number, ctas)

    def refine(self, factor: int) -> None:
        """Granules become so many."""
        self.number = np.repeat(self.number, factor)

    def end(self, shared: Stamped) -> None:
        """The CTAs of a wave have come to their end."""
        if not self.number.size:
            return
        # A copy that nobody has waited for is a finding of its own.
        done = (shared.written > 0) & (shared.written >> TIME != PENDING)
        left = done & (shared.read == 0)
        for position in np.unique(shared.writer[left]).tolist():
            copy = self.copies.get(position)
            if copy is not None:
                written = done & (shared.writer == position)
                some = left & written
                some &= ~self._whole(shared, some, written)
                if some.any():
                    self._advise(shared, copy, some, written)

    def _whole(self, shared: Stamped, left: Array, written: Array) -> Array:
        """Granules of executions of which nothing has been read."""
        cta = np.arange(len(left), dtype=np.int64) // shared.granules
        execution = cta << 32 | self.number
        read = np.unique(execution[written & ~left])
        return np.asarray(~np.isin(execution, read))

    def _advise(self, shared: Stamped, copy: Instruction, left: Array, written: Array) -> None:
        ctas = len(left) // shared.granules
        of_ctas = left.reshape(ctas, -1)
        some = of_ctas.any(axis=1)
        cta, size = int(some.argmax()), shared.granule
        address = int(of_ctas[cta].argmax()) * size
        copied = np.count_nonzero(written.reshape(ctas, -1)[cta]) * size
        wave = self.findings.wave
        self.findings.note(
            "unread",
            copy,
            f"copies {copied:,} bytes that were left in the shared memory of {wave.cta_name(cta)}, "
            f"of which nothing has read {np.count_nonzero(of_ctas[cta]) * size:,}, the first at "
            f"{address:#x}",
            address,
            int(np.count_nonzero(some)) * (wave.shape[0] if ctas == 1 else 1),
        )
