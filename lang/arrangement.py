"""Tiles put together, taken apart and turned round."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.isa import TilecError
from tilec.isa.wording import counted

from .elementwise import where
from .shapes import axis_of, broadcast_to, expand_dims, reshape
from .takes import check_bits, numbers, pick, take
from .tile import Tile


def flip(tile: Tile, axis: int | None = None) -> Tile:
    """The tile with its elements along an axis, or along all, in reverse.

    Raises:
        TilecError: for an axis that the tile does not have, or of no power of two of elements.
    """
    for at in range(tile.ndim) if axis is None else (axis_of(tile, axis),):
        if tile.shape[at] > 1:
            check_bits(tile, at, "tl.flip")
            tile = take(tile, at, flip=tile.shape[at] - 1)
    return tile


def stack(tiles: Sequence[Tile], axis: int = 0) -> Tile:
    """Tiles of one type and shape, in a row along a new axis of the result.

    Args:
        tiles: a power of two of them.
        axis: of the result.

    Raises:
        TilecError: for other tiles, or another number of them.
    """
    parts = _alike(tiles, "stack")
    rank = parts[0].ndim + 1
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise TilecError(
            f"axis {axis!r} is out of range for {counted(rank, 'dimension')}: {-rank} to {rank - 1}"
        )
    return _in_a_row(parts, axis % rank)


def _in_a_row(parts: list[Tile], at: int) -> Tile:
    """Tiles that are alike, along a new dimension of the result."""
    shape = (*parts[0].shape[:at], len(parts), *parts[0].shape[at:])
    wide = [broadcast_to(expand_dims(part, at), shape) for part in parts]
    found = wide[0]
    for number, part in enumerate(wide[1:], 1):
        found = where(numbers(found, at) == number, part, found)
    return found


def concatenate(tiles: Sequence[Tile], axis: int = 0) -> Tile:
    """Tiles of one type and shape, one after the other along an axis.

    Args:
        tiles: a power of two of them.
        axis: of each.

    Raises:
        TilecError: for other tiles, or another number of them.
    """
    parts = _alike(tiles, "concatenate")
    at = axis_of(parts[0], axis)
    shape = list(parts[0].shape)
    shape[at] *= len(parts)
    return reshape(_in_a_row(parts, at), shape)


def join(a: Tile, b: Tile) -> Tile:
    """Two tiles along a new last dimension of 2, which `split` takes apart again.

    Raises:
        TilecError: for tiles of several types or shapes.
    """
    parts = _alike((a, b), "join")
    return _in_a_row(parts, a.ndim)


def split(tile: Tile) -> tuple[Tile, Tile]:
    """The two tiles of which `join` made this one.

    Raises:
        TilecError: if its last dimension is not of extent 2.
    """
    if not isinstance(tile, Tile) or not tile.shape or tile.shape[-1] != 2:
        raise TilecError(f"split takes a tile whose last dimension is of extent 2, not {tile!r}")
    last = tile.ndim - 1
    return pick(tile, last, 0), pick(tile, last, 1)


def interleave(a: Tile, b: Tile) -> Tile:
    """The elements of two tiles by turns along the last dimension.

    Raises:
        TilecError: for tiles of several types or shapes.
    """
    both = _in_a_row(_alike((a, b), "interleave"), a.ndim)
    if both.ndim < 2:
        return both
    return reshape(both, (*both.shape[:-2], 2 * both.shape[-2]))


def ravel(tile: Tile) -> Tile:
    """The elements in row-major order, as a tile of rank 1."""
    return reshape(tile, (tile.size,))


def _alike(tiles: Sequence[Tile], what: str) -> list[Tile]:
    parts = list(tiles)
    count = len(parts)
    if not count or count & (count - 1) or not all(isinstance(part, Tile) for part in parts):
        raise TilecError(f"{what} takes a power of two of tiles, not {parts!r}")
    for part in parts:
        if part.shape != parts[0].shape or part.dtype is not parts[0].dtype:
            raise TilecError(
                f"{what} takes tiles of one type and shape, not {parts[0]!r} and {part!r}"
            )
    return parts
