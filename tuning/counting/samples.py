"""CTAs that stand for all of a grid: corners and edges each for themselves, some of the inside."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tilec.isa.launch import Extents

_ALL_THREADS = 1 << 14
"""Threads of a grid that are all walked."""
_INSIDE = 15
"""Places inside of a grid of one axis, of which CTAs often take one tile after the other."""


class Sample(NamedTuple):
    """Clusters of CTAs, by their first CTA.

    Attributes:
        places: x, y and z of each CTA, shape (CTAs, 3).
        weights: CTAs that each stands for.
    """

    places: NDArray[np.int64]
    weights: NDArray[np.float64]


def sample(grid: Extents, cluster: Extents, threads: int) -> Sample:
    """The CTAs that are walked: whole clusters, whose CTAs may do different work.

    Args:
        grid: CTAs along x, y and z.
        cluster: those of a cluster.
        threads: of a CTA.
    """
    clusters = [n // of for n, of in zip(grid, cluster, strict=True)]
    whole = prod(grid) * threads <= _ALL_THREADS
    inside_each = _INSIDE if sum(n > 1 for n in clusters) == 1 else 1
    axes = [_points(n, inside_each, whole) for n in clusters]
    places, weights = [], []
    for chosen in product(*axes):
        weight = chosen[0][1] * chosen[1][1] * chosen[2][1]
        for inside in product(*(range(n) for n in cluster)):
            pairs = zip(chosen, cluster, inside, strict=True)
            places.append([at * of + within for (at, _), of, within in pairs])
            weights.append(weight)
    return Sample(np.array(places, np.int64), np.array(weights, np.float64))


def wave(grid: Extents, at_once: int) -> Sample:
    """The CTAs that begin together, as GPUs are seen to begin them: the first, x by x.

    Args:
        grid: CTAs along x, y and z.
        at_once: how many run at the same time.
    """
    across, down, deep = grid
    number = np.arange(min(at_once, across * down * deep), dtype=np.int64)
    places = np.stack((number % across, number // across % down, number // (across * down)), axis=1)
    return Sample(places, np.ones(len(number)))


def _points(count: int, inside: int, whole: bool) -> list[tuple[int, float]]:
    """Places along an axis, with those that each stands for."""
    if whole or count <= inside + 2:
        return [(at, 1.0) for at in range(count)]
    between = [1 + int((number + 0.5) * (count - 2) / inside) for number in range(inside)]
    return [(0, 1.0), *((at, (count - 2) / inside) for at in between), (count - 1, 1.0)]
