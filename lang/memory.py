"""Tiles from arrays and to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tilec.isa import TilecError

from .arithmetic import where
from .array import AnyArray, array_of
from .casts import astype
from .dtypes import DType, bool_, dtype_of, intp, per_byte, stored, uint8
from .emit import constant, result, text, type_of, unit
from .emit import operation as _operation
from .shapes import Extents, arange, broadcast_to, expand_dims, extents
from .tile import Operand, Tile

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
    places = [_place(array, part) for part in given]
    held = uint8 if element is bool_ else element
    operands = [array.value, *(p.value for p in _stored_places(places, element))]
    attributes = {"masked": unit()} if bounds else {}
    value = result("tile.load", operands, type_of(held, extent), attributes)
    tile = astype(Tile(value, held, extent), element)
    if bounds and not (isinstance(fill, int | float) and fill == 0):
        tile = where(_inside(array, given, extent, element), tile, fill)
    return tile


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
    element = tile.dtype if _holds(array, tile.dtype) else array.dtype
    if tile.dtype is not element:
        raise TilecError(
            f"{array!r} takes elements of its own type, not {tile.dtype!r}: cast by "
            f".astype({array.name}.dtype)"
        )
    places = [_place(array, part) for part in _given(array, index)]
    places = _stored_places(places, element)
    if not tile.shape:
        tile = broadcast_to(tile, (1,))
    held = astype(tile, uint8) if element is bool_ else tile
    if bounds:
        attributes = attributes | {"masked": unit()}
    array.written = True
    operands = [held.value, array.value, *(p.value for p in places)]
    _operation(name, operands, attributes=attributes)


def _holds(array: AnyArray, element: type[DType]) -> bool:
    """Whether an array's memory can be that of such elements: it is its own, or bytes."""
    in_memory = stored(array.dtype)
    return stored(element) == in_memory or (in_memory == "i8" and element.bits <= 8)


def _element(array: AnyArray, dtype: Any) -> type[DType]:
    element = array.dtype if dtype is None else dtype_of(dtype)
    if not _holds(array, element):
        raise TilecError(f"elements of {array!r} cannot be read as {element!r}")
    return element


def _given(array: AnyArray, index: Index) -> list[Any]:
    given = [index] if isinstance(index, int | Tile) else list(index)
    if len(given) != array.ndim:
        raise TilecError(f"{array!r} takes {array.ndim} indices, not {len(given)}")
    return given


def _place(array: AnyArray, part: Any) -> Tile:
    if isinstance(part, Tile):
        if part.shape or part.dtype.kind not in ("int", "uint", "index"):
            raise TilecError(f"indices of {array.name} are integers, not {part!r}")
        return astype(part, intp)
    if not isinstance(part, int):
        raise TilecError(f"indices of {array.name} are integers, not {part!r}")
    return Tile(constant(part, intp), intp, natural=part >= 0)


def _stored_places(places: list[Tile], element: type[DType]) -> list[Tile]:
    """The places in what memory holds: bytes, of elements narrower than those."""
    together = per_byte(element)
    return places if together == 1 else [*places[:-1], places[-1] // together]


def _inside(
    array: AnyArray, places: list[Any], extent: tuple[int, ...], element: type[DType]
) -> Tile:
    """Which elements of a tile lie inside the array."""
    found: Tile | None = None
    first = array.ndim - len(extent)
    for axis, size in enumerate(extent):
        place = places[first + axis]
        at = arange(size) + place if not isinstance(place, int) or place else arange(size)
        count = array.shape[first + axis]
        if axis == len(extent) - 1 and per_byte(element) != per_byte(array.dtype):
            count = count * per_byte(element) // per_byte(array.dtype)
        held = at < count
        assert isinstance(held, Tile)
        if place < 0 if isinstance(place, int) else not place.natural:
            held &= at >= 0
        for _ in range(axis + 1, len(extent)):
            held = expand_dims(held, held.ndim)
        found = held if found is None else found & held
    assert found is not None
    return found


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
