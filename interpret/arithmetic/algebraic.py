"""Floats embedded in the integers modulo 2^w: exact sums and products, in any order.

A float of w bits is an integer of w bits. Sums, differences and products are those of the ring,
widening keeps the signed number and narrowing takes it modulo the smaller power, so that every
order and every precision of a sum agrees in the bits that it keeps. Integers stand for themselves;
other constants for a number that follows from their value, opposite ones for opposite numbers.
What is not a ring operation, such as a division or an exponential, is a fixed function without any
law, which tells a changed argument and never a changed order.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from tilec.interpret.numbers import Array, Number, wrap

from .base import Arithmetic, ProductOf, Scales

_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_GOLDEN = 0x9E3779B97F4A7C15
_SMALL = 8
"""Half of the random numbers are that small, so that comparisons and bounds matter."""


def scramble(values: Array, seed: int) -> Array:
    """A fixed function without laws on 64-bit integers (splitmix64)."""
    with np.errstate(over="ignore"):
        z = values.astype(np.int64).view(np.uint64) + np.uint64((seed * _GOLDEN) & (2**64 - 1))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[1])
        found: Array = (z ^ (z >> np.uint64(31))).view(np.int64)
    return found


def _divide(a: Array, b: Array) -> Array:
    mixed = scramble(scramble(a, 1) ^ b, 2)
    found: Array = np.where(b == 1, a, np.where(b == -1, -a, mixed))
    return found


_RING: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "arith.addf": np.add,
        "arith.subf": np.subtract,
        "arith.mulf": np.multiply,
        "arith.negf": np.negative,
        "arith.divf": _divide,
        "arith.maximumf": np.maximum,
        "arith.minimumf": np.minimum,
        "arith.maxnumf": np.maximum,
        "arith.minnumf": np.minimum,
        "math.absf": np.abs,
        "math.fma": lambda a, b, c: a * b + c,
        "math.copysign": lambda a, b: np.where(b < 0, -np.abs(a), np.abs(a)),
        **{f"math.{n}": lambda a: a for n in ("ceil", "floor", "round", "roundeven", "trunc")},
    }
)


def _embedded(value: float, bits: int) -> int:
    """The number that stands for a constant."""
    if value != value:  # noqa: PLR0124 (NaN)
        return 0x55
    if value in (float("inf"), float("-inf")):
        return (1 << bits - 1) - 1 if value > 0 else -(1 << bits - 1)
    if value == int(value):
        return int(value)
    if value < 0:
        return -_embedded(-value, bits)
    # As many bits as the narrowest type has that holds it, so that widening a constant agrees.
    width = 64
    for one, dtype in ((16, np.float16), (16, ml_dtypes.bfloat16), (32, np.float32)):
        with np.errstate(all="ignore"):
            if float(np.float64(value).astype(dtype)) == value:
                width = one
                break
    code = np.frombuffer(struct.pack("<d", value), np.int64)
    return int(scramble(code, 3)[0]) >> (64 - width)


class Algebraic(Arithmetic):
    """The integers modulo 2^w."""

    name = "algebraic"

    def dtype(self, number: Number) -> np.dtype[Any]:
        """Always int64."""
        return np.dtype(np.int64)

    def constant(self, values: Array, number: Number) -> Array:
        """The integers themselves, and numbers that stand for others."""
        unique, places = np.unique(values, return_inverse=True)
        numbers = [_embedded(float(one), number.bits) & (2**64 - 1) for one in unique]
        table = np.array(numbers, np.uint64).view(np.int64)
        return wrap(table[places.reshape(values.shape)], number.bits)

    def decode(self, codes: Array, number: Number) -> Array:
        """The bits as a signed number."""
        return wrap(codes >> number.shift, number.bits - number.shift)

    def encode(self, values: Array, number: Number) -> Array:
        """The signed number's bits."""
        return (values << number.shift) & ((1 << number.bits) - 1)

    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """The ring's operation, or a fixed function."""
        with np.errstate(over="ignore"):
            if fn in _RING:
                return wrap(np.asarray(_RING[fn](*values)), number.bits)
        seed, mixed = zlib.crc32(fn.encode()), np.zeros((), np.int64)
        for value in values:
            mixed = scramble(np.asarray(value ^ mixed), seed)
        return wrap(mixed, number.bits)

    def convert(self, values: Array, source: Number, result: Number) -> Array:
        """The same signed number, modulo the power of a narrower type."""
        return wrap(values, result.bits - result.shift)

    def from_integer(self, values: Array, result: Number) -> Array:
        """The same number."""
        return wrap(values.astype(np.uint64).view(np.int64), result.bits)

    def to_integer(self, values: Array, result: Number, *, signed: bool) -> Array:
        """The nearest that there is."""
        if result.bits >= 64:
            return values if signed else np.maximum(values, 0)
        low, high = (-(1 << result.bits - 1), (1 << result.bits - 1) - 1)
        if not signed:
            low, high = 0, (1 << result.bits) - 1
        return wrap(np.clip(values, low, high), result.bits)

    def multiply(
        self,
        a: Array,
        b: Array,
        c: Array,
        of: ProductOf,
        *,
        present: Array | None = None,
        scales: Scales | None = None,
    ) -> Array:
        """Exact, modulo the power of the result's type."""
        with np.errstate(over="ignore"):
            if scales is not None:
                of_a, of_b = scales.spread(a.shape[-1])
                a, b = a * of_a, b * of_b
            return wrap(np.matmul(a, b) + c, of.d.bits)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
        """Small numbers and any others, evenly."""
        words = np.frombuffer(random.bytes(8 * prod(shape)), np.int64).reshape(shape)
        # Some bits say whether a number is small, and which one it is; the others are the number.
        small = (words >> 1) % (2 * _SMALL + 1) - _SMALL
        return wrap(np.where(words & 1, small, words >> 8), number.bits - number.shift)
