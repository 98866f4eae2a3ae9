"""How a tile comes under another layout: in registers, or by a trip through shared memory.

One answer for the pass that does it and for those that ask beforehand what room it will take.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from tilec.isa import Target
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.conversion import conversion_plans
from tilec.layout.plans import Plan, SharedTrip
from tilec.layout.views import reshape

_BYTE = 8


class Trip(NamedTuple):
    """A trip through shared memory, of a tile as a matrix: its last dimension is the columns.

    Attributes:
        shape: rows and columns.
        source: the matrix's layout, of what there is.
        result: that which is wanted.
        offered: all plans, the cheapest first.
    """

    shape: tuple[int, int]
    source: LinearLayout
    result: LinearLayout
    offered: tuple[Plan, ...]

    @property
    def plans(self) -> list[SharedTrip]:
        """The plans that go through shared memory, the cheapest first."""
        return [plan for plan in self.offered if isinstance(plan, SharedTrip)]

    @property
    def bytes(self) -> int:
        """Bytes of shared memory, whichever plan is taken."""
        return self.plans[0].bytes


class Conversion(NamedTuple):
    """What a conversion takes.

    Attributes:
        as_bytes: whether elements of less than a byte go as bytes.
        trip: the way through shared memory; None where registers and shuffles of each warp do.
    """

    as_bytes: bool
    trip: Trip | None


@lru_cache(maxsize=1024)
def choose_conversion(
    source: LinearLayout, result: LinearLayout, bits: int, target: Target | None
) -> Conversion:
    """The cheapest way from a tile's layout to another.

    Args:
        source: (register, lane, warp) -> place, of what there is.
        result: the layout wanted.
        bits: bits of an element.
        target: whose matrix instructions may be used.

    Raises:
        LayoutError: if there is none.
    """
    if _stays(source, result, bits, target):
        return Conversion(as_bytes=False, trip=None)
    as_bytes = bits < _BYTE
    if as_bytes and _stays(source, result, _BYTE, target):
        return Conversion(as_bytes, trip=None)
    extents = tuple(source.out_sizes.values())
    shape = prod(extents[:-1]), extents[-1]
    before, after = reshape(source, shape), reshape(result, shape)
    trip = Trip(shape, before, after, conversion_plans(before, after, max(bits, _BYTE), target))
    if not trip.plans:
        raise LayoutError(f"has no way from '{source}' to '{result}' through shared memory")
    return Conversion(as_bytes, trip)


def _stays(source: LinearLayout, result: LinearLayout, bits: int, target: Target | None) -> bool:
    """Whether registers and shuffles of each warp do, and are the cheapest."""
    try:
        plan = conversion_plans(source, result, bits, target)[0]
    except LayoutError:  # elements of less than a byte that lie apart
        if bits < _BYTE:
            return False
        raise
    same_warps = source.columns_of("warp") == result.columns_of("warp")
    return same_warps and not isinstance(plan, SharedTrip)
