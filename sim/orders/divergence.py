"""Warps whose lanes diverge and wait apart, whose order is not explored."""

from __future__ import annotations

from .ops import WAITS, Kind, Op, Trace

_WITHOUT_ORDER = frozenset({Kind.READ, Kind.WRITE, Kind.CP_WRITE, Kind.FENCE})


def lanes_apart(trace: Trace) -> tuple[Op, Op] | None:
    """Two ops of a warp whose lanes diverged, of which at least one waits; None if there are none.

    The order of such lanes is not explored.
    """
    for ops in trace.warps:
        everyone = 0
        for op in ops:
            everyone |= op.lanes
        apart: list[Op] = []
        for op in ops:
            if op.kind in _WITHOUT_ORDER:
                continue
            if op.lanes == everyone:
                apart.clear()
                continue
            for other in apart:
                if not op.lanes & other.lanes and (op.kind in WAITS or other.kind in WAITS):
                    return other, op
            if not any(a.lanes == op.lanes and a.kind == op.kind for a in apart):
                apart.append(op)
    return None
