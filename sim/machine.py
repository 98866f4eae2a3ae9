"""The state of a wave of CTAs while it runs.

A register is an array of shape (CTAs, warps, lanes), or one that broadcasts to it: a value
that is the same for all threads, or for all CTAs, is held and computed once. Arrays are never
changed in place, so they can be shared; an instruction binds a new one to its destination.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import LANES

from . import special
from .alu import Array
from .fragments import Fragments
from .memory import Memory
from .widths import DTYPES

if TYPE_CHECKING:
    from .observer import Observer

Step = Callable[[], None]
"""An instruction bound to its registers."""


def constant(value: int, bits: int) -> Array:
    """A value that all threads share."""
    return np.full((1, 1, 1), value & ((1 << bits) - 1), DTYPES[bits])


ZEROS = {bits: constant(0, bits) for bits in DTYPES}
"""What registers hold before they are written."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Extents of a launch, x first."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps of a CTA; the last may not be whole."""
        return -(-self.threads // LANES)


class Machine:
    """Registers, memory and the set of active threads.

    Attributes:
        geometry: extents of the launch.
        memory: its memory.
        arch: architecture whose arithmetic the matrix instructions follow.
        numerics: `exact` or `fast`.
        observer: checks and counts what memory is touched; None without checks.
        registers: the value of every slot.
        mask: active threads; None if they are all of the wave.
        merge: threads that a write may change; None where the others' values are dead,
            because they have exited.
        live: threads that have not exited; None if they are all of the wave.
        shape: (CTAs, warps, lanes) of the wave.
        first_cta: number of the wave's first CTA.
        steps: instructions run so far, each for all its threads at once.
    """

    def __init__(
        self,
        geometry: Geometry,
        memory: Memory,
        *,
        arch: str,
        numerics: str,
    ) -> None:
        self.geometry = geometry
        self.memory = memory
        self.arch = arch
        self.numerics = numerics
        self.observer: Observer | None = None
        self.registers: list[Array] = []
        self._initial: list[Array] = []
        self._special: dict[str, int] = {}
        self._constants: dict[tuple[int, int], int] = {}
        self.mask: Array | None = None
        self.merge: Array | None = None
        self.live: Array | None = None
        self.shape = (0, 0, 0)
        self.first_cta = 0
        self.steps = 0
        self.dynamic_smem = 0
        self.fragments = Fragments(self)
        self.output: list[str] = []

    # Slots

    def slot(self, initial: Array) -> int:
        """A new slot that holds `initial` at the start of every wave."""
        self._initial.append(initial)
        self.registers.append(initial)
        return len(self.registers) - 1

    def constant(self, value: int, bits: int) -> int:
        """The slot of a constant."""
        key = (value & ((1 << bits) - 1), bits)
        if key not in self._constants:
            self._constants[key] = self.slot(constant(*key))
        return self._constants[key]

    def special(self, name: str) -> int:
        """The slot of a special register that does not change while a wave runs."""
        if name not in self._special:
            self._special[name] = self.slot(ZEROS[32])
            if self.shape[0]:
                self._fill(name)
        return self._special[name]

    # Waves

    def begin(self, first: int, ctas: int) -> None:
        """Begin the wave of `ctas` CTAs from number `first`."""
        self.first_cta = first
        self.shape = (ctas, self.geometry.warps, LANES)
        self.registers[:] = self._initial
        self.fragments.clear()
        self.live = None
        threads = self.geometry.threads
        if threads % LANES:
            lanes = np.arange(self.geometry.warps * LANES).reshape(1, -1, LANES) < threads
            self.live = np.ascontiguousarray(np.broadcast_to(lanes, self.shape))
        self.mask, self.merge = self.live, None
        self.memory.wave(ctas)
        for name in self._special:
            self._fill(name)

    def _fill(self, name: str) -> None:
        self.registers[self._special[name]] = special.value(self, name)

    def thread_name(self, thread: tuple[int, int, int]) -> str:
        """What findings call a thread, given its place in the wave."""
        cta, warp, lane = thread
        x, y, _ = self.geometry.block
        number = warp * LANES + lane
        tid = (number % x, number // x % y, number // (x * y))
        x, y, _ = self.geometry.grid
        number = self.first_cta + cta
        ctaid = (number % x, number // x % y, number // (x * y))
        return f"thread {tid} of CTA {ctaid}"

    # Writing

    def write(self, slot: int, value: Array) -> None:
        """Give the active threads a new value of a register."""
        if self.merge is not None:
            old = self.registers[slot]
            if old is not self._initial[slot]:
                value = np.where(self.merge, value, old)
        self.registers[slot] = value

    def full(self, value: Array) -> Array:
        """A value spread over all threads of the wave."""
        return np.broadcast_to(value, self.shape)

    def active(self) -> Array:
        """The active threads as a whole array."""
        if self.mask is None:
            return np.ones(self.shape, np.bool_)
        return np.broadcast_to(self.mask, self.shape)
