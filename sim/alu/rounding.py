"""Arithmetic rounded once, in any direction.

Operations work on float arrays and assume `np.errstate(all="ignore")` around them. The
result to nearest comes from the host or from a sum that keeps its error; a directed one is
that result, moved one step where the sign of its error says so. The few f64 elements so large
or small that the error itself would be rounded go through rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np

from .bits import FLOAT, UNSIGNED, Array, Operation

ROUNDINGS = ("rn", "rz", "rm", "rp")

_F32, _F64 = FLOAT[32], FLOAT[64]
_U64 = UNSIGNED[64]


def step(result: Array, error: Array, rounding: str) -> Array:
    """The directed rounding of exact values.

    Args:
        result: the exact values rounded to nearest.
        error: of the sign of exact minus result; NaN counts as zero.
        rounding: `rz`, `rm` or `rp`.
    """
    register = UNSIGNED[result.itemsize * 8]
    negative = np.signbit(result)
    if rounding == "rz":
        inward = np.where(negative, error > 0, error < 0)
        outward = np.zeros_like(inward)
    elif rounding == "rp":
        inward, outward = negative & (error > 0), ~negative & (error > 0)
    else:
        inward, outward = ~negative & (error < 0), negative & (error < 0)
    moved = result.view(register) + outward.astype(register) - inward.astype(register)
    return cast(Array, moved.view(result.dtype))


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error, exact where nothing overflows (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


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


def to_odd(total: Array, error: Array) -> Array:
    """f64 sums with errors, rounded to odd: safe to round once more to a format 2 bits shorter."""
    bits = total.view(_U64)
    inexact = (error != 0) & ((bits & np.uint64(1)) == 0)
    away = (error < 0) == np.signbit(total)
    moved = np.where(away, bits + np.uint64(1), bits - np.uint64(1))
    return cast(Array, np.where(inexact, moved, bits).view(_F64))


def narrowed(odd: Array, rounding: str) -> Array:
    """f64 values, exact or rounded to odd, rounded to f32."""
    result = odd.astype(_F32)
    return result if rounding == "rn" else step(result, odd - result, rounding)


def patched(result: Array, hazard: Array, exact: Operation, operands: tuple[Array, ...]) -> Array:
    """`result`, which is not kept, with the elements of `hazard` replaced by `exact`'s."""
    if not np.count_nonzero(hazard):
        return result
    result = np.array(result)
    hazard = np.broadcast_to(hazard, result.shape)
    chosen = [np.broadcast_to(x, result.shape)[hazard] for x in operands]
    result[hazard] = exact(*chosen)
    return result


def _minus_zero(result: Array, opposite: Array) -> Array:
    """A zero that opposite terms cancelled to is negative when rounding down."""
    return np.where((result == 0) & opposite, result.dtype.type(-0.0), result)


# f32: every intermediate is exact in f64, or keeps its error


def fma_f32(rounding: str) -> Operation:
    """a·b + c on f32, rounded once."""

    def exact(a: Array, b: Array, c: Array) -> Array:
        product, addend = a.astype(_F64) * b.astype(_F64), c.astype(_F64)
        result = narrowed(to_odd(*two_sum(product, addend)), rounding)
        # the error of an infinite sum is NaN, which to_odd would take for inexact
        total = product + addend
        result = np.where(np.isfinite(total), result, total.astype(_F32))
        if rounding != "rm":
            return result
        cancelled = (total == 0) & (np.signbit(product) != np.signbit(addend))
        return np.where(cancelled, np.float32(-0.0), result)

    if rounding != "rn":
        return exact

    below, midpoint = np.uint64(2**29 - 1), np.uint64(2**28)

    # the second rounding errs only from a sum that lies midway between two f32, which for
    # results under the normal range has other bits: then the cast itself says that it was inexact
    @np.errstate(under="raise")
    def common(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        total = np.add(np.multiply(a.astype(_F64), b.astype(_F64)), c.astype(_F64))
        midway = np.equal(np.bitwise_and(total.view(_U64), below), midpoint)
        return total.astype(_F32), midway

    def run(a: Array, b: Array, c: Array) -> Array:
        try:
            result, midway = common(a, b, c)
        except FloatingPointError:
            return exact(a, b, c)
        return patched(result, midway, exact, (a, b, c))

    return run


def _add_f32(rounding: str) -> Operation:
    def run(a: Array, b: Array) -> Array:
        result = a + b
        total, error = two_sum(a.astype(_F64), b.astype(_F64))
        result = step(result, (total - result) + error, rounding)
        return result if rounding != "rm" else _minus_zero(result, np.signbit(a) != np.signbit(b))

    return run


def _multiply_f32(rounding: str) -> Operation:
    return lambda a, b: step(a * b, a.astype(_F64) * b.astype(_F64) - a * b, rounding)


def _divide_f32(rounding: str) -> Operation:
    def run(a: Array, b: Array) -> Array:
        result = a / b
        rest = a.astype(_F64) - result.astype(_F64) * b.astype(_F64)
        return step(result, np.where(np.signbit(b), -rest, rest), rounding)

    return run


def _root_f32(rounding: str) -> Operation:
    def run(a: Array) -> Array:
        result = np.sqrt(a)
        square = np.square(result.astype(_F64))
        return step(result, a.astype(_F64) - square, rounding)

    return run


# f64: errors by error-free transforms, and rationals where those are not free of error


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
    try:
        nearest = float(value)
    except OverflowError:
        nearest = float(np.copysign(np.inf, float(np.sign(value.numerator))))
    nearest = float(np.copysign(nearest, -1.0 if value < 0 else 1.0))
    if rounding == "rn":
        return np.asarray(nearest)
    if np.isinf(nearest):
        error = -nearest
    else:
        difference = value - Fraction(nearest)
        error = float((difference > 0) - (difference < 0))
    return step(np.asarray(nearest), np.asarray(error), rounding)


def fma_f64(rounding: str) -> Operation:
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
            result = _minus_zero(result, opposite)
        return step(result, np.where(special, 0.0, error), rounding)

    return _with_rationals(fast, lambda a, b, c: a * b + c, rounding)


def _add_f64(rounding: str) -> Operation:
    def fast(a: Array, b: Array) -> Array:
        result, error = two_sum(a, b)
        if rounding == "rm":
            result = _minus_zero(result, np.signbit(a) != np.signbit(b))
        return step(result, error, rounding)

    return _with_rationals(fast, lambda a, b: a + b, rounding)


def _multiply_f64(rounding: str) -> Operation:
    def fast(a: Array, b: Array) -> Array:
        return step(*two_product(a, b), rounding)

    return _with_rationals(fast, lambda a, b: a * b, rounding)


def _divide_f64(rounding: str) -> Operation:
    def fast(a: Array, b: Array) -> Array:
        result = a / b
        upper, lower = two_product(result, b)
        rest = (a - upper) - lower
        return step(result, np.where(np.signbit(b), -rest, rest), rounding)

    return _with_rationals(fast, lambda a, b: a / b if b else None, rounding)


def _root_f64(rounding: str) -> Operation:
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


_DIRECTED: dict[tuple[str, int], Callable[[str], Operation]] = {
    ("add", 32): _add_f32,
    ("mul", 32): _multiply_f32,
    ("div", 32): _divide_f32,
    ("sqrt", 32): _root_f32,
    ("fma", 32): fma_f32,
    ("add", 64): _add_f64,
    ("mul", 64): _multiply_f64,
    ("div", 64): _divide_f64,
    ("sqrt", 64): _root_f64,
    ("fma", 64): fma_f64,
}

_NEAREST: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}


def arithmetic(name: str, width: int, rounding: str) -> Operation:
    """The operation `name` (add, sub, mul, div, sqrt, fma) on floats of 32 or 64 bits."""
    if name in _NEAREST and rounding == "rn":
        return cast(Operation, _NEAREST[name])
    if name == "sub":
        add = _DIRECTED["add", width](rounding)
        return lambda a, b: add(a, -b)
    return _DIRECTED[name, width](rounding)
