"""f32 arithmetic rounded once: every intermediate is exact in f64, or keeps its error.

For use under `np.errstate(all="ignore")`.
"""

from __future__ import annotations

import numpy as np

from .bits import FLOAT, UNSIGNED, Array, Operation
from .rounding import minus_zero, narrowed, patched, step, to_odd, two_sum

_F32, _F64 = FLOAT[32], FLOAT[64]
_U64 = UNSIGNED[64]


def fma(rounding: str) -> Operation:
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


def add(rounding: str) -> Operation:
    """Addition of f32 in a direction other than to nearest."""

    def run(a: Array, b: Array) -> Array:
        result = a + b
        total, error = two_sum(a.astype(_F64), b.astype(_F64))
        result = step(result, (total - result) + error, rounding)
        return result if rounding != "rm" else minus_zero(result, np.signbit(a) != np.signbit(b))

    return run


def multiply(rounding: str) -> Operation:
    """Multiplication of f32 in a direction other than to nearest."""

    def run(a: Array, b: Array) -> Array:
        result = a * b
        return step(result, a.astype(_F64) * b.astype(_F64) - result, rounding)

    return run


def divide(rounding: str) -> Operation:
    """Division of f32 in a direction other than to nearest."""

    def run(a: Array, b: Array) -> Array:
        result = a / b
        rest = a.astype(_F64) - result.astype(_F64) * b.astype(_F64)
        return step(result, np.where(np.signbit(b), -rest, rest), rounding)

    return run


def root(rounding: str) -> Operation:
    """The square root of f32 in a direction other than to nearest."""

    def run(a: Array) -> Array:
        result = np.sqrt(a)
        square = np.square(result.astype(_F64))
        return step(result, a.astype(_F64) - square, rounding)

    return run
