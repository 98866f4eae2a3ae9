"""Encoding numbers in a floating-point format, and reading them back, in any rounding."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from tilec.isa.types import element_type

from .bits import FLOAT, SIGNED, UNSIGNED, Array

_F64, _S64 = FLOAT[64], SIGNED[64]
_BIAS = 1023
_BEYOND = np.float64(2.0**130)


@dataclass(frozen=True, slots=True)
class Format:
    """A floating-point format of up to 32 bits.

    Attributes:
        exponent: exponent bits.
        mantissa: stored mantissa bits.
        infinity: the code of plus infinity, None if there is none.
        nan: the register of the NaN that PTX gives, None if there is none.
        largest: the code of the largest finite number.
        shift: zero bits below the mantissa in the register (tf32).
    """

    exponent: int
    mantissa: int
    infinity: int | None
    nan: int | None
    largest: int
    shift: int = 0

    @property
    def lowest_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    @property
    def sign(self) -> int:
        """The code of minus zero."""
        return 1 << (self.exponent + self.mantissa)

    @property
    def register(self) -> np.dtype[Any]:
        """The dtype that holds a code."""
        bits = 1 + self.exponent + self.mantissa + self.shift
        return UNSIGNED[8 if bits <= 8 else 16 if bits <= 16 else 32]


@functools.cache
def number_format(type_: str) -> Format:
    """The format of a PTX type of signed floats."""
    element = element_type(type_)
    e, m = element.exponent, element.mantissa
    end = (1 << (e + m)) - 1
    if type_ == "e4m3":
        return Format(e, m, None, end, end - 1)
    if type_ in ("e3m2", "e2m3", "e2m1"):
        return Format(e, m, None, None, end)
    infinity = end - (1 << m) + 1
    shift = 13 if type_ == "tf32" else 0
    return Format(e, m, infinity, ((end + 1) << shift) - 1, infinity - 1, shift)


def _rounded(y: Array, negative: Array, rounding: str, random: Array | None) -> Array:
    """Magnitudes in units of the last place, made whole."""
    if rounding == "rn":
        return np.rint(y)
    if rounding == "rna":
        return np.floor(y + 0.5)
    if rounding == "rs":
        return cast(Array, np.floor(y + random))
    if rounding == "rz":
        return np.floor(y)
    return np.where(negative == (rounding == "rm"), np.ceil(y), np.floor(y))


@np.errstate(all="ignore")
def encode(
    values: Array,
    target: Format,
    rounding: str = "rn",
    *,
    relu: bool = False,
    satfinite: bool = False,
    random: Array | None = None,
) -> Array:
    """The codes of f64 values, rounded once; without relu, zeros keep their sign.

    Args:
        values: f64, exact or rounded to odd.
        target: the format.
        rounding: `rn`, `rz`, `rm`, `rp`, `rna` (ties away from zero) or `rs` (stochastic).
        relu: give +0 for negative values.
        satfinite: give the largest finite number for larger ones, and, in formats without NaN,
            for NaN.
        random: with `rs`, what is added before truncation, in units of the last place.
    """
    lowest = target.lowest_exponent + _BIAS
    negative = np.signbit(values)
    # beyond every format's range, and NaN with it, so that all that follows is finite
    magnitude = np.fmin(np.abs(values), _BEYOND)
    exponent = np.maximum(magnitude.view(_S64) >> 52, lowest)
    scale = ((2 * _BIAS + target.mantissa - exponent) << 52).view(_F64)
    whole = _rounded(magnitude * scale, negative, rounding, random).astype(_S64)
    code: Array = whole + ((exponent - lowest) << target.mantissa)
    over = code > target.largest
    if np.count_nonzero(over):
        limit = target.largest if satfinite else _overflow(values, target, rounding)
        code = np.where(over, limit, code)
    code = np.where(negative, 0 if relu else code | target.sign, code) << target.shift
    is_nan = np.isnan(values)
    if np.count_nonzero(is_nan):
        code = np.where(is_nan, target.largest if target.nan is None else target.nan, code)
    return code.astype(target.register)


def _overflow(values: Array, target: Format, rounding: str) -> Array:
    """What magnitudes beyond the range become."""
    if target.infinity is None:
        return np.asarray(target.largest)
    negative = np.signbit(values)
    inward = {"rz": np.ones_like(negative), "rm": ~negative, "rp": negative}
    finite = np.isfinite(values) & inward.get(rounding, False)
    return np.where(finite, target.largest, target.infinity)


@functools.cache
def _values(type_: str) -> Array:
    """The value of every code of a format of at most 8 bits."""
    source = number_format(type_)
    codes = np.arange(2 * source.sign)
    exponent, mantissa = (
        (codes & (source.sign - 1)) >> source.mantissa,
        codes & ((1 << source.mantissa) - 1),
    )
    normal = exponent > 0
    significand = mantissa + (normal << source.mantissa)
    power = source.lowest_exponent - source.mantissa + np.maximum(exponent - 1, 0)
    values = np.ldexp(significand.astype(_F64), power)
    magnitude = codes & (source.sign - 1)
    if source.infinity is not None:
        values[magnitude == source.infinity] = np.inf
        values[magnitude > source.infinity] = np.nan
    elif source.nan is not None:
        values[magnitude == source.nan] = np.nan
    return cast(Array, np.where(codes & source.sign, -values, values))


def widen_bf16(bits: Array) -> Array:
    """The values of bf16 bits, as f32."""
    return cast(Array, np.left_shift(bits.astype(UNSIGNED[32]), np.uint32(16)).view(FLOAT[32]))


@np.errstate(all="ignore")
def decode(bits: Array, type_: str) -> Array:
    """The values of codes, as f64: exact. A packed element's unused upper bits do not count.

    bf16, f16, f32, and the formats of at most 8 bits; f64 as it is.
    """
    if type_ == "bf16":
        return widen_bf16(bits).astype(_F64)
    if type_ in ("f16", "f32", "f64"):
        return bits.view(FLOAT[int(type_[1:])]).astype(_F64)
    values = _values(type_)
    return cast(Array, values[bits & np.uint8(len(values) - 1)])
