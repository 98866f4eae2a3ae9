"""The IEEE operations on f32 and f64, in each rounding, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import double, single
from .bits import Operation

_DIRECTED: dict[str, dict[int, Callable[[str], Operation]]] = {
    "add": {32: single.add, 64: double.add},
    "mul": {32: single.multiply, 64: double.multiply},
    "div": {32: single.divide, 64: double.divide},
    "sqrt": {32: single.root, 64: double.root},
    "fma": {32: single.fma, 64: double.fma},
}

_NEAREST: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}


def arithmetic(name: str, width: int, rounding: str) -> Operation:
    """The operation `name` (add, sub, mul, div, sqrt, fma) on floats of 32 or 64 bits."""
    if name in _NEAREST and rounding == "rn":
        return _NEAREST[name]
    if name == "sub":
        add = _DIRECTED["add"][width](rounding)
        return lambda a, b: add(a, -b)
    return _DIRECTED[name][width](rounding)
