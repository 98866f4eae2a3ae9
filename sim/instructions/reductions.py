"""What bulk and tensor reductions do with an element. PTX ISA, "cp.reduce.async.bulk"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tilec.isa import TilecError, element_type
from tilec.isa.dtypes import numpy_type

from ..alu import Array

Combine = Callable[[Array, Array], Array]
"""What memory holds, and what is brought, as arrays of bits, to what it holds then."""

_INTEGERS = {f"{s}{b}": np.dtype(f"{k}{b // 8}") for s, k in (("u", "u"), ("s", "i"), ("b", "u"))
             for b in (32, 64)}  # fmt: skip
_FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def _flushed(values: Array) -> Array:
    """f32 without subnormals, which the memory's adders take for zero."""
    tiny = np.abs(values) < np.float32(2.0**-126)
    return np.where(tiny, np.copysign(np.float32(0), values), values)


def _increment(old: Array, bound: Array) -> Array:
    return np.where(old >= bound, 0, old + 1)


def _decrement(old: Array, bound: Array) -> Array:
    return np.where((old == 0) | (old > bound), bound, old - 1)


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "min": np.fmin,
    "max": np.fmax,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": _increment,
    "dec": _decrement,
}


def combiner(operation: str, type_: str, numerics: str) -> Combine:
    """The function of an operation on elements of a type, in the launch's numerics.

    Raises:
        TilecError: if there is none.
    """
    bits = _FLOATS.get(type_, 0)
    dtype = _INTEGERS.get(type_) or (numpy_type(element_type(type_)) if bits else None)
    if dtype is None or operation not in _OPERATIONS:
        raise TilecError(f"a reduction '.{operation}' of '.{type_}' is not simulated")
    function = _OPERATIONS[operation]
    if numerics == "algebraic" and bits:
        from ..alu import algebraic  # noqa: PLC0415 (few launches ask for it)

        return algebraic.resolve(operation, (type_,))
    flush = type_ == "f32" and operation == "add"

    def combine(old: Array, new: Array) -> Array:
        a, b = old.view(dtype), new.view(dtype)
        with np.errstate(all="ignore"):
            result = _flushed(_flushed(a) + _flushed(b)) if flush else np.asarray(function(a, b))
        return np.ascontiguousarray(result.astype(dtype)).view(old.dtype)

    return combine
