"""What all workloads have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..compare import Problem, set_count
from ..driver import Cuda
from ..matrix import BYTES, Matrix

Sizes = Mapping[str, Any]
"""Extents of a problem by name; lists where there are several."""


class Workload(Problem):
    """A problem of some sizes; see `compare.Problem`.

    It has no memory before `allocate`.

    Args:
        sizes: of the problem.
        about: what the pack says of the kernels: their element types, tiles, and options.

    Attributes:
        bits: of the elements that are multiplied.
    """

    cuda: Cuda
    bits = 16

    def __init__(self, sizes: Sizes, about: Mapping[str, Any]) -> None:
        self.sizes, self.about = sizes, about
        self.sets = []
        self.describe()

    def allocate(self, cuda: Cuda) -> None:
        """Make the matrices; where this fails, those that are made are in `sets`."""
        self.cuda = cuda
        inputs, whole = self.bytes()
        for number in range(set_count(cuda, inputs, whole)):
            self.sets.append({})
            self.fill(self.sets[-1], 256 * number)

    def describe(self) -> None:
        """Set shape, flops, bits and scalars."""
        raise NotImplementedError

    def bytes(self) -> tuple[int, int]:
        """Bytes that a launch reads, and those of all its matrices."""
        raise NotImplementedError

    def fill(self, matrices: dict[str, Matrix], seed: int) -> None:
        """Make the matrices of one set."""
        raise NotImplementedError


def size_of(shape: Sequence[int], element: str) -> int:
    """Bytes of an array."""
    return prod(shape) * BYTES[element]


def some(extent: int, count: int) -> np.ndarray:
    """So many numbers below an extent, the first and the last among them."""
    return np.unique(np.linspace(0, extent - 1, count).astype(int))


def deviation(found: np.ndarray, want: np.ndarray, size: np.ndarray) -> float:
    """The largest difference, over sizes of the results; infinite where anything is NaN."""
    off = np.abs(found - want) / size
    return float(np.inf if np.isnan(off).any() else off.max())
