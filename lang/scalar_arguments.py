"""Scalars that kernels are launched with, as their parameters hold them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tilec.isa import LaunchError, element_type
from tilec.isa.dtypes import numpy_type

from .dtypes import DType, limits


def scalar_argument(
    name: str, value: Any, dtype: type[DType], *, natural: bool = False
) -> np.generic:
    """A scalar as a value of numpy's type of a parameter.

    Args:
        name: of the argument.
        value: Python's or numpy's.
        dtype: of the parameter.
        natural: whether it is never negative.

    Raises:
        LaunchError: if it is of another kind, or not in the range of the type.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if dtype.kind == "bool":
        if isinstance(value, bool | np.bool_):
            return np.bool_(value)
    elif dtype.kind == "float":
        if not isinstance(value, bool | np.bool_) and _is_real(value):
            return _float(name, value, dtype)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        return _integer(name, int(value), dtype, natural)
    raise LaunchError(f"argument '{name}' is {value!r}; the kernel takes {_written(dtype)}")


def _integer(name: str, value: int, dtype: type[DType], natural: bool) -> np.generic:
    low, high = limits(dtype)
    if natural and value < 0:
        raise LaunchError(f"argument '{name}' is {value!r}, and is never negative")
    if not low <= value <= high:
        raise LaunchError(
            f"argument '{name}' is {value!r}; the kernel takes {_written(dtype)}, from {low} to "
            f"{high}"
        )
    return _numpy(dtype)(value)


def _float(name: str, value: Any, dtype: type[DType]) -> np.generic:
    try:
        number = float(value)
    except OverflowError:  # of a large integer
        number = math.inf
    with np.errstate(over="ignore"):
        found = _numpy(dtype)(number)
    if math.isinf(found) and not (isinstance(value, float | np.generic) and math.isinf(value)):
        raise LaunchError(
            f"argument '{name}' is {value!r}; the kernel takes {dtype!r}, in which it is infinite"
        )
    return found


@cache
def _numpy(dtype: type[DType]) -> Callable[[int | float], np.generic]:
    """The type of a scalar in numpy."""
    if dtype.kind == "float":
        found: Callable[[int | float], np.generic] = numpy_type(element_type(dtype.mlir)).type
        return found
    return np.dtype(f"{'u' if dtype.kind == 'uint' else ''}int{dtype.bits}").type


def _is_real(value: Any) -> bool:
    """Whether a value is a number that is not an array: ml_dtypes' floats are none of numpy's."""
    return isinstance(value, int | float | np.number) or (
        isinstance(value, np.generic) and hasattr(value, "__float__") and value.dtype.kind == "V"
    )


def _written(dtype: type[DType]) -> str:
    return "int" if dtype.kind == "index" else repr(dtype)
