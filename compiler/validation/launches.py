"""How a kernel is launched on a plan's arguments: its grid, and what passes have added to both."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from tilec.dialects.tile.attributes import CLUSTER_TILES, CTAS_PER_SM, GRID, GRID_EXTENTS
from tilec.interpret.numbers import Array
from tilec.ir.aliases import Op
from tilec.ir.attributes import attribute, cluster_size
from tilec.ir.mlir import ir

from .plans import Plan

Grid = tuple[int, int, int]


def launch(function: Op, plan: Plan) -> tuple[Grid, list[Array]]:
    """The grid of a launch, and the arguments behind those of the plan.

    Kernels that say how their grid follows from extents are launched so, others as the plan says.
    CTAs that take several tiles are fewer than the tiles.
    """
    grid = _grid(function, plan) if GRID in function.attributes else plan.grid
    if not any(name in function.attributes for name in GRID_EXTENTS):
        return grid, []
    some = prod(cluster_size(function) or ())
    ctas = -(-prod(grid) // (2 * some)) * some
    if CTAS_PER_SM not in function.attributes:
        steps = zip(grid, attribute(function, CLUSTER_TILES, ir.DenseI64ArrayAttr), strict=True)
        ctas = prod(-(-extent // step) for extent, step in steps) * some
    return (ctas, 1, 1), [np.asarray(n, np.int64) for n in grid]


def in_clusters(function: Op, plan: Plan) -> Plan:
    """The plan with a grid of whole clusters."""
    cluster = cluster_size(function) or (1, 1, 1)
    x, y, z = (-(-n // step) * step for n, step in zip(plan.grid, cluster, strict=True))
    return replace(plan, grid=(x, y, z))


def can_launch(function: Op, plan: Plan) -> bool:
    """Whether the grid of a plan is one of whole clusters."""
    grid, _ = launch(function, plan)
    cluster = cluster_size(function) or (1, 1, 1)
    return all(n % step == 0 for n, step in zip(grid, cluster, strict=True)) or (
        any(name in function.attributes for name in GRID_EXTENTS)
    )


def _grid(function: Op, plan: Plan) -> Grid:
    """CTAs along x, y and z, each axis a product of numbers of tiles."""
    counts = []
    for axis in attribute(function, GRID, ir.ArrayAttr):
        numbers = list(ir.DenseI64ArrayAttr(axis))
        steps = (numbers[at : at + 3] for at in range(0, len(numbers), 3))
        counts.append(prod(max(1, -(-_extent(plan, *of) // step)) for *of, step in steps))
    x, y, z = counts
    return x, y, z


def _extent(plan: Plan, argument: int, dimension: int) -> int:
    extents = plan.extents[argument]
    assert extents is not None
    return extents[dimension]
