"""Memory as arrays of elements, and memrefs as views of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from .arithmetic.base import Arithmetic
from .numbers import Array, Number, wrap


@dataclass(eq=False, slots=True)
class Buffer:
    """Elements one after the other.

    Attributes:
        data: floats as the arithmetic holds them, integers in int64, of one bit truth values.
        number: the element type.
        shared: which buffer of shared memory it is; -1 of global memory.
        is_array: whether it lies row by row; else, in shared memory, matrix by matrix.
    """

    data: Array
    number: Number
    shared: int = -1
    is_array: bool = True

    @classmethod
    def zeros(cls, size: int, number: Number, arithmetic: Arithmetic, shared: int = -1) -> Buffer:
        """One filled with zeros."""
        return cls(np.zeros(max(size, 1), dtype_of(number, arithmetic)), number, shared)


def dtype_of(number: Number, arithmetic: Arithmetic) -> np.dtype[np.generic]:
    """The numpy type of values of an element type."""
    if number.is_float:
        return arithmetic.dtype(number)
    return np.dtype(bool if number.bits == 1 else np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """What a memref is.

    Attributes:
        buffer: the memory.
        offset: of the first element, in elements.
        sizes, strides: of each dimension, in elements.
    """

    buffer: Buffer
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def whole(cls, buffer: Buffer, sizes: tuple[int, ...]) -> View:
        """Row-major."""
        strides = tuple(prod(sizes[at + 1 :]) for at in range(len(sizes)))
        return cls(buffer, 0, sizes, strides)


def unpacked(codes: Array, number: Number, arithmetic: Arithmetic, axis: int) -> Array:
    """Elements from the bytes that hold them, several a byte along an axis if they are narrow.

    Args:
        codes: bytes, as int64.
        number: the elements' type.
        arithmetic: of floats.
        axis: along which elements share a byte.
    """
    codes = codes & 0xFF
    if number.bits < 8:
        per = 8 // number.bits
        moved = np.moveaxis(codes, axis, -1)
        parts = [(moved >> (number.bits * at)) & ((1 << number.bits) - 1) for at in range(per)]
        joined = np.stack(parts, axis=-1).reshape(*moved.shape[:-1], moved.shape[-1] * per)
        codes = np.moveaxis(joined, -1, axis)
    return arithmetic.decode(codes, number) if number.is_float else wrap(codes, number.bits)


def packed(values: Array, number: Number, arithmetic: Arithmetic, axis: int) -> Array:
    """The bytes of elements: the inverse of `unpacked`."""
    codes = arithmetic.encode(values, number) if number.is_float else values.astype(np.int64)
    codes = codes & ((1 << number.bits) - 1)
    if number.bits < 8:
        per = 8 // number.bits
        moved = np.moveaxis(codes, axis, -1)
        groups = moved.reshape(*moved.shape[:-1], -1, per)
        joined = sum(groups[..., at] << (number.bits * at) for at in range(per))
        codes = np.moveaxis(np.asarray(joined), -1, axis)
    return wrap(codes, 8)
