"""Errors about elements of arrays, which say where the element is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import TilecError


def place(index: tuple[int, ...]) -> str:
    """`row 3, column 5`, after the indices of further dimensions if there are any."""
    *outer, row, column = (0, 0, *index)[-max(2, len(index)) :]
    where = f"row {row}, column {column}" if len(index) > 1 else f"element {column}"
    return f"{where} of matrix {', '.join(map(str, outer))}" if outer else where


def refuse(wrong: NDArray[np.bool_], values: NDArray[Any], what: str) -> None:
    """Raise for the first element that is wrong.

    Args:
        wrong: which are.
        values: the elements, of the same shape.
        what: what is wrong with it, after the value: `is not a number of e2m1`.

    Raises:
        TilecError: naming row and column.
    """
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise TilecError(f"{place(index)}: {values[index]} {what}")
