"""Equivalent, since the copies that a `cp.async.wait_group` waits for are complete before it.

What each warp does is recorded (`tilec.sim.orders`) in launches of every number of stages from
none to twice what the ring has (`Kernel.depths`). In all of them, each time a warp comes to the
wait, an earlier wait of that warp must have waited for the same copies.
"""

from __future__ import annotations

from tilec.sim.orders.ops import Kind

from ..kernels import Kernel, Launch
from ..operators import Mutant
from ..running import recorded

_OPERATORS = frozenset({"no wait for a copy", "a weaker wait for a copy"})


def proves(kernel: Kernel, ptx: str, mutant: Mutant) -> bool:
    """Whether the wait waits for nothing in any of the launches."""
    line = ptx.splitlines()[mutant.line - 1]
    if mutant.operator not in _OPERATORS or "cp.async.wait_group" not in line or not kernel.depths:
        return False
    return all(_waits_for_nothing(kernel, ptx, mutant.line, of) for of in kernel.depths)


def _waits_for_nothing(kernel: Kernel, ptx: str, line: int, launch: Launch) -> bool:
    run = recorded(kernel, ptx, launch)
    for trace in run.traces:
        for ops in trace.warps:
            known = 0
            for op in ops:
                if op.kind is Kind.CP_WAIT:
                    if run.module.line(op.instruction) == line and op.value > known:
                        return False
                    known = max(known, op.value)
    return run.completed and not run.findings
