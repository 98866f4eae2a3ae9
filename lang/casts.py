"""Elements converted to another type, and one type found for two operands."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tilec.ir import ops
from tilec.isa import TilecError

from .dtypes import (
    DType,
    bfloat16,
    bool_,
    dtype_of,
    float16,
    float32,
    float64,
    int64,
    intp,
    is_in_byte,
    limits,
    uint64,
)
from .emit import constant, emit, result, text, type_of
from .shapes import broadcast_shape, broadcast_to
from .tile import Operand, Tile

_WIDE = ("f64", "f32", "f16", "bf16")
_COMPUTED = "float16, bfloat16, float32, float64"
_WIDER = MappingProxyType(
    {float16: (float32, float64), bfloat16: (float32, float64), float32: (float64,)}
)
"""Floats that hold all numbers of another."""


def astype(tile: Tile, dtype: Any) -> Tile:
    """The elements converted to another type.

    Floats are rounded to nearest even. Floats become integers toward zero, the nearest that the
    type has where it has not that one, and NaN 0. Integers keep the bits that fit. What is not
    zero is True. Of a tile with dimensions intp is int64.
    """
    target = dtype_of(dtype)
    if target is intp and tile.shape:
        target = int64
    source = tile.dtype
    if source is target:
        return tile
    for middle in _way(source, target):
        tile = astype(tile, middle)
    return _cast(tile, target)


def _way(source: type[DType], target: type[DType]) -> tuple[type[DType], ...]:
    """The type to go through where there is no conversion in one step."""
    kinds = {source.kind, target.kind}
    if "index" in kinds and not kinds <= {"index", "int", "uint"}:
        return (int64,)
    narrow = [d for d in (source, target) if d.kind == "float" and d.mlir not in _WIDE]
    other = target if source in narrow else source
    if narrow and (other.kind != "float" or other.bits == 64):
        return (float32,)
    return ()


def _cast(tile: Tile, target: type[DType]) -> Tile:
    source = tile.dtype
    if target is bool_:
        return _truth(tile)
    if source.mlir == target.mlir:  # signedness is the operations' matter
        return Tile(tile.value, target, tile.shape)
    name = _cast_name(source, target)
    value = _apply(name, tile, target)
    return Tile(value, target, tile.shape, natural=tile.natural and target is intp)


def _apply(name: str, tile: Tile, target: type[DType]) -> Any:
    """What an upstream cast makes of a tile."""
    type_ = type_of(target, tile.shape)
    if is_in_byte(tile.dtype) or is_in_byte(target):
        return result("tile.cast", [tile.value], type_, {"fn": text(name)})
    return result(name, [tile.value], type_)


def _cast_name(source: type[DType], target: type[DType]) -> str:
    match source.kind, target.kind:
        case ("float", "float"):
            if source.value_bits == target.value_bits:
                return "arith.convertf"
            return "arith.truncf" if source.value_bits > target.value_bits else "arith.extf"
        case ("float", kind):
            return "arith.fptoui" if kind == "uint" else "arith.fptosi"
        case (kind, "float"):
            return "arith.sitofp" if kind == "int" else "arith.uitofp"
        case ("index", _) | (_, "index"):
            return "arith.index_castui" if source.kind in ("uint", "bool") else "arith.index_cast"
    if source.bits > target.bits:
        return "arith.trunci"
    return "arith.extsi" if source.kind == "int" else "arith.extui"


def _truth(tile: Tile) -> Tile:
    zero = constant(0, tile.dtype, tile.shape)
    is_float = tile.dtype.kind == "float"
    type_ = type_of(bool_, tile.shape)
    if is_float:
        value = emit(ops.arith.cmpf, ops.arith.CmpF.UNE, tile.value, zero, type_)
    else:
        value = emit(ops.arith.cmpi, ops.arith.CmpI.NE, tile.value, zero, type_)
    return Tile(value, bool_, tile.shape)


def view(tile: Tile, dtype: Any) -> Tile:
    """The same bits as elements of another type of the same width.

    Raises:
        TilecError: if the width is another.
    """
    target = dtype_of(dtype)
    if tile.dtype is not target and tile.dtype is intp:
        return view(astype(tile, int64), target)
    if tile.dtype is not target and target is intp:
        return astype(view(tile, int64), intp)
    if target.bits != tile.dtype.bits:
        raise TilecError(
            f"{tile.dtype!r} has {tile.dtype.bits} bits and {target!r} {target.bits}; a view "
            "keeps the width"
        )
    if target.mlir == tile.dtype.mlir:
        return Tile(tile.value, target, tile.shape)
    return Tile(_apply("arith.bitcast", tile, target), target, tile.shape)


def match_types(left: Operand, right: Operand, what: str) -> tuple[Tile, Tile]:
    """Both operands as tiles of one element type and shape.

    Python's numbers, and truth values, take the other's type, a scalar intp that of floats; else
    the wider of two floats, or of two integers of one signedness, is taken. Beside integers with
    or without a sign intp counts as int64, as in numpy.

    Raises:
        TilecError: if there is no such type, or the shapes do not broadcast.
    """
    for operand in (left, right):
        if not isinstance(operand, Tile | int | float):
            raise TilecError(f"{what} takes tiles and numbers, not {_kind_of(operand)}")
    shape = broadcast_shape(_shape(left), _shape(right))
    dtype = _common(left, right, what)
    if dtype is intp and shape:
        dtype = int64
    return _as(left, dtype, shape), _as(right, dtype, shape)


def _kind_of(operand: object) -> str:
    name = type(operand).__name__
    return "an array; tl.load gives its tiles" if name == "Array" else f"{name} {operand!r}"


def _shape(operand: Operand) -> tuple[int, ...]:
    return operand.shape if isinstance(operand, Tile) else ()


def _as(operand: Operand, dtype: type[DType], shape: tuple[int, ...]) -> Tile:
    if isinstance(operand, Tile):
        return broadcast_to(astype(operand, dtype), shape)
    natural = dtype is intp and operand >= 0
    return Tile(constant(operand, dtype, shape), dtype, shape, natural=natural)


def _common(left: Operand, right: Operand, what: str) -> type[DType]:
    if not isinstance(left, Tile) or not isinstance(right, Tile):
        tile, number = (left, right) if isinstance(left, Tile) else (right, left)
        assert isinstance(tile, Tile)
        if isinstance(number, float) and tile.dtype.kind != "float":
            raise TilecError(
                f"{what} of {tile!r} and the float {number}: cast the tile first, as by "
                ".astype(tl.float32)"
            )
        return tile.dtype
    found = common(left, right)
    if found is None:
        raise TilecError(
            f"{what} of {left!r} and {right!r}: cast one to the other's type by .astype"
        )
    return found


def common(left: Tile, right: Tile) -> type[DType] | None:
    """The type that both operands of an operation take; None if there is none."""
    one, other = left.dtype, right.dtype
    if one is other:
        return one
    if bool_ in (one, other):
        return other if one is bool_ else one
    if intp in (one, other):
        counted, rest = (left, right) if one is intp else (right, left)
        return _beside_intp(counted, rest.dtype)
    if one.kind == other.kind and one.kind in ("float", "int", "uint") and one.bits != other.bits:
        return one if one.bits > other.bits else other
    return None


def _beside_intp(counted: Tile, other: type[DType]) -> type[DType] | None:
    if other.kind == "float":
        return other
    if other is uint64:  # only what is not negative is one
        return uint64 if counted.natural else None
    return intp


def widen(tile: Tile, dtype: type[DType]) -> Tile | None:
    """The elements as a type that holds each as it is; None if `dtype` does not."""
    source = tile.dtype
    if source is dtype:
        return tile
    low, high = (0, 0) if source.kind == "float" else limits(source)
    if tile.natural:
        low = 0
    if dtype.kind == "float":
        fits = source.kind == "float" and dtype in _WIDER.get(source, ())
    else:
        least, most = limits(dtype)
        fits = source.kind != "float" and least <= low and high <= most
    return astype(tile, dtype) if fits else None


def check_computed(tile: Tile, what: str) -> None:
    """Check that there is arithmetic on the elements of `tile`.

    Raises:
        TilecError: if they are of a type that is only loaded, cast and multiplied by `dot`.
    """
    if tile.dtype.kind == "float" and tile.dtype.mlir not in _WIDE:
        raise TilecError(
            f"{what} does not take {tile.dtype!r}: cast it first; legal floats: {_COMPUTED}"
        )
