"""Extents as counts of units: a power of two, so many times.

Layouts are linear over bits, so what they lay out has powers of two. A tile of other extents is
made of such units, side by side: each axis has an odd number of them. 192 is three units of 64, 80
five of 16. Nothing is padded: the count is an ordinary number, and a layout of one unit serves all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from tilec.isa import TilecError
from tilec.isa.wording import counted

MOST_UNITS = 64
"""Units of a tile: each is a value of its own from where tiles are taken apart."""


def unit_extents(shape: Sequence[int]) -> tuple[int, ...]:
    """The extents of a tile's unit: of each the largest power of two that divides it."""
    return tuple(extent & -extent for extent in shape)


def unit_counts(shape: Sequence[int]) -> tuple[int, ...]:
    """How many units a tile has along each axis: odd numbers."""
    return tuple(extent // (extent & -extent) for extent in shape)


def is_one_unit(shape: Iterable[int]) -> bool:
    """Whether all extents are powers of two."""
    return not any(extent & (extent - 1) for extent in shape)


def unit_places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Where in a tile each unit begins, in row-major order."""
    counts, unit = unit_counts(shape), unit_extents(shape)
    for number in product(*map(range, counts)):
        yield tuple(one * extent for one, extent in zip(number, unit, strict=True))


def check_extents(shape: Sequence[int]) -> None:
    """Check that a tile may have such extents.

    Raises:
        TilecError: if one is less than 1, or there are too many units.
    """
    if any(extent < 1 for extent in shape):
        raise TilecError("extents of a tile are 1 or more")
    counts = unit_counts(shape)
    if prod(counts) > MOST_UNITS:
        units, unit = (_written(one) for one in (counts, unit_extents(shape)))
        wider = _written([_rounded(extent) for extent in shape])
        raise TilecError(
            "extents of a tile are powers of two, or a few units of a power of two: "
            f"{_written(shape)} is "
            f"{counted(units, 'unit')} of {unit}, and {counted(MOST_UNITS, 'unit')} at most make a "
            f"tile; {wider}, with "
            "accesses that may go out of bounds, is legal"
        )


def check_reshape(before: Sequence[int], after: Sequence[int]) -> None:
    """Check that a tile in row-major order becomes one of another shape unit by unit.

    Raises:
        TilecError: naming the extents, if units would be cut.
    """
    if _digits(before) != _digits(after):
        raise TilecError(
            f"{_written(before)} does not become {_written(after)} unit by unit: units of "
            f"{_written(unit_extents(before))}, {_written(unit_counts(before))} of them, against "
            f"{_written(unit_extents(after))}, {_written(unit_counts(after))} of them; legal: "
            "shapes of one order of powers of two and odd factors"
        )


def _digits(shape: Sequence[int]) -> list[tuple[bool, int]]:
    """The factors of a row-major number, outermost first: odd and even ones in turn."""
    found: list[tuple[bool, int]] = []
    for count, unit in zip(unit_counts(shape), unit_extents(shape), strict=True):
        for odd, size in ((True, count), (False, unit)):
            if size == 1:
                continue
            if found and found[-1][0] == odd:
                found[-1] = odd, found[-1][1] * size
            else:
                found.append((odd, size))
    return found


def _rounded(extent: int) -> int:
    return 1 << (extent - 1).bit_length()


def _written(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))
