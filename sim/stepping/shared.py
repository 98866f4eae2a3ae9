"""Elements in memory as numbers, those of swizzled tiles where they belong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ELEMENT_TYPES, ElementType, TilecError, nearest
from tilec.isa.dtypes import numpy_type
from tilec.isa.wording import counted
from tilec.layout.swizzle import Swizzle

from ..errors import LaunchError


def element_type(name: str) -> ElementType:
    """The type of a name, whose elements are whole bytes.

    Raises:
        LaunchError: if there is none; names the nearest.
    """
    found = ELEMENT_TYPES.get(name)
    if found is None:
        raise LaunchError(f"no type '{name}'; nearest: {', '.join(nearest(name, ELEMENT_TYPES))}")
    if found.bits % 8:
        raise LaunchError(f"elements of {name} are not whole bytes")
    return found


def bytes_of(count: int, type_: str) -> int:
    """Bytes of so many elements."""
    return count * element_type(type_).bits // 8


def values(data: NDArray[np.uint8], type_: str) -> NDArray[Any]:
    """The numbers that bytes hold, (…, elements)."""
    return np.ascontiguousarray(data).view(numpy_type(element_type(type_)))


def matrix(
    data: NDArray[np.uint8], begin: int, shape: tuple[int, int], type_: str, swizzle: str
) -> NDArray[Any]:
    """A matrix in a CTA's shared memory, whose rows follow each other before they are swizzled.

    Raises:
        LaunchError: if it is not all there.
    """
    size, (rows, cols) = element_type(type_).bits // 8, shape
    try:
        move = Swizzle.parse(swizzle)
    except TilecError as error:
        raise LaunchError(str(error)) from None
    places = begin + np.arange(rows * cols * size, dtype=np.int64)
    places = np.asarray(move(places))
    if begin < 0 or (places.size and int(places.max()) >= len(data)):
        raise LaunchError(
            f"{rows}x{cols} {type_} at {begin:#x} is not all in shared memory, of which there "
            f"{'is' if len(data) == 1 else 'are'} {counted(len(data), 'byte')}"
        )
    return values(data[places].reshape(rows, cols * size), type_)
