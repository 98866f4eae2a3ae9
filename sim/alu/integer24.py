"""Multiplication of 24-bit integers (PTX ISA, mul24 and mad24)."""

from __future__ import annotations

import numpy as np

from .bits import SIGNED, UNSIGNED, Operation
from .integer import saturated_s32
from .registry import form
from .syntax import Qualifiers


def _low24(type_: str) -> Operation:
    """The lower 24 bits of an operand, in 64 bits, extended as the type says."""
    if type_ == "u32":
        return lambda a: (a & np.uint32(0xFFFFFF)).astype(SIGNED[64])
    eight = np.uint32(8)
    return lambda a: ((a << eight).view(SIGNED[32]) >> np.int32(8)).astype(SIGNED[64])


def _product24(type_: str, half: str) -> Operation:
    low = _low24(type_)
    shift = np.int64(16 if half == "hi" else 0)
    return lambda a, b: ((low(a) * low(b)) >> shift).astype(UNSIGNED[32])


@form("mul24.half.type", "type = type type", half=("lo", "hi"), type=("u32", "s32"))
def _mul24(q: Qualifiers) -> Operation:
    return _product24(q["type"], q["half"])


@form("mad24.half.type", "type = type type type", half=("lo", "hi"), type=("u32", "s32"))
def _mad24(q: Qualifiers) -> Operation:
    multiply = _product24(q["type"], q["half"])
    return lambda a, b, c: np.add(multiply(a, b), c)


@form("mad24.hi.sat.s32", "s32 = s32 s32 s32")
def _mad24_sat(_: Qualifiers) -> Operation:
    multiply = _product24("s32", "hi")
    s32, s64 = SIGNED[32], SIGNED[64]
    return lambda a, b, c: saturated_s32(
        multiply(a, b).view(s32).astype(s64) + c.view(s32).astype(s64)
    )
