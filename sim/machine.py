"""The state of a wave of CTAs while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import alu
from .alu import Array
from .clusters import Clusters
from .fragments import Fragments
from .heap import Heap
from .memory import Memory
from .native.loads import Movers
from .observer import Observer
from .pending import Pending
from .phases import Phases
from .ptx.module import Instruction
from .register_pool import RegisterPool
from .registers import Registers
from .tensor_memory import TensorMemory
from .transfers import Transfers
from .wave import Geometry

if TYPE_CHECKING:
    from .native.workers import Workers
    from .timeline.recorder import Recorder

Step = Callable[[], None]
"""An instruction bound to its registers."""


class Machine(Registers):
    """Threads, their registers and memory, and who watches.

    Attributes:
        arch: architecture whose arithmetic the matrix instructions follow.
        numerics: `exact`, `fast` or `algebraic`.
        resolve: what gives the semantics of instructions on registers, as `alu.resolve` does.
        observer: checks and counts what memory is touched; None without checks.
        fragments: operands of matrix instructions.
        output: what threads have printed.
        phases: the mbarriers.
        transfers: bulk and tensor copies in flight.
        clusters: the cluster barriers.
        tensor: tensor memory.
        tensor_products: `tcgen05.mma` that were executed, by the key of their `DescribedProduct`
            and its FLOPs.
        pool: the registers that warpgroups have.
        pending: the clusters that have not started; None before the launch has any.
        refused: CTA and number of the warps that have seen a request for one of these fail.
        code: the block that is executed.
        heap: what threads allocate from; None if no function asks for it.
        recorder: records the timeline of a CTA; None of none.
        accesses: has machine code load and store; None if it is not to.
        forgetting: called when another launch begins: what is bound, and remembers something.
        threaded: whether other threads may compute products meanwhile.
        crew: those who do; None before there are any.
    """

    def __init__(
        self,
        geometry: Geometry,
        memory: Memory,
        *,
        arch: str,
        numerics: str,
        dynamic_shared: int = 0,
    ) -> None:
        self.arch = arch
        self.numerics = numerics
        self.resolve = alu.resolve
        if numerics == "algebraic":
            from .alu import algebraic  # noqa: PLC0415 (few launches ask for it)

            self.resolve = algebraic.resolve
        self.observer: Observer | None = None
        self.fragments = Fragments(self)
        self.phases = Phases(self)
        self.transfers = Transfers(self, self.phases)
        self.clusters = Clusters(self, self.phases)
        self.tensor = TensorMemory(self)
        self.pool = RegisterPool(self, self.phases)
        self.accesses: Movers | None = None
        self.forgetting: list[Callable[[], None]] = []
        self.threaded = False
        super().__init__(geometry, memory, dynamic_shared)

    def restart(self, geometry: Geometry) -> None:
        """Begin a launch of what is bound to the machine, of which nothing has been executed."""
        super().restart(geometry)
        self.fragments.clear()
        self.output: list[str] = []
        self.phases.restart()
        self.transfers.restart()
        self.clusters.begin()
        self.tensor.begin()
        self.pool.begin()
        self.tensor_products: Counter[tuple[str, int]] = Counter()
        self.code: object = None
        self.heap: Heap | None = None
        self.recorder: Recorder | None = None
        self.crew: Workers | None = None
        self.pending: Pending | None = None
        self.refused: set[tuple[int, int]] = set()
        for forget in self.forgetting:
            forget()

    def begin(self, numbers: Sequence[int]) -> None:
        """Begin the wave of CTAs with these numbers in the grid."""
        super().begin(numbers)
        self.fragments.clear()
        self.phases.begin()
        self.transfers.begin()
        self.clusters.begin()
        self.tensor.begin()
        self.pool.begin()
        self.refused.clear()
        if self.observer is not None:
            self.observer.begin()
        if self.recorder is not None:
            self.recorder.begin()

    def settle(self) -> None:
        """Have the products computed that others compute."""
        if self.crew is not None:
            self.crew.finish()

    def record(self, recorder: Recorder) -> None:
        """Let a recorder be told what happens."""
        self.recorder = recorder
        self.transfers.recorder = recorder

    # mbarriers

    def phases_changed(self, instruction: Instruction, index: Array, before: Array) -> None:
        """Mbarriers have changed.

        Args:
            instruction: what changed them.
            index: their 8-byte elements of memory, each once.
            before: what they were.
        """
        after = self.memory.views[64][index]
        for offset, ctas in self.phases.change(instruction, index, before, after):
            if self.observer is not None:
                self.observer.mbarriers.completed(offset, ctas)

    def tested(
        self, instruction: Instruction, index: Array, threads: Array, done: Array, asked: Array
    ) -> None:
        """Threads have asked whether a phase of an mbarrier of their CTA is complete.

        Args:
            instruction: what asks.
            index: the mbarrier's 8-byte element of memory, of each of the threads.
            threads: which threads, (CTAs, warps, lanes).
            done: which of them are told that it is, likewise.
            asked: the phase, or its parity, of each of the threads.
        """
        if self.observer is not None:
            self.observer.traffic.count_vain_waits(instruction, threads & ~done)
        _, offsets = self.phases.places(index)
        parity = np.zeros(self.shape, np.int64)
        parity[threads] = asked & 1
        for offset in np.unique(offsets).tolist():
            some = np.zeros(self.shape, np.bool_)
            some[threads] = offsets == offset
            late = self.phases.tested(instruction, offset, some, done & some, parity)
            if self.observer is not None:
                self.observer.mbarriers.observed(offset, done & some)
                if late is not None:
                    self.observer.mbarriers.late(instruction, offset, late)
            if self.recorder is not None:
                cause = f"the mbarrier at byte {offset} of shared memory"
                self.recorder.wait(instruction, some & ~done, cause)
                self.recorder.go_on(some & done)

    def land(self, index: Array) -> None:
        """Complete the copies that mbarriers wait for; `index` are their elements of memory."""
        self.transfers.land(index, self.observer)

    def land_some(self) -> bool:
        """Complete a copy though nobody has waited for it; whether there was one."""
        return self.transfers.land_some(self.observer)
