"""Where the elements of a tile lie in an array: from an index on, or each at one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from tilec.isa import TilecError
from tilec.isa.wording import counted

from .array import AnyArray
from .bounds import Integer
from .casts import astype, view
from .dtypes import bool_, int32, int64, intp, uint64
from .emit import constant
from .shapes import broadcast_shape, broadcast_to, expand_dims
from .tile import Shape, Tile

Index: TypeAlias = "int | Tile | Sequence[int | Tile]"
"""Where a tile lies in an array: an index for each dimension; of a vector, the index alone.

An index that is a number is that of the tile's first element. A tile of indices has those of all
elements: of rank 1 those along its dimension, of the tile's rank those of each element.
"""


class Places(NamedTuple):
    """Indices of an array, and a mask.

    Attributes:
        starts: for each dimension an integer, or a tile of the shape of what is moved.
        mask: which elements are moved, a tile of that shape; None for all.
    """

    starts: list[Integer]
    mask: Tile | None

    @property
    def of_elements(self) -> bool:
        """Whether elements have indices or conditions of their own."""
        return bool(self.along) or self.mask is not None

    @property
    def along(self) -> list[int]:
        """The dimensions of the array along which they have indices of their own."""
        return [d for d, s in enumerate(self.starts) if isinstance(s, Tile) and s.shape]

    def operands(self) -> list[list[Any]]:
        """Of an op on such elements: where tiles begin, the tiles of indices, the mask."""
        tiles = [place(start) for start in self.starts]
        own = [tiles[dim] for dim in self.along]
        if len({tile.dtype for tile in own}) > 1:
            own = [astype(tile, int64) for tile in own]
        scalars = [place(0) if tile.shape else tile for tile in tiles]
        groups = [scalars, own, [] if self.mask is None else [self.mask]]
        return [[tile.value for tile in group] for group in groups]


def places(array: AnyArray, index: Index, shape: Shape, mask: Any = None) -> Places:
    """An index, and a mask or none, of a tile of `shape` in an array.

    Raises:
        TilecError: if they do not fit.
    """
    given = [index] if isinstance(index, int | Tile) else list(index)
    if len(given) != array.ndim:
        raise TilecError(
            f"{array!r} takes {counted(array.ndim, 'index', 'indices')}, not {len(given)}"
        )
    first = array.ndim - len(shape)
    starts = [_start(array, part, at - first, shape) for at, part in enumerate(given)]
    return Places(starts, _mask(mask, shape))


def shape_of(index: Index, mask: Any) -> Shape:
    """The shape that tiles of indices and a mask have together; (1,) without any."""
    given = index if isinstance(index, Sequence) else [index]
    shape: Shape = (1,)
    for part in (*given, mask):
        if isinstance(part, Tile):
            shape = broadcast_shape(shape, part.shape)
    return shape


def place(start: Integer) -> Tile:
    """An index as a value."""
    if isinstance(start, Tile):
        return start
    return Tile(constant(start, intp), intp, natural=start >= 0)


def _start(array: AnyArray, part: object, axis: int, shape: Shape) -> Integer:
    """An index along a dimension of the array; `axis` is the tile's, negative if it has none."""
    if isinstance(part, int):
        return part
    if not isinstance(part, Tile) or part.dtype.kind not in ("int", "uint", "index"):
        raise TilecError(f"indices of {array.name} are integers, not {part!r}")
    if not part.shape:
        return astype(part, intp)
    return _of_elements(array, _widened(part), axis, shape)


def _widened(part: Tile) -> Tile:
    """A tile of indices with elements that have a sign."""
    if part.dtype in (int32, int64):
        return part
    if part.dtype is uint64:  # what is too large for a sign is outside of any array
        return view(part, int64)
    return astype(part, int32 if part.dtype.bits < 32 else int64)


def _of_elements(array: AnyArray, part: Tile, axis: int, shape: Shape) -> Tile:
    """A tile of indices as one with an element for each that is moved."""
    if part.ndim == 1 < len(shape):
        if axis < 0:
            raise TilecError(
                f"the tile {shape} does not extend along dimension "
                f"{axis + array.ndim - len(shape)} "
                f"of {array!r}, so that indices there have its rank, as in rows[:, None]; these "
                f"are {part!r}"
            )
        if part.shape[0] != shape[axis]:
            raise TilecError(
                f"indices along dimension {axis} of a tile {shape} are {shape[axis]}, not "
                f"{part.shape[0]}"
            )
        for _ in range(axis + 1, len(shape)):
            part = expand_dims(part, part.ndim)
    return _fitted(part, shape, "indices of a tile {} broadcast")


def _fitted(part: Tile, shape: Shape, what: str) -> Tile:
    wide = (1,) * (len(shape) - part.ndim) + part.shape
    fits = len(wide) == len(shape) and all(
        extent in (1, whole) for extent, whole in zip(wide, shape, strict=True)
    )
    if not fits:
        raise TilecError(f"{what.format(shape)} to that shape, unlike {part!r}")
    return broadcast_to(part, shape)


def _mask(mask: Any, shape: Shape) -> Tile | None:
    if mask is None or mask is True:
        return None
    if mask is False:
        return _filled(shape)
    if not isinstance(mask, Tile) or mask.dtype is not bool_:
        raise TilecError(f"mask is a tile of truth values, as a comparison gives, not {mask!r}")
    return _fitted(mask, shape, "the mask of a tile {} broadcasts")


def _filled(shape: Shape) -> Tile:
    return Tile(constant(False, bool_, shape), bool_, shape)
