"""What a warp does that other warps may come before or after: the ops of its trace.

An op is recorded when the warp executes it. A run of the model (`run`) executes the ops of each
warp in this order, and those of different warps in any.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np

from ..alu import Array
from ..ptx.module import Instruction

Key = tuple[int, int, int]
"""An mbarrier: its CTA in the cluster, its offset, and how often one was initialised there."""


class Kind(Enum):
    """What an op is."""

    READ = auto()
    """Shared memory is read by the generic proxy."""
    WRITE = auto()
    """It is written so."""
    ATOMIC = auto()
    """It is changed by atomics, whose results nobody uses."""
    CP_WRITE = auto()
    """A `cp.async` writes it; `value` numbers the warp's copies."""
    CP_WAIT = auto()
    """The warp's copies up to number `value` are complete."""
    CP_ARRIVE = auto()
    """An mbarrier is told once the copies up to number `value` are complete."""
    BULK_READ = auto()
    """A bulk copy reads shared memory; `value` numbers those of the warp."""
    BULK_WAIT = auto()
    """The warp's bulk copies up to number `value` have read what they copy."""
    PRODUCT_READ = auto()
    """A `wgmma` of the warp's group `value` reads shared memory."""
    PRODUCT_COMMIT = auto()
    """The warp closes group `value`."""
    PRODUCT_WAIT = auto()
    """The warp's groups up to number `value` are complete."""
    TENSOR_READ = auto()
    """A `tcgen05` operation reads shared memory; `value` numbers those of the warp."""
    COPY = auto()
    """A copy to shared memory, of `value` bytes, that tells an mbarrier."""
    COMMIT = auto()
    """An mbarrier is told once the `tcgen05` operations up to number `value` are complete."""
    FENCE = auto()
    """`fence.proxy.async`."""
    INIT = auto()
    """An mbarrier is initialised for `count` arrivals."""
    ARRIVE = auto()
    """`count` arrivals at an mbarrier, which expects `value` bytes more."""
    DROP = auto()
    """The same, and none of them in later phases."""
    EXPECT = auto()
    """An mbarrier expects `value` bytes more."""
    WAIT = auto()
    """Wait for the phase of parity `value`, or of the warp's last arrival if that is negative."""
    BARRIER_ARRIVE = auto()
    """Arrive at barrier `value` of the CTA, of `count` threads, or 0 for all."""
    BARRIER_LEAVE = auto()
    """Wait for it."""
    CLUSTER_ARRIVE = auto()
    """Arrive at the barrier of the cluster."""
    CLUSTER_LEAVE = auto()
    """Wait for it."""


WAITS = frozenset({Kind.WAIT, Kind.BARRIER_LEAVE, Kind.CLUSTER_LEAVE, Kind.PRODUCT_WAIT})
"""Ops that may have to wait for others'."""
ACCESSES = frozenset(
    {Kind.READ, Kind.WRITE, Kind.ATOMIC, Kind.CP_WRITE, Kind.BULK_READ, Kind.PRODUCT_READ,
     Kind.TENSOR_READ, Kind.COPY}
)  # fmt: skip
"""Ops that touch shared memory."""
_NOWHERE = np.zeros(0, np.int64)


@dataclass(slots=True, eq=False)
class Op:
    """One op of a warp.

    Attributes:
        kind: what it is.
        instruction: what did it.
        lanes: the lanes that did, as bits.
        key: the mbarrier, if it has one.
        count: threads of a barrier, or arrivals.
        value: see `Kind`.
        cta: whose shared memory is touched, as its place in the cluster.
        places: first bytes that are touched there, each once, ascending.
        size: bytes from each of them.
        stored: what a store writes, where that is one value for all of its lanes.
    """

    kind: Kind
    instruction: Instruction
    lanes: int
    key: Key | None = None
    count: int = 0
    value: int = 0
    cta: int = 0
    places: Array = field(default_factory=lambda: _NOWHERE)
    size: int = 0
    stored: bytes | None = None

    def repeats(self, before: Op) -> bool:
        """Whether it stores what an instance of the same instruction stored, one value."""
        same = self.kind is Kind.WRITE and self.instruction is before.instruction
        return same and self.stored is not None and self.stored == before.stored

    def signature(self) -> tuple[object, ...]:
        """What makes it the same as another."""
        return (
            self.kind, self.instruction.position, self.key, self.count, self.value, self.cta,
            self.places.tobytes(), self.size, self.stored,
        )  # fmt: skip


@dataclass(slots=True)
class Trace:
    """What the warps of a cluster, or of a CTA, did.

    Attributes:
        ctas: the number of the first CTA in the grid, and how many there are.
        warps: the ops of each warp, CTA by CTA.
        per_cta: warps of a CTA.
    """

    ctas: tuple[int, int]
    warps: list[list[Op]]
    per_cta: int

    def signature(self) -> int:
        """Equal for traces that have the same orders."""
        return hash(tuple(tuple(op.signature() for op in ops) for ops in self.warps))
