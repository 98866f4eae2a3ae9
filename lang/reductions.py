"""Dimensions of a tile combined into one element each, under numpy's names."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tilec.isa import TilecError
from tilec.layout.extents import is_one_unit

from .casts import check_computed
from .dtypes import DType, bfloat16, dtype_of, float16, float32, int32, uint32
from .emit import i64, result, text, type_of
from .shapes import axis_of, expand_dims, reshape
from .tile import Tile

_COMBINED = MappingProxyType(
    {
        # numpy's name: upstream's op by kind of element
        "sum": {"float": "addf", "int": "addi", "uint": "addi"},
        "prod": {"float": "mulf", "int": "muli", "uint": "muli"},
        "max": {"float": "maximumf", "int": "maxsi", "uint": "maxui"},
        "min": {"float": "minimumf", "int": "minsi", "uint": "minui"},
        "nanmax": {"float": "maxnumf", "int": "maxsi", "uint": "maxui"},
        "nanmin": {"float": "minnumf", "int": "minsi", "uint": "minui"},
        "all": {"bool": "andi"},
        "any": {"bool": "ori"},
    }
)
_GROWING = ("sum", "prod")
"""The reductions whose results need more bits than the elements."""


def combined(name: str, x: Tile, axis: int | None, keepdims: bool, dtype: Any = None) -> Tile:
    """The tile combined along an axis, or along all of them.

    Args:
        name: numpy's.
        x: a tile with a dimension at least.
        axis: the axis; None for all of them.
        keepdims: whether what was combined stays as an extent of 1.
        dtype: element type of a sum or product.

    Raises:
        TilecError: for elements that do not combine so, or an axis that it does not have.
    """
    if not isinstance(x, Tile) or not x.shape:
        raise TilecError(f"{name} takes a tile with at least one dimension, not {x!r}")
    check_computed(x, name)
    if name not in _GROWING:
        return _combine(name, x, axis, keepdims)
    target = of_sum(x.dtype) if dtype is None else dtype_of(dtype)
    wide = float32 if target in (float16, bfloat16) else target
    return _combine(name, x.astype(wide), axis, keepdims).astype(target)


def of_sum(dtype: type[DType]) -> type[DType]:
    """The element type of sums and products of elements of a type."""
    if dtype.kind in ("int", "bool") and dtype.bits < 32:
        return int32
    return uint32 if dtype.kind == "uint" and dtype.bits < 32 else dtype


def _combine(name: str, x: Tile, axis: int | None, keepdims: bool) -> Tile:
    if x.dtype.kind not in _COMBINED[name]:
        raise TilecError(f"{name} does not take {x.dtype!r}; legal: {', '.join(_COMBINED[name])}")
    if axis is None:
        rank = x.ndim
        if is_one_unit(x.shape):
            x = reshape(x, (x.size,))
        while x.ndim:  # of several units one axis after the other
            x = _along(name, x, x.ndim - 1)
        return reshape(x, (1,) * rank) if keepdims else x
    at = axis_of(x, axis)
    found = _along(name, x, at)
    return expand_dims(found, at) if keepdims else found


def _along(name: str, x: Tile, axis: int) -> Tile:
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    attributes = {"axis": i64(axis), "fn": text(f"arith.{_COMBINED[name][x.dtype.kind]}")}
    value = result("tile.reduce", [x.value], type_of(x.dtype, shape), attributes)
    return Tile(value, x.dtype, shape)


def sum(  # noqa: A001
    x: Tile, axis: int | None = None, *, dtype: Any = None, keepdims: bool = False
) -> Tile:
    """The sum along `axis`, or of all elements; truth values count as 0 and 1.

    Of integers of fewer than 32 bits it is int32 or uint32, unless `dtype` says what it is.
    float16 and bfloat16 are added up in float32, and the sum is rounded.
    """
    return combined("sum", x, axis, keepdims, dtype)


def prod(x: Tile, axis: int | None = None, *, dtype: Any = None, keepdims: bool = False) -> Tile:
    """The product along `axis`, or of all elements, of the type that a sum has."""
    return combined("prod", x, axis, keepdims, dtype)


def max(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:  # noqa: A001
    """The largest along `axis`, or of all elements; NaN where there is one."""
    return combined("max", x, axis, keepdims)


def min(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:  # noqa: A001
    """The smallest along `axis`, or of all elements; NaN where there is one."""
    return combined("min", x, axis, keepdims)


def nanmax(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:
    """The largest along `axis`, or of all elements, that is not NaN."""
    return combined("nanmax", x, axis, keepdims)


def nanmin(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:
    """The smallest along `axis`, or of all elements, that is not NaN."""
    return combined("nanmin", x, axis, keepdims)


def all(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:  # noqa: A001
    """Whether all are true along `axis`, or all elements."""
    return combined("all", x, axis, keepdims)


def any(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:  # noqa: A001
    """Whether one is true along `axis`, or of all elements."""
    return combined("any", x, axis, keepdims)
