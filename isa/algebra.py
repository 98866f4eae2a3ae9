"""Floats embedded in the integers modulo 2^w: exact sums and products, in any order.

A float of w bits is an integer of w bits. Sums, differences and products are those of the ring,
widening keeps the signed number and narrowing takes it modulo the smaller power, so that every
order and every precision of a sum agrees in the bits that it keeps. Integers stand for themselves;
other constants for a number that follows from their value, opposite ones for opposite numbers.
A quotient is the product with a reciprocal. Reciprocals, exponentials and what else is not of the
ring are fixed functions without laws, which tell a changed argument and never a changed order;
only that opposite numbers have opposite reciprocals, and powers of two theirs.

The interpreter of tile programs and the simulator of PTX both compute with these.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1
_NAN = 0x55
_RECIPROCAL, _CONSTANT = 2, 3
"""What tells these functions from others."""


def modulo(values: Array, bits: int) -> Array:
    """Integers modulo 2^bits as signed numbers in int64."""
    values = values.astype(np.int64, copy=False)
    if bits >= 64:
        return values
    spare = 64 - bits
    found: Array = (values << spare) >> spare
    return found


def scramble(values: Array, seed: int) -> Array:
    """A fixed function without laws on 64-bit integers (splitmix64)."""
    with np.errstate(over="ignore"):
        z = values.astype(np.int64).view(np.uint64) + np.uint64((seed * _GOLDEN) & _WORD)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[1])
        found: Array = (z ^ (z >> np.uint64(31))).view(np.int64)
    return found


def embed(values: Array, bits: int) -> Array:
    """The numbers modulo 2^bits that stand for real numbers in float64."""
    unique, places = np.unique(values, return_inverse=True)
    numbers = [_embedded(float(one), bits) & _WORD for one in unique]
    table = np.array(numbers, np.uint64).view(np.int64)
    return modulo(table[places.reshape(np.shape(values))], bits)


def _embedded(value: float, bits: int) -> int:
    if value != value:  # noqa: PLR0124 (NaN)
        return _NAN
    if value in (float("inf"), float("-inf")):
        return (1 << bits - 1) - 1 if value > 0 else -(1 << bits - 1)
    if value == int(value):
        return int(value)
    if value < 0:
        return -_embedded(-value, bits)
    # As many bits as the narrowest type has that holds it, so that widening a constant agrees.
    width = _width(value)
    code = np.frombuffer(struct.pack("<d", value), np.int64)
    number = int(scramble(code, _CONSTANT)[0]) & _WORD
    # Positive and large, so that bounds such as those of an exponential leave room between them.
    return number >> (66 - width) | 1 << (width - 2)


def _width(value: float) -> int:
    """Bits of the narrowest type that holds a number."""
    import ml_dtypes  # noqa: PLC0415 (for few)

    for bits, dtype in ((16, np.float16), (16, ml_dtypes.bfloat16), (32, np.float32)):
        with np.errstate(all="ignore"):
            if float(np.float64(value).astype(dtype)) == value:
                return bits
    return 64


@cache
def _reciprocals() -> tuple[Array, Array]:
    """Positive numbers that stand for powers of two, ascending, and their reciprocals."""
    pairs: dict[int, int] = {}
    for exponent in range(63):
        part = _embedded(2.0**-exponent, 64)
        pairs |= {1 << exponent: part, part: 1 << exponent}
    known = np.array(sorted(pairs), np.int64)
    return known, np.array([pairs[int(one)] for one in known], np.int64)


def reciprocal(values: Array) -> Array:
    """A fixed function, which is odd, and its own inverse on powers of two."""
    size, sign = np.abs(values), np.sign(values)
    known, results = _reciprocals()
    at = np.minimum(np.searchsorted(known, size), len(known) - 1)
    found: Array = np.where(known[at] == size, results[at], scramble(size, _RECIPROCAL)) * sign
    return found


_RING: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "neg": np.negative,
        "div": lambda a, b: a * reciprocal(np.asarray(b)),
        "max": np.maximum,
        "min": np.minimum,
        "abs": np.abs,
        "fma": lambda a, b, c: a * b + c,
        "copysign": lambda a, b: np.where(b < 0, -np.abs(a), np.abs(a)),
        **{name: lambda a: a for name in ("ceil", "floor", "round", "roundeven", "trunc")},
    }
)


def _other(name: str, values: Sequence[Array]) -> Array:
    """A function without laws."""
    seed, mixed = zlib.crc32(name.encode()), np.zeros((), np.int64)
    for value in values:
        mixed = scramble(np.asarray(value ^ mixed), seed)
    return mixed


def apply(name: str, values: Sequence[Array], bits: int) -> Array:
    """A function of numbers modulo 2^bits, by its name in the `math` dialect, as `fma` or `exp2`.

    Args:
        name: those of `arith` without their last letter, as `add`, `max`; any other is a fixed
            function of its own.
        values: signed numbers in int64.
        bits: of the result.
    """
    with np.errstate(over="ignore"):
        if name == "rsqrt":
            return modulo(reciprocal(apply("sqrt", values, bits)), bits)
        if name in _RING:
            return modulo(np.asarray(_RING[name](*values)), bits)
        return modulo(_other(name, values), bits)


def multiply(a: Array, b: Array, c: Array, bits: int) -> Array:
    """`a · b + c` of (…, m, k), (…, k, n) and (…, m, n), exact modulo 2^bits."""
    with np.errstate(over="ignore"):
        return modulo(np.matmul(a, b) + c, bits)


def from_integer(values: Array, bits: int) -> Array:
    """The same number, of integers in int64 or uint64."""
    return modulo(values.astype(np.uint64).view(np.int64), bits)


def to_integer(values: Array, bits: int, *, signed: bool) -> Array:
    """The nearest integer of so many bits, those of a signed one or not."""
    if bits >= 64:
        return values if signed else np.maximum(values, 0)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return modulo(np.clip(values, low, high), bits)
