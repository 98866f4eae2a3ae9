"""Accesses to shared memory whose stamps are not in order: which threads, and why."""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..findings import Findings, Place
from ..ptx.module import Instruction
from .clocks import Clocks
from .stamps import PENDING, SEVERAL, SYNC, THREAD, TIME, Touch


class Conflicts:
    """Turns stamps into findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def examine(
        self, touch: Touch, before: Array, makers: Array, clocks: Clocks, verb: str
    ) -> None:
        """Look closer at stamps that not every warp has seen.

        Args:
            touch: the access.
            before: the stamps it meets, (threads, granules).
            makers: the instruction of each granule's stamp, by its position.
            clocks: what the warps have seen.
            verb: what those who made the stamps did.
        """
        time = (before >> TIME).astype(np.int64)
        pending = time == PENDING
        made_at = makers.reshape(-1, touch.width)
        if pending.any():
            self._pending(touch, pending, made_at)
        racing = self._unordered(touch, before, clocks) & ~pending
        if racing.any():
            self._race(touch, before, racing, made_at, verb)

    @staticmethod
    def _unordered(touch: Touch, before: Array, clocks: Clocks) -> Array:
        """Granules whose stamp is another thread's that the warp has not seen."""
        cta = touch.cta() if len(clocks.now) > 1 else np.zeros(touch.rows.shape, np.int64)
        me = (touch.stamp & THREAD).astype(np.int64)
        time = (before >> TIME).astype(np.int64)
        other = (before & THREAD).astype(np.int64)
        seen = clocks.seen[cta[:, None], (me // LANES)[:, None], other // LANES]
        several = before & SEVERAL != 0
        if several.any():
            # Who else read is not known: it counts as seen once any other warp is.
            rest = clocks.seen.copy()
            if clocks.warps > 1:
                np.einsum("cww->cw", rest)[...] = 0
            most = rest.max(axis=2)[cta, me // LANES]
            seen = np.where(several, np.maximum(seen, most[:, None]), seen)
        found = (time > seen) & ((other != me[:, None]) | several)
        if touch.kind.synchronises:
            found &= before & SYNC == 0
        return np.asarray(found)

    def _line(self, position: int) -> str:
        return self.findings.module.written_line(position)

    def _pending(self, touch: Touch, pending: Array, made_at: Array) -> None:
        copies = touch.spread(np.where(pending, made_at[touch.rows], 0).max(axis=1))
        self.findings.add(
            "async",
            touch.instruction,
            touch.spread(np.asarray(pending.any(axis=1))),
            lambda at: (
                f"{touch.verb} shared memory at {touch.offset(at):#x} before the wait for the "
                f"cp.async of line {self._line(int(copies[at]))}"
            ),
            touch.offset,
        )

    def _race(self, touch: Touch, before: Array, racing: Array, made_at: Array, verb: str) -> None:
        granule = racing.argmax(axis=1)
        lanes = np.arange(len(granule))
        others = touch.spread((before[lanes, granule] & THREAD).astype(np.int64))
        places = touch.spread(made_at[touch.rows, granule])
        wave = self.findings.wave

        def words(at: Place) -> str:
            warp, lane = divmod(int(others[at]), LANES)
            name = wave.thread_name((at[0], warp, lane))
            return (
                f"{touch.verb} shared memory at {touch.offset(at):#x}, which {name} {verb} at line "
                f"{self._line(int(places[at]))}, without a barrier between them"
            )

        threads = touch.spread(np.asarray(racing.any(axis=1)))
        self.findings.add("race", touch.instruction, threads, words, touch.offset)

    def abandoned(self, instruction: Instruction, threads: Array) -> None:
        """Threads have exited before a wait for their copies."""
        self.findings.add(
            "async",
            instruction,
            threads,
            lambda _: (
                "exits without a wait for this copy, which may write shared memory that is gone"
            ),
        )

    def same_value(self, touch: Touch, threads: Array) -> None:
        """Threads that wrote what another thread wrote too, in the same instruction."""
        self.findings.add(
            "same-value",
            touch.instruction,
            threads,
            lambda at: (
                f"writes shared memory at {touch.offset(at):#x} at the same time as another thread "
                f"that writes the same value; by the memory model this is a race: let one thread "
                f"write it"
            ),
            touch.offset,
            harmless=True,
        )

    def at_once(self, instruction: Instruction, lost: Array, offsets: Array) -> None:
        """Threads that wrote what another thread overwrote in the same instruction."""
        warps = self.findings.wave.shape[1]
        shape = np.broadcast_shapes(lost.shape, offsets.shape, (1, warps, LANES))
        threads, spread = np.broadcast_to(lost, shape), np.broadcast_to(offsets, shape)
        self.findings.add(
            "race",
            instruction,
            threads,
            lambda at: (
                f"writes shared memory at {int(spread[at]):#x} at the same time as another thread "
                f"that writes another value"
            ),
            lambda at: int(spread[at]),
        )
