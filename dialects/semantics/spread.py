"""How a value varies over the threads of a CTA."""

from __future__ import annotations

from enum import Enum, IntEnum


class Spread(IntEnum):
    """How a value varies over the threads of a CTA; greater is less known."""

    CTA = 0
    """One value a CTA."""
    WARPGROUP = 1
    """One value a warpgroup: four consecutive warps."""
    WARP = 2
    """One value a warp."""
    THREAD = 3
    """The thread number along x: all but its low five bits are one value a warp."""
    DIVERGENT = 4
    """Anything."""


class Variation(Enum):
    """How the results of an op vary."""

    AS_OPERANDS = "as operands"
    """As the operand that varies most: the op computes."""
    SAME_VALUE = "same value"
    """As the operand, whose value they have in another type."""
    CTA = "CTA"
    """One value a CTA, whatever the operands are."""
    WARPGROUP = "warpgroup"
    """One value a warpgroup, whatever the operands are."""
    WARP = "warp"
    """One value a warp, whatever the operands are."""
    WARP_AT_MOST = "warp at most"
    """As the operands, but one value a warp where these vary more."""
    THREAD_NUMBER = "thread number"
    """The number of the thread along a dimension."""
    DIVERGENT = "divergent"
    """Anything."""
