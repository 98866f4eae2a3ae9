"""Approximate functions, computed in f64 and rounded: within the error that PTX allows.

PTX ISA, "Floating Point Instructions" and "Half Precision Floating Point Instructions". The
special values of its tables come out of the f64 functions, save where the code says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from .bits import FLOAT, UNSIGNED, Array, Operation, packed
from .conversion import round_bf16
from .formats import decode
from .registry import form
from .special import NAN, SIGN, f32_operation, f64_operation, flushed
from .syntax import Qualifiers

_F16, _F32, _F64 = FLOAT[16], FLOAT[32], FLOAT[64]
_U16, _U32, _U64 = UNSIGNED[16], UNSIGNED[32], UNSIGNED[64]


def _inverse_root(x: Array) -> Array:
    return cast(Array, 1 / np.sqrt(x))


def _single(function: Operation) -> Callable[[Qualifiers], Operation]:
    def build(q: Qualifiers) -> Operation:
        return f32_operation(lambda x: function(x.astype(_F64)).astype(_F32), ftz="ftz" in q)

    return build


_functions: dict[str, Operation] = {
    "rcp": np.reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": _inverse_root,
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
}
for _opcode, _function in _functions.items():
    form(f"{_opcode}.approx{{.ftz}}.f32", "f32 = f32")(_single(_function))
form("tanh.approx.f32", "f32 = f32")(_single(np.tanh))


def _half(function: Operation, q: Qualifiers) -> Operation:
    element = q["type"].removesuffix("x2")

    @np.errstate(all="ignore")
    def run(a: Array) -> Array:
        values = function(decode(a, element)).astype(_F32)
        if element == "bf16":
            # the flushed bf16 subnormals are those of f32
            bits = flushed(values.view(_U32)) if "ftz" in q else values.view(_U32)
            return (round_bf16(bits) >> np.uint32(16)).astype(_U16)
        halves = values.astype(_F16)
        return np.where(np.isnan(halves), NAN[16], halves.view(_U16))

    return run if q["type"] == element else packed(run, _U16, _U32)


@form("ex2.approx.type", "type = type", type=("f16", "f16x2"))
@form("ex2.approx.ftz.type", "type = type", type=("bf16", "bf16x2"))
def _ex2_half(q: Qualifiers) -> Operation:
    return _half(np.exp2, q)


@form("tanh.approx.type", "type = type", type=("f16", "f16x2", "bf16", "bf16x2"))
def _tanh_half(q: Qualifiers) -> Operation:
    return _half(np.tanh, q)


@form("div.full{.ftz}.f32", "f32 = f32 f32")
def _div_full(q: Qualifiers) -> Operation:
    return f32_operation(np.divide, ftz="ftz" in q)


@form("div.approx{.ftz}.f32", "f32 = f32 f32")
def _div_approx(q: Qualifiers) -> Operation:
    def divide(a: Array, b: Array) -> Array:
        # the reciprocal of such divisors is subnormal, and lost
        lost = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
        return np.where(lost, a * np.copysign(np.float32(0), b), a / b)

    return f32_operation(divide, ftz="ftz" in q)


_UPPER = np.uint64(0xFFFFFFFF << 32)
_NAN = np.uint64(0x7FFFFFFF << 32)
_EXPONENT = np.uint64(0x7FF << 52)


def _gross(function: Operation) -> Operation:
    """An f64 function that reads and writes the upper word only, subnormals flushed."""

    def flush(bits: Array) -> Array:
        return np.where((bits & _EXPONENT) == 0, bits & SIGN[64], bits & _UPPER)

    @np.errstate(all="ignore")
    def run(a: Array) -> Array:
        result = function(flush(a).view(_F64))
        return np.where(np.isnan(result), _NAN, flush(result.view(_U64)))

    return run


@form("rcp.approx.ftz.f64", "f64 = f64")
def _rcp_gross(_: Qualifiers) -> Operation:
    return _gross(np.reciprocal)


@form("rsqrt.approx.ftz.f64", "f64 = f64")
def _rsqrt_gross(_: Qualifiers) -> Operation:
    return _gross(_inverse_root)


@form("rsqrt.approx.f64", "f64 = f64")
def _rsqrt(_: Qualifiers) -> Operation:
    return f64_operation(_inverse_root)
