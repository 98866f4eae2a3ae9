"""The host's memory that the arrays of a launch lie in.

A launch copies it to where the kernel runs, and back. Arrays that overlap, views of one array say,
are one memory there as they are here. Imported only where kernels are launched: it needs numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .errors import LaunchError
from .launch import put_back, span

HostArray: TypeAlias = np.ndarray[Any, Any]

_WIDEST = 256
"""Bytes: every allocation begins at a multiple of this, and no kernel asks for a larger one."""


class Region(NamedTuple):
    """Addresses from the first byte that an array may touch to after the last."""

    start: int
    stop: int


def region(array: HostArray, name: str) -> Region:
    """Where an array of the host lies, what is between its elements included.

    Raises:
        LaunchError: calling it `name`, for an array that runs backwards, or of Python's objects.
    """
    if array.dtype.hasobject:
        raise LaunchError(f"{name} holds Python's objects; a pointer takes an array of numbers")
    start = array.ctypes.data
    if not array.nbytes:
        return Region(start, start)
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        span(array, name)  # for its error
    ends = ((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True))
    return Region(start, start + array.itemsize + sum(ends))


def overlapping(regions: Sequence[Region]) -> list[list[int]]:
    """The regions in groups, by number: each overlaps another of its group, and none outside.

    So regions of two groups are disjoint, whatever is read and written in them. Groups, and the
    numbers in them, are in order.
    """
    groups: list[list[int]] = [[n] for n, here in enumerate(regions) if here.start == here.stop]
    filled = (n for n, here in enumerate(regions) if here.start < here.stop)
    stop = 0
    for number in sorted(filled, key=regions.__getitem__):
        here = regions[number]
        if here.start < stop:
            groups[-1].append(number)
        else:
            groups.append([number])
        stop = max(stop, here.stop)
    return sorted(map(sorted, groups))


class HostBlock:
    """Memory of the host that arrays of a launch share.

    Attributes:
        name: what it holds, for errors.
        offset: bytes from the beginning of its copy to its first: where parts of it are arguments
            of their own, each is aligned in the copy as it is here.
        size: bytes of the copy.
        is_shared: whether arrays begin at several places of it.
        writable: whether the kernel may change it.
    """

    def __init__(self, arrays: Sequence[tuple[HostArray, str, Region]]) -> None:
        self._arrays = arrays
        self._start = min(region.start for _, _, region in arrays)
        self.is_shared = len({region.start for _, _, region in arrays}) > 1
        self.name = " and ".join(name for _, name, _ in arrays)
        self.offset = self._start % _WIDEST if self.is_shared else 0
        self.size = self.offset + max(region.stop for _, _, region in arrays) - self._start
        self.writable = any(array.flags.writeable for array, _, _ in arrays)

    def place(self, array: HostArray) -> int | None:
        """Where an array begins in the copy; None if it is not in this block."""
        for known, _, region in self._arrays:
            if known is array:
                return self.offset + region.start - self._start
        return None

    def read(self) -> HostArray:
        """The bytes of the copy."""
        parts = [
            (self.offset + region.start - self._start, np.ascontiguousarray(span(array, name)))
            for array, name, region in self._arrays
        ]
        if len(parts) == 1:
            return parts[0][1].view(np.uint8)
        data = np.zeros(self.size, np.uint8)
        for first, part in parts:
            data[first : first + part.nbytes] = part.view(np.uint8)
        return data

    def write(self, data: HostArray) -> None:
        """Change the arrays in place to what the bytes of the copy have become."""
        for array, _, region in self._arrays:
            if array.flags.writeable:
                first = self.offset + region.start - self._start
                put_back(array, data[first : first + region.stop - region.start])


def host_blocks(args: Iterable[Any]) -> list[HostBlock]:
    """The memory of the arrays of the host among a launch's arguments, those of tuples included.

    Raises:
        LaunchError: for an array that runs backwards.
    """
    arrays = [(array, name, region(array, name)) for array, name in _host_arrays(args)]
    return [
        HostBlock([arrays[number] for number in group])
        for group in overlapping([where for _, _, where in arrays])
    ]


def _host_arrays(args: Iterable[Any]) -> Iterator[tuple[HostArray, str]]:
    seen: set[int] = set()
    for number, value in enumerate(args):
        members = isinstance(value, tuple | list)
        for at, part in enumerate(value if members else (value,)):
            if isinstance(part, np.ndarray) and part.ndim and part.nbytes and id(part) not in seen:
                seen.add(id(part))
                yield part, f"member {at} of argument {number}" if members else f"argument {number}"
