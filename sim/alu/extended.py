"""Arithmetic with carry (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").

Carry-in is the last operand, carry-out the last result, both bool: the condition code
CC.CF. Subtraction takes and gives a borrow there.
"""

from __future__ import annotations

import numpy as np

from .bits import Array, Operation
from .integer import high
from .registry import form
from .syntax import Qualifiers

_TYPES = ("u32", "s32", "u64", "s64")
_HALVES = ("lo", "hi")


def _add_out(a: Array, b: Array) -> tuple[Array, Array]:
    total = np.add(a, b)
    return total, total < a


def _add_in_out(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    partial = np.add(a, b)
    total = np.add(partial, carry)
    return total, (partial < a) | (total < partial)


def _sub_in_out(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    partial = np.subtract(a, b)
    total = np.subtract(partial, borrow.astype(partial.dtype))
    return total, (a < b) | (partial < total)


@form("add.cc.type", "type carry = type type", type=_TYPES)
def _add_cc(_: Qualifiers) -> Operation:
    return _add_out


@form("addc.type", "type = type type carry", type=_TYPES)
def _addc(_: Qualifiers) -> Operation:
    return lambda a, b, carry: np.add(np.add(a, b), carry)


@form("addc.cc.type", "type carry = type type carry", type=_TYPES)
def _addc_cc(_: Qualifiers) -> Operation:
    return _add_in_out


@form("sub.cc.type", "type carry = type type", type=_TYPES)
def _sub_cc(_: Qualifiers) -> Operation:
    return lambda a, b: (np.subtract(a, b), np.less(a, b))


@form("subc.type", "type = type type carry", type=_TYPES)
def _subc(_: Qualifiers) -> Operation:
    return lambda a, b, borrow: np.subtract(np.subtract(a, b), borrow.astype(a.dtype))


@form("subc.cc.type", "type carry = type type carry", type=_TYPES)
def _subc_cc(_: Qualifiers) -> Operation:
    return _sub_in_out


def _product(q: Qualifiers) -> Operation:
    return high(q["type"]) if q["half"] == "hi" else np.multiply


@form("mad.half.cc.type", "type carry = type type type", half=_HALVES, type=_TYPES)
def _mad_cc(q: Qualifiers) -> Operation:
    multiply = _product(q)
    return lambda a, b, c: _add_out(multiply(a, b), c)


@form("madc.half.type", "type = type type type carry", half=_HALVES, type=_TYPES)
def _madc(q: Qualifiers) -> Operation:
    multiply = _product(q)
    return lambda a, b, c, carry: np.add(np.add(multiply(a, b), c), carry)


@form("madc.half.cc.type", "type carry = type type type carry", half=_HALVES, type=_TYPES)
def _madc_cc(q: Qualifiers) -> Operation:
    multiply = _product(q)
    return lambda a, b, c, carry: _add_in_out(multiply(a, b), c, carry)
