"""Every float a float64: what a formula gives, without the rounding of its types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.interpret.numbers import FLOATS, Array, Number, float_dtype, wrap

from .base import Arithmetic, Matrices, ProductOf
from .functions import FUNCTIONS

TOLERANCE = 1e-6
"""What two orders of summation may differ by, to the largest number of the result."""


class Shadow(Arithmetic):
    """float64 throughout."""

    name = "f64"

    def dtype(self, number: Number) -> np.dtype[Any]:
        """Always float64."""
        return np.dtype(np.float64)

    def constant(self, values: Array, number: Number) -> Array:
        """The numbers."""
        return values.astype(np.float64)

    def decode(self, codes: Array, number: Number) -> Array:
        """The number that bits stand for."""
        return decode_floats(codes, number).astype(np.float64)

    def encode(self, values: Array, number: Number) -> Array:
        """The bits of the nearest number."""
        return encode_floats(narrowed(values, number.name), number)

    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """The function in float64."""
        with np.errstate(all="ignore"):
            return np.asarray(FUNCTIONS[fn](*values))

    def convert(self, values: Array, source: Number, result: Number) -> Array:
        """The same numbers."""
        return values

    def from_integer(self, values: Array, result: Number) -> Array:
        """The numbers."""
        return values.astype(np.float64)

    def to_integer(self, values: Array, result: Number, *, signed: bool) -> Array:
        """The nearest integer toward zero that there is."""
        return nearest_integer(values, result.bits, signed=signed)

    def multiply(self, given: Matrices, of: ProductOf) -> Array:
        """In float64."""
        return multiply_wide(given)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
        """Numbers that the type has, about one in size."""
        return draw_floats(random, shape, number).astype(np.float64)

    def differ(self, one: Array, other: Array) -> Array:
        """Which differ by more than orders of summation do."""
        with np.errstate(all="ignore"):
            finite = np.abs(other[np.isfinite(other)])
            size = float(finite.max()) if finite.size else 1.0
            near = np.abs(one - other) <= TOLERANCE * max(size, 1e-30)
            same = (one == other) | (np.isnan(one) & np.isnan(other))
        found: Array = ~(near | same)
        return found


def multiply_wide(given: Matrices) -> Array:
    """`Arithmetic.multiply` in float64."""
    *matrices, present, scales = given
    a, b, c = (values.astype(np.float64) for values in matrices)
    with np.errstate(all="ignore"):
        if scales is not None:
            of_a, of_b = scales.spread(a.shape[-1])
            a, b = a * of_a.astype(np.float64), b * of_b.astype(np.float64)
        if present is None or np.isfinite(b).all():
            return np.asarray(np.matmul(a, b) + c)
        for k in range(a.shape[-1]):
            term = a[..., k, None] * b[..., k, None, :]
            c = c + np.where(present[..., k, None], term, 0)
    return c


def nearest_integer(values: Array, bits: int, *, signed: bool) -> Array:
    """Floats toward zero, the nearest that an integer of so many bits has; NaN is 0."""
    values = values.astype(np.float64)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    with np.errstate(all="ignore"):
        whole = np.trunc(np.nan_to_num(values, nan=0.0, posinf=2.0**70, neginf=-(2.0**70)))
        inside = np.clip(whole, float(low), float(high))
        over = whole >= float(high)
        found = np.where(over | (whole < 0), 0, inside).astype(np.uint64).view(np.int64)
        found = np.where(whole < 0, np.where(whole < 0, inside, 0).astype(np.int64), found)
        top = np.uint64(high).view(np.int64)
        found = np.where(over, top, found)
    return wrap(found, bits)


def narrowed(values: Array, name: str) -> Array:
    """Floats of a type, rounded to nearest even; the narrow ones saturate, tf32 ties go away."""
    dtype, type_ = float_dtype(name), FLOATS[name]
    if name == "tf32":
        spare = type_.bits - type_.value_bits
        bits = values.astype(np.float32).view(np.uint32) + np.uint32(1 << spare - 1)
        rounded = (bits >> np.uint32(spare) << np.uint32(spare)).view(np.float32)
        return np.where(np.isfinite(values), rounded, values).astype(np.float32)
    with np.errstate(all="ignore"):
        if dtype.itemsize > 1:
            return values.astype(dtype)
        import ml_dtypes  # noqa: PLC0415

        most = float(ml_dtypes.finfo(dtype).max)
        kept = np.clip(values.astype(np.float32), -most, most)
        if type_.bits < 8:
            kept = np.where(np.isnan(values), most, kept)
        return kept.astype(dtype)


def draw_floats(random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
    """Numbers that a type has, about one in size; those of a type without a sign are positive."""
    drawn = random.standard_normal(shape)
    return narrowed(drawn if FLOATS[number.name].is_signed else np.abs(drawn), number.name)


def decode_floats(codes: Array, number: Number) -> Array:
    """Floats of a type from their bits."""
    dtype = float_dtype(number.name)
    raw = np.asarray(codes >> number.shift, np.int64)
    return raw.astype(f"u{dtype.itemsize}").view(dtype)


def encode_floats(values: Array, number: Number) -> Array:
    """The bits of floats of a type."""
    raw: Array = values.view(f"u{values.dtype.itemsize}").astype(np.int64)
    if number.bits == 64:
        return raw
    return (raw & ((1 << (number.bits - number.shift)) - 1)) << number.shift
