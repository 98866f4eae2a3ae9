"""Operands of upstream's structured ops as arrays over the loops that their maps speak of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .memory import View
from .numbers import Array


def indexing_maps(op: Op) -> list[tuple[int, ...]]:
    """Of each operand, the loop that each of its dimensions belongs to.

    Raises:
        TilecError: if a dimension is something other than a loop.
    """
    found = []
    for each in attribute(op, "indexing_maps", ir.ArrayAttr):
        assert isinstance(each, ir.AffineMapAttr)
        loops = [one for one in each.value.results if isinstance(one, ir.AffineDimExpr)]
        if len(loops) != len(each.value.results) or len(set(map(str, loops))) != len(loops):
            raise TilecError(f"is indexed by {each.value}; each dimension must be a different loop")
        found.append(tuple(loop.position for loop in loops))
    return found


def loop_count(maps: Sequence[Sequence[int]]) -> int:
    """How many loops maps speak of."""
    return 1 + max((loop for map_ in maps for loop in map_), default=-1)


def over_loops(values: Array, loops: Sequence[int], count: int) -> Array:
    """An operand with an axis for each loop, of extent 1 for those that it does not have."""
    order = sorted(range(len(loops)), key=lambda axis: loops[axis])
    missing = [loop for loop in range(count) if loop not in loops]
    found: Array = np.expand_dims(values.transpose(order), missing)
    return found


def of_operand(values: Array, loops: Sequence[int]) -> Array:
    """What an operand is, given an axis for each of its loops in ascending order."""
    order = sorted(loops)
    return values.transpose([order.index(loop) for loop in loops])


def places_in(view: View) -> Array:
    """The elements of a memref, of its extents."""
    found = np.full(view.sizes, view.offset, np.int64)
    for axis, (size, stride) in enumerate(zip(view.sizes, view.strides, strict=True)):
        steps = np.arange(size) * stride
        found += steps.reshape(-1, *(1,) * (len(view.sizes) - 1 - axis))
    return found
