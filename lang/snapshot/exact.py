"""Plain values as texts that are equal only for the same type and the same bits."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import EllipsisType, NoneType, NotImplementedType
from typing import Any

import numpy as np

from .fixed import class_name

_LONG = 1 << 64


def exact(value: Any) -> str | None:
    """A plain value as text: equal texts mean the same type and the same bits, nested ones' too.

    Of `True` and `1`, `0.0` and `-0.0`, `(6,)` and `(6.0,)` no two have the same text; NaN has that
    of its bits. None for what is not plain: what can change, or carries code.
    """
    kind = type(value)  # unlike `isinstance`, it asks nothing of the value
    write = _WRITERS.get(kind)
    if write is not None:
        return write(value)
    if issubclass(kind, np.generic | np.dtype):
        return _of_numpy(value)
    if issubclass(kind, type):
        name = class_name(value)
        return name and f"class {name}"
    return None


def _int(value: int) -> str:
    return f"int {value}" if -_LONG < value < _LONG else f"int {value:#x}"


def _float(value: float) -> str:
    # repr tells all floats apart but NaNs.
    return f"float {value!r}" if value == value else f"float nan {_bits(value)}"  # noqa: PLR0124


def _complex(value: complex) -> str:
    return f"complex {_float(value.real)}, {_float(value.imag)}"


def _bits(value: float) -> str:
    return struct.pack(">d", value).hex()


def _tuple(value: tuple[object, ...]) -> str | None:
    parts = [exact(part) for part in value]
    return None if None in parts else f"tuple ({', '.join(map(str, parts))})"


def _range(value: range) -> str:
    return f"range {value.start}, {value.stop}, {value.step}"


def _slice(value: slice) -> str | None:
    inside = _tuple((value.start, value.stop, value.step))
    return inside and f"slice {inside}"


def _named(value: object) -> str:
    return f"{type(value).__name__} {value!r}"


_WRITERS: dict[type, Callable[[Any], str | None]] = {
    bool: _named,
    int: _int,
    float: _float,
    complex: _complex,
    str: _named,
    bytes: _named,
    NoneType: repr,
    EllipsisType: repr,
    NotImplementedType: repr,
    tuple: _tuple,
    range: _range,
    slice: _slice,
}


def _of_numpy(value: np.generic | np.dtype[Any]) -> str | None:
    dtype = value.dtype if isinstance(value, np.generic) else value
    if dtype.hasobject or dtype.metadata or class_name(dtype.type) is None:
        return None
    written = f"dtype {dtype!r} {dtype.str}"
    if not isinstance(value, np.generic):
        return written
    return f"{written} {value.tobytes().hex()}" if type(value) is dtype.type else None
