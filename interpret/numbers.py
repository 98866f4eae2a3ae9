"""Element types as the interpreter has them, and integers of any width in int64."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tilec.dialects.tile.casts import narrow_element
from tilec.dialects.tile.dialect import ByteType
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import ELEMENT_TYPES, ElementType, TilecError, algebra
from tilec.isa.dtypes import numpy_type

Array: TypeAlias = NDArray[Any]


class Number(NamedTuple):
    """A scalar type.

    Attributes:
        name: MLIR's name of it; of a `!tile.byte` that of what it holds.
        bits: of a value, which are those that it takes in memory.
        is_float: whether it is a floating-point number; integers have no sign of their own.
        shift: zero bits below the code, of a `!tile.byte`.
    """

    name: str
    bits: int
    is_float: bool
    shift: int = 0

    def __str__(self) -> str:
        return self.name


INDEX = Number("index", 64, is_float=False)
BYTE = Number("i8", 8, is_float=False)


def number(type_: Type) -> Number:
    """The element type of a shaped type, or a scalar type, as a number.

    Raises:
        TilecError: if it is none.
    """
    if isinstance(type_, ir.ShapedType):
        type_ = type_.element_type
    held = narrow_element(type_) if isinstance(type_, ByteType) else None
    if held is not None:
        return Number(held.type.mlir, held.container, is_float=True, shift=held.shift)
    return named(str(type_))


@lru_cache(maxsize=256)
def named(name: str) -> Number:
    """A scalar type by MLIR's name.

    Raises:
        TilecError: if it is none of numbers.
    """
    if name == "index":
        return INDEX
    if name[0] == "i" and name[1:].isdigit():
        return Number(name, int(name[1:]), is_float=False)
    if name in FLOATS:
        return Number(name, FLOATS[name].bits, is_float=True)
    raise TilecError(f"{name} is not a type of numbers")


FLOATS: Mapping[str, ElementType] = MappingProxyType(
    {t.mlir: t for t in reversed([*ELEMENT_TYPES.values()]) if t.is_float}
)
"""The floats by MLIR's name, which e4m3 has before ue4m3."""


def float_dtype(name: str) -> np.dtype[Any]:
    """The numpy type of a float by MLIR's name."""
    return numpy_type(FLOATS[name])


def wrap(values: Array, bits: int) -> Array:
    """Integers modulo 2^bits as signed ones in int64; of one bit truth values."""
    if bits == 1:
        return (values & 1).astype(bool)
    return algebra.modulo(values, bits)


def unsigned(values: Array, bits: int) -> Array:
    """Integers as uint64, without a sign."""
    found = (
        values.astype(np.int64).view(np.uint64)
        if values.ndim
        else np.uint64(int(values) & 0xFFFFFFFFFFFFFFFF)
    )
    mask = np.uint64((1 << bits) - 1) if bits < 64 else np.uint64(0xFFFFFFFFFFFFFFFF)
    return np.asarray(found & mask)
