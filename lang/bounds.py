"""Which elements of a tile lie inside an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .arithmetic import maximum, minimum
from .array import AnyArray
from .casts import astype
from .dtypes import DType, int32, per_byte
from .elementwise import where
from .shapes import arange, expand_dims
from .tile import Tile

Integer: TypeAlias = int | Tile
"""A number known when the kernel is compiled, or one that is known when it runs."""


def inside(
    array: AnyArray, index: Sequence[Integer], shape: tuple[int, ...], element: type[DType]
) -> Tile | None:
    """Which elements of a tile lie inside an array; None if all do.

    Args:
        array: the array.
        index: of the tile's first element, one for each dimension of the array; those of all
            elements where it is a tile of `shape`.
        shape: of the tile, which lies along the last dimensions.
        element: what the tile's elements are, if not what the array says.
    """
    sizes: list[Integer] = list(array.shape)
    if per_byte(element) != per_byte(array.dtype):
        sizes[-1] = sizes[-1] * per_byte(element) // per_byte(array.dtype)
    first = len(sizes) - len(shape)
    starts, own = _apart(index, sizes)
    ends: list[tuple[Integer, Integer]] = [
        (0, extent)
        if first + axis in own
        else _ends(starts[first + axis], sizes[first + axis], extent)
        for axis, extent in enumerate(shape)
    ]
    for place, size in zip(starts[:first], sizes[:first], strict=True):
        low, high = ends[0]
        ends[0] = low, _chosen(_is_inside(place, size), high)
    found: Tile | None = None
    for axis, ((low, high), extent) in enumerate(zip(ends, shape, strict=True)):
        held = _between(low, high, extent)
        if held is not None:
            for _ in range(axis + 1, len(shape)):
                held = expand_dims(held, held.ndim)
            found = held if found is None else found & held
    for held in own.values():
        found = held if found is None else found & held
    return found


def _apart(
    index: Sequence[Integer], sizes: Sequence[Integer]
) -> tuple[list[Integer], dict[int, Tile]]:
    """The indices of first elements, 0 where each has its own, and which of those are inside."""
    starts, own = list(index), dict[int, Tile]()
    for dim, (place, size) in enumerate(zip(index, sizes, strict=True)):
        if isinstance(place, Tile) and place.shape:
            starts[dim] = 0
            own[dim] = (place >= 0) & (place < size)
    return starts, own


def _ends(place: Integer, size: Integer, extent: int) -> tuple[Integer, Integer]:
    """The first element inside of `extent` from `place` on, and the first after it."""
    low = 0 if _is_natural(place) else _least(_most(0 - place, 0), extent)
    high = _least(size if _is_zero(place) else _most(size - place, 0), extent)
    return low, high


def _is_inside(place: Integer, size: Integer) -> Tile | bool:
    below = place < size
    if below is False or _is_natural(place):
        return below
    above = place >= 0
    return above if below is True else above & below


def _chosen(condition: Tile | bool, high: Integer) -> Integer:
    """An end, or 0 where nothing is inside."""
    if isinstance(condition, Tile):
        return where(condition, high, 0)
    return high if condition else 0


def _between(low: Integer, high: Integer, extent: int) -> Tile | None:
    """Which of `extent` elements are from `low` on and before `high`; None if all are."""
    number = arange(extent)
    held = None if _equals(high, extent) else number < _narrow(high)
    if _is_zero(low):
        return held
    from_low = number >= _narrow(low)
    return from_low if held is None else held & from_low


def _narrow(end: Integer) -> Integer:
    """An end as a scalar of int32, which holds every extent of a tile."""
    return astype(end, int32) if isinstance(end, Tile) else end


def _most(one: Integer, other: int) -> Integer:
    return maximum(one, other) if isinstance(one, Tile) else max(one, other)


def _least(one: Integer, other: int) -> Integer:
    return minimum(one, other) if isinstance(one, Tile) else min(one, other)


def _is_natural(place: Integer) -> bool:
    return place.natural if isinstance(place, Tile) else place >= 0


def _is_zero(number: Integer) -> bool:
    return _equals(number, 0)


def _equals(number: Integer, constant: int) -> bool:
    return isinstance(number, int) and number == constant
