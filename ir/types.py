"""Builtin types by their names in MLIR, in the current context."""

from __future__ import annotations

from math import prod

from tilec.isa.errors import TilecError

from .aliases import Number, Type, Value
from .mlir import ir


def i1() -> ir.IntegerType:
    """The type i1."""
    return ir.IntegerType.get_signless(1)


def i8() -> ir.IntegerType:
    """The type i8."""
    return ir.IntegerType.get_signless(8)


def i16() -> ir.IntegerType:
    """The type i16."""
    return ir.IntegerType.get_signless(16)


def i32() -> ir.IntegerType:
    """The type i32."""
    return ir.IntegerType.get_signless(32)


def i64() -> ir.IntegerType:
    """The type i64."""
    return ir.IntegerType.get_signless(64)


def integer(bits: int) -> ir.IntegerType:
    """The integer type of so many bits."""
    return ir.IntegerType.get_signless(bits)


def index() -> ir.IndexType:
    """The type index."""
    return ir.IndexType.get()


def width_of(type_: Type) -> int:
    """Bits of a type of numbers.

    Raises:
        TypeError: for other types, such as index.
    """
    return number_of(type_).width


def element_of(type_: Type) -> Type:
    """The element type of a vector, tensor or memref.

    Raises:
        TypeError: for other types.
    """
    if not isinstance(type_, ir.ShapedType):
        raise TypeError(f"{type_} has no elements")
    return type_.element_type


def memref_of(value: Value) -> ir.MemRefType:
    """The type of a value that is a ranked memref.

    Raises:
        TypeError: if it is none.
    """
    type_ = value.type
    if not isinstance(type_, ir.MemRefType):
        raise TypeError(f"{type_} is not a ranked memref")
    return type_


def strides_and_offset(type_: ir.MemRefType) -> tuple[list[int], int]:
    """The strides of a memref and its offset, in elements.

    Raises:
        TilecError: if its layout is another map.
    """
    try:
        strides, offset = type_.get_strides_and_offset()
    except RuntimeError:
        raise TilecError(f"cannot take {type_}: its layout is not a list of strides") from None
    return list(strides), offset


def is_row_major(type_: ir.MemRefType) -> bool:
    """Whether elements of a memref of known extents lie one after the other, from the first on.

    Raises:
        TilecError: as `strides_and_offset`.
    """
    strides, offset = strides_and_offset(type_)
    return bool(offset == 0) and strides == [
        prod(type_.shape[at + 1 :]) for at in range(type_.rank)
    ]


def number_of(type_: Type) -> Number:
    """A type of numbers that has a width.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(type_, (ir.IntegerType, ir.FloatType)):
        raise TypeError(f"{type_} is not a type of numbers")
    return type_
