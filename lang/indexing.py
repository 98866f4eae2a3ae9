"""`tile[…]`: dimensions put in, and parts of a tile."""

from __future__ import annotations

from typing import Any

from tilec.isa import TilecError

from .arrangement import flip
from .shapes import expand_dims, reshape, squeeze
from .takes import part, pick
from .tile import Tile

_LEGAL = (
    "a tile is indexed by numbers, None, '...' and slices of a power of two of elements, which "
    "divides the extent, that begin at a multiple of it, in steps of a power of two or -1, all "
    "known when the kernel is compiled"
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
        raise TilecError(f"index {number} is out of range for dimension {axis} of {tile!r}")
    if extent == 1 and tile.ndim > 1:
        return squeeze(tile, axis)
    return pick(tile, axis, number % extent)


def _slice(tile: Tile, axis: int, given: slice) -> Tile:
    extent = tile.shape[axis]
    for end in (given.start, given.stop, given.step):
        if end is not None and not isinstance(end, int):
            raise TilecError(f"{_LEGAL}, not by {end!r} in a slice")
    first, last, step = given.indices(extent)
    if (first, last, step) == (0, extent, 1):
        return tile
    count = len(range(first, last, step))
    if step < 0:
        tile, first, step = flip(tile, axis), extent - 1 - first, -step
    phase = first % step
    legal = _is_power(count) and _is_power(step) and not extent % (step * count)
    if not legal or first // step % count:
        raise TilecError(f"{_LEGAL}, not by {_written(given)} of {extent}")
    if step > 1:
        shape = (*tile.shape[:axis], extent // step, step, *tile.shape[axis + 1 :])
        tile = pick(reshape(tile, shape), axis + 1, phase)
    return part(tile, axis, first // step // count, count)


def _is_power(number: int) -> bool:
    return number > 0 and not number & (number - 1)


def _written(given: slice) -> str:
    ends = (given.start, given.stop, given.step)
    return ":".join("" if end is None else str(end) for end in ends).removesuffix(":")
