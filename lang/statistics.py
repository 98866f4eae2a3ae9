"""Means and variances along an axis, under numpy's names."""

from __future__ import annotations

from tilec.isa import TilecError
from tilec.isa.wording import counted

from .dtypes import bfloat16, float16, float32
from .elementwise import where
from .mathematics import sqrt
from .reductions import combined
from .shapes import axis_of
from .tile import Tile


def mean(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:
    """The mean along `axis`, or of all elements; of integers as float32.

    float16 and bfloat16 are added up in float32, and the mean is rounded.
    """
    wide, count = _wide(x, axis, "mean")
    found = combined("sum", wide, axis, keepdims) / count
    return found.astype(x.dtype) if x.dtype.kind == "float" else found


def var(x: Tile, axis: int | None = None, *, ddof: int = 0, keepdims: bool = False) -> Tile:
    """The mean of the squares of what elements are off their mean by, along `axis` or of all.

    Args:
        x: a tile.
        axis: the axis; None for all elements.
        ddof: by how much the number is smaller that the sum of squares is divided by.
        keepdims: whether what was combined stays as an extent of 1.
    """
    wide, count = _wide(x, axis, "var")
    if not isinstance(ddof, int) or ddof >= count:
        raise TilecError(f"ddof of var is less than the {counted(count, 'element')}, not {ddof!r}")
    off = wide - combined("sum", wide, axis, True) / count
    found = combined("sum", off * off, axis, keepdims) / (count - ddof)
    return found.astype(x.dtype) if x.dtype.kind == "float" else found


def std(x: Tile, axis: int | None = None, *, ddof: int = 0, keepdims: bool = False) -> Tile:
    """The square root of `var`."""
    return sqrt(var(x, axis, ddof=ddof, keepdims=keepdims))


def _wide(x: object, axis: int | None, name: str) -> tuple[Tile, int]:
    """A tile as one to add up, and how many elements go into one."""
    if not isinstance(x, Tile) or not x.shape:
        raise TilecError(f"{name} takes a tile with at least one dimension, not {x!r}")
    count = x.size if axis is None else x.shape[axis_of(x, axis)]
    narrow = x.dtype.kind != "float" or x.dtype in (float16, bfloat16)
    wide = where(x, 1.0, 0.0) if x.dtype.kind == "bool" else x.astype(float32) if narrow else x
    return wide, count
