"""Who executes an op together."""

from __future__ import annotations

from enum import IntEnum


class Scope(IntEnum):
    """The threads that must all come to an op, at the same place of the program.

    PTX ISA, `.aligned`: what a wider scope than a lane executes must not stand where only some of
    its threads come. Greater is wider.
    """

    LANE = 0
    """Each lane for itself: it may stand anywhere."""
    ONE_THREAD = 1
    """One thread, elected, for others: control flow that leaves exactly one is what it wants."""
    WARP = 2
    """All lanes of a warp."""
    WARPGROUP = 3
    """All lanes of four consecutive warps, the first's number a multiple of four."""
    CTA = 4
    """All threads of a CTA."""
    CLUSTER = 5
    """All threads of the CTAs of a cluster."""
