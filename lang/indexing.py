"""`tile[…]`: dimensions put in, and parts of a tile."""

from __future__ import annotations

from typing import Any

from tilec.isa import TilecError

from .shapes import expand_dims, squeeze
from .takes import part, pick
from .tile import Tile

_LEGAL = (
    "a tile is indexed by numbers, None, '...' and slices of a power of two of elements, which "
    "divides the extent, that begin at a multiple of it, all known when the kernel is compiled"
)


def index_tile(tile: Tile, index: Any) -> Tile:
    """`tile[…]` with None, which puts in a dimension, numbers, slices and `...`.

    Raises:
        TilecError: for any other index.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    if any(p is Ellipsis for p in parts):
        at = next(i for i, p in enumerate(parts) if p is Ellipsis)
        missing = tile.ndim - sum(p is not None and p is not Ellipsis for p in parts)
        parts[at : at + 1] = [slice(None)] * missing
    if sum(p is not None for p in parts) > tile.ndim:
        raise TilecError(f"too many indices for {tile!r}")
    axis = 0
    for each in parts:
        if each is None:
            tile = expand_dims(tile, axis)
        elif isinstance(each, slice):
            tile = _slice(tile, axis, each)
        else:
            tile = _line(tile, axis, each)
            axis -= 1
        axis += 1
    return tile


def _line(tile: Tile, axis: int, number: Any) -> Tile:
    if not isinstance(number, int) or isinstance(number, bool):
        raise TilecError(f"{_LEGAL}, not by {number!r}")
    extent = tile.shape[axis]
    if not -extent <= number < extent:
        raise TilecError(f"index {number} is outside of dimension {axis} of {tile!r}")
    if extent == 1 and tile.ndim > 1:
        return squeeze(tile, axis)
    return pick(tile, axis, number % extent)


def _slice(tile: Tile, axis: int, given: slice) -> Tile:
    extent = tile.shape[axis]
    for end in (given.start, given.stop, given.step):
        if end is not None and not isinstance(end, int):
            raise TilecError(f"{_LEGAL}, not by {end!r} in a slice")
    first, last, step = given.indices(extent)
    count = last - first
    if (first, last, step) == (0, extent, 1):
        return tile
    if step != 1 or count < 1 or count & (count - 1) or first % count or extent % count:
        raise TilecError(f"{_LEGAL}, not by {first}:{last}:{step} of {extent}")
    return part(tile, axis, first // count, count)
