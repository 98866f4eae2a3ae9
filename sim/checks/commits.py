"""What `tcgen05.commit` tells mbarriers of: all that its thread has issued. PTX ISA 9.7.16.12."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..alu import Array
from .operation import Operation

Thread = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Commit:
    """The operations of a thread that a commit covers: its own, and those of all before.

    Attributes:
        thread: who issued them.
        operations: those issued since the commit before.
        before: that commit; None of the first.
        phase: the phase of its mbarrier that it ends with; None until it has.
        seen: warps of each CTA that know all of them to be over, (warps,).
    """

    thread: Thread
    operations: tuple[Operation, ...]
    before: Commit | None
    phase: int | None = None
    seen: dict[int, Array] = field(default_factory=dict)

    def settle(self, cta: int, warps: Array, now: int) -> None:
        """Warps of a CTA, (warps,), know that what it covers there is over."""
        found: Commit | None = self
        while found is not None:
            seen = found.seen.setdefault(cta, np.zeros(warps.shape, np.bool_))
            if not (warps & ~seen).any():
                return
            seen |= warps
            for operation in found.operations:
                if operation.cta == cta:
                    operation.settle(warps, now)
            found = found.before
