"""Tiles under other shapes, and numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from tilec.ir import ops
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout.extents import check_extents, check_reshape

from .dtypes import DType, dtype_of, float32, int32, int64, intp, limits
from .emit import constant, emit, i64, i64s, result, text, type_of
from .tile import Operand, Shape, Tile

Extents: TypeAlias = int | Sequence[int]


def extents(shape: Extents) -> Shape:
    """A shape as a tuple of extents.

    Raises:
        TilecError: if an extent is not a positive number known when the kernel is compiled, or the
            tile would be of too many units (`tilec.layout.extents`).
    """
    found: tuple[Any, ...] = (shape,) if isinstance(shape, int | Tile) else tuple(shape)
    for extent in found:
        if isinstance(extent, Tile):
            raise TilecError(
                f"extents of a tile must be known when the kernel is compiled; {extent!r} in "
                "the shape is not: annotate the argument it comes from tl.Constant[int]"
            )
        if not isinstance(extent, int) or extent < 1:
            raise TilecError(f"extents of a tile are 1 or more; {extent!r} in {found} is not")
    check_extents(found)
    return found


def full(shape: Extents, value: Operand, dtype: Any = None) -> Tile:
    """A tile whose elements all are `value`.

    Args:
        shape: extents.
        value: a number, or a scalar of the kernel.
        dtype: element type; by default the scalar's, float32 of a float, int32 of an integer.
    """
    found = extents(shape)
    if isinstance(value, Tile):
        element = dtype_of(dtype) if dtype is not None else value.dtype
        return broadcast_to(value.astype(element), found)
    default = float32 if isinstance(value, float) else int32
    element = _of_shape(dtype_of(dtype) if dtype is not None else default, found)
    natural = element is intp and value >= 0
    return Tile(constant(value, element, found), element, found, natural=natural)


def _of_shape(element: type[DType], shape: Shape) -> type[DType]:
    """The element type of a tile of this shape: intp is of scalars alone."""
    return int64 if element is intp and shape else element


def zeros(shape: Extents, dtype: Any = float32) -> Tile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def ones(shape: Extents, dtype: Any = float32) -> Tile:
    """A tile of ones."""
    return full(shape, 1, dtype)


def arange(start: int, stop: int | None = None, dtype: Any = int32) -> Tile:
    """The integers from `start`, or 0, up to `stop`, a tile of rank 1."""
    first, last = (0, start) if stop is None else (start, stop)
    bounds: tuple[Any, ...] = (first, last)
    for bound in bounds:
        if isinstance(bound, Tile):
            raise TilecError(
                "tl.arange takes bounds known when the kernel is compiled; add what is known "
                "only when it runs: start + tl.arange(n)"
            )
    shape = extents(last - first)
    element = _of_shape(dtype_of(dtype), shape)
    _check_counts(element, shape[0])
    value = result("tile.iota", [], type_of(element, shape), {"axis": i64(0)})
    counted = Tile(value, element, shape)
    return counted + first if first else counted


def indices(shape: Extents, dtype: Any = int32) -> tuple[Tile, ...]:
    """For each dimension a tile of `shape` whose elements are their own indices along it."""
    found = extents(shape)
    element = _of_shape(dtype_of(dtype), found)
    _check_counts(element, max(found))
    type_ = type_of(element, found)
    return tuple(
        Tile(result("tile.iota", [], type_, {"axis": i64(axis)}), element, found)
        for axis, _ in enumerate(found)
    )


def _check_counts(element: type[DType], count: int) -> None:
    if element.kind != "float" and count - 1 > limits(element)[1]:
        raise TilecError(f"the numbers up to {count - 1} do not fit {element!r}: take a wider type")


def broadcast_to(tile: Tile, shape: Extents) -> Tile:
    """The tile repeated to `shape` by numpy's rules: a new dimension in front, or one of 1.

    Of a scalar intp the tile is one of int64.

    Raises:
        TilecError: if the shapes do not fit.
    """
    target = extents(shape)
    if tile.shape == target:
        return tile
    if not tile.shape:
        element, value = tile.dtype, tile.value
        if element is intp:
            element, value = int64, emit(ops.arith.index_cast, value, type_of(int64))
        return Tile(result("tile.fill", [value], type_of(element, target)), element, target)
    if broadcast_shape(tile.shape, target) != target:
        raise TilecError(f"a tile of shape {tile.shape} does not broadcast to {target}")
    while tile.ndim < len(target):
        tile = expand_dims(tile, 0)
    if tile.shape == target:
        return tile
    value = result("tile.broadcast", [tile.value], type_of(tile.dtype, target))
    return Tile(value, tile.dtype, target)


def broadcast_shape(one: Shape, other: Shape) -> Shape:
    """The shape that both broadcast to.

    Raises:
        TilecError: if there is none.
    """
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    found = []
    for left, right in pairs:
        if left != right and 1 not in (left, right):
            raise TilecError(
                f"shapes {one} and {other} do not broadcast together: aligned at their last "
                "dimensions, extents must be equal or 1"
            )
        found.append(max(left, right))
    return tuple(found)


def expand_dims(tile: Tile, axis: int) -> Tile:
    """The tile with a dimension of extent 1 put in at `axis` of the result."""
    at = _axis(axis, tile.ndim + 1)
    shape = (*tile.shape[:at], 1, *tile.shape[at:])
    if not tile.shape:
        return broadcast_to(tile, shape)
    value = result("tile.expand", [tile.value], type_of(tile.dtype, shape), {"axis": i64(at)})
    return Tile(value, tile.dtype, shape)


def squeeze(tile: Tile, axis: int) -> Tile:
    """The tile without a dimension of extent 1.

    Raises:
        TilecError: if the extent is another.
    """
    at = _axis(axis, tile.ndim)
    if tile.shape[at] != 1:
        raise TilecError(f"dimension {axis} of {tile!r} is not of extent 1")
    return reshape(tile, (*tile.shape[:at], *tile.shape[at + 1 :]))


def reshape(tile: Tile, shape: Extents) -> Tile:
    """The same elements, in row-major order, in another shape; one extent may be -1.

    Raises:
        TilecError: if the number of elements is another.
    """
    wanted = [shape] if isinstance(shape, int) else list(shape)
    if wanted.count(-1) == 1:
        known = prod(extent for extent in wanted if extent != -1)
        wanted[wanted.index(-1)] = tile.size // known
    found = extents(wanted)
    if prod(found) != tile.size:
        raise TilecError(
            f"{tile!r} has {counted(tile.size, 'element')}; a tile of shape {tuple(wanted)} has "
            f"{prod(found)}"
        )
    if found == tile.shape:
        return tile
    if not tile.shape:
        return broadcast_to(tile, found)
    if not found:
        return _only(tile)
    check_reshape(tile.shape, found)
    value = result("tile.reshape", [tile.value], type_of(tile.dtype, found))
    return Tile(value, tile.dtype, found)


def _only(tile: Tile) -> Tile:
    """The element of a tile that has one, as a scalar: a reduction of it alone."""
    fn = {"bool": "ori", "int": "maxsi", "uint": "maxui"}.get(tile.dtype.kind, "maximumf")
    attributes = {"axis": i64(0), "fn": text(f"arith.{fn}")}
    flat = reshape(tile, (1,))
    return Tile(result("tile.reduce", [flat.value], type_of(tile.dtype), attributes), tile.dtype)


def transpose(tile: Tile, axes: Sequence[int] | None = None) -> Tile:
    """The tile whose dimension i is dimension `axes[i]` of `tile`; by default in reverse.

    Raises:
        TilecError: if `axes` does not name every dimension once.
    """
    order = tuple(axes) if axes is not None else tuple(range(tile.ndim))[::-1]
    if sorted(_axis(axis, tile.ndim) for axis in order) != list(range(tile.ndim)):
        raise TilecError(
            f"axes {order} do not name each of the {counted(tile.ndim, 'dimension')} once"
        )
    order = tuple(_axis(axis, tile.ndim) for axis in order)
    if order == tuple(range(tile.ndim)):
        return tile
    shape = tuple(tile.shape[axis] for axis in order)
    attributes = {"permutation": i64s(order)}
    value = result("tile.transpose", [tile.value], type_of(tile.dtype, shape), attributes)
    return Tile(value, tile.dtype, shape)


def axis_of(tile: Tile, axis: object) -> int:
    """An axis, counted from the front.

    Raises:
        TilecError: if the tile does not have it.
    """
    if not isinstance(axis, int) or not -tile.ndim <= axis < tile.ndim:
        raise TilecError(
            f"axis {axis!r} is out of range for {tile!r}: {-tile.ndim} to {tile.ndim - 1}"
        )
    return axis % tile.ndim


def _axis(axis: int, rank: int) -> int:
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise TilecError(
            f"axis {axis!r} is out of range for {counted(rank, 'dimension')}: {-rank} to {rank - 1}"
        )
    return axis % rank
