"""By which proxy global memory was written. PTX ISA, "Proxies", "Async proxy"."""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..findings import Findings
from ..memory import GLOBAL_BASE
from ..ptx.module import Instruction
from ..wave import Wave
from .operations import GRANULE


class GlobalProxies:
    """Of each 16 bytes, who last wrote them by the generic proxy, and when threads fenced that.

    A launch's waves are all of one grid: what a thread has not fenced in its wave stays so.
    """

    def __init__(self, wave: Wave, findings: Findings) -> None:
        self.wave = wave
        self.findings = findings
        self.restart()

    def restart(self) -> None:
        """Begin, as if nobody had written."""
        granules = -(-self.wave.memory.shared_base // GRANULE)
        # Untouched, zeros cost nothing.
        self._written = np.zeros(granules, np.int64)
        self._writer = np.zeros(granules, np.int64)
        self._line = np.zeros(granules, np.int64)
        self._fences: list[Array] = []
        self._firsts: list[int] = []
        self._threads = 0
        self._tick = 1
        self._any = False

    def begin(self) -> None:
        """Begin a wave."""
        self._fences.append(np.zeros(self.wave.shape, np.int64))
        self._firsts.append(self._threads)
        self._threads += self._fences[-1].size

    def wrote(
        self, instruction: Instruction, offsets: Array, size: int, mask: Array | None
    ) -> None:
        """Threads write so many bytes each by the generic proxy."""
        self._any = True
        self._tick += 1
        shape = self.wave.shape
        threads = np.arange(self._firsts[-1], self._threads).reshape(shape)
        offsets = np.broadcast_to(offsets, shape)
        if mask is not None:
            active = np.broadcast_to(mask, shape)
            offsets, threads = offsets[active], threads[active]
        for step in range(0, size, GRANULE):
            at = (offsets + step) // GRANULE
            self._written[at] = self._tick
            self._writer[at] = threads
            self._line[at] = instruction.position

    def fence(self, threads: Array) -> None:
        """Threads execute `fence.proxy.async` for global memory."""
        self._tick += 1
        self._fences[-1][np.broadcast_to(threads, self.wave.shape)] = self._tick

    def issued(
        self,
        instruction: Instruction,
        thread: tuple[int, int, int],
        offsets: Array,
        size: int,
        *,
        writes: bool,
    ) -> None:
        """A thread issues a copy that touches parts of so many bytes each, (n,).

        A finding if a thread wrote any of them by the generic proxy, and neither has fenced that.
        """
        if not self._any:
            return
        first, last = offsets // GRANULE, (offsets + (size - 1)) // GRANULE
        most = int((last - first).max(initial=0))
        at = np.unique(np.minimum(first[:, None] + np.arange(most + 1), last[:, None]))
        at = at[self._written[at] > self._fences[-1][thread]]
        late = at[self._fenced(self._writer[at]) < self._written[at]]
        if late.size:
            self._report(instruction, thread, int(late[0]), writes=writes)
        if writes:
            self._written[at] = 0

    def _fenced(self, writers: Array) -> Array:
        """When threads, of all waves, last fenced what they had written."""
        waves = np.searchsorted(self._firsts, writers, side="right") - 1
        found = np.zeros(writers.shape, np.int64)
        for wave in np.unique(waves).tolist():
            chosen = waves == wave
            found[chosen] = self._fences[wave].reshape(-1)[writers[chosen] - self._firsts[wave]]
        return found

    def _report(
        self, instruction: Instruction, thread: tuple[int, int, int], at: int, *, writes: bool
    ) -> None:
        line = self.findings.module.written_line(int(self._line[at]))
        address = GLOBAL_BASE + at * GRANULE
        verb = "overwrites" if writes else "reads"
        words = (
            f"{verb} global memory at {address:#x} by the asynchronous proxy, which line {line} "
            f"wrote by the generic one: there is no fence.proxy.async between them"
        )
        mask = np.zeros(self.wave.shape, np.bool_)
        mask[thread] = True
        self.findings.add("proxy", instruction, mask, lambda _: words, lambda _: address)
