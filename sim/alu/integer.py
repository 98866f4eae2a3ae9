"""Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions")."""

from __future__ import annotations

from typing import cast

import numpy as np

from .bits import SIGNED, UNSIGNED, Array, Operation, number_dtype, packed, register_dtype
from .registry import Moves, form, moving
from .syntax import Qualifiers

SCALARS = ("u16", "s16", "u32", "s32", "u64", "s64")
PAIRS = ("u16x2", "s16x2")
QUADS = ("u8x4", "s8x4")
_NARROW = SCALARS[:4]


def _element(type_: str) -> str:
    return type_.partition("x")[0]


def _lanes(type_: str, operation: Operation) -> Operation:
    """`operation`, taken on each element of the register if the type is a packed one."""
    if "x" in type_:
        return packed(operation, register_dtype(_element(type_)), UNSIGNED[32])
    return operation


def product(type_: str) -> Operation:
    """The product of two operands of an integer type in twice their width, 16 or 32 bits."""
    number = number_dtype(type_)
    width = 2 * 8 * number.itemsize
    wide, register = (SIGNED if type_[0] == "s" else UNSIGNED)[width], UNSIGNED[width]

    if type_[0] == "u":
        return lambda a, b: np.multiply(a.astype(wide), b.astype(wide))

    return lambda a, b: np.multiply(a.view(number).astype(wide), b.view(number).astype(wide)).view(
        register
    )


def high(type_: str) -> Operation:
    """The upper half of the product of two operands of an integer type."""
    if type_[1:] == "64":
        return _high_s64 if type_ == "s64" else _high_u64
    multiply = product(type_)
    register = register_dtype(type_)
    shift = UNSIGNED[register.itemsize * 16].type(register.itemsize * 8)
    return lambda a, b: (multiply(a, b) >> shift).astype(register)


_HALF = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)


@np.errstate(over="ignore")
def _high_u64(a: Array, b: Array) -> Array:
    a0, a1 = a & _LOW_WORD, a >> _HALF
    b0, b1 = b & _LOW_WORD, b >> _HALF
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    carried = a0 * b1 + (middle & _LOW_WORD)
    return cast(Array, a1 * b1 + (middle >> _HALF) + (carried >> _HALF))


@np.errstate(over="ignore")
def _high_s64(a: Array, b: Array) -> Array:
    sign = np.uint64(63)
    # the unsigned product counts 2**64 too much of one operand for each negative other
    return cast(Array, _high_u64(a, b) - (a >> sign) * b - (b >> sign) * a)


def saturated_s32(wide: Array) -> Array:
    """64-bit numbers clamped to s32, as bits."""
    return np.clip(wide, -(2**31), 2**31 - 1).astype(SIGNED[32]).view(UNSIGNED[32])


@form("add.type", "type = type type", type=SCALARS + PAIRS + QUADS)
@moving(Moves.EVENLY)
def _add(q: Qualifiers) -> Operation:
    return _lanes(q["type"], np.add)


@form("sub.type", "type = type type", type=SCALARS + QUADS)
@moving(Moves.EVENLY)
def _sub(q: Qualifiers) -> Operation:
    return _lanes(q["type"], np.subtract)


def _saturating(q: Qualifiers, ufunc: np.ufunc) -> Operation:
    element = _element(q["type"])
    number, register = number_dtype(element), register_dtype(element)
    low, high = np.iinfo(number).min, np.iinfo(number).max
    wide = SIGNED[64]
    return _lanes(
        q["type"],
        lambda a, b: np.clip(
            ufunc(a.view(number).astype(wide), b.view(number).astype(wide)), low, high
        ).astype(register),
    )


@form("add.sat.type", "type = type type", type=("s32", "u32", *PAIRS, *QUADS))
def _add_sat(q: Qualifiers) -> Operation:
    return _saturating(q, np.add)


@form("sub.sat.type", "type = type type", type=("s32", *QUADS))
def _sub_sat(q: Qualifiers) -> Operation:
    return _saturating(q, np.subtract)


@form("mul.lo.type", "type = type type", type=SCALARS)
@moving(Moves.EVENLY)
def _mul_lo(_: Qualifiers) -> Operation:
    return np.multiply


@form("mul.hi.type", "type = type type", type=SCALARS)
def _mul_hi(q: Qualifiers) -> Operation:
    return high(q["type"])


@form("mul.wide.type", "type*2 = type type", type=_NARROW)
@moving(Moves.EVENLY)
def _mul_wide(q: Qualifiers) -> Operation:
    return product(q["type"])


@form("mad.lo.type", "type = type type type", type=SCALARS)
@moving(Moves.EVENLY)
def _mad_lo(_: Qualifiers) -> Operation:
    return lambda a, b, c: np.add(np.multiply(a, b), c)


@form("mad.hi.type", "type = type type type", type=SCALARS)
def _mad_hi(q: Qualifiers) -> Operation:
    upper = high(q["type"])
    return lambda a, b, c: np.add(upper(a, b), c)


@form("mad.wide.type", "type*2 = type type type*2", type=_NARROW)
@moving(Moves.EVENLY)
def _mad_wide(q: Qualifiers) -> Operation:
    multiply = product(q["type"])
    return lambda a, b, c: np.add(multiply(a, b), c)


@form("mad.hi.sat.s32", "s32 = s32 s32 s32")
def _mad_hi_sat(_: Qualifiers) -> Operation:
    upper = high("s32")
    s32, s64 = SIGNED[32], SIGNED[64]
    return lambda a, b, c: saturated_s32(
        upper(a, b).view(s32).astype(s64) + c.view(s32).astype(s64)
    )


@form("sad.type", "type = type type type", type=SCALARS)
def _sad(q: Qualifiers) -> Operation:
    number, register = number_dtype(q["type"]), register_dtype(q["type"])

    def run(a: Array, b: Array, c: Array) -> Array:
        x, y = a.view(number), b.view(number)
        distance = np.subtract(np.maximum(x, y).view(register), np.minimum(x, y).view(register))
        return cast(Array, np.add(distance, c))

    return run


def _magnitude(a: Array, signed: np.dtype[np.signedinteger]) -> Array:
    return np.absolute(a.view(signed)).view(a.dtype)


def _with_zero_divisor(operation: Operation) -> Operation:
    """`operation` on unsigned numbers, with all ones where the divisor is zero."""

    def run(a: Array, b: Array) -> Array:
        zero = b == 0
        if not np.any(zero):
            return cast(Array, operation(a, b))
        return np.where(zero, ~np.zeros_like(b), operation(a, b | zero))

    return run


@form("div.type", "type = type type", type=SCALARS)
def _div(q: Qualifiers) -> Operation:
    if q["type"][0] == "u":
        return _with_zero_divisor(np.floor_divide)
    signed = number_dtype(q["type"])

    def truncated(a: Array, b: Array) -> Array:
        quotient = np.floor_divide(_magnitude(a, signed), _magnitude(b, signed))
        return np.where((a ^ b).view(signed) < 0, np.negative(quotient), quotient)

    return _with_zero_divisor(truncated)


@form("rem.type", "type = type type", type=SCALARS)
def _rem(q: Qualifiers) -> Operation:
    if q["type"][0] == "u":
        return _with_zero_divisor(np.remainder)
    signed = number_dtype(q["type"])

    def truncated(a: Array, b: Array) -> Array:
        rest = np.remainder(_magnitude(a, signed), _magnitude(b, signed))
        return np.where(a.view(signed) < 0, np.negative(rest), rest)

    return _with_zero_divisor(truncated)


@form("abs.type", "type = type", type=("s16", "s32", "s64"))
def _abs(q: Qualifiers) -> Operation:
    signed = number_dtype(q["type"])
    return lambda a: _magnitude(a, signed)


@form("neg.type", "type = type", type=("s16", "s32", "s64", "s8x4"))
@moving(Moves.EVENLY)
def _neg(q: Qualifiers) -> Operation:
    return _lanes(q["type"], np.negative)


def _extremum(q: Qualifiers, ufunc: np.ufunc) -> Operation:
    element = _element(q["type"])
    if element[0] == "u":
        return _lanes(q["type"], ufunc)
    signed, register = number_dtype(element), register_dtype(element)
    if "relu" in q:
        zero = signed.type(0)
        return _lanes(
            q["type"],
            lambda a, b: np.maximum(ufunc(a.view(signed), b.view(signed)), zero).view(register),
        )
    return _lanes(q["type"], lambda a, b: ufunc(a.view(signed), b.view(signed)).view(register))


@form("min.type", "type = type type", type=SCALARS + PAIRS + QUADS)
@form("min.relu.type", "type = type type", type=("s32", "s16x2", "s8x4"))
@moving(Moves.BY_COMPARISON)
def _min(q: Qualifiers) -> Operation:
    return _extremum(q, np.minimum)


@form("max.type", "type = type type", type=SCALARS + PAIRS + QUADS)
@form("max.relu.type", "type = type type", type=("s32", "s16x2", "s8x4"))
@moving(Moves.BY_COMPARISON)
def _max(q: Qualifiers) -> Operation:
    return _extremum(q, np.maximum)
