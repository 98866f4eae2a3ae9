"""Tiles from arrays and to them."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

from tilec.isa import TilecError

from .array import AnyArray, array_of
from .bounds import Integer, inside
from .casts import astype, widen
from .dtypes import DType, bool_, dtype_of, per_byte, stored, uint8
from .elementwise import where
from .emit import i32s, i64s, result, text, type_of, unit
from .emit import operation as _operation
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

    Raises:
        TilecError: for an index, a mask or a shape that does not fit the array.
    """
    array = array_of(array, "load")
    extent = extents(shape)
    if not extent:
        return reshape(load(array, index, 1, mask=mask, dtype=dtype, fill=fill, bounds=bounds), ())
    element = _element(array, dtype)
    if len(extent) > array.ndim:
        raise TilecError(
            f"a tile of rank {len(extent)} from {array!r}: a tile has no more dimensions than the "
            "array"
        )
    given = places(array, index, extent, mask)
    if given.of_elements:
        tile = _gather(array, given, extent, element, bounds=bounds)
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
    array: AnyArray, given: Places, shape: Shape, element: type[DType], *, bounds: bool
) -> Tile:
    """A tile whose elements have indices, or conditions, of their own."""
    _check_whole(array, element)
    held = uint8 if element is bool_ else element
    operands, attributes = _of_elements([array.value], given, bounds=bounds)
    value = result("tile.gather", operands, type_of(held, shape), attributes)
    return astype(Tile(value, held, shape), element)


def _of_elements(
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
                f"fill is {fill!r}, and what is loaded {tile!r}: cast it by "
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

    Raises:
        TilecError: for an index, a mask, a shape or an element type that does not fit.
    """
    _write("tile.store", "tile.scatter", array, index, tile, mask, bounds, {})


def _write(
    consecutive: str,
    of_elements: str,
    array: AnyArray,
    index: Index,
    value: Operand,
    mask: Any,
    bounds: bool,
    attributes: dict[str, Any],
) -> None:
    """Emit one of two ops: on consecutive elements, or on those at indices of their own."""
    array = array_of(array, consecutive.removeprefix("tile."))
    tile = _stored(array, value, index, mask)
    element = tile.dtype if _takes(array, tile.dtype) else array.dtype
    if tile.dtype is not element:
        raise TilecError(
            f"{array!r} takes elements of its own type, not {tile.dtype!r}: cast by "
            f".astype({array.name}.dtype)"
        )
    given = places(array, index, tile.shape, mask)
    held = astype(tile, uint8) if element is bool_ else tile
    array.written = True
    if given.of_elements:
        _check_whole(array, element)
        operands, how = _of_elements([held.value, array.value], given, bounds=bounds)
        _operation(of_elements, operands, attributes=attributes | how)
        return
    at = [place(start) for start in given.starts]
    check_stored(at[-1], tile)
    places_ = stored_places(at, element)
    if bounds:
        attributes = attributes | {"masked": unit()}
    operands = [held.value, array.value, *(part.value for part in places_)]
    _operation(consecutive, operands, attributes=attributes)


def _stored(array: AnyArray, value: object, index: Index, mask: Any) -> Tile:
    """What is stored, as a tile: a scalar or number for each index or condition there is."""
    if isinstance(value, Tile) and value.shape:
        return value
    if not isinstance(value, Tile | int | float):
        raise TilecError(f"what is stored in {array.name} is a tile, not {value!r}")
    shape = shape_of(index, mask)
    if isinstance(value, Tile):
        return broadcast_to(value, shape)
    return full(shape, value, array.dtype)


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


def atomic_add(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    bounds: bool = True,
) -> None:
    """Add a tile to what memory holds, each element at once; the order among CTAs is open.

    Args:
        array: an argument of the kernel.
        index: as of `store`; what goes to one place is added up there.
        tile: what to add.
        mask: as of `store`.
        bounds: as of `store`.
    """
    _update("add", array, index, tile, mask, bounds)


def atomic_max(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    bounds: bool = True,
) -> None:
    """Put the larger of a tile's and memory's elements into memory, each at once."""
    _update("max", array, index, tile, mask, bounds)


def atomic_min(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    bounds: bool = True,
) -> None:
    """Put the smaller of a tile's and memory's elements into memory, each at once."""
    _update("min", array, index, tile, mask, bounds)


def _update(
    name: str, array: AnyArray, index: Index, value: Operand, mask: Any, bounds: bool
) -> None:
    array = array_of(array, f"atomic_{name}")
    kind = value.dtype.kind if isinstance(value, Tile) else array.dtype.kind
    fn = {"fn": text(f"arith.{_UPDATES[name].get(kind, _UPDATES[name]['int'])}")}
    _write("tile.atomic", "tile.atomic_scatter", array, index, value, mask, bounds, fn)


_UPDATES = MappingProxyType(
    {
        # numpy's name: upstream's op by kind of element
        "add": {"float": "addf", "int": "addi"},
        "max": {"float": "maximumf", "uint": "maxui", "int": "maxsi"},
        "min": {"float": "minimumf", "uint": "minui", "int": "minsi"},
    }
)
