"""f64 arithmetic rounded once, by error-free transforms.

The few elements so large or small that an error would itself be rounded go through rational
arithmetic. For use under `np.errstate(all="ignore")`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from .bits import Array, Operation
from .rounding import minus_zero, step, to_odd, two_sum

if TYPE_CHECKING:
    from fractions import Fraction

_SPLITTER = np.float64(2**27 + 1)


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = _SPLITTER * a
    upper = scaled - (scaled - a)
    return upper, a - upper


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product of f64 and its error, exact away from the range's ends (Dekker)."""
    result = a * b
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    return result, ((ah * bh - result) + ah * bl + al * bh) + al * bl


def _within(*values: Array) -> Array:
    """Where every product and error of the values is far from the range's ends."""
    # zeros, infinities and NaN have no error to lose
    inside = np.True_
    for x in values:
        size = np.abs(x)
        inside = inside & (
            ((size > 2.0**-450) & (size < 2.0**450)) | (size == 0) | ~(size < np.inf)
        )
    return cast(Array, inside)


def _with_rationals(
    fast: Operation, exact: Callable[..., Fraction | None], rounding: str
) -> Operation:
    """`fast` where `_within` holds, else the rounded value of `exact`.

    `exact` gives None for what numpy's result stands for: infinities, NaN, division by zero.
    """

    def run(*operands: Array) -> Array:
        operands = tuple(np.asarray(x) for x in np.broadcast_arrays(*operands))
        result = np.asarray(fast(*operands))
        hard = ~_within(*operands)
        if not np.any(hard):
            return result
        from fractions import Fraction  # noqa: PLC0415 (few values need it, and it takes 5 ms)

        result = result.copy()
        for index in map(tuple, np.argwhere(hard)):
            values = [float(x[index]) for x in operands]
            if not all(np.isfinite(values)):
                continue
            value = exact(*map(Fraction, values))
            if value:
                result[index] = _rounded(value, rounding)
            elif value is not None and all(values):
                # terms that cancelled
                result[index] = -0.0 if rounding == "rm" else 0.0
        return result

    return run


def _rounded(value: Fraction, rounding: str) -> Array:
    """A nonzero rational, rounded."""
    try:
        size = float(abs(value))
    except OverflowError:
        size = math.inf
    nearest = math.copysign(size, value.numerator > 0 or -1)
    result = np.asarray(nearest)
    if rounding == "rn":
        return result
    above = value < 0 if math.isinf(nearest) else value > type(value)(nearest)
    below = value > 0 if math.isinf(nearest) else value < type(value)(nearest)
    return step(result, np.asarray(float(above) - float(below)), rounding)


def fma(rounding: str) -> Operation:
    """a·b + c on f64, rounded once (Boldo and Melquiond's emulation by rounding to odd)."""

    def fast(a: Array, b: Array, c: Array) -> Array:
        upper, lower = two_product(a, b)
        low_sum, low_rest = two_sum(c, lower)
        high_sum, high_rest = two_sum(upper, low_sum)
        tail = to_odd(*two_sum(low_rest, high_rest))
        result, error = two_sum(high_sum, tail)
        # a finite product that overflows does not meet an infinity
        plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)
        # without an error there is nothing to round, and the plain sum has the right sign of zero
        special = ~np.isfinite(plain) | (a == 0) | (b == 0) | ((result == 0) & (plain == 0))
        result = np.where(special, plain, result)
        if rounding == "rn":
            return result
        if rounding == "rm":
            opposite = np.signbit(a) ^ np.signbit(b) ^ np.signbit(c)
            result = minus_zero(result, opposite)
        return step(result, np.where(special, 0.0, error), rounding)

    return _with_rationals(fast, lambda a, b, c: a * b + c, rounding)


def add(rounding: str) -> Operation:
    """Addition of f64 in a direction other than to nearest."""

    def fast(a: Array, b: Array) -> Array:
        result, error = two_sum(a, b)
        if rounding == "rm":
            result = minus_zero(result, np.signbit(a) != np.signbit(b))
        return step(result, error, rounding)

    return _with_rationals(fast, lambda a, b: a + b, rounding)


def multiply(rounding: str) -> Operation:
    """Multiplication of f64 in a direction other than to nearest."""

    def fast(a: Array, b: Array) -> Array:
        return step(*two_product(a, b), rounding)

    return _with_rationals(fast, lambda a, b: a * b, rounding)


def divide(rounding: str) -> Operation:
    """Division of f64 in a direction other than to nearest."""

    def fast(a: Array, b: Array) -> Array:
        result = a / b
        upper, lower = two_product(result, b)
        rest = (a - upper) - lower
        return step(result, np.where(np.signbit(b), -rest, rest), rounding)

    return _with_rationals(fast, lambda a, b: a / b if b else None, rounding)


def root(rounding: str) -> Operation:
    """The square root of f64 in a direction other than to nearest."""

    def fast(a: Array) -> Array:
        # a power of four brings every operand into the range where the square keeps its error
        fraction, exponent = np.frexp(a)
        odd = exponent & 1
        scaled = np.ldexp(fraction, odd)
        result = np.sqrt(scaled)
        upper, lower = two_product(result, result)
        directed = step(result, (scaled - upper) - lower, rounding)
        return np.where(
            np.isfinite(a) & (a != 0), np.ldexp(directed, (exponent - odd) // 2), np.sqrt(a)
        )

    return fast
