"""Scans, and reductions by any function, under Triton's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from tilec.isa import TilecError
from tilec.isa.wording import counted

from .arithmetic import binary
from .casts import check_computed
from .dtypes import bfloat16, dtype_of, float16, float32
from .elementwise import where
from .reductions import of_sum
from .shapes import axis_of, expand_dims
from .takes import apart, check_bits, numbers, pick, take
from .tile import Tile

Combine: TypeAlias = Callable[..., Any]
"""A function of two elements that gives one; of pairs and so on of `(a0, a1, b0, b1)`, a tuple."""
Tiles: TypeAlias = "Tile | Sequence[Tile]"
CombinePairs: TypeAlias = Callable[[Tile, Tile, Tile, Tile], tuple[Tile, Tile]]


def cumsum(x: Tile, axis: int = 0, *, reverse: bool = False, dtype: Any = None) -> Tile:
    """The sums of the elements along `axis` up to each, of the type that a sum has.

    Args:
        x: a tile.
        axis: the axis.
        reverse: whether they are the sums from each to the end.
        dtype: element type; by default that of `sum`. float16 and bfloat16 are added in float32.
    """
    return _growing("cumsum", "add", x, axis, reverse, dtype)


def cumprod(x: Tile, axis: int = 0, *, reverse: bool = False, dtype: Any = None) -> Tile:
    """The products of the elements along `axis` up to each; as `cumsum`."""
    return _growing("cumprod", "multiply", x, axis, reverse, dtype)


def _growing(name: str, fn: str, x: Tile, axis: int, reverse: bool, dtype: Any) -> Tile:
    (x,) = _tiles(x, name)
    check_computed(x, name)
    target = of_sum(x.dtype) if dtype is None else dtype_of(dtype)
    if target.kind not in ("float", "int", "uint"):
        raise TilecError(f"{name} does not take {x.dtype!r}; legal: floats and integers")
    wide = float32 if target in (float16, bfloat16) else target
    found: Tile = associative_scan(
        x.astype(wide), axis, lambda a, b: binary(fn, a, b), reverse=reverse
    )
    return found.astype(target)


@overload
def associative_scan(
    x: Tile, axis: int, combine: Callable[[Tile, Tile], Tile], *, reverse: bool = False
) -> Tile: ...
@overload
def associative_scan(
    x: tuple[Tile, Tile], axis: int, combine: CombinePairs, *, reverse: bool = False
) -> tuple[Tile, Tile]: ...
@overload
def associative_scan(
    x: Tiles, axis: int, combine: Combine, *, reverse: bool = False
) -> Tile | tuple[Tile, ...]: ...
def associative_scan(
    x: Tiles, axis: int, combine: Combine, *, reverse: bool = False
) -> Tile | tuple[Tile, ...]:
    """What `combine` makes of the elements along `axis` up to each.

    Args:
        x: a tile, or several of one shape whose elements are combined together.
        axis: the axis.
        combine: an associative function: of `(a, b)`, `a` made of elements before those of `b`; of
            several tiles of `(a0, a1, …, b0, b1, …)`, which gives as many.
        reverse: whether it goes from the end to each element; `a` is then made of those after it.

    Returns:
        A tile, or a tuple of as many as were given.

    Raises:
        TilecError: for tiles of different shapes, or a function that gives other types.
    """
    tiles = _tiles(x, "associative_scan")
    at = axis_of(tiles[0], axis)
    check_bits(tiles[0], at, "a scan")
    held = tuple(apart(tile) for tile in tiles)
    number = numbers(tiles[0], at)
    for bit in range(tiles[0].shape[at].bit_length() - 1):
        # Of each pair of blocks the second takes on what the first is as a whole.
        keep, last = -(2 << bit), (1 << bit if reverse else (1 << bit) - 1)
        before = [take(tile, at, keep=keep, flip=last) for tile in held]
        both = _combined(combine, before, held)
        second = (number & (1 << bit)) == (0 if reverse else 1 << bit)
        held = tuple(where(second, new, old) for new, old in zip(both, held, strict=True))
    found = tuple(apart(tile) for tile in held)
    return found[0] if isinstance(x, Tile) else found


@overload
def reduce(
    x: Tile, axis: int | None, combine: Callable[[Tile, Tile], Tile], *, keepdims: bool = False
) -> Tile: ...
@overload
def reduce(
    x: tuple[Tile, Tile], axis: int | None, combine: CombinePairs, *, keepdims: bool = False
) -> tuple[Tile, Tile]: ...
@overload
def reduce(
    x: Tiles, axis: int | None, combine: Combine, *, keepdims: bool = False
) -> Tile | tuple[Tile, ...]: ...
def reduce(
    x: Tiles, axis: int | None, combine: Combine, *, keepdims: bool = False
) -> Tile | tuple[Tile, ...]:
    """What `combine` makes of all elements along `axis`, in their order.

    Args:
        x: a tile, or several of one shape whose elements are combined together.
        axis: the axis; None for all elements, in row-major order.
        combine: an associative function, as of `associative_scan`.
        keepdims: whether what was combined stays as an extent of 1.

    Returns:
        A tile or scalar, or a tuple of as many as were given.

    Raises:
        TilecError: for tiles of different shapes, or a function that gives other types.
    """
    tiles = _tiles(x, "reduce")
    rank = tiles[0].ndim
    if axis is None:
        tiles = tuple(tile.reshape(tile.size) for tile in tiles)
    at = axis_of(tiles[0], 0 if axis is None else axis)
    check_bits(tiles[0], at, "tl.reduce")
    held = tuple(apart(tile) for tile in tiles)
    for bit in range(tiles[0].shape[at].bit_length() - 1):
        low = [take(tile, at, keep=~(1 << bit)) for tile in held]
        high = [take(tile, at, keep=~(1 << bit), flip=1 << bit) for tile in held]
        held = _combined(combine, low, high)
    found = tuple(pick(tile, at, 0) for tile in held)
    if keepdims and axis is None:
        found = tuple(tile.reshape((1,) * rank) for tile in found)
    elif keepdims:
        found = tuple(expand_dims(tile, at) for tile in found)
    return found[0] if isinstance(x, Tile) else found


def _tiles(x: Any, what: str) -> tuple[Tile, ...]:
    """Tiles of one shape, with a dimension at least."""
    tiles = (x,) if isinstance(x, Tile) else tuple(x) if isinstance(x, Sequence) else (x,)
    for tile in tiles:
        if not isinstance(tile, Tile) or not tile.shape:
            raise TilecError(f"{what} takes tiles with at least one dimension, not {tile!r}")
        if tile.shape != tiles[0].shape:
            raise TilecError(f"{what} takes tiles of one shape, not {tiles[0]!r} and {tile!r}")
    if not tiles:
        raise TilecError(f"{what} takes at least one tile")
    return tiles


def _combined(combine: Combine, one: Sequence[Tile], other: Sequence[Tile]) -> tuple[Tile, ...]:
    """What the user's function gives, checked to be like what it was given."""
    found = combine(*one, *other)
    parts = (found,) if isinstance(found, Tile) else tuple(found)
    if len(parts) != len(one):
        raise TilecError(
            f"the function returns {counted(len(parts), 'value')} for the elements of "
            f"{counted(len(one), 'tile')}"
        )
    for part, given in zip(parts, one, strict=True):
        if not isinstance(part, Tile) or part.shape != given.shape or part.dtype is not given.dtype:
            raise TilecError(
                f"the function returns {part!r} for {given!r}: it must return what it takes, "
                f"element by element"
            )
    return parts
