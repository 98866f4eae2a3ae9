"""What an op says of where a CTA is in the launch."""

from __future__ import annotations

from enum import Enum


class Place(Enum):
    """What an op without operands says of its CTA, the same to all threads, however many these are.

    The threads of a CTA that are added, such as warps that load, have the same answer.
    """

    BLOCK = "block"
    """The CTA's number along the dimension of the grid that the op names."""
    CLUSTER = "cluster"
    """The CTA's number in its cluster."""
    GRID = "grid"
    """The extent of the grid, the same in all CTAs."""
