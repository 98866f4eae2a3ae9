"""Elements of a tile from other places along an axis, and parts of it."""

from __future__ import annotations

from tilec.isa import TilecError

from .casts import astype, view
from .dtypes import DType, float32, tfloat32, uint8, uint16, uint32, uint64
from .elementwise import where
from .emit import i64, result, text, type_of
from .shapes import arange, expand_dims, reshape
from .tile import Tile

_UNSIGNED = {8: uint8, 16: uint16, 32: uint32, 64: uint64}


def check_bits(tile: Tile, axis: int, what: str) -> None:
    """Check that elements along an axis may be told apart by the bits of their index.

    Raises:
        TilecError: if its extent is not a power of two.
    """
    extent = tile.shape[axis]
    if extent & (extent - 1):
        wider = 1 << extent.bit_length()
        raise TilecError(
            f"{what} needs an axis whose extent is a power of two, unlike axis {axis} of "
            f"{tile!r}; load {wider}, of which some are out of bounds"
        )


def take(tile: Tile, axis: int, *, keep: int = -1, flip: int = 0) -> Tile:
    """The tile whose element i along an axis is element `(i & keep) ^ flip`."""
    attributes = {"axis": i64(axis), "keep": i64(keep), "flip": i64(flip)}
    value = result("tile.take", [tile.value], type_of(tile.dtype, tile.shape), attributes)
    return Tile(value, tile.dtype, tile.shape)


def apart(tile: Tile) -> Tile:
    """The same tile, whose layout is chosen anew."""
    value = result("tile.convert_layout", [tile.value], type_of(tile.dtype, tile.shape))
    return Tile(value, tile.dtype, tile.shape)


def numbers(tile: Tile, axis: int) -> Tile:
    """Of each element its index along an axis, int32, of extent 1 along those after it."""
    found = arange(tile.shape[axis])
    for _ in range(axis + 1, tile.ndim):
        found = expand_dims(found, found.ndim)
    return found


def pick(tile: Tile, axis: int, number: int) -> Tile:
    """The elements of one index along an axis, which goes."""
    bits = as_bits(tile)
    alone = where(numbers(bits, axis) == number, bits, 0)
    shape = (*tile.shape[:axis], *tile.shape[axis + 1 :])
    attributes = {"axis": i64(axis), "fn": text("arith.ori")}
    value = result("tile.reduce", [alone.value], type_of(bits.dtype, shape), attributes)
    return from_bits(Tile(value, bits.dtype, shape), tile.dtype)


def part(tile: Tile, axis: int, number: int, count: int) -> Tile:
    """One of the parts of `count` elements along an axis."""
    extent = tile.shape[axis]
    if count == extent:
        return tile
    before, after = tile.shape[:axis], tile.shape[axis + 1 :]
    parts = reshape(tile, (*before, extent // count, count, *after))
    return pick(parts, axis, number)


def as_bits(tile: Tile) -> Tile:
    """The elements' bits, as unsigned integers of whole bytes."""
    if tile.dtype.bits < 8:
        return astype(tile, uint8)
    if tile.dtype is tfloat32:
        return as_bits(astype(tile, float32))  # which holds each as it is
    return view(tile, _UNSIGNED[tile.dtype.bits])


def from_bits(bits: Tile, dtype: type[DType]) -> Tile:
    """The elements that have these bits."""
    if dtype is tfloat32:
        return astype(view(bits, float32), tfloat32)
    return astype(bits, dtype) if dtype.bits < 8 else view(bits, dtype)
