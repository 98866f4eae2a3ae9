"""One CTA: its threads, its values, its shared memory, and what it has found."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
from tilec.isa import LANES

from .arithmetic.base import Arithmetic
from .findings import Finding
from .groups import Groups, PendingCopy, PendingRead
from .mbarriers import Mbarrier
from .meetings import Meeting
from .memory import Buffer
from .numbers import Array
from .order import Order
from .pairs import PairProduct
from .program import Node
from .registry import Value
from .shared import SharedMemory
from .tensor import Pipe, TensorMemory

STEPS = 1_000_000
"""Ops that a CTA executes at most, if nothing else is said."""

Running: TypeAlias = Generator[None, None, tuple[Value, ...]]
"""What executes ops, and yields while it waits for others."""


@dataclass(eq=False)
class Cluster:
    """CTAs that run together.

    Attributes:
        extents: CTAs along x, y and z.
        order: among their warps, if not all of a CTA meet at every barrier.
        shared: bytes of shared memory of each.
        columns: columns of tensor memory of each.
        ctas: they, by rank.
        meeting: its barrier.
        gone: threads that have exited, for whom nobody waits there.
        pairs: products that pairs of its CTAs compute together, by the number of the pair.
    """

    extents: tuple[int, int, int]
    order: Order | None
    shared: int
    columns: int = 0
    ctas: list[Cta] = field(default_factory=list)
    meeting: Meeting = field(default_factory=Meeting)
    gone: set[tuple[int, int]] = field(default_factory=set)
    pairs: dict[int, PairProduct] = field(default_factory=dict)

    def arrive(self, threads: set[tuple[int, int]]) -> int:
        """Threads come to the barrier; PTX ISA, "barrier.cluster": those that exited count as well.

        Args:
            threads: who comes, each by its CTA's rank and its number.

        Returns:
            Which turn it is that they wait for to end.
        """
        away = self.gone - self.meeting.arrived - threads
        count = sum(cta.threads for cta in self.ctas) - len(away)
        return self.meeting.arrive(threads, count, self._met)

    def leave(self, threads: set[tuple[int, int]]) -> None:
        """Threads exit, for whom others may have waited."""
        self.gone |= threads
        if self.meeting.arrived:
            self.arrive(set())

    def _met(self, threads: set[tuple[int, int]]) -> None:
        """Threads have come together: what each did before is known to all."""
        assert self.order is not None  # of every program with the barrier
        warps = {rank * self.ctas[rank].warps + thread // LANES for rank, thread in threads}
        self.order.meet(np.array(sorted(warps)))
        for cta in self.ctas:
            cta.shared.barrier()


@dataclass(eq=False)
class Cta:
    """A CTA.

    Attributes:
        arithmetic: of floats.
        block: its threads along x, y and z.
        grid: CTAs along x, y and z.
        at: its own place.
        target: the name of what it runs on, or empty.
        values: by number.
        findings: what is wrong, in the order of finding.
        cluster: the CTAs that run together with it.
        rank: its number among these.
        fatal: the kinds of findings that end everything.
        roles: what threads execute that left the others for it.
        present: which threads did not.
        mbarriers: by number of the buffer in shared memory, and place in it.
        meetings: the barriers, by number.
        products: what each warpgroup's products read.
        boxes: what each thread's copies of boxes read.
        pipes: what each thread has done in tensor memory.
        arrived: which turn of the cluster's barrier its threads came to last.
        waits: the op at which threads waited last.
    """

    arithmetic: Arithmetic
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    at: tuple[int, int, int]
    target: str
    values: list[Value]
    findings: list[Finding]
    cluster: Cluster
    rank: int = 0
    copies: Groups[PendingCopy] = field(default_factory=Groups)
    buffers: dict[Node, Value] = field(default_factory=dict)
    steps: int = 0
    limit: int = STEPS
    fatal: frozenset[str] = frozenset()
    roles: list[Running] = field(default_factory=list)
    mbarriers: dict[tuple[int, int], Mbarrier] = field(default_factory=dict)
    meetings: dict[int, Meeting] = field(default_factory=dict)
    products: dict[int, Groups[PendingRead]] = field(default_factory=dict)
    boxes: dict[int, Groups[PendingRead]] = field(default_factory=dict)
    pipes: dict[int, Pipe] = field(default_factory=dict)
    arrived: int = 0
    waits: Node | None = None

    def __post_init__(self) -> None:
        self.present: Array = np.ones(self.threads, bool)
        first = self.rank * self.warps
        self.shared = SharedMemory(self.cluster.shared, self.warps, self.order, first)

    @cached_property
    def tensor(self) -> TensorMemory:
        """Its tensor memory."""
        assert self.order is not None  # of every program with an op on it
        return TensorMemory(self.cluster.columns, self.warps, self.order, self.rank * self.warps)

    @property
    def owes_columns(self) -> bool:
        """Whether it has columns of tensor memory that it must give back."""
        return "tensor" in vars(self) and bool(self.tensor.owed)

    @property
    def threads(self) -> int:
        """How many."""
        return int(np.prod(self.block))

    @property
    def warps(self) -> int:
        """How many."""
        return -(-self.threads // LANES)

    @property
    def order(self) -> Order | None:
        """Among the warps of the cluster, if not all of a CTA meet at every barrier."""
        return self.cluster.order

    def threads_of(self, mask: Array) -> set[tuple[int, int]]:
        """The threads of a mask, each by the CTA's rank and its number."""
        return {(self.rank, int(thread)) for thread in np.flatnonzero(mask)}

    def agents(self, warps: Array) -> Array:
        """The numbers in the cluster of the warps of a mask."""
        return np.flatnonzero(warps) + self.rank * self.warps

    def meet(self, warps: Array) -> None:
        """Warps have come together."""
        if self.order is not None:
            self.order.meet(self.agents(warps))
        if warps.all():
            self.shared.barrier()

    def end_copies(self, pending: int) -> None:
        """Let all groups of copies arrive but the latest."""
        for copy in self.copies.end(pending):
            self.shared.end_copy(copy)

    def buffer(self, number: int) -> Buffer:
        """A buffer in shared memory by its number."""
        return self.shared.views[number].buffer
