"""f16, bf16 and packed pairs of them (PTX ISA, "Half Precision Floating Point Instructions")."""

from __future__ import annotations

from typing import cast

import numpy as np

from .bits import FLOAT, UNSIGNED, Array, Operation, packed
from .conversion import round_bf16, round_f16
from .formats import decode, encode, number_format, widen_bf16
from .registry import form
from .rounding import patched, to_odd, two_sum
from .special import NAN, SIGN, flushed_f16, quiet, saturated
from .syntax import Qualifiers

_F16S, _BF16S = ("f16", "f16x2"), ("bf16", "bf16x2")
_U16, _U32 = UNSIGNED[16], UNSIGNED[32]
_F16, _F32, _F64 = FLOAT[16], FLOAT[32], FLOAT[64]
_SIXTEEN = np.uint32(16)
_RN = ("rn",)

# Sums and products of two in f32 round to f16 or bf16 as the exact ones would (24 bits are twice
# theirs and two more), save products that f32 cannot hold: those underflow, and say so.


def _from_f32(element: str) -> Operation:
    """f32 values to bits of the element type."""
    if element == "f16":
        return lambda x: round_f16(x.view(_U32))
    return lambda x: (round_bf16(x.view(_U32)) >> _SIXTEEN).astype(_U16)


def _finish(element: str, q: Qualifiers) -> Operation:
    """What `.sat`, `.relu` and rounding make of f32 values."""
    write = _from_f32(element)
    if "sat" in q:
        return lambda x: write(saturated(x))
    if "relu" in q:
        # the sum makes a negative zero positive
        return lambda x: write(np.maximum(x, np.float32(0)) + np.float32(0))
    return write


def _each(q: Qualifiers, element: str, operation: Operation) -> Operation:
    """`operation` on elements, with `.ftz`, and on pairs where the type is one."""
    if "ftz" in q:
        plain = operation

        def operation(*operands: Array) -> Array:
            return flushed_f16(plain(*(flushed_f16(x) for x in operands)))

    each = quiet(operation)
    return each if q["type"] == element else packed(each, _U16, _U32)


def _element(q: Qualifiers) -> str:
    return q["type"].removesuffix("x2")


def _binary(q: Qualifiers, ufunc: np.ufunc) -> Operation:
    element = _element(q)
    finish = _finish(element, q)
    if element == "f16":
        return _each(
            q,
            element,
            lambda a, b: finish(ufunc(a.view(_F16).astype(_F32), b.view(_F16).astype(_F32))),
        )
    if ufunc is not np.multiply:
        return _each(q, element, lambda a, b: finish(ufunc(widen_bf16(a), widen_bf16(b))))
    target = number_format("bf16")

    def exact(a: Array, b: Array) -> Array:
        return encode(decode(a, "bf16") * decode(b, "bf16"), target)

    def multiply(a: Array, b: Array) -> Array:
        try:
            with np.errstate(under="raise"):
                return cast(Array, finish(np.multiply(widen_bf16(a), widen_bf16(b))))
        except FloatingPointError:
            return exact(a, b)

    return _each(q, element, multiply)


def _fma_f16(q: Qualifiers) -> Operation:
    finish = _finish("f16", q)
    pre = "sat" in q or "relu" in q

    def run(a: Array, b: Array, c: Array) -> Array:
        x, y, z = (v.view(_F16).astype(_F64) for v in (a, b, c))
        # exact, or so far from f16's midpoints that its error cannot matter
        total = x * y + z
        halves = total.astype(_F16)
        if pre:
            return cast(Array, finish(halves.astype(_F32)))
        is_nan = np.isnan(halves)
        return np.where(is_nan, NAN[16], halves.view(_U16))

    return _each(q, "f16", run)


def _fma_bf16(q: Qualifiers) -> Operation:
    finish = _finish("bf16", q)
    target = number_format("bf16")
    relu = "relu" in q
    below, midpoint = np.uint32(0xFFFF), np.uint32(0x8000)

    def exact(a: Array, b: Array, c: Array) -> Array:
        product, addend = decode(a, "bf16") * decode(b, "bf16"), decode(c, "bf16")
        odd = to_odd(*two_sum(product, addend))
        values = np.where(np.isfinite(product + addend), odd, product + addend)
        return encode(values, target, relu=relu)

    def run(a: Array, b: Array, c: Array) -> Array:
        x, y, z = (widen_bf16(v).astype(_F64) for v in (a, b, c))
        total = x * y + z
        try:
            with np.errstate(under="raise"):
                single = total.astype(_F32)
        except FloatingPointError:
            return exact(a, b, c)
        midway = np.equal(single.view(_U32) & below, midpoint)
        return patched(cast(Array, finish(single)), midway, exact, (a, b, c))

    return _each(q, "bf16", run)


@form("add{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=_RN, type=_F16S)
@form("add{.rnd}.type", "type = type type", rnd=_RN, type=_BF16S)
def _add_half(q: Qualifiers) -> Operation:
    return _binary(q, np.add)


@form("sub{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=_RN, type=_F16S)
@form("sub{.rnd}.type", "type = type type", rnd=_RN, type=_BF16S)
def _sub_half(q: Qualifiers) -> Operation:
    return _binary(q, np.subtract)


@form("mul{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=_RN, type=_F16S)
@form("mul{.rnd}.type", "type = type type", rnd=_RN, type=_BF16S)
def _mul_half(q: Qualifiers) -> Operation:
    return _binary(q, np.multiply)


@form("fma.rn{.ftz}{.sat}.type", "type = type type type", type=_F16S)
@form("fma.rn{.ftz}.relu.type", "type = type type type", type=_F16S)
def _fma_half(q: Qualifiers) -> Operation:
    return _fma_f16(q)


@form("fma.rn{.relu}.type", "type = type type type", type=_BF16S)
def _fma_bfloat(q: Qualifiers) -> Operation:
    return _fma_bf16(q)


def _nan_code(element: str) -> np.uint16:
    """The magnitude above which bits are NaN."""
    return np.uint16(0x7C00 if element == "f16" else 0x7F80)


def _sign_operation(q: Qualifiers, change: Operation) -> Operation:
    element = _element(q)
    infinity = _nan_code(element)

    def run(a: Array) -> Array:
        return np.where((a & ~SIGN[16]) > infinity, NAN[16], change(a))

    return _each(q, element, run)


@form("neg{.ftz}.type", "type = type", type=_F16S)
@form("neg.type", "type = type", type=_BF16S)
def _neg(q: Qualifiers) -> Operation:
    return _sign_operation(q, lambda a: a ^ SIGN[16])


@form("abs{.ftz}.type", "type = type", type=_F16S)
@form("abs.type", "type = type", type=_BF16S)
def _abs(q: Qualifiers) -> Operation:
    return _sign_operation(q, lambda a: a & ~SIGN[16])


def _extremum(q: Qualifiers, choose: np.ufunc) -> Operation:
    """The extremum of two operands: a number over NaN unless `.NaN`, and -0 below +0."""
    element = _element(q)
    infinity, magnitude = _nan_code(element), ~SIGN[16]
    signed = np.dtype(np.int16)
    propagate, absolute = "NaN" in q, "xorsign" in q

    def ordered(a: Array) -> Array:
        # signed integers in the order of the values; its own inverse
        number = a.view(signed)
        return cast(Array, number ^ ((number >> np.int16(15)) & np.int16(0x7FFF)))

    def run(a: Array, b: Array) -> Array:
        x, y = (a & magnitude, b & magnitude) if absolute else (a, b)
        nan_x, nan_y = (x & magnitude) > infinity, (y & magnitude) > infinity
        result = ordered(choose(ordered(x), ordered(y))).view(_U16)
        if not propagate:
            result = np.where(nan_x, y, np.where(nan_y, x, result))
        if absolute:
            result = result | ((a ^ b) & SIGN[16])
        return np.where(nan_x | nan_y if propagate else nan_x & nan_y, NAN[16], result)

    return _each(q, element, run)


@form("min{.ftz}{.NaN}{.xorsign.abs}.type", "type = type type", type=_F16S)
@form("min{.NaN}{.xorsign.abs}.type", "type = type type", type=_BF16S)
def _min(q: Qualifiers) -> Operation:
    return _extremum(q, np.minimum)


@form("max{.ftz}{.NaN}{.xorsign.abs}.type", "type = type type", type=_F16S)
@form("max{.NaN}{.xorsign.abs}.type", "type = type type", type=_BF16S)
def _max(q: Qualifiers) -> Operation:
    return _extremum(q, np.maximum)
