"""Numbers and the bits of every element type."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray
from tilec.isa import ElementType, Kind, element_type
from tilec.isa.dtypes import numpy_type

from .errors import refuse

Bits = NDArray[np.unsignedinteger[Any]]
"""The bits of elements, in the low bits of unsigned integers of 8, 16, 32 or 64 bits."""


def to_bits(values: ArrayLike, type_: ElementType | str) -> Bits:
    """Numbers as the bits of a type.

    Floats are rounded to nearest, ties to even. In types of 8 and fewer bits what is too large
    becomes the largest number, as `cvt` with `.satfinite` has it. tf32 is rounded as `cvt.rna`
    does, ties away from zero. Into ue8m0 go powers of two alone.

    Args:
        values: of any type that numpy or ml_dtypes has.
        type_: the element type or its name.

    Raises:
        TilecError: for what the type cannot hold, naming row and column: an integer outside its
            range, a fraction for an integer, NaN where the type has none.
    """
    type_ = element_type(type_) if isinstance(type_, str) else type_
    array = np.asarray(values)
    if not type_.is_float:
        return _integer_bits(array, type_)
    numbers = array.astype(np.float64)
    if not type_.is_signed:
        refuse(numbers < 0, array, f"is negative, and {type_} has no sign")
    if type_.name == "tf32":
        return _tf32_bits(_odd_float32(numbers))
    if type_.name == "ue8m0":
        fraction, exponent = np.frexp(np.abs(numbers))
        power = np.isnan(numbers) | ((fraction == 0.5) & (exponent >= -126) & (exponent <= 128))
        refuse(~power, array, "does not fit ue8m0: a power of two from 2^-127 to 2^127, or NaN")
    held = numpy_type(type_)
    if type_.bits <= 8:
        limits = ml_dtypes.finfo(held)
        numbers = np.clip(numbers, float(limits.min), float(limits.max))
        if not np.isnan(np.array(np.nan, np.float32).astype(held).astype(np.float32)):
            refuse(np.isnan(numbers), array, f"does not fit {type_}, which has no NaN")
    wide = type_.name in ("f16", "f32", "f64")
    with np.errstate(over="ignore"):
        found = (numbers if wide else _odd_float32(numbers)).astype(held)
    return found.view(_unsigned(held.itemsize))


def from_bits(bits: Bits, type_: ElementType | str) -> NDArray[Any]:
    """The inverse of `to_bits`: numbers in the numpy type of the element type."""
    type_ = element_type(type_) if isinstance(type_, str) else type_
    held = numpy_type(type_)
    unsigned = _unsigned(held.itemsize)
    mask = (1 << type_.value_bits) - 1
    if type_.name == "tf32":
        mask <<= type_.bits - type_.value_bits
    numbers: NDArray[Any] = (bits.astype(unsigned) & unsigned.type(mask)).view(held)
    return numbers


def _integer_bits(array: NDArray[Any], type_: ElementType) -> Bits:
    signed = type_.kind is Kind.SIGNED
    low = -(1 << (type_.bits - 1)) if signed else 0
    high = low + (1 << type_.bits) - 1
    numbers = array if array.dtype.kind in "biu" else array.astype(np.float64)
    wrong = ~((numbers >= low) & (numbers <= high) & (np.trunc(numbers) == numbers))
    refuse(wrong, array, f"does not fit {type_}: an integer from {low} to {high}")
    unsigned = _unsigned(max(8, type_.bits) // 8)
    bits: Bits = numbers.astype(np.int64).astype(unsigned) & unsigned.type((1 << type_.bits) - 1)
    return bits


def _odd_float32(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """To float32 so that rounding again to fewer bits is as if done at once: rounded to odd."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = numbers.astype(np.float32)
    bits = near.view(np.uint32)
    inexact = (near != numbers) & np.isfinite(numbers)
    away = inexact & (np.abs(near.astype(np.float64)) > np.abs(numbers))
    bits[away] -= np.uint32(1)  # toward zero
    bits[inexact] |= np.uint32(1)
    return near


def _tf32_bits(numbers: NDArray[np.float32]) -> Bits:
    bits = (numbers.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)
    return np.where(np.isnan(numbers), np.uint32(0x7FFFFFFF), bits)


def _unsigned(size: int) -> np.dtype[Any]:
    return np.dtype(f"u{size}")
