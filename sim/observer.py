"""Watches what instructions do: checks it and counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import MatrixMemory

from .access import Access
from .checks.bounds import Bounds
from .checks.shared import SharedChecks
from .findings import Findings
from .survey import shared_granule
from .traffic import Traffic

if TYPE_CHECKING:
    from .alu import Array
    from .memory import Space
    from .program import Program
    from .report import Finding
    from .site import Site


class Observer:
    """Checks and counts, called by the instructions of a run with checks."""

    def __init__(self, program: Program, found: list[Finding]) -> None:
        self.machine = program.machine
        self.findings = Findings(program, found)
        self.bounds = Bounds(self.machine.memory, self.findings)
        self.traffic = Traffic(self.machine)
        self.shared = SharedChecks(
            self.machine, self.findings, shared_granule(program.placement.functions)
        )

    def begin(self) -> None:
        """Begin a wave."""
        self.shared.begin()

    def access(
        self,
        site: Site,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        form: MatrixMemory | None = None,
        *,
        counted: bool = True,
    ) -> Array | None:
        """An access to memory, before it happens.

        Args:
            site: the instruction.
            space: the state space.
            offsets: offset in the space of each thread.
            size: bytes of each thread.
            mask: which threads; None for all.
            kind: what they do.
            form: the matrix instruction whose rows these are, if it is one.
            counted: whether its sectors or wavefronts are counted.

        Returns:
            The threads whose access may happen; `mask` itself if they all may.
        """
        legal = self.bounds.check(site, space, offsets, size, mask, kind)
        if space.name == "shared":
            if counted:
                self.traffic.count_shared(site, offsets, size, legal, kind, form)
            if kind.orders:
                self.shared.acquire(legal)
            self.shared.access(site, offsets, size, legal, kind)
        elif space.name == "global":
            if counted:
                self.traffic.count_global(site, offsets, legal)
            if kind.writes and self.shared.copies.pending:
                self._sources(site, offsets, size, legal)
        if kind.orders:
            self.shared.acquire(legal)
            self.shared.publish(legal)
        return legal

    def aligned(
        self, site: Site, space: Space, offsets: Array, size: int, mask: Array | None
    ) -> None:
        """Addresses that must be multiples of `size`."""
        self.bounds.check_alignment(site, space, offsets, size, mask)

    def _sources(self, site: Site, offsets: Array, size: int, mask: Array | None) -> None:
        """A write to global memory while copies are pending."""
        hit = self.shared.copies.overwritten(offsets, size, mask)
        if hit is not None:
            self.findings.add(
                "async",
                site,
                hit,
                lambda _: "writes what a cp.async reads, before the wait for it",
            )

    def copy_source(self, offsets: Array, size: int) -> None:
        """What the asynchronous copy that comes next reads in global memory."""
        self.shared.copies.read(offsets, size)

    def meet(self, site: Site) -> None:
        """All threads that have not exited come to a barrier together."""
        machine = self.machine
        if machine.mask is not None:
            self._absent(site, machine.active())
        self.shared.meet()

    def arrive(self, number: int, threads: Array) -> None:
        """Some threads arrive at a barrier."""
        self.shared.arrive(number, threads)

    def release(self, site: Site, number: int, waiting: Array, done: Array, *, all_: bool) -> None:
        """A barrier is complete in the CTAs `done`; those who waited there go on."""
        if all_:
            self._absent(site, waiting)
        self.shared.leave(number, waiting, done)

    def _absent(self, site: Site, came: Array) -> None:
        """A barrier of all threads that is complete because some have exited."""
        warps, lanes = came.shape[1:]
        exist = np.arange(warps * lanes).reshape(1, warps, lanes) < self.machine.geometry.threads
        some = np.asarray(came.any(axis=(1, 2)))
        missing = exist & ~came & some[:, None, None]
        if missing.any():
            self.findings.add(
                "barrier", site, missing, lambda _: "has exited and never reaches this barrier"
            )

    def meet_warp(self) -> None:
        """Lanes of warps come to `bar.warp.sync`."""
        self.shared.meet_warp()

    def fence(self) -> None:
        """Threads publish what they have done."""
        self.shared.publish()

    def release_object(self, threads: Array) -> None:
        """Threads arrive at an mbarrier."""
        self.shared.publish(threads)

    def acquire_object(self, threads: Array) -> None:
        """Threads see that a phase of an mbarrier is complete."""
        self.shared.acquire(threads)

    def commit(self) -> None:
        """Threads close a group of copies."""
        self.shared.commit()

    def wait(self, left: int, *, uncommitted: bool) -> None:
        """Threads wait for their groups of copies but the last `left`."""
        self.shared.wait(left, uncommitted=uncommitted)

    def stored(
        self, site: Site, offsets: Array, found: Array, values: Array, mask: Array | None
    ) -> None:
        """After a store to shared memory: what is there now."""
        self.shared.stored(site, offsets, found, values, mask)

    def whole_warps(self, site: Site) -> None:
        """A matrix instruction is executed by the active threads."""
        active = self.machine.active()
        partial = np.asarray(active.any(axis=2) & ~active.all(axis=2))
        if partial.any():
            self.findings.add(
                "partial-warp",
                site,
                active & partial[..., None],
                lambda at: (
                    f"executes it in a warp of which only "
                    f"{int(active[at[0], at[1]].sum())} lanes are active"
                ),
            )
