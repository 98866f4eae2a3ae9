"""`tcgen05.fence`, which what threads do in tensor memory needs around a synchronisation.

PTX ISA 9.7.16.6.4. `before_thread_sync` orders what a thread has done there before the barrier or
arrival that follows; `after_thread_sync` what it does next behind the barrier or wait before that.
A commit has the first built in. Kernels without any are taken to rely on what the hardware does:
Triton writes none, and gets advice. In a kernel that has some, each that is needed must be there.
"""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..ptx.module import Module
from .operation import Operation
from .progress import Progress

_MNEMONIC = "tcgen05.fence::"


class TensorFences:
    """What the warps of a wave have fenced; a fence of one lane counts for its warp.

    Attributes:
        used: whether the kernel has fences, so that one that it lacks is a fault.
    """

    def __init__(self, module: Module, progress: Progress) -> None:
        bodies = [function.body or () for function in module.functions.values()]
        self.used = any(one.mnemonic.startswith(_MNEMONIC) for body in bodies for one in body)
        self._progress = progress

    def begin(self) -> None:
        """Begin a wave."""
        self._after: dict[tuple[int, int], tuple[Array, int]] = {}

    def restart(self) -> None:
        """Time begins again: all have seen everything."""
        for key, (known, _) in self._after.items():
            self._after[key] = np.minimum(known, 1), 1

    def after(self, cta: int, warp: int) -> None:
        """A warp executes `after_thread_sync`: what it has seen by now it may rely on."""
        clocks = self._progress.clocks
        self._after[cta, warp] = clocks.known[cta, warp], int(clocks.now[cta])

    def seen(self, cta: int, warp: int, other: int, its: int) -> int:
        """What a warp of a CTA had seen of another, `its` of a CTA, when it last fenced."""
        clocks = self._progress.clocks
        known, _ = self._after.get((cta, warp), (None, 0))
        return 0 if known is None else int(known[other % clocks.cluster * clocks.warps + its])

    def visible(self, operation: Operation, cta: int, warp: int) -> bool:
        """Whether a product had come before what a warp does when it last fenced."""
        known, now = self._after.get((cta, warp), (None, 0))
        if known is None:
            return False
        if operation.cta == cta and 0 < operation.known[warp] <= now:
            return True
        clocks = self._progress.clocks
        first = operation.cta % clocks.cluster * clocks.warps
        seen = known[first : first + clocks.warps]
        return bool(((operation.known > 0) & (seen >= operation.known)).any())
