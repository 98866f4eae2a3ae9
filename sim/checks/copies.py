"""Asynchronous copies that have been issued and not yet waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..ptx.module import Instruction


@dataclass(slots=True)
class Copy:
    """One `cp.async`, of all threads that executed it.

    Attributes:
        instruction: the instruction.
        rows: where its target's stamps are, as rows of `width`, of each thread.
        width: stamps of a thread's target.
        waiting: threads that have not waited for it yet.
        group: the group that it belongs to, of each thread.
        source: first byte of global memory that each thread reads.
        size: bytes that each thread reads there; a copy may fill the rest with zeros, or all.
    """

    instruction: Instruction
    rows: Array
    width: int
    waiting: Array
    group: Array
    source: Array
    size: Array


class Copies:
    """The copies of a wave; arrays have one CTA while one stands for all."""

    def __init__(self) -> None:
        self.pending: list[Copy] = []
        self._committed = np.zeros((1, 1, 1), np.int64)
        self._source: tuple[Array, Array] = self._committed, self._committed

    def begin(self, warps: int) -> None:
        """Begin a wave."""
        self.pending.clear()
        self._committed = np.zeros((1, warps, LANES), np.int64)

    def expand(self, ctas: int, base: Array) -> None:
        """Let every CTA have copies of its own; `base` is where each CTA's stamps begin."""
        self._committed = np.repeat(self._committed, ctas, axis=0)
        for copy in self.pending:
            copy.rows = copy.rows + base // copy.width
            copy.waiting = np.repeat(copy.waiting, ctas, axis=0)
            copy.group = np.repeat(copy.group, ctas, axis=0)

    def refine(self, factor: int) -> None:
        """Let every stamp be so many stamps, of smaller granules."""
        for copy in self.pending:
            copy.width *= factor

    def read(self, source: Array, size: Array) -> None:
        """Note what the copy that comes next reads: from which byte, and how many."""
        self._source = source, size

    def add(self, instruction: Instruction, rows: Array, width: int, waiting: Array) -> None:
        """A copy is issued by the threads `waiting`."""
        group = np.broadcast_to(self._committed, waiting.shape)
        self.pending.append(Copy(instruction, rows, width, waiting, group, *self._source))

    def commit(self, mask: Array | None) -> None:
        """Threads close their group."""
        self._committed = self._committed + (1 if mask is None else mask)

    def complete(
        self, mask: Array | None, left: int, *, uncommitted: bool
    ) -> Iterator[tuple[Copy, Array]]:
        """Copies that threads have now waited for, and which threads those are."""
        remaining = []
        for copy in self.pending:
            done = copy.waiting if mask is None else copy.waiting & mask
            if not uncommitted:
                done = done & (copy.group < self._committed - left)
            if done.any():
                yield copy, done
                copy.waiting = copy.waiting & ~done
            if copy.waiting.any():
                remaining.append(copy)
        self.pending = remaining

    def abandoned(self, threads: Array) -> Iterator[tuple[Copy, Array]]:
        """Copies that threads which exit have not waited for, and which threads those are."""
        for copy in self.pending:
            left = copy.waiting & threads
            if left.any():
                yield copy, left
                copy.waiting = copy.waiting & ~left
        self.pending = [copy for copy in self.pending if copy.waiting.any()]

    def overwritten(self, offsets: Array, size: int, mask: Array | None) -> Array | None:
        """Threads, of those that write global memory, that hit the source of a pending copy."""
        low, high = int(offsets.min()), int(offsets.max()) + size
        for copy in self.pending:
            waiting, source, bytes_ = np.broadcast_arrays(copy.waiting, copy.source, copy.size)
            reads = waiting & (bytes_ > 0)
            begins, ends = source[reads], (source + bytes_)[reads]
            if not begins.size or begins.min() >= high or ends.max() <= low:
                continue
            # Of the reads that begin before the write ends, the last to end overlaps it, or none.
            order = np.argsort(begins)
            ends = np.maximum.accumulate(ends[order])
            at = np.searchsorted(begins[order], offsets + size) - 1
            hit = (at >= 0) & (ends[at] > offsets)
            if mask is not None:
                hit = hit & mask
            if hit.any():
                return np.asarray(hit)
        return None
