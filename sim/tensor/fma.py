"""IEEE fused multiply-add of float64 arrays in all four rounding modes.

numpy has none. The sum is formed by error-free transformations and one rounding to odd (Boldo
and Melquiond, "Emulation of FMA and Correctly Rounded Sums", 2008); elements so large or small
that a transformation could lose bits go through exact rationals one by one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

NAN = np.uint64(0x7FF8000000000000)
"""The one NaN; which of them hardware gives is not established."""

_SPLITTER = float((1 << 27) + 1)


def fma(a: Float64, b: Float64, c: Float64, rounding: str) -> Float64:
    """a·b + c, rounded once.

    Args:
        a: factor.
        b: factor.
        c: addend; the three broadcast.
        rounding: `rn`, `rz`, `rm` or `rp`.
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        product = a * b
        result, rest = _sum(*_two_product(a, b, product), c)
        result = _directed(result, rest, rounding)
        zero = (result == 0) & (rest == 0)
        result[zero] = _zero(product, c, rounding)[zero]
        finite = _moderate(a, 500) & _moderate(b, 500) & _moderate(c, 950)
        unsafe = ~(finite & (_moderate(product, 900) | (a == 0) | (b == 0)))
    if unsafe.any():
        terms = zip(a[unsafe].tolist(), b[unsafe].tolist(), c[unsafe].tolist(), strict=True)
        result[unsafe] = [_exact(*term, rounding) for term in terms]
    result.view(np.uint64)[np.isnan(result)] = NAN
    return result


def _moderate(x: Float64, exponent: int) -> NDArray[np.bool_]:
    """Zero, or of an exponent between ±`exponent`."""
    size = np.abs(x)
    found: NDArray[np.bool_] = (size > 2.0**-exponent) & (size < 2.0**exponent) | (size == 0)
    return found


def _two_sum(x: Float64, y: Float64) -> tuple[Float64, Float64]:
    """The sum and its error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _split(x: Float64) -> tuple[Float64, Float64]:
    """Halves of a significand (Veltkamp)."""
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def _two_product(a: Float64, b: Float64, product: Float64) -> tuple[Float64, Float64]:
    """a·b and its error (Dekker)."""
    (ah, al), (bh, bl) = _split(a), _split(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def _sum(high: Float64, low: Float64, c: Float64) -> tuple[Float64, Float64]:
    """The sum of three to nearest, and a number with the sign of what is left over."""
    inner, tail = _two_sum(c, low)
    outer, rest = _two_sum(high, inner)
    odd, lost = _two_sum(tail, rest)
    bits = odd.view(np.int64)
    up = np.where((lost > 0) == (odd > 0), 1, -1)
    bits += np.where((lost != 0) & (bits & 1 == 0), up, 0)
    return _two_sum(outer, odd)


def _directed(nearest: Float64, rest: Float64, rounding: str) -> Float64:
    """The neighbour to which a directed mode rounds, from the nearest and the sign of the rest."""
    down = np.nextafter(nearest, -np.inf)
    up = np.nextafter(nearest, np.inf)
    if rounding == "rz":
        rounding_down, rounding_up = nearest > 0, nearest < 0
    else:
        rounding_down, rounding_up = (
            np.full(nearest.shape, rounding == mode) for mode in ("rm", "rp")
        )
    return np.where(
        rounding_down & (rest < 0), down, np.where(rounding_up & (rest > 0), up, nearest)
    )


def _zero(product: Float64, c: Float64, rounding: str) -> Float64:
    """An exact zero sum, with its sign: that of both terms, or that of the rounding mode."""
    negative = np.signbit(product) & np.signbit(c)
    if rounding == "rm":
        negative |= np.signbit(product) | np.signbit(c)
    return np.where(negative, -0.0, 0.0)


def _exact(a: float, b: float, c: float, rounding: str) -> float:
    """The same of three numbers, by rationals."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    from fractions import Fraction  # noqa: PLC0415 (for few elements)

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        sign = math.copysign(1, a) * math.copysign(1, b)
        return float(_zero(np.array(sign), np.array(c), rounding))
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = math.inf if exact > 0 else -math.inf
    if rounding == "rz" and abs(nearest) > abs(exact):
        return math.nextafter(nearest, 0)
    if rounding == "rm" and nearest > exact:
        return math.nextafter(nearest, -math.inf)
    if rounding == "rp" and nearest < exact:
        return math.nextafter(nearest, math.inf)
    return nearest
