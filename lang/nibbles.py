"""Elements of 4 bits, two in a byte of memory, the first in its low bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tilec.isa import TilecError

from .casts import astype, view
from .dtypes import DType, per_byte, uint4
from .elementwise import where
from .known import multiple_of
from .shapes import arange, broadcast_to, expand_dims, reshape
from .tile import Shape, Tile

Places: TypeAlias = list[Tile]
"""Where a tile begins, for each dimension of its array."""


def is_whole_bytes(place: Tile, extent: int, element: type[DType]) -> bool:
    """Whether a row of a tile that begins at `place` is known to be whole bytes of memory."""
    together = per_byte(element)
    return together == 1 or (extent % together == 0 and multiple_of(place) % together == 0)


def stored_places(places: Places, element: type[DType]) -> Places:
    """The places in what memory holds: bytes, of elements narrower than those."""
    together = per_byte(element)
    return places if together == 1 else [*places[:-1], places[-1] // together]


def check_stored(place: Tile, tile: Tile) -> None:
    """Check that a tile is stored as whole bytes.

    Raises:
        TilecError: if that is not known: half a byte would be written with what lies beside it.
    """
    element = tile.dtype
    if is_whole_bytes(place, tile.shape[-1], element):
        return
    if tile.shape[-1] == 1:
        raise TilecError(
            f"a row of one {element!r} is half a byte, and bytes are stored; legal: rows of 2 "
            "elements or more"
        )
    raise TilecError(
        f"a tile of {element!r} is stored from a whole byte on, and its last index is not known "
        "to be even; write it so that it is, as in 2 * i"
    )


def load_split(
    read: Callable[[Places, Shape], Tile], places: Places, element: type[DType], shape: Shape
) -> Tile:
    """A tile whose rows may begin in the middle of a byte.

    Args:
        read: gives a tile of bytes.
        places: of its first element.
        element: a type of 4 bits.
        shape: of the tile.
    """
    place, row = places[-1], max(1, shape[-1] // 2)
    *outer, first = stored_places(places, element)
    is_odd = place % 2 == 1
    from_byte = _each_twice(read([*outer, first], (*shape[:-1], row)), shape)
    if shape[-1] == 1:
        code = where(is_odd, from_byte >> 4, from_byte)
        return _elements(code, element)
    # From an odd place on, the second of two elements is the first one in the byte behind.
    behind = _each_twice(read([*outer, first + 1], (*shape[:-1], row)), shape)
    is_second = broadcast_to((arange(shape[-1]) & 1) == 1, shape)
    byte = where(is_second & is_odd, behind, from_byte)
    return _elements(where(is_second ^ is_odd, byte >> 4, byte), element)


def _each_twice(bytes_: Tile, shape: Shape) -> Tile:
    """Each byte for the two elements that it has; for the one, if the rows are of one."""
    if bytes_.shape == shape:
        return bytes_
    pairs = broadcast_to(expand_dims(bytes_, bytes_.ndim), (*bytes_.shape, 2))
    return reshape(pairs, shape)


def _elements(code: Tile, element: type[DType]) -> Tile:
    """Elements, of which the low bits of bytes are the bits."""
    return view(astype(code, uint4), element)
