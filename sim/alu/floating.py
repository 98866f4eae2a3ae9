"""f32, f32x2 and f64 arithmetic (PTX ISA, "Floating Point Instructions")."""

from __future__ import annotations

import numpy as np

from .arithmetic import arithmetic
from .bits import FLOAT, UNSIGNED, Array, Operation, packed
from .registry import form
from .rounding import ROUNDINGS
from .special import NAN, SIGN, f32_operation, f64_operation, flushed
from .syntax import Qualifiers

_U32, _U64 = UNSIGNED[32], UNSIGNED[64]
_TYPES = ("f32", "f64")


def _operation(name: str, q: Qualifiers) -> Operation:
    rounding = q.get("rnd", "rn")
    if q["type"] == "f64":
        return f64_operation(arithmetic(name, 64, rounding))
    single = f32_operation(arithmetic(name, 32, rounding), ftz="ftz" in q, sat="sat" in q)
    return packed(single, _U32, _U64) if q["type"] == "f32x2" else single


_F32, _F64, _F32X2 = ("f32",), ("f64",), ("f32x2",)


@form("add{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=ROUNDINGS, type=_F32)
@form("add{.rnd}{.ftz}.type", "type = type type", rnd=ROUNDINGS, type=_F32X2)
@form("add{.rnd}.type", "type = type type", rnd=ROUNDINGS, type=_F64)
def _add(q: Qualifiers) -> Operation:
    return _operation("add", q)


@form("sub{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=ROUNDINGS, type=_F32)
@form("sub{.rnd}{.ftz}.type", "type = type type", rnd=ROUNDINGS, type=_F32X2)
@form("sub{.rnd}.type", "type = type type", rnd=ROUNDINGS, type=_F64)
def _sub(q: Qualifiers) -> Operation:
    return _operation("sub", q)


@form("mul{.rnd}{.ftz}{.sat}.type", "type = type type", rnd=ROUNDINGS, type=_F32)
@form("mul{.rnd}{.ftz}.type", "type = type type", rnd=ROUNDINGS, type=_F32X2)
@form("mul{.rnd}.type", "type = type type", rnd=ROUNDINGS, type=_F64)
def _mul(q: Qualifiers) -> Operation:
    return _operation("mul", q)


@form("fma.rnd{.ftz}{.sat}.type", "type = type type type", rnd=ROUNDINGS, type=_F32)
@form("fma.rnd{.ftz}.type", "type = type type type", rnd=ROUNDINGS, type=_F32X2)
@form("fma.rnd.type", "type = type type type", rnd=ROUNDINGS, type=_F64)
@form("mad.rnd{.ftz}{.sat}.type", "type = type type type", rnd=ROUNDINGS, type=_F32)
@form("mad.rnd.type", "type = type type type", rnd=ROUNDINGS, type=_F64)
def _fma(q: Qualifiers) -> Operation:
    return _operation("fma", q)


@form("div.rnd{.ftz}.type", "type = type type", rnd=ROUNDINGS, type=_F32)
@form("div.rnd.type", "type = type type", rnd=ROUNDINGS, type=_F64)
def _div(q: Qualifiers) -> Operation:
    return _operation("div", q)


@form("sqrt.rnd{.ftz}.type", "type = type", rnd=ROUNDINGS, type=_F32)
@form("sqrt.rnd.type", "type = type", rnd=ROUNDINGS, type=_F64)
def _sqrt(q: Qualifiers) -> Operation:
    return _operation("sqrt", q)


@form("rcp.rnd{.ftz}.type", "type = type", rnd=ROUNDINGS, type=_F32)
@form("rcp.rnd.type", "type = type", rnd=ROUNDINGS, type=_F64)
def _rcp(q: Qualifiers) -> Operation:
    divide = _operation("div", q)
    one = FLOAT[int(q["type"][1:])].type(1).view(UNSIGNED[int(q["type"][1:])])
    return lambda a: divide(one, a)


@form("neg{.ftz}.f32", "f32 = f32")
def _neg_f32(q: Qualifiers) -> Operation:
    return f32_operation(np.negative, ftz="ftz" in q)


@form("abs{.ftz}.f32", "f32 = f32")
def _abs_f32(q: Qualifiers) -> Operation:
    return f32_operation(np.absolute, ftz="ftz" in q)


@form("neg.f64", "f64 = f64")
def _neg_f64(_: Qualifiers) -> Operation:
    return lambda a: np.bitwise_xor(a, SIGN[64])


@form("abs.f64", "f64 = f64")
def _abs_f64(_: Qualifiers) -> Operation:
    return lambda a: np.bitwise_and(a, ~SIGN[64])


@form("copysign.type", "type = type type", type=_TYPES)
def _copysign(q: Qualifiers) -> Operation:
    sign = SIGN[int(q["type"][1:])]
    return lambda a, b: np.bitwise_or(a & sign, b & ~sign)


def _extremum(q: Qualifiers, *, largest: bool) -> Operation:
    """The extremum of two or three operands: numbers over NaN unless `.NaN`, and -0 below +0."""
    width = int(q["type"][1:])
    number, register = FLOAT[width], UNSIGNED[width]
    ufunc = np.fmax if largest else np.fmin
    # of two zeros, the sign bit is set if both, or either, have it
    signs = np.bitwise_and if largest else np.bitwise_or
    propagate, magnitudes = "NaN" in q, "abs" in q

    def pair(a: Array, b: Array) -> Array:
        x, y = a.view(number), b.view(number)
        result = ufunc(x, y)
        zero = np.equal(result, 0)
        bits: Array = result.view(register)
        if np.count_nonzero(zero):
            bits = np.where(zero & np.equal(x, y), signs(a, b), bits)
        is_nan = np.isnan(x) | np.isnan(y) if propagate else np.isnan(result)
        return np.where(is_nan, NAN[width], bits) if np.count_nonzero(is_nan) else bits

    @np.errstate(all="ignore")
    def run(a: Array, *others: Array) -> Array:
        operands = [flushed(x) if "ftz" in q else x for x in (a, *others)]
        values = [x & ~SIGN[width] for x in operands] if magnitudes else operands
        result = pair(values[0], values[1])
        for x in values[2:]:
            result = pair(result, x)
        if "xorsign" in q:
            sign = (operands[0] ^ operands[1]) & SIGN[width]
            result = np.where(result == NAN[width], result, result | sign)
        return result

    return run


@form("min{.ftz}{.NaN}{.xorsign.abs}.type", "type = type type", type=_F32)
@form("min{.ftz}{.NaN}{.abs}.type", "type = type type type", type=_F32)
@form("min.type", "type = type type", type=_F64)
def _min(q: Qualifiers) -> Operation:
    return _extremum(q, largest=False)


@form("max{.ftz}{.NaN}{.xorsign.abs}.type", "type = type type", type=_F32)
@form("max{.ftz}{.NaN}{.abs}.type", "type = type type type", type=_F32)
@form("max.type", "type = type type", type=_F64)
def _max(q: Qualifiers) -> Operation:
    return _extremum(q, largest=True)
