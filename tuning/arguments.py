"""What a tunable kernel is given: arrays and scalars whose extents the problem decides.

    f16[m, k]      a row-major array of m by k elements
    i32(m * k)     a scalar

The arrays have memory that nothing has touched: pages that the system gives when they are first
written, so that a problem of many gigabytes can be compiled for and counted.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import TilecError, element_type
from tilec.isa.dtypes import numpy_type

from .errors import TuningError
from .expressions import Expression, parse

_FORM = re.compile(r"\s*(\w+)\s*(?:\[(.*)\]|\((.*)\))\s*", re.DOTALL)
_MOST_BYTES = 1 << 40


@dataclass(frozen=True)
class ArgumentSpec:
    """An array or a scalar.

    Attributes:
        name: of the argument.
        type: of an element, as tilec writes it.
        extents: of an array; of a scalar its value.
        is_array: which of them.
        place: where it stands, or empty.
    """

    name: str
    type: str
    extents: Expression
    is_array: bool
    place: str = ""

    def shape(self, names: Mapping[str, int]) -> tuple[int, ...]:
        """The extents of an array.

        Raises:
            TuningError: at its place, for extents that are not positive.
        """
        found = self.extents.value(names)
        shape = found if isinstance(found, tuple) else (found,)
        size = prod(shape) * self.dtype.itemsize
        if min(shape, default=0) < 1 or size > _MOST_BYTES:
            raise TuningError(
                f"argument '{self.name}' has extents {list(shape)}; legal: 1 or more, and "
                f"{_MOST_BYTES:,} bytes in all",
                self.place,
            )
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an element in numpy."""
        return np.dtype(numpy_type(element_type(self.type)))

    def value(self, names: Mapping[str, int]) -> Any:
        """An array of untouched memory, or a scalar.

        Raises:
            TuningError: at its place.
        """
        if self.is_array:
            return untouched(self.shape(names), self.dtype)
        return self.dtype.type(self.extents.integer(names))


def untouched(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of zeros that takes no memory before it is written.

    Raises:
        TuningError: if there is no room for it even so.
    """
    try:
        pages = mmap.mmap(-1, prod(shape) * dtype.itemsize)
    except (OSError, ValueError, OverflowError) as error:
        raise TuningError(f"an array of {list(shape)}: {error}") from None
    return np.frombuffer(pages, dtype).reshape(shape)


def argument(name: str, text: object, place: str = "") -> ArgumentSpec:
    """An argument from how a declaration writes it.

    Raises:
        TuningError: at the place, for what is none.
    """
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise TuningError(
            f"argument '{name}' is {text!r}; legal: TYPE[EXTENT, …] and TYPE(VALUE)", place
        )
    type_, extents, value = found.groups()
    try:
        numpy_type(element_type(type_))
    except TilecError as error:
        raise TuningError(f"argument '{name}': {error}", place) from None
    inside = extents if extents is not None else value
    return ArgumentSpec(name, type_, parse(inside, place), extents is not None, place)
