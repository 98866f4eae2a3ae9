"""Registers that warpgroups release and take. PTX ISA, "setmaxnreg"."""

from __future__ import annotations

import numpy as np
from tilec.isa import WARPGROUP_WARPS, target

from .alu import Array
from .phases import Phases
from .ptx.module import Function, Integer
from .warps import whole_warps
from .wave import Wave

_UNIT = 8


def at_entry(kernel: Function, arch: str) -> int | None:
    """Registers of a thread when a kernel begins; None where nothing says how many.

    Without a number of threads or of registers in its directives ptxas drops `setmaxnreg`. It gives
    a thread no more than the largest `setmaxnreg.inc` asks for.
    """
    directives = kernel.directives
    threads = directives.get("reqntid") or directives.get("maxntid")
    if threads:
        most = target(arch).registers_at_entry(max(int(np.prod(threads)), 1))
    elif directives.get("maxnreg"):
        most = directives["maxnreg"][0] // _UNIT * _UNIT
    else:
        return None
    asked = [
        operand.value
        for instruction in kernel.body or ()
        if instruction.opcode == "setmaxnreg" and "inc" in instruction.modifiers
        for operand in instruction.operands
        if isinstance(operand, Integer)
    ]
    return min(most, max(asked, default=most))


class RegisterPool:
    """The registers of the warpgroups of a wave.

    Attributes:
        entry: registers of a thread at the beginning; None where `setmaxnreg` is dropped.
        counts: of a thread of each warpgroup, (CTAs, warpgroups).
        free: registers of each CTA that no warpgroup has, in units of one a thread, (CTAs,).
    """

    def __init__(self, wave: Wave, phases: Phases) -> None:
        self.wave = wave
        self.phases = phases
        self.entry: int | None = None

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, _ = self.wave.shape
        self.counts = np.full((ctas, -(-warps // WARPGROUP_WARPS)), self.entry or 0, np.int64)
        self.free = np.zeros(ctas, np.int64)

    def groups(self, threads: Array) -> Array:
        """Warpgroups of some threads, (CTAs, warpgroups)."""
        ctas, warps = threads.shape[:2]
        padded = np.zeros((ctas, -(-warps // WARPGROUP_WARPS) * WARPGROUP_WARPS), np.bool_)
        padded[:, :warps] = threads.any(axis=2)
        return np.asarray(padded.reshape(ctas, -1, WARPGROUP_WARPS).any(axis=2))

    def ready(self, threads: Array, count: int) -> Array:
        """Of threads that ask for more registers, those whose warpgroup gets them."""
        whole = whole_warps(threads, self.wave.live, WARPGROUP_WARPS)
        here = threads if whole is None else whole
        if self.entry is None:
            return here
        wanted = self._wanted(here, count)
        fits = np.cumsum(wanted, axis=1) <= self.free[:, None]
        warps = np.repeat(fits, WARPGROUP_WARPS, axis=1)[:, : threads.shape[1], None]
        return np.asarray(here & warps)

    def _wanted(self, threads: Array, count: int) -> Array:
        more = np.maximum(count - self.counts, 0)
        return np.where(self.groups(threads), more, 0)

    def take(self, threads: Array, count: int) -> None:
        """Warpgroups get as many registers as they asked for."""
        wanted = self._wanted(threads, count)
        self.free = self.free - wanted.sum(axis=1)
        self.counts = self.counts + wanted

    def release(self, threads: Array, count: int) -> None:
        """Warpgroups release registers."""
        fewer = np.where(self.groups(threads), np.maximum(self.counts - count, 0), 0)
        self.free = self.free + fewer.sum(axis=1)
        self.counts = self.counts - fewer
        self.phases.events += 1

    def wrong(self, threads: Array, count: int, *, more: bool) -> Array:
        """Threads whose warpgroup has more than it asks for, or fewer than it would keep."""
        groups = self.groups(threads)
        bad = groups & ((self.counts > count) if more else (self.counts < count))
        warps = np.repeat(bad, WARPGROUP_WARPS, axis=1)[:, : threads.shape[1], None]
        return np.asarray(threads & warps)
