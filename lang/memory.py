"""Tiles from arrays and to them."""

from __future__ import annotations

import math
from typing import Any

from tilec.dialects.tile.attributes import COPY_ROWS
from tilec.isa import TilecError

from .array import AnyArray, array_of
from .bounds import Integer, inside
from .casts import astype, widen
from .dtypes import DType, bool_, dtype_of, per_byte, stored, uint8
from .elementwise import where
from .emit import flag, i32s, i64s, operation, result, type_of, unit
from .nibbles import check_stored, is_whole_bytes, load_split, stored_places
from .places import Index, Places, place, places, shape_of
from .shapes import Extents, broadcast_to, extents, full, reshape
from .tile import Operand, Shape, Tile


def load(
    array: AnyArray,
    index: Index,
    shape: Extents,
    *,
    mask: Tile | bool | None = None,
    dtype: Any = None,
    fill: Operand = 0,
    bounds: bool = True,
    tma: bool | None = None,
) -> Tile:
    """A tile from memory: element (r, c) is `array[…, i + r, j + c]`.

    Where an index is a tile, it says of each element which one it is: with a tile of rank 1 as
    `i` element (r, c) is `array[…, i[r], j + c]`, with one that broadcasts to `shape`
    `array[…, i[r, c], j + c]`.

    Args:
        array: an argument of the kernel.
        index: of the tile's first element, one for each dimension of the array, or tiles of
            indices; negative ones are outside.
        shape: of the tile; of a lower rank than the array's it lies along the last dimensions. ()
            gives the one element as a scalar.
        mask: which elements are read, truth values that broadcast to `shape`.
        dtype: what the elements are, if not what the array says: of elements of 4 bits that lie
            in bytes, tfloat32 in float32.
        fill: what elements are that lie outside the array, or are not read.
        bounds: whether the tile may reach beyond the array; without, the caller promises that it
            does not.
        tma: of whole rows at a tile of indices, whether TMA copies them where the target and the
            array allow it; None leaves it to tilec. It changes no result.

    Raises:
        TilecError: for an index, a mask or a shape that does not fit the array, or for `tma`
            without a tile of indices.
    """
    array = array_of(array, "load")
    extent = extents(shape)
    if not extent:
        one = load(array, index, 1, mask=mask, dtype=dtype, fill=fill, bounds=bounds, tma=tma)
        return reshape(one, ())
    element = _element(array, dtype)
    if len(extent) > array.ndim:
        raise TilecError(
            f"a tile of rank {len(extent)} from {array!r}: a tile has no more dimensions than the "
            "array"
        )
    given = places(array, index, extent, mask)
    pins = _pinned(given, tma)
    if given.of_elements:
        tile = _gather(array, given, extent, element, bounds=bounds, pins=pins)
    else:
        tile = _load(array, given.starts, extent, element, bounds=bounds)
    return tile if _is_zero(fill) else _fill_outside(tile, array, given, fill, bounds=bounds)


def _load(
    array: AnyArray, starts: list[Integer], shape: Shape, element: type[DType], *, bounds: bool
) -> Tile:
    """A tile of consecutive elements."""
    at = [place(start) for start in starts]

    def read(places: list[Tile], shape: Shape, element: type[DType] = uint8) -> Tile:
        return _read(array, places, shape, element, bounds=bounds)

    if is_whole_bytes(at[-1], shape[-1], element):
        return read(stored_places(at, element), shape, element)
    return load_split(read, at, element, shape)


def _gather(
    array: AnyArray,
    given: Places,
    shape: Shape,
    element: type[DType],
    *,
    bounds: bool,
    pins: dict[str, Any],
) -> Tile:
    """A tile whose elements have indices, or conditions, of their own."""
    _check_whole(array, element)
    held = uint8 if element is bool_ else element
    operands, attributes = of_elements([array.value], given, bounds=bounds)
    value = result("tile.gather", operands, type_of(held, shape), attributes | pins)
    return astype(Tile(value, held, shape), element)


def _pinned(given: Places, tma: Any) -> dict[str, Any]:
    """The attribute that says whether TMA copies rows, if the kernel does."""
    if tma is None:
        return {}
    if not isinstance(tma, bool):
        raise TilecError(f"tma is True, False or None, not {tma!r}")
    if not given.along:
        raise TilecError(
            "tma is for rows at a tile of indices, as in tl.load(x, (rows, 0), (32, 64), tma=True)"
        )
    return {COPY_ROWS: flag(tma)}


def of_elements(
    fixed: list[Any], given: Places, *, bounds: bool
) -> tuple[list[Any], dict[str, Any]]:
    """Operands and attributes of an op on elements that have places of their own."""
    groups = [*([value] for value in fixed), *given.operands()]
    attributes = {"operandSegmentSizes": i32s([len(group) for group in groups])}
    if given.along:
        attributes["along"] = i64s(given.along)
    if bounds:
        attributes["masked"] = unit()
    return [value for group in groups for value in group], attributes


def _check_whole(array: AnyArray, element: type[DType]) -> None:
    """Check that elements are moved one by one."""
    if per_byte(element) > 1:
        raise TilecError(
            f"elements of {array!r} share a byte, which no tile of indices and no mask takes "
            "apart: take the array as tl.uint8, whose elements are pairs of them"
        )


def _read(
    array: AnyArray, places: list[Tile], shape: Shape, element: type[DType], *, bounds: bool
) -> Tile:
    """A tile from memory that begins at places of what memory holds."""
    held = uint8 if element is bool_ else element
    operands = [array.value, *(place.value for place in places)]
    attributes = {"masked": unit()} if bounds else {}
    value = result("tile.load", operands, type_of(held, shape), attributes)
    return astype(Tile(value, held, shape), element)


def _fill_outside(
    tile: Tile, array: AnyArray, given: Places, fill: Operand, *, bounds: bool
) -> Tile:
    """The tile with `fill` where it lies outside the array, or is not read."""
    if isinstance(fill, Tile):
        same = widen(fill, tile.dtype)
        if same is None:
            raise TilecError(
                f"fill is {fill!r}, and the loaded tile is {tile!r}: cast it by "
                f".astype(tl.{tile.dtype!r})"
            )
        fill = same
    read = inside(array, given.starts, tile.shape, tile.dtype) if bounds else None
    if given.mask is not None:
        read = given.mask if read is None else given.mask & read
    return tile if read is None else where(read, tile, fill)


def _is_zero(fill: Operand) -> bool:
    """Whether it is what a masked load reads outside: 0 without a sign."""
    return not isinstance(fill, Tile) and fill == 0 and math.copysign(1, fill) > 0


def store(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    bounds: bool = True,
    tma: bool | None = None,
) -> None:
    """A tile to memory, where `load` would take it from; it has the array's element type.

    Args:
        array: an argument of the kernel.
        index: of the tile's first element, one for each dimension of the array, or tiles of
            indices. Of elements that go to one place one is there afterwards.
        tile: what to store; what lies outside the array is not. A scalar or number goes to each
            index of a tile of them.
        mask: which elements are stored, truth values that broadcast to the tile's shape.
        bounds: whether it may reach beyond the array.
        tma: as of `load`.

    Raises:
        TilecError: for an index, a mask, a shape or an element type that does not fit, or for
            `tma` without a tile of indices.
    """
    array = array_of(array, "store")
    given_type = tile.dtype if isinstance(tile, Tile) else array.dtype
    element = given_type if _takes(array, given_type) else array.dtype
    check_element(array, given_type, element)
    held = stored_tile(array, tile, index, mask)
    given = places(array, index, held.shape, mask)
    pins = _pinned(given, tma)
    array.mark_written()
    if given.of_elements:
        _check_whole(array, element)
    else:
        check_stored(place(given.starts[-1]), held)
    if element is bool_:
        held = astype(held, uint8)
    if given.of_elements:
        operands, attributes = of_elements([held.value, array.value], given, bounds=bounds)
        operation("tile.scatter", operands, attributes=attributes | pins)
        return
    at = stored_places([place(start) for start in given.starts], element)
    operands = [held.value, array.value, *(part.value for part in at)]
    operation("tile.store", operands, attributes={"masked": unit()} if bounds else {})


def check_element(array: AnyArray, given: type[DType], element: type[DType]) -> None:
    """Check that what is stored is of the element type that an array takes.

    Raises:
        TilecError: if it is not.
    """
    if given is not element:
        raise TilecError(
            f"{array!r} takes elements of its own type, not {given!r}: cast by "
            f".astype({array.name}.dtype)"
        )


def stored_tile(
    array: AnyArray, value: object, index: Index, mask: Any, shape: Shape | None = None
) -> Tile:
    """What is stored, as a tile: a scalar or number for each index or condition there is.

    Args:
        array: where it is stored.
        value: a tile, scalar or number.
        index: where.
        mask: which elements are stored.
        shape: of the tile, if something else says so.
    """
    if isinstance(value, Tile) and value.shape:
        return value
    if not isinstance(value, Tile | int | float):
        raise TilecError(f"the value stored in {array.name} is a tile, not {value!r}")
    found = shape_of(index, mask) if shape is None else shape
    if isinstance(value, Tile):
        return broadcast_to(value, found)
    return full(found, value, array.dtype)


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
