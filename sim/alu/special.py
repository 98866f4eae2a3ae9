"""What PTX does to the values at the edges: NaN, subnormals, saturation.

Each function takes and gives float arrays or their bits, as its signature's names say.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .bits import FLOAT, UNSIGNED, Array, Operation

_F32, _F64 = FLOAT[32], FLOAT[64]
_U32, _U64 = UNSIGNED[32], UNSIGNED[64]

NAN: dict[int, np.unsignedinteger[Any]] = {
    16: np.uint16(0x7FFF),
    32: np.uint32(0x7FFFFFFF),
    64: np.uint64(0xFFF8 << 48),
}
"""The NaN of an operation that had none among its operands."""

_EXPONENT: dict[int, np.unsignedinteger[Any]] = {
    16: np.uint16(0x7C00),
    32: np.uint32(0x7F800000),
    64: np.uint64(0x7FF << 52),
}
SIGN: dict[int, np.unsignedinteger[Any]] = {
    16: np.uint16(1 << 15),
    32: np.uint32(1 << 31),
    64: np.uint64(1 << 63),
}
_QUIET = np.uint64(1 << 51)


def quiet(operation: Operation) -> Operation:
    """`operation` without the warnings that numpy has for special values."""
    return np.errstate(all="ignore")(operation)


def canonical(result: Array) -> Array:
    """The bits of f32 results, every NaN the canonical one."""
    is_nan = np.isnan(result)
    bits = result.view(_U32)
    return np.where(is_nan, NAN[32], bits) if np.count_nonzero(is_nan) else bits


def propagated(result: Array, *operands: Array) -> Array:
    """The bits of f64 results, each NaN that of the first operand that is one, quieted."""
    is_nan = np.isnan(result)
    bits = result.view(_U64)
    if not np.count_nonzero(is_nan):
        return bits
    payload: Array = np.asarray(NAN[64])
    for x in reversed(operands):
        payload = np.where(np.isnan(x), x.view(_U64) | _QUIET, payload)
    return np.where(is_nan, payload, bits)


def flushed(bits: Array) -> Array:
    """f32 bits with subnormals flushed to zeros of their sign."""
    low = np.equal(np.bitwise_and(bits, _EXPONENT[32]), 0)
    return np.where(low, bits & SIGN[32], bits) if np.count_nonzero(low) else bits


def flushed_f16(bits: Array) -> Array:
    """f16 bits with subnormals flushed to zeros of their sign."""
    return np.where((bits & _EXPONENT[16]) == 0, bits & SIGN[16], bits)


def saturated(result: Array) -> Array:
    """Floats clamped to [+0, 1], NaN to +0."""
    zero, one = result.dtype.type(0), result.dtype.type(1)
    # the sum makes a negative zero positive
    return cast(Array, np.fmin(np.fmax(result, zero), one) + zero)


def f32_operation(compute: Operation, *, ftz: bool = False, sat: bool = False) -> Operation:
    """From an operation on f32 arrays, the one on bits that `.ftz` and `.sat` make of it."""
    if not (ftz or sat):
        return _plain(compute)

    @np.errstate(all="ignore")
    def run(*operands: Array) -> Array:
        if ftz:
            operands = tuple(flushed(x) for x in operands)
        result = compute(*(x.view(_F32) for x in operands))
        bits = (saturated(result) if sat else result).view(_U32)
        return flushed(canonical(bits.view(_F32))) if ftz else canonical(bits.view(_F32))

    return run


def _plain(compute: Operation) -> Operation:
    # the common numbers of operands, without the cost of any number
    if isinstance(compute, np.ufunc) and compute.nin == 2:

        @np.errstate(all="ignore")
        def binary(a: Array, b: Array) -> Array:
            return canonical(compute(a.view(_F32), b.view(_F32)))

        return binary

    @np.errstate(all="ignore")
    def run(*operands: Array) -> Array:
        return canonical(compute(*[x.view(_F32) for x in operands]))

    return run


def f64_operation(compute: Operation) -> Operation:
    """From an operation on f64 arrays, the one on bits."""

    @np.errstate(all="ignore")
    def run(*operands: Array) -> Array:
        values = [x.view(_F64) for x in operands]
        return propagated(compute(*values), *values)

    return run
