"""How many elements of a tile fall into each bin."""

from __future__ import annotations

from tilec.isa import TilecError

from .arrangement import ravel
from .casts import astype
from .dtypes import float16, int32, limits
from .elementwise import where
from .products import dot
from .shapes import arange, broadcast_to, extents, reshape
from .takes import part
from .tile import Tile

_ROWS, _COLS, _DEEP = 16, 8, 16
"""What the smallest matrix instruction multiplies."""


def histogram(tile: Tile, bins: int, mask: Tile | None = None) -> Tile:
    """How often each of the numbers 0 to `bins` - 1 stands in a tile, int32 [bins].

    Other numbers do not count. It is a product of two matrices, which say of each number its
    bin's row and column among `bins`: exact, on the tensor cores.

    Args:
        tile: integers.
        bins: how many, a power of two.
        mask: which elements count, truth values that broadcast to the tile's shape.

    Raises:
        TilecError: for elements that are not integers, and another number of bins.
    """
    if not isinstance(tile, Tile) or tile.dtype.kind not in ("int", "uint") or not tile.shape:
        raise TilecError(f"a histogram is of a tile of integers, not {tile!r}")
    (count,) = extents(bins)
    if count & (count - 1):
        raise TilecError(f"the number of bins of a histogram must be a power of two, not {count}")
    inside = tile >= 0
    if count - 1 < limits(tile.dtype)[1]:
        inside = inside & (tile <= count - 1)
    if mask is not None:
        inside = inside & broadcast_to(mask, tile.shape)
    number = ravel(astype(where(inside, tile, 0), int32))
    number, held = _deep_enough(number, ravel(inside))
    cols = max(_COLS, 1 << (count.bit_length() - 1) // 2)
    rows = max(_ROWS, count // cols)
    down = (arange(rows)[:, None] == (number // cols)[None, :]) & held[None, :]
    across = (number % cols)[:, None] == arange(cols)[None, :]
    sums = dot(astype(down, float16), astype(across, float16))
    return astype(part(ravel(sums), 0, 0, count), int32)


def _deep_enough(number: Tile, held: Tile) -> tuple[Tile, Tile]:
    """At least so many numbers as an instruction adds up, of which the others do not count."""
    times = _DEEP // number.size
    if times <= 1:
        return number, held
    shape = (times, number.size)
    first = (arange(times) == 0)[:, None]
    numbers = reshape(broadcast_to(number, shape), (_DEEP,))
    return numbers, reshape(broadcast_to(held, shape) & first, (_DEEP,))
