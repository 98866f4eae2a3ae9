"""Upstream's functions of integers, on int64 that holds numbers of any width."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from .numbers import Array, unsigned, wrap


def _shift(count: Array, bits: int) -> Array:
    """Counts that are no less than the width give a result that nobody may use: 0."""
    return np.where((count >= 0) & (count < bits), count, 0)


def _divide(a: Array, b: Array) -> Array:
    """Toward zero; by zero 0, which nobody may use."""
    safe = np.where(b == 0, 1, b)
    found = a // safe
    found = np.where((found < 0) & (found * safe != a), found + 1, found)
    return np.where(b == 0, 0, found)


def _floor(a: Array, b: Array) -> Array:
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def _bit_count(values: Array) -> Array:
    found = np.zeros(values.shape, np.uint64)
    for at in range(64):
        found = found + ((values >> np.uint64(at)) & np.uint64(1))
    return found


def _leading(values: Array, bits: int) -> Array:
    found = np.full(values.shape, bits, np.uint64)
    for at in range(bits):
        found = np.where((values >> np.uint64(at)) & np.uint64(1), bits - 1 - at, found)
    return found


def _trailing(values: Array, bits: int) -> Array:
    found = np.full(values.shape, bits, np.uint64)
    for at in reversed(range(bits)):
        found = np.where((values >> np.uint64(at)) & np.uint64(1), at, found)
    return found


_SIGNED: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "arith.addi": lambda a, b, _: a + b,
        "arith.subi": lambda a, b, _: a - b,
        "arith.muli": lambda a, b, _: a * b,
        "arith.andi": lambda a, b, _: a & b,
        "arith.ori": lambda a, b, _: a | b,
        "arith.xori": lambda a, b, _: a ^ b,
        "arith.maxsi": lambda a, b, _: np.maximum(a, b),
        "arith.minsi": lambda a, b, _: np.minimum(a, b),
        "arith.divsi": lambda a, b, _: _divide(a, b),
        "arith.remsi": lambda a, b, _: a - _divide(a, b) * b,
        "arith.floordivsi": lambda a, b, _: _floor(a, b),
        "arith.ceildivsi": lambda a, b, _: -_floor(-a, b),
        "arith.shli": lambda a, b, bits: a << _shift(b, bits),
        "arith.shrsi": lambda a, b, bits: a >> _shift(b, bits),
        "math.absi": lambda a, _: np.abs(a),
    }
)
_UNSIGNED: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "arith.maxui": lambda a, b, _: np.maximum(a, b),
        "arith.minui": lambda a, b, _: np.minimum(a, b),
        "arith.divui": lambda a, b, _: _floor(a, b),
        "arith.remui": lambda a, b, _: a - _floor(a, b) * b,
        "arith.ceildivui": lambda a, b, _: _floor(a, b) + (a != _floor(a, b) * b),
        "arith.shrui": lambda a, b, bits: a >> np.where(b < bits, b, 0).astype(np.uint64),
        "math.ctpop": lambda a, _: _bit_count(a),
        "math.ctlz": _leading,
        "math.cttz": _trailing,
    }
)
_ORDER = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


def knows(fn: str) -> bool:
    """Whether `apply` knows an op."""
    return fn in _SIGNED or fn in _UNSIGNED


def apply(fn: str, bits: int, *values: Array) -> Array:
    """What the upstream op `fn` on integers of so many bits gives.

    Raises:
        KeyError: if it is not known.
    """
    with np.errstate(all="ignore"):
        if fn in _SIGNED:
            wide = [as_numbers(np.asarray(value)).astype(np.int64) for value in values]
            return wrap(np.asarray(_SIGNED[fn](*wide, bits)), bits)
        wide = [unsigned(np.asarray(value), bits) for value in values]
        return wrap(np.asarray(_UNSIGNED[fn](*wide, bits)).astype(np.uint64).view(np.int64), bits)


def compare(predicate: int, bits: int, a: Array, b: Array) -> Array:
    """`arith.cmpi` by the number of its predicate."""
    if predicate < 6:
        return np.asarray(_ORDER[predicate](as_numbers(a), as_numbers(b)))
    return np.asarray(_ORDER[predicate - 4](unsigned(a, bits), unsigned(b, bits)))


def as_numbers(values: Array) -> Array:
    """Truth values as the signed numbers of one bit."""
    return -values.astype(np.int64) if values.dtype == bool else values


def reduce(fn: str, bits: int, values: Array, axis: int) -> Array:
    """Elements along an axis combined."""
    values = np.moveaxis(values, axis, 0)
    while len(values) > 1:
        half, last = len(values) // 2, values[len(values) // 2 * 2 :]
        both = apply(fn, bits, values[:half], values[half : 2 * half])
        values = np.concatenate([both, last])
    return np.asarray(values[0])
