"""The steps of arithmetic that rounds once, in any direction.

A result to nearest comes from the host, or from a sum that keeps its error; a directed one is
that result, moved one step where the sign of its error says so. All work on float arrays and
assume `np.errstate(all="ignore")` around them.
"""

from __future__ import annotations

from typing import cast

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


def minus_zero(result: Array, opposite: Array) -> Array:
    """Makes zeros negative that opposite terms cancelled to, as is right when rounding down."""
    return np.where((result == 0) & opposite, result.dtype.type(-0.0), result)
