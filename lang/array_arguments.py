"""Arrays that kernels are launched with, of any library: where they are, how they lie."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tilec.isa import LaunchError
from tilec.isa.wording import counted

from .array import Facts
from .dtypes import DTYPES

if TYPE_CHECKING:
    from tilec.isa.overlap import Extent


class ArrayArgument(NamedTuple):
    """An array that a kernel is launched with.

    Attributes:
        address: of its first element.
        shape: its extents.
        strides: in elements.
        dtype: the name of its element type.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def memory(self) -> Extent:
        """Where its elements lie."""
        from tilec.isa.overlap import Extent  # noqa: PLC0415 (for launches only)

        size = max(8, DTYPES[self.dtype].bits) // 8
        strides = tuple(stride * size for stride in self.strides)
        return Extent(self.address, self.shape, strides, size)


def disjoint(arrays: Mapping[str, ArrayArgument]) -> frozenset[str]:
    """The arrays of a launch, by name, that have no element in common with another."""
    from tilec.isa.overlap import overlap  # noqa: PLC0415 (for launches only)

    held = {name: array.memory for name, array in arrays.items()}
    pairs = (pair for pair in combinations(held, 2) if overlap(held[pair[0]], held[pair[1]]))
    return frozenset(held.keys() - {name for pair in pairs for name in pair})


def array_argument(name: str, value: Any, dtype: str) -> ArrayArgument:
    """What an array is.

    Args:
        name: of the argument.
        value: numpy's, or an array on a GPU.
        dtype: the name of the element type, where the array's library does not say.

    Raises:
        LaunchError: if it is not an array, its elements have no bytes, or each begins anywhere.
    """
    if isinstance(value, np.ndarray):
        if not value.itemsize:
            raise LaunchError(f"argument '{name}' has elements of {value.dtype!r}, of no bytes")
        strides = tuple(stride // value.itemsize for stride in value.strides)
        if any(stride % value.itemsize for stride in value.strides):
            raise LaunchError(f"argument '{name}': strides are not multiples of the element size")
        return ArrayArgument(value.ctypes.data, value.shape, strides, value.dtype.name)
    from tilec.runtime.cuda.views import is_shared, view  # noqa: PLC0415 (only for such arrays)

    if not is_shared(value):
        raise LaunchError(
            f"argument '{name}' is a {type(value).__name__}, not an array; legal: numpy's, "
            "and arrays on a GPU with DLPack or __cuda_array_interface__"
        )
    seen = view(value, f"argument '{name}'")
    held = seen.dtype.name if seen.dtype is not None else dtype
    return ArrayArgument(seen.pointer, seen.shape, seen.strides, held)


def broken_fact(array: ArrayArgument, facts: Facts, who: str) -> str | None:
    """What does not hold of an array although a kernel relies on it; None if all does.

    An array without elements has no address, and an extent of 1 no stride.

    Args:
        array: the array.
        facts: what should hold.
        who: says so, for the error: as in `the kernel relies on`.
    """
    empty = 0 in array.shape
    if array.address % facts.aligned and not empty:
        return (
            f"lies at {array.address:#x}, which is not a multiple of the "
            f"{counted(facts.aligned, 'byte')} that "
            f"{who}"
        )
    moved = [
        0 if empty or extent == 1 else stride
        for extent, stride in zip(array.shape, array.strides, strict=True)
    ]
    for what, given, values, known in (
        ("shape", array.shape, array.shape, facts.sizes),
        ("strides", array.strides, moved, facts.strides),
    ):
        if known and any(value % n for value, n in zip(values, known, strict=True)):
            return (
                f"has the {what} {list(given)}, which are not multiples of {list(known)} as {who}"
            )
    return None
