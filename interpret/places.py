"""Where the elements of a tile or fragment lie in memory, and who holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from tilec.dialects.tile.tiles import PlainTile, TileValue
from tilec.isa import LANES
from tilec.layout import LinearLayout
from tilec.layout.extents import unit_counts

from .call import Call
from .memory import View
from .numbers import Array

Tile = PlainTile | TileValue


def is_fragment(tile: Tile | None) -> bool:
    """Whether each warp has one."""
    return isinstance(tile, TileValue) and tile.is_fragment


def holders(tile: TileValue) -> Array:
    """Which warps hold each element of a tile: a bit each; of the tile's shape."""
    return np.tile(_holders(tile.layout), unit_counts(tile.shape))


@lru_cache(maxsize=512)
def _holders(layout: LinearLayout) -> Array:
    """The same of one unit, which is what a layout is of."""
    shape = tuple(layout.out_sizes.values())
    found = np.zeros(shape, np.uint64)
    for warp in range(layout.in_sizes.get("warp", 1)):
        registers = np.arange(layout.in_sizes.get("register", 1))[:, None]
        given: dict[str, Array | int] = {"register": registers, "lane": np.arange(LANES)}
        if "warp" in layout.in_sizes:
            given["warp"] = warp
        at = layout(**given)
        found[tuple(np.broadcast_arrays(*at))] |= np.uint64(1 << warp)
    return found


def held(tile: Tile) -> Array | None:
    """Which elements of a fragment a lane holds; None if all."""
    if not isinstance(tile, TileValue) or tile.layout.is_surjective:
        return None
    return np.asarray(holders(tile) != 0)


def touched(call: Call, tile: Tile, inside: Array, meant: Array | None) -> Array:
    """Which elements are touched: those inside that somebody executes, and that are meant.

    Elements outside that are meant are a finding, unless the op has `masked`.

    Args:
        call: the op.
        tile: the tile or fragment.
        inside: which elements are inside the memref, as of `find_places`.
        meant: which are meant; None if all.
    """
    wanted = np.ones_like(inside) if meant is None else np.broadcast_to(meant, inside.shape)
    if is_fragment(tile):
        wanted = wanted & call.warps.reshape(-1, *(1,) * len(tile.shape))
    if not call.has("masked") and (wanted & ~inside).any():
        call.report("bounds", "accesses memory outside the memref")
    return np.asarray(inside & wanted)


def find_places(
    call: Call,
    view: View,
    indices: Sequence[Array],
    shape: tuple[int, ...],
    *,
    each: bool,
    transposed: bool = False,
    offsets: Mapping[int, Array] | None = None,
) -> tuple[Array, Array]:
    """The elements that a tile lies at, and whether they are inside the memref.

    Args:
        call: the op.
        view: the memory.
        indices: of the first element, one a dimension.
        shape: of the tile, in elements of the memory.
        each: whether each warp has a tile, and indices, of its own.
        transposed: whether memory holds the transpose.
        offsets: by dimension of memory, what lies at an index of its own.

    Returns:
        Both of `shape`, or (warps, *shape); places that are outside are 0.
    """
    rank, given = len(shape), offsets or {}
    axes = list(range(rank))
    if transposed:
        axes[-2:] = axes[:-3:-1]
    coordinates: list[Array] = []
    for dim, index in enumerate(indices):
        if each:
            start = call.by_warp(index, "an index").reshape(-1, *(1,) * rank)
        else:
            start = np.asarray(call.uniform(index, "an index"))
        behind = dim - (len(indices) - rank)
        if dim in given:
            start = start + given[dim]
        elif behind >= 0:
            axis = axes[behind]
            steps = np.arange(shape[axis]).reshape(-1, *(1,) * (rank - 1 - axis))
            start = start + steps
        coordinates.append(start)
    if not view.buffer.is_array and len(coordinates) > 2:
        # What is wider than a matrix of the buffer goes on in the matrix behind.
        cols = view.sizes[-1]
        coordinates[-3] = coordinates[-3] + coordinates[-1] // cols
        coordinates[-1] = coordinates[-1] % cols
    whole = (call.active.shape[0] // LANES, *shape) if each else shape
    place = np.full(whole, view.offset, np.int64)
    inside = np.ones(whole, bool)
    for at, size, stride in zip(coordinates, view.sizes, view.strides, strict=True):
        place += at * stride
        inside &= (at >= 0) & (at < size)
    return np.where(inside, place, 0), inside
