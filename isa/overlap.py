"""Whether arrays, wherever they are, have memory in common. Needs numpy; imported by itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_WORK = 10_000
"""Steps of the exact comparison, which may take exponentially many, before it is given up."""


class Extent(NamedTuple):
    """The memory of an array.

    Attributes:
        pointer: address of its first element.
        shape: its extents.
        strides: bytes from one element to the next, by dimension.
        itemsize: bytes of an element.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The address of its first byte, and that after its last; equal if it has no elements."""
        if 0 in self.shape:
            return self.pointer, self.pointer
        steps = [stride * (n - 1) for n, stride in zip(self.shape, self.strides, strict=True)]
        low = self.pointer + sum(step for step in steps if step < 0)
        return low, self.pointer + sum(step for step in steps if step > 0) + self.itemsize


def extent(array: np.ndarray[Any, Any]) -> Extent:
    """The memory of a numpy array."""
    return Extent(array.ctypes.data, array.shape, array.strides, array.itemsize)


def overlap(one: Extent, other: Extent) -> bool:
    """Whether two arrays may have a byte in common.

    Exact, but for arrays that interleave along so many dimensions that the question is too hard:
    those are taken to have one.
    """
    (low, high), (first, last) = one.bounds, other.bounds
    if low >= last or first >= high:
        return False
    mine, its = (np.asarray(_Described(memory)) for memory in (one, other))
    try:
        return bool(np.shares_memory(mine, its, max_work=_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


class _Described:
    """Memory that numpy may describe and must not touch: it may be a GPU's."""

    def __init__(self, memory: Extent) -> None:
        self.__array_interface__ = {
            "data": (memory.pointer, True),
            "shape": memory.shape,
            "strides": memory.strides,
            "typestr": f"|V{memory.itemsize}",
            "version": 3,
        }
