"""Tiles from arrays and to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from tilec.isa import TilecError

from .array import AnyArray, array_of
from .bounds import Integer, inside
from .casts import astype, widened
from .dtypes import DType, bool_, dtype_of, intp, stored, uint8
from .elementwise import where
from .emit import constant, result, text, type_of, unit
from .emit import operation as _operation
from .nibbles import check_stored, is_whole_bytes, load_split, stored_places
from .shapes import Extents, broadcast_to, extents
from .tile import Operand, Shape, Tile

Index: TypeAlias = "int | Tile | Sequence[int | Tile]"
"""Where a tile begins in an array: an index for each dimension; of a vector, the index alone."""


def load(
    array: AnyArray,
    index: Index,
    shape: Extents,
    *,
    dtype: Any = None,
    fill: Operand = 0,
    bounds: bool = True,
) -> Tile:
    """A tile from memory: element (r, c) is `array[…, i + r, j + c]`.

    Args:
        array: an argument of the kernel.
        index: of the tile's first element, one for each dimension of the array.
        shape: of the tile; of a lower rank than the array's it lies along the last dimensions.
        dtype: what the elements are, if not what the array says: of elements of 4 bits that lie
            in bytes, tfloat32 in float32.
        fill: what elements outside the array are.
        bounds: whether the tile may reach beyond the array; without, the caller promises that it
            does not.

    Raises:
        TilecError: for an index or a shape that does not fit the array.
    """
    array = array_of(array, "load")
    extent = extents(shape)
    element = _element(array, dtype)
    if not 1 <= len(extent) <= array.ndim:
        raise TilecError(
            f"a tile of rank {len(extent)} from {array!r}: a tile has a dimension at least, and "
            "no more than the array"
        )
    given = _given(array, index)
    places = [_place(part) for part in given]

    def read(places: list[Tile], shape: Shape, element: type[DType] = uint8) -> Tile:
        return _read(array, places, shape, element, bounds=bounds)

    if is_whole_bytes(places[-1], extent[-1], element):
        tile = read(stored_places(places, element), extent, element)
    else:
        tile = load_split(read, places, element, extent)
    return _filled(tile, array, given, fill) if bounds and not _is_zero(fill) else tile


def _read(
    array: AnyArray, places: list[Tile], shape: Shape, element: type[DType], *, bounds: bool
) -> Tile:
    """A tile from memory that begins at places of what memory holds."""
    held = uint8 if element is bool_ else element
    operands = [array.value, *(place.value for place in places)]
    attributes = {"masked": unit()} if bounds else {}
    value = result("tile.load", operands, type_of(held, shape), attributes)
    return astype(Tile(value, held, shape), element)


def _filled(tile: Tile, array: AnyArray, index: list[Integer], fill: Operand) -> Tile:
    """The tile with `fill` where it lies outside the array."""
    if isinstance(fill, Tile):
        same = widened(fill, tile.dtype)
        if same is None:
            raise TilecError(
                f"fill is {fill!r}, and what is loaded {tile!r}: cast it by "
                f".astype(tl.{tile.dtype!r})"
            )
        fill = same
    mask = inside(array, index, tile.shape, tile.dtype)
    return tile if mask is None else where(mask, tile, fill)


def _is_zero(fill: Operand) -> bool:
    """Whether it is what a masked load reads outside: 0 without a sign."""
    return not isinstance(fill, Tile) and fill == 0 and math.copysign(1, fill) > 0


def store(array: AnyArray, index: Index, tile: Tile, *, bounds: bool = True) -> None:
    """A tile to memory, where `load` would take it from; it has the array's element type.

    Args:
        array: an argument of the kernel.
        index: of the tile's first element, one for each dimension of the array.
        tile: what to store; what lies outside the array is not.
        bounds: whether it may reach beyond the array.

    Raises:
        TilecError: for an index, a shape or an element type that does not fit.
    """
    _write("tile.store", array, index, tile, bounds, {})


def _write(
    name: str,
    array: AnyArray,
    index: Index,
    tile: Tile,
    bounds: bool,
    attributes: dict[str, Any],
) -> None:
    array = array_of(array, name.removeprefix("tile."))
    if not isinstance(tile, Tile):
        raise TilecError(f"what is stored in {array.name} is a tile, not {tile!r}")
    element = tile.dtype if _takes(array, tile.dtype) else array.dtype
    if tile.dtype is not element:
        raise TilecError(
            f"{array!r} takes elements of its own type, not {tile.dtype!r}: cast by "
            f".astype({array.name}.dtype)"
        )
    if not tile.shape:
        tile = broadcast_to(tile, (1,))
    places = [_place(part) for part in _given(array, index)]
    check_stored(places[-1], tile)
    places = stored_places(places, element)
    held = astype(tile, uint8) if element is bool_ else tile
    if bounds:
        attributes = attributes | {"masked": unit()}
    array.written = True
    operands = [held.value, array.value, *(p.value for p in places)]
    _operation(name, operands, attributes=attributes)


def _takes(array: AnyArray, element: type[DType]) -> bool:
    """Whether such elements can be stored in an array; truth values are 0 and 1 only."""
    return _holds(array, element) and (array.dtype is not bool_ or element is bool_)


def _holds(array: AnyArray, element: type[DType]) -> bool:
    """Whether an array's memory can be that of such elements: it is its own, or bytes."""
    in_memory = stored(array.dtype)
    return stored(element) == in_memory or (in_memory == "i8" and element.bits <= 8)


def _element(array: AnyArray, dtype: Any) -> type[DType]:
    element = array.dtype if dtype is None else dtype_of(dtype)
    if not _holds(array, element):
        raise TilecError(f"elements of {array!r} cannot be read as {element!r}")
    return element


def _given(array: AnyArray, index: Index) -> list[Integer]:
    """An index as integers: Python's, or scalars of intp."""
    given = [index] if isinstance(index, int | Tile) else list(index)
    if len(given) != array.ndim:
        raise TilecError(f"{array!r} takes {array.ndim} indices, not {len(given)}")
    for part in given:
        whole = isinstance(part, Tile) and part.dtype.kind in ("int", "uint", "index")
        if not isinstance(part, int) and not (whole and not part.shape):
            raise TilecError(f"indices of {array.name} are integers, not {part!r}")
    return [astype(part, intp) if isinstance(part, Tile) else part for part in given]


def _place(part: Integer) -> Tile:
    if isinstance(part, Tile):
        return part
    return Tile(constant(part, intp), intp, natural=part >= 0)


def atomic_add(array: AnyArray, index: Index, tile: Tile, *, bounds: bool = True) -> None:
    """Add a tile to what memory holds, each element at once; the order among CTAs is open."""
    fn = "addf" if tile.dtype.kind == "float" else "addi"
    _write("tile.atomic", array, index, tile, bounds, {"fn": text(f"arith.{fn}")})


def atomic_max(array: AnyArray, index: Index, tile: Tile, *, bounds: bool = True) -> None:
    """Put the larger of a tile's and memory's elements into memory, each at once."""
    _write("tile.atomic", array, index, tile, bounds, {"fn": text(_extreme("max", tile))})


def atomic_min(array: AnyArray, index: Index, tile: Tile, *, bounds: bool = True) -> None:
    """Put the smaller of a tile's and memory's elements into memory, each at once."""
    _write("tile.atomic", array, index, tile, bounds, {"fn": text(_extreme("min", tile))})


def _extreme(name: str, tile: Tile) -> str:
    suffix = {"float": "imumf", "uint": "ui"}.get(tile.dtype.kind, "si")
    return f"arith.{name}{suffix}"
